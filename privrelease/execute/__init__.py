"""Execution: runs a plan on an engine, and parks what came of it. Decides nothing: the audit does."""
