"""Queries of statistics releases: resolved, priced and checked for consistency."""
