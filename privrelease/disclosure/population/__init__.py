"""Class sizes and uniqueness in the population, from a table, from weights or estimated."""
