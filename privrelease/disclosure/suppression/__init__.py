"""Solvers: which cells to suppress so that every threshold holds. The audit never imports this room."""
