"""Texts of the section on tables that came with tables that are judged together."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_TABLES"]

ENGLISH_TABLES: Final[dict[str, str]] = {
    "tables.unsafe.zeros": "Unsafe: a sum of 0 tells every contribution",
    "tables.beside": "Judged together with these tables of the same rows",
}
