"""Strict reading: from a source to a typed table of the engine."""
