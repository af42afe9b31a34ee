"""Differential privacy: mechanisms, sensitivity and accountants (built by a later change; the room is reserved)."""
