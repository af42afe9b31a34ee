"""The audit of synthetic releases: written apart from what makes them."""
