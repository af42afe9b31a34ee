"""Attacks on released microdata: the ground that they are tried on, and what they need of a run."""
