"""Execution of tables."""
