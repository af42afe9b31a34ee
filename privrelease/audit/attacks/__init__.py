"""Attacks on a file that is about to be published: one file each, on coded columns, every rate with denominator and
interval.
"""
