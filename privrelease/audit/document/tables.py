"""Field ``table`` of ``audit.json``: a table's rules and what an attacker could work out. Figures about suppressed cells are internal."""

from privrelease.audit.figure_model import Figure
from privrelease.documents import Document

__all__ = ["IntervalFacts", "TableFacts"]


class IntervalFacts(Document):
    """The narrowest interval that an attacker has for an unsafe figure, by figure of the table."""

    figure: str
    unsafe: Figure
    """Unsafe cells."""
    narrowest: Figure
    """Width of the narrowest interval of an unsafe cell."""
    exposed: Figure
    """Unsafe cells, and unsafe groups of suppressed cells, known better than allowed."""


class TableFacts(Document):
    """One table."""

    by: tuple[str, ...]
    figures: tuple[str, ...]
    margins: bool
    min_count: int
    dominance: str | None
    p_percent: str | None
    interval: str
    zeros_shown: bool
    class_disclosure: bool
    round_up: int
    cells: Figure
    suppressed: Figure
    unsafe: dict[str, Figure]
    """Unsafe cells by rule; a cell may break several."""
    secondary: Figure
    """Suppressed cells that are safe by themselves."""
    left_out: Figure
    """Rows that are in no cell: a key is missing or not declared, or a domain leaves the row out."""
    beside: tuple[str, ...] = ()
    """Tables of the same rows that are out already, with which it was judged together."""
    intervals: tuple[IntervalFacts, ...]
