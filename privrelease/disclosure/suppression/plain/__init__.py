"""Plain forms of the compiled loops: the same values from numpy and Python's own containers."""
