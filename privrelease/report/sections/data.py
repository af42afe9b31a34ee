"""Section 6: what the release is made of, and what became of each column."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report.view import numbers
from privrelease.report.view.page import Fact, exact, shown
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.model import ColumnFacts
    from privrelease.report.view.page import Context
    from privrelease.texts.catalogue import Catalogue

__all__ = ["ColumnRow", "DataBody", "build"]


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """A declared column."""

    name: str
    role: str
    type: str
    domain: str | None
    leaves: bool
    treatment: str


@dataclass(frozen=True, slots=True)
class DataBody:
    """Facts of the data and its columns. ``domains``: there is a declared domain to show."""

    facts: tuple[Fact, ...]
    columns: tuple[ColumnRow, ...]
    domains: bool


def build(context: Context) -> DataBody:
    """Show rows, persons, order and columns."""
    data, catalogue = context.audit.data, context.catalogue
    stated: list[tuple[str, str | None]] = [
        ("dataset", data.dataset),
        ("snapshot", data.snapshot),
        ("population", data.population),
        ("unit", data.unit or catalogue.text("data.unit_rows")),
    ]
    facts = [
        Fact(catalogue.text(f"data.{name}"), (value or catalogue.text("word.not_stated"),), gap=not value)
        for name, value in stated
    ]
    figures = [
        ("source_rows", data.source_rows),
        ("rows_outside", data.rows_outside),
        ("source_persons", data.source_persons),
        ("released_rows", data.released_rows),
    ]
    for name, figure in figures:
        if figure is None and name == "source_persons" and data.unit is None:
            continue
        if name == "rows_outside" and not exact(figure):
            continue
        written = shown(figure, catalogue)
        facts.append(Fact(catalogue.text(f"data.{name}"), (written.text,), gap=written.gap))
    rows, persons = exact(data.source_rows), exact(data.source_persons)
    if rows is not None and persons:
        rows -= exact(data.rows_outside) or 0  # persons are counted among the rows that were read
        mean = numbers.number(Fraction(rows, persons))
        facts.insert(-1, Fact(catalogue.text("data.rows_per_person"), (mean,)))
    dropping = tuple(column.name for column in data.columns if column.drops_rows)
    if dropping:
        facts.insert(-1, Fact(catalogue.text("data.drops_rows"), dropping))
    facts.append(Fact(catalogue.text("data.order"), (catalogue.text(f"data.order.{data.order}"),)))
    return DataBody(
        tuple(facts),
        tuple(
            ColumnRow(
                column.name,
                _role(column, catalogue),
                column.type,
                None if column.domain is None else catalogue.values(column.domain),
                column.leaves,
                _treatment(column, catalogue),
            )
            for column in data.columns
        ),
        any(column.domain is not None for column in data.columns),
    )


def _treatment(column: ColumnFacts, catalogue: Catalogue) -> str:
    own = f"treatment.{column.treated}"
    return catalogue.text(own) if catalogue.has(own) else column.treatment


def _role(column: ColumnFacts, catalogue: Catalogue) -> str:
    role = catalogue.text(f"data.role.{column.role}")
    if column.category in {None, "ordinary"}:
        return role
    return f"{role}; {catalogue.text(f'data.category.{column.category}')}"
