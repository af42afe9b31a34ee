"""Comparison of a release with earlier ones, and of two audits."""
