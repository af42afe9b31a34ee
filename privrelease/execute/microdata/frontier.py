"""The risk-utility frontier: what a release would lose at each of several thresholds. Writes nothing, spends nothing.

Rows collapse to classes once; each threshold is one more solve. The sweep is over the highest risk of one threat: its other
limits and the other threats stay as the policy has them, so each point is a release that a run would make with that one number
changed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.grouping import group_rows
from privrelease.disclosure.risk.prosecutor import prosecutor_risk
from privrelease.disclosure.risk.thresholds import smallest_class_for
from privrelease.execute.common.progress import silent
from privrelease.execute.microdata.protection import prepare, solve
from privrelease.execute.microdata.recoding import MAKERS
from privrelease.plan.microdata.frontier import Frontier, Point, sweepable, thresholds, with_dominated
from privrelease.release.manifest import FrontierPoint, FrontierStatement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.suppression.problem import Solution
    from privrelease.engine.protocol.base import Engine
    from privrelease.execute.common.progress import Progress
    from privrelease.execute.microdata.forecast import Counted
    from privrelease.execute.microdata.protection import Prepared
    from privrelease.execute.microdata.recoding import Makers
    from privrelease.plan.model import MicrodataPlan, ThreatPlan

__all__ = ["frontier", "released_classes", "stated", "sweep"]


def frontier(
    plan: MicrodataPlan,
    threat: ThreatPlan,
    asked: Sequence[Fraction],
    engine: Engine,
    measure: Callable[[ClassTable, ClassTable], None] = lambda _before, _after: None,
    progress: Progress = silent,
    makers: Makers = MAKERS,
) -> Frontier:
    """Read the source and :func:`sweep` it. Raises InputError where the source is not as declared."""
    return sweep(plan, threat, asked, prepare(plan, engine, progress, makers), measure, progress)


def sweep(
    plan: MicrodataPlan,
    threat: ThreatPlan,
    asked: Sequence[Fraction],
    prepared: Prepared,
    measure: Callable[[ClassTable, ClassTable], None] = lambda _before, _after: None,
    progress: Progress = silent,
) -> Frontier:
    """Protect the release at every threshold ``asked`` for and at the policy's own.

    ``threat``: one of :func:`~privrelease.plan.microdata.frontier.sweepable`. ``measure`` is called with the classes of the source and of what would
    be released, point by point.
    """
    from privrelease.execute.microdata.forecast import leaving, threat_sizes

    own = threat.thresholds.highest
    assert own is not None  # sweepable
    table, linkable = prepared.rows.table, prepared.persons.linkable
    total = prepared.source.n_rows * len(table.columns)
    above = own if threat.thresholds.at_risk is None else threat.thresholds.at_risk.above
    limit = None if plan.suppress is None else plan.suppress.limit
    counts: Counted = "records"
    points = []
    chosen = thresholds(asked, own)
    for place, risk in enumerate(chosen):
        progress("sweep", place / len(chosen))
        swept = replace(threat, thresholds=replace(threat.thresholds, highest=risk))
        solution = solve(replace(plan, threats=tuple(swept if one == threat else one for one in plan.threats)), prepared)
        after = released_classes(table, solution)
        counts, sizes = threat_sizes(threat, after, linkable, "lost")
        found = prosecutor_risk(sizes, above=above)
        by_column = solution.lost_cells.tolist()
        lost = sum(by_column)
        points.append(
            Point(
                k=smallest_class_for(risk),
                risk=risk,
                chosen=risk == own,
                feasible=solution.feasible,
                highest=found.highest,
                average=found.average,
                at_risk=found.records_at_risk or 0,
                counted=found.n_records if found.among is None else found.among,
                cells_lost=lost,
                rows_dropped=int(solution.records[solution.dropped].sum()),
                within_limit=limit is None or lost <= limit * total,
                costliest=table.columns[by_column.index(max(by_column))] if lost else None,
            )
        )
        measure(table, after)
    return Frontier(
        release=plan.id,
        threat=threat.name,
        columns=leaving(threat, table),
        others=tuple(one.name for one in plan.threats if one.name != threat.name),
        counts=counts,
        above=above,
        limit=limit,
        source_rows=prepared.source.n_rows,
        cells_total=total,
        points=with_dominated(points),
    )


def stated(plan: MicrodataPlan, prepared: Prepared, progress: Progress = silent) -> FrontierStatement | None:
    """Sweep the first threat that can be, at the class sizes that the policy asks for, as the internal manifest states it; None: none is."""
    threats = sweepable(plan)
    if not plan.frontier or not threats:
        return None
    found = sweep(plan, threats[0], [Fraction(1, size) for size in plan.frontier], prepared, progress=progress)
    return FrontierStatement(
        threat=found.threat,
        columns=found.columns,
        others=found.others,
        counts=found.counts,
        above=str(found.above),
        cells_total=found.cells_total,
        points=tuple(
            FrontierPoint(
                k=point.k,
                threshold=str(point.risk),
                chosen=point.chosen,
                feasible=point.feasible,
                highest=None if point.highest is None else str(point.highest),
                average=None if point.average is None else str(point.average),
                at_risk=point.at_risk,
                counted=point.counted,
                cells_lost=point.cells_lost,
                rows_dropped=point.rows_dropped,
            )
            for point in found.points
        ),
    )


def released_classes(table: ClassTable, solution: Solution) -> ClassTable:
    """Return the classes of what a solution releases, in the coding of ``table``; with their persons where the table has them.

    >>> from privrelease.disclosure.suppression.problem import Solution
    >>> table = ClassTable(("a", "b"), np.array([[1, 1], [1, 2], [2, 1]], np.int32), np.array([2, 1, 1]))
    >>> hidden = np.array([[False, True], [False, True], [False, False]])
    >>> parts = np.arange(3, dtype=np.uint32)
    >>> after = released_classes(table, Solution(parts, table.counts, hidden, np.array([False, False, True]), np.array([1, 4])))
    >>> after.codes.tolist(), after.counts.tolist()
    ([[1, 0]], [3])
    """
    kept = ~solution.dropped & (solution.records > 0)
    codes = table.codes[solution.class_index[kept]]
    codes[solution.suppressed[kept]] = 0
    grouping = group_rows(codes)
    counts = grouping.sums(solution.records[kept])
    codes = np.ascontiguousarray(codes[grouping.first])
    if table.pairs_class is None or table.pairs_person is None:
        return ClassTable(table.columns, codes, counts)
    group = np.full(len(kept), -1, np.int64)
    group[kept] = grouping.group
    part = solution.pair_part
    if part is None:  # every class is one part
        part = np.searchsorted(solution.class_index, table.pairs_class).astype(np.uint32)
    classes, persons = _distinct(group[part], table.pairs_person)
    return ClassTable(table.columns, codes, counts, None, classes, persons, table.alike)


def _distinct(group: NDArray[np.int64], person: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the distinct (group, person) pairs, sorted; those of group -1 (dropped) are left out."""
    there = group >= 0
    key = group[there].astype(np.uint64) << np.uint64(32) | person[there].astype(np.uint64)
    pairs = np.unique(key)
    return (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)
