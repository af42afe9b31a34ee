"""Equivalence classes: their sizes in records and persons, under either reading of missing values."""
