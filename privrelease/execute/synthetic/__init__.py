"""Synthetic releases: discover, fit, draw, decode, write."""
