"""Engines: the only place with SQL, files and databases."""
