"""Measuring: codes, class tables, aggregates and table cells."""
