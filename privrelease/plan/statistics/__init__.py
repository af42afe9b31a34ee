"""Plans of statistics releases: every draw with its law and scale."""
