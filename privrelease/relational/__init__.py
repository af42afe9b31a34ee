"""Columns, types, sources and outputs as pure values: no SQL, no file is touched here."""
