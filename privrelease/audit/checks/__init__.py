"""Checks of every kind of release: codes, hints, outcomes, decision and waivers."""
