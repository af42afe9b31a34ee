"""Plans of microdata releases."""
