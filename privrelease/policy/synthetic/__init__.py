"""Synthetic releases of a policy resolved: coded columns, structural zeros, budget."""
