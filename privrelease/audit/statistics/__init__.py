"""The audit of statistics releases."""
