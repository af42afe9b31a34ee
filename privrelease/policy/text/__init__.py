"""YAML with the place of every key and value: reading, merging, and the wording of messages about it."""
