"""Labels of values in a hierarchy, one form a file; the audit may not ask here, since it verifies what is made here."""
