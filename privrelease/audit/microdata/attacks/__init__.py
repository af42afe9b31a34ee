"""Attacks on a file that is about to leave: one file each, numpy on coded columns, every rate with its denominator and interval."""
