"""Resolved plan of what a policy will do: no row is touched here."""
