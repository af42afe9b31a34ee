"""Execution of microdata releases."""
