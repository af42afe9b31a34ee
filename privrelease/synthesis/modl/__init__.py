"""MODL co-clustering: the data grid that describes a table of frequencies best (Boullé 2010). No privacy and no randomness in it.

An array of frequencies comes in, a grid of intervals and groups goes out. The same array gives the same grid everywhere.
"""
