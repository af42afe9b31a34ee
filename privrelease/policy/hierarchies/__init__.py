"""Hierarchies of a policy: from its keys and the files next to it to declared forms, or what is wrong with them."""
