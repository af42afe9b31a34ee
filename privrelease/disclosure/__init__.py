"""Disclosure risk of microdata: equivalence classes, thresholds, risk measures, and the solvers that reach a threshold."""
