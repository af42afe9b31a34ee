"""The audit of a table: the parked files against the plan and the source, and against an attacker who has only the files.

Nothing that the run says is believed: cells are added up anew from what each person contributes, unsafe cells are found anew, and what is
suppressed is read from the file. Intervals are the attacker's, by linear programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.audit.aggregates import (
    Check,
    cells_of_file,
    check_findings,
    data_of,
    made,
    output_facts,
    remaining,
    unlike_manifest,
)
from privrelease.audit.codes import NO_MANIFEST, TABLE_CODES
from privrelease.audit.decision import decide
from privrelease.audit.earlier.across import with_earlier
from privrelease.audit.earlier.tables import beside_tables
from privrelease.audit.facts import context_facts, identity_of, legal_facts
from privrelease.audit.model import AuditResult, Figure, Visibility
from privrelease.audit.table_cells import cells_of
from privrelease.audit.tables_model import TABLES, IntervalFacts, TableFacts
from privrelease.disclosure.tables.figures import ProtectedTable, SumFigure
from privrelease.disclosure.tables.judgement import Attack, weaknesses
from privrelease.disclosure.tables.rules import Magnitude

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.aggregates import Need
    from privrelease.audit.earlier.release import EarlierReleases
    from privrelease.audit.earlier.tables import CellKeys
    from privrelease.disclosure.tables.judgement import Weakness
    from privrelease.engine.audit_protocol import AuditEngine
    from privrelease.plan.model import Plan
    from privrelease.plan.tables import TablePlan
    from privrelease.relational.schema import Sink
    from privrelease.relational.tables import Contributions, TableCells
    from privrelease.release.manifest import Manifest

__all__ = ["TableTarget", "audit_table"]

REMAINING: Final = (
    "Whether other tables or outside figures of the same persons, combined with this one, give cells back.",
    "Whether who contributes knows more of the others than the rules assume.",
    "Whether what a group has in common harms its members, where the policy does not ask for that rule.",
    "Whether the release is lawful and necessary: the controller's decision, on the data-protection officer's advice.",
)
_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class TableTarget:
    """The parked release: its files in the plan's order, what the run says of itself, whether the source may be read; ``altered``:
    what of the run is no longer as it was decided upon.
    """

    files: tuple[Sink, ...]
    manifest: Manifest | None = None
    run: str | None = None
    without_source: bool = False
    altered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    keys: tuple[str, ...]
    over: str
    figures: tuple[Fraction | None, ...]
    status: str


@dataclass(frozen=True, eq=False, slots=True)
class _Evidence:
    plan: TablePlan
    target: TableTarget
    tables: tuple[tuple[_Row, ...] | None, ...]
    cells: TableCells | None
    judged: ProtectedTable | None
    suppressed: NDArray[np.bool_] | None
    weak: tuple[Weakness, ...]
    attack: Attack | None
    rows_of_one: int

    @property
    def rows(self) -> tuple[_Row, ...]:
        return next((table for table in self.tables if table is not None), ())

    @property
    def places(self) -> list[tuple[tuple[str, ...], str]]:
        """Keys and totals of every cell, in order."""
        sides = [(*keys, None) if self.plan.margins else keys for keys in self.plan.keys]
        found = []
        for place in product(*sides):
            over = " ".join(name for name, key in zip(self.plan.by, place, strict=True) if key is None)
            found.append((tuple(key or "" for key in place), over))
        return found

    def named(self, cells: Iterable[int]) -> str:
        """The first cells by their keys, which the policy declares."""
        every = list(cells)
        words = []
        for cell in every[:_NAMED]:
            keys, over = self.places[cell]
            totals = over.split(" ")
            words.append(" / ".join("total" if name in totals else key for name, key in zip(self.plan.by, keys, strict=True)))
        more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
        return "; ".join(words) + more


def audit_table(
    plan: TablePlan,
    policy: Plan,
    target: TableTarget,
    *,
    engine: AuditEngine,
    audited_at: str,
    versions: Mapping[str, str],
    earlier: EarlierReleases | None = None,
) -> AuditResult:
    """Check the files of ``target`` and decide. Everything wrong with them is a finding. Raises InputError where the source cannot be read.

    ``earlier``: releases of the same persons that went before.
    """
    evidence = _evidence(plan, target, engine)
    lacking: dict[Need, str] = {} if target.manifest is not None else {"manifest": NO_MANIFEST}
    if evidence.cells is None:
        lacking["source"] = _NO_SOURCE
    checks = tuple(made(TABLE_CODES, CHECKS, evidence, lacking))
    legal = legal_facts(policy.legal, policy.missing_legal)
    found = check_findings(plan, TABLE_CODES, checks)
    decision = decide((), None, checks, found, legal)
    facts = _facts(evidence)
    outputs = output_facts(target.files, evidence.tables)
    used = {*plan.by, *(one.column for one in plan.measures)}
    audit = AuditResult(
        decision=decision.model_copy(update={"assessment_remaining": remaining(REMAINING, checks)}),
        identity=identity_of(policy, plan.id, target.run, outputs, audited_at, versions),
        legal=legal,
        context=context_facts(policy.context, policy.review),
        data=data_of(plan, plan.population_id, used, "aggregated in a table", len(evidence.rows)),
        threats=(),
        union=None,
        utility=None,
        checks=checks,
        findings=found,
        sections={} if facts is None else {TABLES: facts.model_dump(mode="json")},
    )
    if earlier is None or [(row.keys, row.over) for row in evidence.rows] != evidence.places:
        return audit
    return with_earlier(audit, beside_tables(plan, _printed(evidence), evidence.judged, evidence.suppressed, earlier), plan)


def _printed(evidence: _Evidence) -> dict[CellKeys, dict[str, Fraction | None]]:
    """The cells of the file by what they are of, in their order."""
    names = [one.name for one in evidence.plan.measures]
    found = {}
    for row in evidence.rows:
        totals = row.over.split(" ")
        keys = frozenset((name, key) for name, key in zip(evidence.plan.by, row.keys, strict=True) if name not in totals)
        found[keys] = dict(zip(names, row.figures, strict=True))
    return found


def _evidence(plan: TablePlan, target: TableTarget, engine: AuditEngine) -> _Evidence:
    tables = tuple(_read(plan, sink) for sink in target.files)
    rows = next((table for table in tables if table is not None), None)
    evidence = _Evidence(plan, target, tables, None, None, None, (), None, 1)
    if target.without_source:
        return evidence
    found = engine.contributions(engine.stage(plan.source), plan.query)
    cells, most = cells_of(found, plan.query), _rows_of_one(found)
    judged = _judged(plan, cells, most)
    evidence = _Evidence(plan, target, tables, cells, judged, None, (), None, most)
    if rows is None or [(row.keys, row.over) for row in rows] != evidence.places:
        return evidence
    suppressed = np.array([any(figure is None for figure in row.figures) for row in rows], np.bool_)
    attack = Attack(judged, suppressed)
    weak = tuple(weaknesses(judged, suppressed, attack))
    return _Evidence(plan, target, tables, cells, judged, suppressed, weak, attack, most)


def _rows_of_one(found: Contributions) -> int:
    """The most rows of one person."""
    if not len(found.persons):
        return 0
    _, code = np.unique(found.persons, return_inverse=True)
    return int(np.bincount(code, weights=found.rows).max())


def _judged(plan: TablePlan, cells: TableCells, most: int) -> ProtectedTable:
    declared = 1 if plan.unit is None else plan.unit.max_rows
    return ProtectedTable(
        layout=plan.layout,
        rules=plan.rules,
        contributors=cells.persons,
        rows=cells.rows,
        sums=tuple(
            SumFigure(Magnitude(cells.sums[i], cells.largest[i] * (one.kind == "sum")), one.low, one.high)
            for i, one in enumerate(plan.added)
        ),
        counted=any(one.kind == "count" for one in plan.measures),
        round_up=plan.round_up,
        most=declared if declared is not None and most <= declared else float("inf"),
    )


# ---------------------------------------------------------------------------------------------------------------------- reading


def _read(plan: TablePlan, sink: Sink) -> tuple[_Row, ...] | None:
    """The rows of a file as they are; None where it is no such table."""
    try:
        names, rows = cells_of_file(sink)
        if tuple(names) != tuple(name for name, _ in plan.columns):
            return None
        return tuple(_row(plan, row) for row in rows)
    except (OSError, ValueError, TypeError):
        return None


def _row(plan: TablePlan, cells: Sequence[object]) -> _Row:
    if len(cells) != len(plan.columns):
        raise ValueError
    width = len(plan.by)
    keys = tuple("" if key is None else str(key) for key in cells[:width])
    figures = tuple(None if cell in {None, ""} else Fraction(str(cell)) for cell in cells[width + 1 : -1])
    return _Row(keys, str(cells[width]), figures, str(cells[-1]))


# ----------------------------------------------------------------------------------------------------------------------- checks

_NO_SOURCE: Final = "the source was not read"


def _readable(evidence: _Evidence) -> str | None:
    lost = [sink.label for sink, table in zip(evidence.target.files, evidence.tables, strict=True) if table is None]
    if lost or not evidence.tables:
        return f"not readable as the table of the plan: {', '.join(lost) or 'no file'}"
    return None


def _digests(evidence: _Evidence) -> str | None:
    return unlike_manifest(evidence.target.files, evidence.target.manifest, evidence.target.altered)


def _same(evidence: _Evidence) -> str | None:
    def rounded(table: tuple[_Row, ...] | None) -> object:
        if table is None:
            return None
        return [(row.keys, row.over, tuple(x if x is None else float(x) for x in row.figures), row.status) for row in table]

    first = rounded(evidence.tables[0]) if evidence.tables else None
    return None if all(rounded(table) == first for table in evidence.tables) else "the files hold different figures"


def _keys(evidence: _Evidence) -> str | None:
    if [(row.keys, row.over) for row in evidence.rows] != evidence.places:
        return "the cells are not exactly the declared ones in their order"
    return None


def _blanks(evidence: _Evidence) -> str | None:
    for row in evidence.rows:
        blank = [figure is None for figure in row.figures]
        if row.status not in {"shown", "suppressed"} or blank != [row.status == "suppressed"] * len(blank):
            return "a row does not say whether its figures are suppressed, or says it wrongly"
    return None


def _figures(evidence: _Evidence) -> str | None:
    plan, cells = evidence.plan, evidence.cells
    assert cells is not None
    added = {one.name: i for i, one in enumerate(plan.added)}
    wrong = []
    for cell, row in enumerate(evidence.rows[: len(cells.rows)]):
        for one, figure in zip(plan.measures, row.figures, strict=True):
            if one.column is None:
                value = Fraction(-(-int(cells.rows[cell]) // plan.round_up) * plan.round_up)
            else:
                value = int(cells.sums[added[one.name], cell]) * one.grid
            if figure is not None and figure != value and float(figure) != float(value):
                wrong.append(cell)
    return f"not the figures of the source: {evidence.named(dict.fromkeys(wrong))}" if wrong else None


def _persons(evidence: _Evidence) -> str | None:
    unit = evidence.plan.unit
    if unit is None or unit.max_rows is None or evidence.rows_of_one <= unit.max_rows:
        return None
    return "a person has more rows than unit.max_rows allows"


def _primary(evidence: _Evidence) -> str | None:
    assert evidence.judged is not None
    if evidence.suppressed is None:
        return "the file could not be compared with the cells of the plan"
    for rule, cells in evidence.judged.primaries().items():
        printed = np.flatnonzero(cells & ~evidence.suppressed)
        if len(printed):
            return f"printed against the rule {rule}: {evidence.named(map(int, printed))}"
    return None


def _intervals(evidence: _Evidence) -> str | None:
    if evidence.suppressed is None:
        return "the file could not be compared with the cells of the plan"
    weak = dict.fromkeys(cell for one in evidence.weak if one.kind == "cell" for cell in one.cells)
    return f"what is printed gives suppressed cells back: {evidence.named(weak)}" if weak else None


def _groups(evidence: _Evidence) -> str | None:
    if evidence.suppressed is None:
        return "the file could not be compared with the cells of the plan"
    weak = next((one for one in evidence.weak if one.kind == "group"), None)
    if weak is None:
        return None
    return f"what is printed gives the sum of suppressed cells, which is unsafe itself: {evidence.named(weak.cells)}"


def _classes(evidence: _Evidence) -> str | None:
    if evidence.suppressed is None:
        return "the file could not be compared with the cells of the plan"
    weak = next((one for one in evidence.weak if one.kind == "class"), None)
    if weak is None:
        return None
    return (
        f"whoever is in a group is known to have its only key, since these are known to be empty: {evidence.named(weak.cells)}"
    )


#: What is wrong (None: nothing), for each check in the order of TABLE_CODES.
CHECKS: tuple[Check[_Evidence], ...] = (
    Check(_readable),
    Check(_digests, "manifest"),
    Check(_same),
    Check(_keys),
    Check(_blanks),
    Check(_figures, "source"),
    Check(_persons, "source"),
    Check(_primary, "source"),
    Check(_intervals, "source"),
    Check(_groups, "source"),
    Check(_classes, "source"),
)


# ------------------------------------------------------------------------------------------------------------------------- facts


def _facts(evidence: _Evidence) -> TableFacts | None:
    plan, judged, suppressed = evidence.plan, evidence.judged, evidence.suppressed
    if judged is None or suppressed is None or evidence.cells is None:
        return None
    primary = judged.primaries()
    unsafe = np.logical_or.reduce(list(primary.values()))
    rules = plan.rules
    return TableFacts(
        by=plan.by,
        figures=tuple(one.name for one in plan.measures),
        margins=plan.margins,
        min_count=rules.min_count,
        dominance=None if rules.dominance is None else f"{rules.dominance[0]}, {float(rules.dominance[1]):g}",
        p_percent=None if rules.p_percent is None else f"{float(rules.p_percent):g}",
        interval=f"{float(rules.interval):g}",
        zeros_shown=rules.zeros_shown,
        class_disclosure=rules.class_disclosure,
        round_up=plan.round_up,
        cells=Figure.of(len(suppressed), "count", Visibility.RECIPIENT),
        suppressed=Figure.of(int(suppressed.sum()), "count", Visibility.RECIPIENT),
        unsafe={rule: Figure.of(int(cells.sum()), "count") for rule, cells in primary.items()},
        secondary=Figure.of(int((suppressed & ~unsafe).sum()), "count"),
        left_out=Figure.of(evidence.cells.left_out, "count"),
        intervals=tuple(_interval(evidence, figure) for figure in judged.figures),
    )


def _interval(evidence: _Evidence, figure: int) -> IntervalFacts:
    judged, attack = evidence.judged, evidence.attack
    assert judged is not None
    assert attack is not None
    unsafe = np.logical_or.reduce(list(judged.primaries().values())) & attack.suppressed
    width = attack.narrowest(figure)
    one = evidence.plan.added[figure] if figure >= 0 else None
    if width is None or width == float("inf"):
        narrowest = Figure.of(None, note="no unsafe cell" if width is None else "no upper bound")
    else:
        narrowest = Figure.of(round(width) if one is None else width * float(one.grid))
    return IntervalFacts(
        figure="count" if one is None else one.name,
        unsafe=Figure.of(int(unsafe.sum()), "count"),
        narrowest=narrowest,
        exposed=Figure.of(sum(weak.figure == figure and weak.kind != "class" for weak in evidence.weak), "count"),
    )
