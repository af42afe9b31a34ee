"""The audit of microdata releases."""
