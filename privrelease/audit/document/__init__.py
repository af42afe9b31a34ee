"""``audit.json``: its models, one file a section, the visibility of figures, and its JSON Schema."""
