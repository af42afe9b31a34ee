"""Risk of a released file, threat by threat, recomputed."""
