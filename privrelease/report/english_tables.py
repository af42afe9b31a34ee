"""The English texts of section 11, tables."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_TABLES"]

ENGLISH_TABLES: Final[dict[str, str]] = {
    "tables.heading": "Tables",
    "tables.basis": "ACRO, tau-Argus",
    "tables.attacker": "Unsafe cells are suppressed, and further ones so that totals do not give them back. The attacker here knows every "
    "printed figure and the rules, and is granted which suppressed cells are unsafe: more than the file tells.",
    "tables.no_cell": "A row in which a key is missing, or is none of the declared ones, is in no cell, and in no total either.",
    "tables.rules": "Rules of the table",
    "tables.totals": "Cells of the table",
    "tables.intervals": "What an attacker can work out",
    "tables.by": "Groups",
    "tables.figures": "Figures",
    "tables.figure": "Figure",
    "tables.min_count": "Fewest contributors of a printed cell",
    "tables.dominance": "Dominance (n, share)",
    "tables.p_percent": "p-percent",
    "tables.margins": "Totals are printed",
    "tables.zeros_shown": "Empty cells are printed as 0",
    "tables.class_disclosure": "Nobody can be sure that a group shares one key",
    "tables.round_up": "Counts are rounded up to multiples of",
    "tables.cells": "Cells, totals included",
    "tables.suppressed": "Suppressed",
    "tables.unsafe": "Unsafe cells",
    "tables.unsafe.min_count": "Unsafe: too few contributors",
    "tables.unsafe.dominance": "Unsafe: dominated by few",
    "tables.unsafe.p_percent": "Unsafe: a contribution can be estimated",
    "tables.secondary": "Suppressed to protect others",
    "tables.left_out": "Rows in no cell (not selected, or a key is missing or not declared)",
    "tables.narrowest": "Narrowest interval of an unsafe cell",
    "tables.exposed": "Known better than allowed",
    "tables.unsafe.zeros": "Unsafe: a sum of 0 tells every contribution",
    "tables.beside": "Judged together with these tables of the same rows",
}
