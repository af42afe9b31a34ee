"""The verbs of the command line: arguments and options, one file a group."""
