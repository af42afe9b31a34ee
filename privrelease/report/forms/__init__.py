"""Forms for machines: of audits, and of what is found in a policy. All are rendered from ``audit.json`` and filtered by its visibilities."""
