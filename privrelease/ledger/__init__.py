"""The privacy-budget ledger (built by a later change; the room is reserved)."""
