"""Pages: the report, the index, the frontier and simulations, as HTML, SVG and PDF."""
