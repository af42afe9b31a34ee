"""Execution of statistics releases."""
