"""The policy language: one frozen model a part, each key with its type."""
