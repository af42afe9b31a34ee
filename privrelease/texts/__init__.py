"""The words of reports and console, one TOML file a topic in a folder per language."""
