"""What a policy will do, resolved: no row is touched here."""
