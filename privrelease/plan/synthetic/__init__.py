"""Plans of synthetic releases."""
