"""Structure, names, paths and references of a policy, and the faults that are found in them."""
