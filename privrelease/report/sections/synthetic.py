"""Section 12: how synthetic rows were made, what was measured for them, and what that cost."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report.charts.grids import grid_strips, hierarchy
from privrelease.report.view import numbers
from privrelease.report.view.page import Fact, exact, shown
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.audit.document.synthetic import (
        MeasuredFacts,
        ModelTable,
        SourceFacts,
        SyntheticColumnFacts,
        SyntheticFacts,
    )
    from privrelease.audit.figure_model import Figure
    from privrelease.report.charts.grids import GridStrips, Hierarchy
    from privrelease.report.view.page import Context, Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["MeasuredRow", "SyntheticBody", "TableBody", "build"]


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """A draw: what was asked for, by which law, how many numbers, scale, cost, expected error."""

    query: str
    figure: str
    mechanism: str
    numbers: str
    scale: str
    loss: str
    error: str


@dataclass(frozen=True, slots=True)
class TableBody:
    """A table that the model says of itself."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class SyntheticBody:
    """The model: facts, columns (name, cells), what was spent (draws, number, cost, share), what was measured, what the model says of itself.

    ``grid`` and ``hierarchy``: charts of a data grid, where the model is one.
    """

    facts: tuple[Fact, ...]
    columns: tuple[tuple[str, str], ...]
    spent: tuple[tuple[str, str, str, str], ...]
    more: Sentence | None
    measured: tuple[MeasuredRow, ...]
    model: tuple[Fact, ...]
    tables: tuple[TableBody, ...]
    source: tuple[Fact, ...] = ()
    grid: GridStrips | None = None
    hierarchy: Hierarchy | None = None


def build(context: Context) -> SyntheticBody | None:
    """Show the model; nothing where the audit has none, since the file is of another kind."""
    facts, texts = context.audit.synthetic, context.catalogue
    if facts is None:
        return None
    more = None
    if facts.draws > len(facts.measured):
        shown = {"shown": numbers.count(len(facts.measured)), "total": numbers.count(facts.draws)}
        more = ("synthesis.measured_first", shown)
    return SyntheticBody(
        facts=tuple(_facts(facts, texts)),
        columns=tuple((one.name, _cells(one, texts)) for one in facts.columns),
        spent=tuple(
            (
                texts.text(f"synthesis.figure.{one.figure}"),
                numbers.count(one.draws),
                texts.plain(f"synthesis.measure.{facts.measure}", loss=numbers.marked(one.loss)),
                numbers.percent(Fraction(f"{one.share:.6g}")),
            )
            for one in facts.spent
        ),
        more=more,
        measured=tuple(_measured(one, facts.measure, texts) for one in facts.measured),
        model=tuple(Fact(_word(texts, "fact", name), (_written(value),)) for name, value in facts.figures),
        tables=tuple(_table(one, texts) for one in facts.tables),
        source=() if facts.source is None else tuple(_source(facts.source, texts)),
        grid=_grid(facts, texts),
        hierarchy=_hierarchy(facts, texts),
    )


def _source(facts: SourceFacts, texts: Catalogue) -> Iterator[Fact]:
    """Figures of the source without noise, each with that of the held-out rows."""

    def said(first: Figure, second: Figure | None) -> tuple[str, ...]:
        found = [texts.plain("synthesis.source_fitted", figure=_figure(first, texts))]
        return (*found, *(() if second is None else (texts.plain("synthesis.source_held", figure=_figure(second, texts)),)))

    yield Fact(texts.text("synthesis.source_rows"), said(facts.fitted, facts.held_out))
    yield Fact(texts.text("synthesis.source_present"), said(facts.fitted_present, facts.held_out_present))
    yield Fact(texts.text("synthesis.source_alone"), said(facts.fitted_alone_present, facts.held_out_alone_present))
    for one in facts.marginal_errors:
        found = [texts.plain("synthesis.source_synthetic", figure=_figure(one.synthetic, texts))]
        if one.held_out is not None:
            found.append(texts.plain("synthesis.source_held", figure=_figure(one.held_out, texts)))
        yield Fact(texts.plain("synthesis.source_error", ways=numbers.count(one.ways)), tuple(found))


def _figure(figure: Figure, texts: Catalogue) -> str:
    return shown(figure, texts).text


