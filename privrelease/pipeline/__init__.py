"""Running, auditing, approving, publishing and withdrawing releases: functions of values that return values. Nothing is printed here."""
