"""Plans of tables: cells, figures and rules."""
