"""Texts of a source that read alike: distinct values that a reader takes for one, and the character that no CSV file carries.

Texts are compared in their plain form: without spaces at the ends, in Unicode's composed form (NFC, UAX #15); of persons without capitals. They stay
distinct values: what is told is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.reading.text_cells import whitespace
from privrelease.findings import Finding, Severity

if TYPE_CHECKING:
    from privrelease.engine.duckdb.connection import Connection
    from privrelease.findings import Location
    from privrelease.relational.schema import Column

__all__ = ["holds_nul", "look_alike", "plain_form"]


def holds_nul(text: exp.Expr) -> exp.Expr:
    """Return whether a text holds a NUL character, which no CSV file carries and many readers take for an end."""
    return sql.call("contains", text, sql.call("chr", sql.integer(0)))


def plain_form(text: exp.Expr, *, person: bool) -> exp.Expr:
    """Return the form of a text in which texts that look alike are the same; of a person's, capitals do not count either."""
    alike = sql.call("trim", sql.call("nfc_normalize", text), sql.text(whitespace))
    return sql.call("lower", alike) if person else alike


def look_alike(
    connection: Connection, column: Column, values: str, n_values: int, *, person: bool, place: Location | None
) -> Finding | None:
    """Return the warning of a table ``values`` of ``n_values`` distinct texts of which some look alike; None where no two do. ``place``: of the column."""
    alike = plain_form(sql.column("v"), person=person)
    (merged,) = connection.row(
        exp.select(exp.Count(this=exp.Distinct(expressions=[alike]))).from_(sql.table(values), copy=False)
    )
    if merged == n_values:
        return None
    form = exp.select(sql.aliased(alike.copy(), "a"), sql.aliased(sql.count_all(), "n")).from_(sql.table(values), copy=False)
    several = exp.select(sql.call("coalesce", exp.Sum(this=sql.column("n")), sql.integer(0)), sql.count_all())
    several = several.from_(form.group_by(sql.column("a")).subquery("forms"))
    (many, few) = connection.row(several.where(exp.GT(this=sql.column("n"), expression=sql.integer(1))))
    if person:
        return Finding(
            "D253",
            f"the unit column {column.name} holds {many} distinct texts that become {few} where case, spaces at the ends and Unicode forms do "
            "not count: as they are written, each is a person",
            severity=Severity.WARN,
            location=place,
            hint="declare `normalise: [nfc, trim]` for the column, and give each person one spelling in the source, if they mean the same person",
            subject=column.name,
        )
    return Finding(
        "D210",
        f"the column {column.name} holds {many} distinct texts that become {few} under nfc + trim",
        severity=Severity.WARN,
        location=place,
        hint="declare `normalise: [nfc, trim]` if they mean the same; until then they are different values",
        subject=column.name,
    )