def _facts(facts: SyntheticFacts, texts: Catalogue) -> Iterator[Fact]:
    rows = exact(facts.rows)
    said = "unread" if rows is None else "noisy" if facts.noisy_rows else "planned"
    stated: list[tuple[str, tuple[str, ...]]] = [
        ("method", (_word(texts, "method", facts.method),)),
        ("version", (texts.text("word.none") if facts.version is None else str(facts.version),)),
        ("rows", (texts.plain(f"synthesis.rows.{said}", rows="" if rows is None else numbers.number(rows)),)),
        ("cells", (numbers.count(facts.cells),)),
        ("reserved", (texts.plain(f"synthesis.measure.{facts.measure}", loss=numbers.marked(facts.reserved)),)),
    ]
    if facts.holdout is not None:
        share = numbers.percent(Fraction(facts.holdout))
        stated.append(("holdout", (texts.plain("synthesis.holdout_said", share=share),)))
    if facts.impossible:
        stated.append(("impossible", facts.impossible))
    if facts.settings:
        stated.append(("settings", tuple(f"{name}: {value}" for name, value in facts.settings.items())))
    for name, values in stated:
        yield Fact(texts.text(f"synthesis.{name}"), values)


def _word(texts: Catalogue, kind: str, name: str) -> str:
    """The words of a name that a method gave; the name itself where there are none."""
    key = f"synthesis.{kind}.{name}"
    return texts.text(key) if texts.has(key) else name.replace("_", " ")


def _written(value: str | int) -> str:
    return value if isinstance(value, str) else numbers.number(Fraction(value))


def _cells(one: SyntheticColumnFacts, texts: Catalogue) -> str:
    if one.made is not None:
        return texts.plain(f"synthesis.domain.{'unique' if one.unique else 'made'}", pattern=one.made)
    said = "bounded" if one.bounded else "discovered" if one.discovered else "cells"
    return texts.plain(f"synthesis.domain.{said}", cells=numbers.count(one.cells or 0), domain=texts.values(one.domain or ""))


def _measured(one: MeasuredFacts, measure: str, texts: Catalogue) -> MeasuredRow:
    return MeasuredRow(
        query=one.query,
        figure=texts.text(f"synthesis.figure.{one.figure}"),
        mechanism=texts.text(f"synthesis.mechanism.{one.mechanism}"),
        numbers=texts.text("dp.each_key") if one.numbers is None else numbers.count(one.numbers),
        scale=numbers.number(Fraction(f"{one.scale:.6g}")),
        loss=texts.plain(f"synthesis.measure.{measure}", loss=numbers.marked(one.loss)),
        error="" if one.error is None else numbers.number(Fraction(f"{one.error:.6g}")),
    )


def _table(one: ModelTable, texts: Catalogue) -> TableBody:
    return TableBody(
        _word(texts, "table", one.name),
        tuple(_word(texts, "header", name) for name in one.header),
        tuple(tuple(map(_written, row)) for row in one.rows),
    )


def _grid(facts: SyntheticFacts, texts: Catalogue) -> GridStrips | None:
    """The parts of each column as strips; nothing where the model has no grid."""
    rows = _rows(facts, "grid_parts", ("column", "part", "many", "values"))
    if not rows:
        return None
    parts = [(str(column), int(part), int(many), str(values)) for column, part, many, values in rows]
    several: dict[str, int] = {}
    for column, *_ in parts:
        several[column] = several.get(column, 0) + 1
    said = "; ".join(
        texts.plain("synthesis.grid_column", column=name, parts=numbers.count(many)) for name, many in several.items()
    )
    return grid_strips("syn-grid", texts.text("synthesis.grid_title"), texts.plain("synthesis.grid_desc", said=said), parts)


def _hierarchy(facts: SyntheticFacts, texts: Catalogue) -> Hierarchy | None:
    """Cost against cells; nothing where there is one level alone."""
    rows = _rows(facts, "grid_hierarchy", ("cells", "cost"))
    if len(rows) < 2:
        return None

    def said(cells: int, cost: int) -> str:
        return texts.plain("synthesis.hierarchy_level", cells=numbers.count(cells), cost=numbers.count(cost))

    levels = [(int(cells), int(cost)) for cells, cost in rows]
    taken = dict(facts.figures).get("grid_cells")
    ends = "; ".join(said(*one) for one in (levels[0], levels[-1]))
    return hierarchy(
        "syn-hierarchy",
        texts.text("synthesis.hierarchy_title"),
        texts.plain("synthesis.hierarchy_desc", said=ends),
        [(*one, said(*one)) for one in levels],
        taken=None if taken is None else int(taken),
        axis=texts.text("synthesis.hierarchy_axis"),
    )


def _rows(facts: SyntheticFacts, name: str, header: tuple[str, ...]) -> tuple[tuple[str | int, ...], ...]:
    """The rows of a table with this name and header; none where the model has no such table."""
    return next((one.rows for one in facts.tables if (one.name, one.header) == (name, header)), ())
