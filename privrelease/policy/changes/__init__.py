"""Changes of a policy: their direction, what an environment may change, and the verdicts of ``diff``."""
