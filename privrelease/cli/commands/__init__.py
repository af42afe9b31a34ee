"""The work behind each verb: calls, prints and decides how the command ends."""
