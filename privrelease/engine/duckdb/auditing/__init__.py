"""Queries of the auditor: source comparison, release pairs, identifiers, expectations, residual metadata."""
