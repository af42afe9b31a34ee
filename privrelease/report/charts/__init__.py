"""Charts as plain geometry: what a macro draws as SVG. Numbers are written with fixed decimals, so that bytes repeat."""
