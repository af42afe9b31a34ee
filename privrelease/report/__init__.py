"""Reports: a frozen view of ``audit.json``, rendered as HTML, JSON and text. Computes nothing again and prints nothing."""
