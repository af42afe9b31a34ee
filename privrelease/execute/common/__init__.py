"""Execution of every kind of release: inputs, persons, manifest, progress."""
