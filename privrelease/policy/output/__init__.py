"""A policy written out: canonical JSON, YAML, JSON Schema and a starter."""
