"""``privrelease plan --sweep epsilon=0.1,0.5,1,2``: how noisy each figure would be for several budgets, both mechanisms side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from privrelease.cli.output_files import Writer
    from privrelease.pipeline.spending import Swept
    from privrelease.units import Epsilon

__all__ = ["check_chart", "draw", "header", "read_sweep", "table_rows"]

_MOST: Final = 20


def read_sweep(text: str) -> tuple[Epsilon, ...]:
    """Return the epsilons of ``epsilon=0.1,0.5``. Raises UsageError (C109).

    >>> [str(one) for one in read_sweep("epsilon=0.1,2")]
    ['0.1', '2']
    """
    from privrelease.dp.rules import check_epsilon
    from privrelease.units import Epsilon

    name, _, values = text.partition("=")
    try:
        found = tuple(Epsilon(value.strip()) for value in values.split(","))
    except ValueError:
        found = ()
    if name.strip() != "epsilon" or not found or len(found) > _MOST or any(check_epsilon(one) for one in found):
        raise UsageError(
            code="C109",
            message="--sweep is not a list of budgets",
            hint=f"write --sweep epsilon=0.1,0.5,1,2: at most {_MOST} numbers from 0.000001 to 100",
        )
    return found


def check_chart(chart: Path | None, epsilons: Sequence[Epsilon]) -> None:
    """Raise UsageError (C120) where a chart is asked for and cannot be drawn."""
    if chart is not None and (not epsilons or chart.suffix.lower() != ".svg"):
        hint = "write --sweep epsilon=0.1,0.5,1,2 --chart noise.svg"
        raise UsageError(code="C120", message="--chart draws a sweep into an .svg file", hint=hint)


def draw(swept: Iterable[Swept], epsilons: Sequence[Epsilon], chart: Path, writer: Writer) -> None:
    """Write the chart. Raises UsageError (C120): there is nothing to draw."""
    from privrelease.report.pages.sweep import SweptFigure, render_sweep

    found: dict[tuple[str, str, str], dict[str, Sequence[float | None]]] = {}
    for one in swept:
        found.setdefault((one.release, one.query, one.figure), {})[one.mechanism] = one.deviations
    if not found:
        raise UsageError(
            code="C120", message="no query of these releases has noise to draw", hint="name a release of statistics"
        )
    figures = [SweptFigure(*names, deviations) for names, deviations in found.items()]
    writer.write(chart, render_sweep([str(epsilon) for epsilon in epsilons], figures).encode())


def header(epsilons: Sequence[Epsilon]) -> tuple[str, ...]:
    """Return the heads of the table."""
    return ("query", "figure", "mechanism", *(f"epsilon {epsilon}" for epsilon in epsilons), "")


def table_rows(swept: Iterable[Swept]) -> list[tuple[str, ...]]:
    """Return the rows of the table; the last column draws the first deviation against the largest of its query and figure."""
    rows = list(swept)
    largest: dict[tuple[str, str, str], float] = {}
    for row in rows:
        key = row.release, row.query, row.figure
        largest[key] = max(largest.get(key, 0.0), *(value or 0.0 for value in row.deviations))
    return [
        (
            row.query,
            row.figure,
            row.mechanism,
            *("-" if value is None else f"{value:.4g}" for value in row.deviations),
            _bars(row.deviations, largest[row.release, row.query, row.figure]),
        )
        for row in rows
    ]


def _bars(values: Sequence[float | None], largest: float) -> str:
    """One block for each value, its height the share of the largest.

    >>> _bars((8.0, 4.0, None, 1.0), 8.0)
    '█▄ ▁'
    """
    blocks = "▁▂▃▄▅▆▇█"
    return "".join(
        " " if value is None or not largest else blocks[max(0, min(7, round(value / largest * 8) - 1))] for value in values
    )
