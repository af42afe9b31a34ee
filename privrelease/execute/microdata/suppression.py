"""From a plan's threats to a cell-suppression problem, and from its solution back to rows.

The limit on suppressed cells: by how much it is exceeded, which columns lost most, and which one makes groups small.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.grouping import group_rows
from privrelease.disclosure.classes.persons import pair_times
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.disclosure.suppression.problem import Problem, Requirement, Solution
from privrelease.engine.protocol.base import Parts
from privrelease.errors import InputError, InternalError
from privrelease.findings import Finding
from privrelease.relational.treatments import Family

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from privrelease.engine.protocol.base import Engine, RowClasses, Staged
    from privrelease.plan.model import MicrodataPlan, SuppressStep, ThreatPlan

__all__ = [
    "MOST_SUBSETS",
    "limit_exceeded",
    "nothing_suppressed",
    "nulled_cells",
    "parts_of",
    "population_classes",
    "suppression_problem",
    "weight_column",
]


#: Combinations of columns of one threat that are protected one by one; the audit looks at them all.
MOST_SUBSETS = 500


def weight_column(plan: MicrodataPlan) -> str | None:
    """Return the column of sampling weights that the threats name, None where none does.

    Raises InputError (D630) where two threats name different columns: one class table holds one sum of weights.
    """
    named = {threat.population.weight for threat in plan.threats if threat.population is not None and threat.population.weight}
    if len(named) > 1:
        raise InputError(
            code="D630",
            message="two threats name different weight columns",
            hint="protect against them in releases of their own",
        )
    return next(iter(named), None)


def suppression_problem(
    plan: MicrodataPlan,
    step: SuppressStep,
    classes: ClassTable,
    populations: Mapping[str, ClassTable],
    *,
    linkable: bool = False,
    pair_rows: NDArray[np.int64] | None = None,
) -> Problem:
    """Return the problem that protects ``plan``'s threats. ``populations``: by threat, see :func:`population_classes`.

    ``pair_rows``: rows of each (class, person) pair; with ``linkable`` rows of a class may then be treated differently by person.

    A threat counts with those of its columns that are released: any other cannot be matched. A population known only through an
    estimator is left to the audit, and protected as by a prosecutor: F is at least f, so its risk is at most the prosecutor's.
    """
    names = classes.columns
    requirements = []
    for threat in plan.threats:
        columns = tuple(names.index(column) for column in dict.fromkeys(threat.columns) if column in names)
        if not columns:
            continue
        weights = threat.population is not None and threat.population.weight is not None
        known = threat.name in populations or weights
        requirements.append(
            Requirement(
                name=threat.name,
                columns=columns,
                thresholds=threat.thresholds,
                missing=threat.missing,
                attacker=threat.attacker if known else "prosecutor",
                population=populations.get(threat.name),
                use_weights=weights,
            )
        )
        requirements.extend(_subset_requirements(threat, columns))
    costs = dict(step.weights)
    return Problem(
        classes=classes,
        requirements=tuple(requirements),
        weights=tuple(costs.get(name, Fraction(1)) for name in names),
        residual=step.residual,
        linkable=linkable,
        knows_rows=any(threat.knows_rows for threat in plan.threats),
        pair_rows=pair_rows,
        prefer=step.prefer,
    )


def _subset_requirements(threat: ThreatPlan, columns: tuple[int, ...]) -> Iterator[Requirement]:
    """Yield one requirement for each combination of ``up_to`` columns; smaller ones have larger classes, so they follow.

    None where the threat as a whole demands classes of as many: fewer columns never make classes smaller.
    """
    limit = threat.subsets
    if limit is None:
        return
    size = min(limit.up_to, len(columns))
    if (threat.attacker == "prosecutor" and threat.thresholds.k >= limit.k) or comb(len(columns), size) > MOST_SUBSETS:
        return
    for number, chosen in enumerate(combinations(columns, size), 1):
        yield Requirement(
            name=f"{threat.name}, combination {number}",
            columns=chosen,
            thresholds=Thresholds(highest=Fraction(1, limit.k)),
            missing=threat.missing,
        )


def population_classes(
    plan: MicrodataPlan, engine: Engine, staged: Staged, classes: ClassTable, tables: Mapping[str, Staged]
) -> dict[str, ClassTable]:
    """Code the population table of every threat that has one (``tables``, by threat) in the coding of ``classes``.

    Codes of values that the sample lacks continue after the sample's, ascending.
    """
    populations = {}
    for threat in plan.threats:
        columns = tuple(column for column in dict.fromkeys(threat.columns) if column in classes.columns)
        if threat.name not in tables or not columns:
            continue
        sample, population = engine.class_tables((staged, tables[threat.name]), columns)
        table = None if threat.population is None else threat.population.table
        if table is not None and table.unit is not None:
            persons = engine.classes(tables[threat.name], columns, unit=table.unit).table
            if not np.array_equal(population.counts, persons.counts):
                raise InternalError(code="R182", message="the population's classes differ with its persons and without")
            population = replace(
                population, pairs_class=persons.pairs_class, pairs_person=persons.pairs_person, alike=persons.alike
            )
        populations[threat.name] = _in_coding_of(classes, sample, population)
    return populations


def _in_coding_of(classes: ClassTable, sample: ClassTable, population: ClassTable) -> ClassTable:
    """Recode ``population`` from the coding it shares with ``sample`` to that of ``classes``, of which ``sample`` is a projection.

    Both codings ascend with the value, so the sample's codes correspond by rank; that the counts agree then is checked. Codes of ``classes``
    have gaps where every row with a value was left out of the data.
    """
    columns = [classes.columns.index(column) for column in sample.columns]
    recoded_sample = np.empty_like(sample.codes)
    recoded = np.empty_like(population.codes)
    for here, there in enumerate(columns):
        known = np.unique(sample.codes[:, here])
        known = known[known > 0]
        further = np.setdiff1d(population.codes[:, here], known)
        further = further[further > 0]
        size = max((int(part[-1]) for part in (known, further) if len(part)), default=0)
        own = np.unique(classes.codes[:, there])
        own = own[own > 0]
        if len(known) != len(own):
            raise InternalError(code="R181", message="the sample has another number of values beside the population than alone")
        last = int(own[-1]) if len(own) else 0
        table = np.zeros(size + 1, np.int32)
        table[known] = own
        table[further] = np.arange(last + 1, last + len(further) + 1, dtype=np.int32)
        recoded_sample[:, here] = table[sample.codes[:, here]]
        recoded[:, here] = table[population.codes[:, here]]
    _check_same(classes.codes[:, columns], classes.counts, recoded_sample, sample.counts)
    order = np.lexsort(recoded.T[::-1])
    ordered = ClassTable(population.columns, np.ascontiguousarray(recoded[order]), population.counts[order])
    if population.pairs_class is None or population.pairs_person is None:
        return ordered
    place = np.argsort(order)[population.pairs_class].astype(np.uint32)
    by_class = np.lexsort((population.pairs_person, place))
    pairs = place[by_class], population.pairs_person[by_class]
    return replace(ordered, pairs_class=pairs[0], pairs_person=pairs[1], alike=population.alike)


def _check_same(
    codes: NDArray[np.integer[Any]],
    counts: NDArray[np.int64],
    other_codes: NDArray[np.integer[Any]],
    other_counts: NDArray[np.int64],
) -> None:
    ours, theirs = group_rows(codes), group_rows(other_codes)
    same = (
        ours.n_groups == theirs.n_groups
        and np.array_equal(codes[ours.first], other_codes[theirs.first])
        and np.array_equal(ours.sums(counts), theirs.sums(other_counts))
    )
    if not same:
        raise InternalError(code="R182", message="the sample's classes differ beside the population and alone")


def nothing_suppressed(classes: ClassTable) -> Solution:
    """Return the solution that is released every record as it is."""
    q = len(classes.columns)
    return Solution(
        class_index=np.arange(classes.n_classes, dtype=np.uint32),
        records=classes.counts.astype(np.int64),
        suppressed=np.zeros((classes.n_classes, q), np.bool_),
        dropped=np.zeros(classes.n_classes, np.bool_),
        lost_cells=np.zeros(q, np.int64),
    )


def nulled_cells(solution: Solution) -> NDArray[np.int64]:
    """Return how many cells of each column become missing in rows that stay: (q,) int64."""
    stays = np.where(solution.dropped, 0, solution.records)
    return np.asarray((solution.suppressed * stays[:, None]).sum(axis=0), np.int64)


_SUPPRESSED = 255


def parts_of(solution: Solution, rows: RowClasses) -> Parts:
    """Return the treatment of the rows that a solution says: a class's rows are assigned to its parts in source order, or by person where
    the solution says which part each (class, person) pair is.

    Raises InternalError (R183) where the parts do not make up the classes.
    """
    table = rows.table
    covered = np.zeros(table.n_classes, np.int64)
    np.add.at(covered, solution.class_index, solution.records)
    if (
        np.any(solution.records < 0)
        or not np.array_equal(covered, table.counts)
        or np.any(np.diff(solution.class_index.astype(np.int64)) < 0)
    ):
        raise InternalError(code="R183", message="the solver's parts do not make up the classes")
    if solution.pair_part is not None:
        _check_persons(solution, solution.pair_part, rows)
    gone = solution.suppressed & ~solution.dropped[:, None]
    levels = np.where(gone, _SUPPRESSED, 0).astype(np.uint8)
    return Parts(
        rows.handle, solution.class_index, solution.records, table.columns, levels, solution.dropped, solution.pair_part
    )


def _check_persons(solution: Solution, pair_part: NDArray[np.uint32], rows: RowClasses) -> None:
    pairs_class = rows.table.pairs_class
    if pairs_class is None or rows.pair_rows is None or len(pair_part) != len(pairs_class):
        raise InternalError(code="R183", message="the solver treats persons apart, and the class table does not know them")
    counted = np.zeros(len(solution.records), np.int64)
    np.add.at(counted, pair_part, rows.pair_rows * pair_times(rows.table))
    if not np.array_equal(counted, solution.records) or not np.array_equal(solution.class_index[pair_part], pairs_class):
        raise InternalError(code="R183", message="the rows of a part are not those that the solver counted")


_NAMED = 3


def _cheaper(plan: MicrodataPlan, column: str, why: str) -> str:
    """Name a column and the steps that make it cost less; what the attacker knows stays as it is."""
    treatment = next(one.treatment for one in plan.columns if one.name == column)
    if treatment.family is Family.GENERALISATION:
        return f"write {column} coarser still (a higher `level`, a lower `top`, a larger `to`), drop it (`drop`), or raise `limit`: {why}"
    return f"generalise {column} (`generalise`), drop it (`drop`), or raise `limit`: {why}"


def limit_exceeded(
    plan: MicrodataPlan, lost: Mapping[str, int], cells_total: int, cause: Callable[[], str | None] = lambda: None
) -> Finding | None:
    """Return a finding (R170, error) where more than the limit's share of the quasi-identifiers' cells is lost, else None.

    ``lost``: cells per column, dropped rows included. ``cause``: the column that separates most records, None where no one does, asked only where
    more is lost: the column that lost most cells need not be the one that makes groups small. The share is compared exactly; the release still parks, so that audit and report
    show it, and fails there.
    """
    step = plan.suppress
    if step is None or step.limit is None or not cells_total:
        return None
    total = sum(lost.values())
    if total <= step.limit * cells_total:
        return None
    allowed = int(step.limit * cells_total)
    costly = sorted(lost.items(), key=lambda item: (-item[1], item[0]))[:_NAMED]
    named = ", ".join(f"{column} {cells}" for column, cells in costly if cells)
    first = cause()
    why = "it lost most cells" if first is None else "without it fewest records are in groups that are too small"
    return Finding(
        "R170",
        f"{total} of {cells_total} cells are lost, {total - allowed} more than the limit of {float(step.limit):.6g} allows; most: {named}",
        location=step.location,
        hint=_cheaper(plan, first or costly[0][0], why),
        subject=f"releases.{plan.id}",
    )
