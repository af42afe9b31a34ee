"""The protocols of an engine over plain values: making, measuring, auditing."""
