"""``plan --data`` for a table: how many cells a run would suppress, which groups share one key, and what suppressing those too would cost.

The figures are those that a run then gives on the same source, with the tables of the policy alone: tables that are published already are not
looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.execute.common.persons import check_unit
from privrelease.execute.common.progress import silent
from privrelease.execute.tables.run import cells_to_suppress
from privrelease.plan.tables.plan import joined, joint_source, tables_of_same_rows
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.disclosure.tables.linked import Linked
    from privrelease.disclosure.tables.secondary import Suppression
    from privrelease.engine.protocol.base import Engine, Staged
    from privrelease.execute.common.progress import Progress
    from privrelease.plan.model import Plan
    from privrelease.plan.tables.plan import TablePlan

__all__ = ["TableForecast", "forecast_table"]


@dataclass(frozen=True, slots=True)
class TableForecast:
    """Cells of one table. ``shared``: groups whose members would be known to share one key. ``repaired``: cells suppressed with
    ``class_disclosure: true``; None where the policy says so already.
    """

    release: str
    source_rows: int
    cells: int
    suppressed: int
    shared: int
    repaired: int | None
    parks: bool
    dependencies: tuple[str, ...] = ()
    """Columns that determine others in every row, in words."""
    prefer: str = "persons"
    """The cost of suppressed cells: their persons, or their number."""
    lost: int | None = None
    """That cost, of all tables of the dataset together; None where no cell is suppressed to protect others."""
    least: int | None = None
    """The least cost of a safe pattern, as far as it is known; None where no bound is known."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Rows that were read, and how many of one person there may be."""

    engine: Engine
    staged: Staged
    most: float

    def linked(self, tables: Sequence[TablePlan]) -> Linked:
        return joined(tables, most=self.most, fetch=lambda asked: self.engine.table_cells(self.staged, asked))


def forecast_table(plan: TablePlan, policy: Plan, engine: Engine, progress: Progress = silent) -> TableForecast:
    """Forecast one table. Raises InputError where the source is not as declared."""
    tables = tables_of_same_rows(plan, policy)
    source = joint_source(tables)
    progress("read", None)
    staged = engine.stage(source)
    check_unit(plan, source, engine, staged)
    read = _Source(engine, staged, 1 if plan.unit is None else plan.unit.max_rows or float("inf"))
    progress("suppress", None)
    mine = tables.index(plan)
    found = _suppression(plan, tables, read, progress)
    patterns = found[0]
    repaired = None
    if plan.class_check != "repaired":
        stricter = tuple(replace(one, rules=replace(one.rules, class_disclosure=True)) for one in tables)
        repaired = int(_suppression(stricter[mine], stricter, read, progress)[0][mine].sum())
    shared = _shared(tables, mine, patterns, read)
    return TableForecast(
        release=plan.id,
        source_rows=staged.n_rows,
        cells=plan.layout.size,
        suppressed=int(patterns[mine].sum()),
        shared=shared,
        repaired=repaired,
        parks=bool(shared) and plan.class_check == "checked",
        dependencies=_dependencies(tables, read),
        prefer=plan.prefer,
        lost=found[1].lost if plan.secondary else None,
        least=found[1].least,
    )


def _dependencies(tables: Sequence[TablePlan], read: _Source) -> tuple[str, ...]:
    columns = {name for one in tables for name in one.by}
    words = [
        f"{one.column} determines {one.on if one.on in columns else 'which rows a filter takes'}"
        for one in read.linked(tables).dependencies
    ]
    return tuple(dict.fromkeys(words))


def _suppression(
    plan: TablePlan, tables: Sequence[TablePlan], read: _Source, progress: Progress
) -> tuple[list[NDArray[np.bool_]], Suppression]:
    """The cells of each table that a run would suppress, all tables together, and what that costs."""
    together = read.linked(tables)
    found = cells_to_suppress(plan, together, tables, (), progress)
    return [found.suppressed[places] for places in together.places], found


def _shared(tables: Sequence[TablePlan], mine: int, patterns: Sequence[NDArray[np.bool_]], read: _Source) -> int:
    """Count the groups with a cell of this table that are known to share one key."""
    judged = [replace(one, rules=replace(one.rules, classes_judged=True)) for one in tables]
    together = read.linked(judged)
    own = set(together.places[mine].tolist())
    weak = weaknesses(together.table, together.hidden(patterns))
    return len({one.cells for one in weak if one.kind == "class" and not own.isdisjoint(one.cells)})
