"""Values that a released label represents, asked of the label: the audit's own reading of hierarchies, apart from what makes labels."""
