"""Synthesis under differential privacy (built by a later change; the room is reserved)."""
