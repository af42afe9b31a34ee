"""The frozen view of an audit: its editions, and how figures are written."""
