"""The audit of tables."""
