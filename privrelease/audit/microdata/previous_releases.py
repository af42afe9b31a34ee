"""Two releases of rows about the same persons: intersection (an attacker combines both) and differencing (rows only one has).

Intersection. Releases of one source: see :mod:`privrelease.audit.comparison.earlier.candidates`. Where they do not lead to one source, let q1 and q2 be
what two releases say of a record in the columns that a threat knows. The audit links what the files themselves link: rows that agree, on the
columns which both show, with one row only. Who links a record knows (q1, q2); its class is at most its linked records and, of those not linked, the fewer in
the class of q1 and in that of q2: a bound from above, so a class below k is below k for this attacker; of records that the files do not link nothing is said.

Differencing. Rows that only one of two releases shows (as multisets over the columns both show) are of the persons who joined, left or
changed in between: they have to satisfy each threat alone (DESIGN, Across releases). Two releases of one source have no such persons.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from privrelease.audit.comparison.combine import across_kinds, compared, earlier_check, named, set_aside, together
from privrelease.audit.comparison.earlier.candidates import (
    Opened,
    beside_source,
    by_source,
    knowledge,
    linked_to_new,
    shared_columns,
)
from privrelease.audit.comparison.earlier.granted_maps import SourceColumns
from privrelease.audit.comparison.earlier.rows_and_table import RowsOut, same_source
from privrelease.audit.document.visibility import count
from privrelease.audit.microdata.linkage import tokens_of_one_key, uncompared
from privrelease.audit.microdata.recoding import recoded_columns
from privrelease.disclosure.classes.class_sizes import ClassSizes, MatchSizes
from privrelease.disclosure.risk.prosecutor import prosecutor_verdict
from privrelease.errors import PrivreleaseError
from privrelease.plan.microdata.links import household_columns
from privrelease.relational.treatments import CellRelation
from privrelease.texts.sentences import Number, every, listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.comparison.combine import PreviousReleaseFindings
    from privrelease.audit.comparison.earlier.rows_and_table import TableJudge
    from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases
    from privrelease.audit.document.model import CheckResult, Figure
    from privrelease.audit.document.previous_releases import ComparedRelease
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.disclosure.risk.thresholds import Thresholds
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import ReleasedFile
    from privrelease.engine.protocol.release_pairs import CombinedClasses, Links
    from privrelease.plan.model import ThreatPlan
    from privrelease.texts.sentences import Said

__all__ = ["MOST_PAIRS", "beside_microdata"]

#: Pairs of rows that are looked at for links through suppressed cells.
MOST_PAIRS: Final = 2_000_000

_INTERSECT, _DIFFERENCE = "AUDIT-EARLIER-INTERSECT", "AUDIT-EARLIER-DIFFERENCE"


@dataclass
class _Found:
    """Result for one pair of releases."""

    beside: ComparedRelease
    remaining: list[Said] = field(default_factory=list)
    intersect: list[Said] = field(default_factory=list)
    difference: list[Said] = field(default_factory=list)
    opened: Opened | None = None
    """The comparison where it is of the same source."""
    unjudged: Said | None = None
    """Why the two were not judged together, though they must be: for recoded columns, or for households that both show."""


def beside_microdata(
    evidence: Evidence, earlier: EarlierReleases, engine: MeasuringEngine, judge_table: TableJudge | None = None
) -> PreviousReleaseFindings:
    """Compare the measured file with every earlier release. ``judge_table``: tells what these rows give back of earlier tables."""
    if (main := evidence.main) is None:
        return together((), (), (), earlier)
    tables = [] if judge_table is None else [one for one in earlier.releases if one.content == "cells" and one.held]
    source = SourceColumns(engine, (evidence.plan.source,), readable=evidence.source is not None)
    rows = [_rows_out(evidence, main, one, source) for one in tables]
    own = [*(one.own for one in earlier.releases if one.content == "rows" and one.held), *(one.own for one in rows)]
    verdicts = [] if judge_table is None else judge_table([*zip(tables, rows, strict=True)], engine)
    judged = [(one, verdict.settled(of, own)) for one, of, verdict in zip(tables, rows, verdicts, strict=True)]
    if recoded_columns(evidence.plan.columns):
        judged = [(one, verdict) for one, verdict in judged if verdict.agree]
    found = [_compared(evidence, main, one, engine) for one in earlier.releases if all(one is not other for other, _ in judged)]
    together_faults = _all_together(evidence, main, found, engine)
    combined = [one for one in found if one.beside.looked in {"combined", "same_file"}]
    checks: tuple[CheckResult, ...] = ()
    unjudged = [one.unjudged for one in found if one.unjudged is not None]
    if combined or unjudged:
        names = named([one.beside.told_release for one in combined])
        same = [one.beside.told_release for one in combined if one.beside.looked == "same_file"]
        stay = say("classes_stay", names=names)
        again = [say("holds_same", names=named(same))] if same else []
        intersect = [fault for one in found for fault in one.intersect] + together_faults
        difference = [fault for one in found for fault in one.difference]
        checks = (
            earlier_check(
                _INTERSECT,
                intersect,
                every((stay, *again)),
                unjudged=every(unjudged),
            ),
            *([earlier_check(_DIFFERENCE, difference, say("no_group_in_one", names=names))] if combined else []),
        )
    beside_tables = across_kinds(judged, say("these_rows"))
    return together(
        [*(one.beside for one in found), *beside_tables.looked],
        (*checks, *beside_tables.checks),
        [*(text for one in found for text in one.remaining), *beside_tables.remaining],
        earlier,
    )


def _rows_out(evidence: Evidence, main: ReleasedFile, table: EarlierRelease, source: SourceColumns) -> RowsOut:
    """The measured rows, as someone reads them who has a table too."""
    own = frozenset(column.name for column in evidence.usable if column.treatment.relation.own_values)
    inputs = () if evidence.target.internal is None else evidence.target.internal.inputs
    known = evidence.source is not None and same_source(inputs, table.inputs)
    left_out = max(0, evidence.source.n_rows - main.n_rows) if known and evidence.source is not None else None
    tokens = frozenset(column.name for column in evidence.usable if column.treatment.relation is CellRelation.KEYED_TOKEN)
    return RowsOut(main, own, evidence.plan.lossy, left_out, tokens, source, bool(recoded_columns(evidence.plan.columns)))


def _all_together(evidence: Evidence, main: ReleasedFile, found: Sequence[_Found], engine: MeasuringEngine) -> list[Said]:
    """Look at all releases of one source at once that are linked with the new one, directly or through other releases."""
    of_source = [one for one in found if one.opened is not None]
    earlier = [one.opened for one in of_source if one.opened is not None]
    if len(earlier) < 2 or any(one.intersect for one in of_source):
        return []
    linked = linked_to_new(shared_columns(evidence, main, earlier, engine), len(earlier))
    for place in linked:
        one = of_source[place]
        if one.beside.looked == "nothing_shared":
            one.beside = one.beside.model_copy(update={"looked": "combined", "linked_by": "columns"})
            one.remaining.clear()
    if len(linked) < 2:
        return []
    among = [earlier[place] for place in linked]
    joined = by_source(evidence, main, among, shared_columns(evidence, main, among, engine), engine)
    names = listed((one.release.name for one in among), "and")
    return [say("with_together", names=names, fault=fault) for fault in joined.faults]


def _compared(evidence: Evidence, main: ReleasedFile, one: EarlierRelease, engine: MeasuringEngine) -> _Found:
    aside = set_aside(one, "microdata")
    recoded = recoded_columns(evidence.plan.columns) or one.recoded
    if aside is not None and not (recoded and one.content == "cells" and one.held and not one.apart):
        return _Found(*aside)
    if one.digests & {file.sha256 for file in evidence.files}:
        return _Found(compared(one, "same_file"))
    source = _one_source(evidence, one)
    try:
        first = None if recoded and not source else engine.open_release(one.file, one.columns, marked=one.marked)
        opened = beside_source(evidence, main, one, first, engine) if first is not None and source else None
        if first is None or (recoded and (opened is None or opened.apart)):  # no common source, or row maps of other files
            return _not_compared(one, say("recoded_release", columns=listed(recoded)))
        if opened is None:
            found = _combined(evidence, main, one, first, engine)
        else:
            found = _beside_source(evidence, main, opened, engine)
            if opened.apart:  # or the row maps are not of these files: what these link themselves counts too
                alone = _combined(evidence, main, one, first, engine)
                found.intersect += alone.intersect
                found.difference += alone.difference
                found.unjudged = found.unjudged or alone.unjudged
        return _left_to_a_person(found, one, uncompared(evidence, main, one, first, engine, one_source=opened is not None))
    except PrivreleaseError as error:
        if error.code == "D120":
            raise
        why = say("discloses_with", name=one.name, why=say("file_unread_code", code=error.code))
        return _Found(compared(one, "unreadable", error.code), remaining=[why])


def _not_compared(one: EarlierRelease, note: Said) -> _Found:
    """Say that a release was not compared, which a person has to assess."""
    why = say("discloses_with", name=one.name, why=note)
    beside = compared(one, "unreadable", note)
    return _Found(beside, remaining=[why], unjudged=say("with_release", name=one.name, fault=note))


def _left_to_a_person(found: _Found, one: EarlierRelease, note: Said | None) -> _Found:
    """Leave to a person what both disclose by columns that bring their rows together and are not compared."""
    if note is None:
        return found
    if found.beside.looked not in {"combined", "same_file"}:
        return replace(_not_compared(one, note), opened=found.opened)
    told = say("with_release", name=one.name, fault=note)
    return replace(found, unjudged=every(text for text in (found.unjudged, told) if text is not None))


def _beside_source(evidence: Evidence, main: ReleasedFile, one: Opened, engine: MeasuringEngine) -> _Found:
    """Compare a release of the same source: who combines both links what their files link, and the audit knows what belongs together."""
    of = one.release
    shared = shared_columns(evidence, main, [one], engine)
    if not shared:
        why = say("no_column_links", name=of.name)
        return _Found(compared(of, "nothing_shared"), remaining=[why], opened=one)
    joined = by_source(evidence, main, [one], shared, engine)
    by: Literal["source", "place", "pseudonym", "columns"] = "columns"
    if any(column.name is None for column in shared):
        by = "place" if of.order == evidence.plan.order == "source" else "source"
    elif any(column.name in of.pseudonyms for column in shared):
        by = "pseudonym"
    beside = compared(of, "combined", linked_by=by, figures=joined.figures)
    households = _households(evidence, of, {column.name for column in shared if column.name is not None})
    return _Found(
        beside,
        intersect=[say("with_release_then", name=of.name, fault=fault) for fault in joined.faults],
        opened=one,
        unjudged=households,
    )


def _households(evidence: Evidence, one: EarlierRelease, shared: Collection[str]) -> Said | None:
    """Say which households both releases show by one value; None where none: compositions are of the members' values in either."""
    both = [name for name in household_columns(evidence.plan) if name in shared]
    return say("households_unjudged", name=one.name, columns=listed(both)) if both else None


def _combined(
    evidence: Evidence, main: ReleasedFile, one: EarlierRelease, first: ReleasedFile, engine: MeasuringEngine
) -> _Found:
    types = dict(first.columns)
    if one.run is None and evidence.usable and not any(types.get(column.name) is column.type for column in evidence.usable):
        why = say("discloses_with", name=one.name, why=say("no_column_nothing"))
        return _Found(compared(one, "unreadable", say("no_column_of_this")), remaining=[why])
    tokens = {
        column.name for column in evidence.usable if column.treatment.relation is CellRelation.KEYED_TOKEN
    } | one.pseudonyms
    alike = [column.name for column in evidence.usable if types.get(column.name) is column.type and column.name not in tokens]
    shared = (*engine.same_coding(first, main, alike), *tokens_of_one_key(evidence, main, one, first, engine))
    links, by = _links(evidence, main, one, first, shared, engine)
    if links is None or by is None:
        what = say("none_alike") if first.n_rows else say("holds_no_row")
        why = say("discloses_with", name=one.name, why=what)
        return _Found(compared(one, "nothing_shared"), remaining=[why])
    figures: dict[str, Figure] = {}
    found = _Found(
        compared(one, "combined", linked_by=by, linked=count(links.pairs)),
        unjudged=_households(evidence, one, shared),
    )
    counted: Literal["persons", "records"] = "persons" if evidence.one_each else "records"
    max_rows = _rows_of_one(evidence)
    fewer = say("unit_records") if evidence.plan.unit is None else say("unit_persons")
    ours = {column.name for column in evidence.usable}
    for attacker in knowledge(evidence.plan.threats, [one]):
        before = [name for name in attacker.columns if name in types]
        after = [name for name in attacker.columns if name in ours]
        if not before and not after:
            continue
        classes = engine.combined_classes(first, main, links, before, after, unlinked=by == "columns")
        exposed, faults = _exposed(attacker.limits, classes, counted=counted, certain=by != "columns", most=max_rows[1])
        exact = [name for name in shared if name not in _lossy(evidence, one)]
        if by == "columns" and exact and not exposed:
            blocks = engine.block_classes(first, main, exact, before, after)
            exposed, faults = _exposed(attacker.limits, blocks, counted=counted, certain=False, most=max_rows[1])
        figures[f"exposed.{attacker.name}"] = count(exposed)
        found.intersect += [say("with_threat", name=one.name, threat=attacker.name, fault=fault) for fault in faults]
    for threat in evidence.plan.threats:
        if not evidence.measurable(threat.columns):
            continue
        more = _differences(threat, first, main, shared, engine, max_rows)
        figures |= {f"{name}.{threat.name}": count(number) for name, number in more.items()}
        found.difference += [
            say(f"small_{name}", n=number, k=threat.thresholds.k, unit=fewer, name=one.name, threat=threat.name)
            for name, number in more.items()
            if number
        ]
    if by == "columns":
        found.remaining.append(say("links_more" if links.complete else "links_more_pairs", name=one.name))
    found.beside = found.beside.model_copy(update={"figures": figures})
    return found


def _one_source(evidence: Evidence, one: EarlierRelease) -> bool:
    """Return True if both lead to the same rows of the same source: the first inputs of a run are the files of its source."""
    target = evidence.target
    inputs = () if target.internal is None else target.internal.inputs
    ours = [(file.hmac_sha256, file.key_id) for file in inputs if file.label == evidence.plan.source.label]
    theirs = [(file.hmac_sha256, file.key_id) for file in one.inputs[: len(ours)]]
    return one.row_map is not None and target.row_map is not None and evidence.sound_map and bool(ours) and ours == theirs


def _links(
    evidence: Evidence,
    main: ReleasedFile,
    one: EarlierRelease,
    first: ReleasedFile,
    shared: Sequence[str],
    engine: MeasuringEngine,
) -> tuple[Links | None, Literal["place", "columns"] | None]:
    if one.order == evidence.plan.order == "source" and first.n_rows == main.n_rows:
        return engine.links_by_place(first, main), "place"
    if not shared:
        return None, None
    lossy = _lossy(evidence, one)
    exact = [name for name in shared if name not in lossy]
    loose = [name for name in shared if name in lossy]
    return engine.links_by_columns(first, main, exact, loose, MOST_PAIRS), "columns"


def _lossy(evidence: Evidence, one: EarlierRelease) -> frozenset[str]:
    """Columns of which cells may have been suppressed in either release."""
    return one.lossy | evidence.plan.lossy


def _exposed(
    limits: Thresholds,
    classes: CombinedClasses,
    *,
    certain: bool,
    most: int | None = 1,
    counted: Literal["persons", "records"] = "records",
) -> tuple[int, list[Said]]:
    """Count records whose class is large enough in one of the releases and not for who combines both; say which limits that breaks.

    ``most``: rows of one person, where ``classes`` count rows: they are then of as few persons as they can be, if combining took any away.
    """
    there = ~classes.residual
    sizes = classes.linked.copy()
    if not certain:
        sizes += np.minimum(classes.unlinked_first, classes.unlinked_second)
    k = limits.k
    if most != 1:
        smaller = sizes < np.minimum(classes.first, classes.second)
        sizes = np.where(smaller, _persons_at_least(sizes, most), sizes)
    small = there & (sizes < k) & ((classes.first >= k) | (classes.second >= k))
    exposed = int(classes.linked[small].sum())
    faults = []
    if limits.highest is not None and exposed:
        smallest = int(sizes[small].min())
        faults.append(say(f"{counted}_in_small", n=exposed, k=k, smallest=smallest))
    if certain and there.any():
        linked = classes.linked[there]
        together = prosecutor_verdict(ClassSizes.from_counts(linked), limits)
        alone = {
            judged.measure
            for side in (classes.first, classes.second)
            for judged in prosecutor_verdict(MatchSizes.of(side[there], linked), limits).failures
        }
        faults += [
            say(
                "measure_both",
                measure=say(f"measure_{judged.measure}"),
                value=Number(str(judged.value)),
                limit=Number(str(judged.limit)),
            )
            for judged in together.failures
            if judged.measure != "highest_risk" and judged.measure not in alone
        ]
    return exposed, faults


def _rows_of_one(evidence: Evidence) -> tuple[int | None, int | None]:
    """The most rows of one person in this release and in an earlier one; None: any number, for all that is known.

    Here the source decides; a row that names no one may be anybody's. An earlier source is no longer available, and the most
    that the policy allows represents it where that is more.
    """
    unit, persons = evidence.plan.unit, evidence.persons
    if unit is None:
        return 1, 1
    ours = unit.max_rows if persons is None else max(1, persons.most_rows + persons.missing)
    return ours, None if ours is None else max(ours, unit.max_rows or 1)


def _differences(
    threat: ThreatPlan,
    first: ReleasedFile,
    main: ReleasedFile,
    shared: Sequence[str],
    engine: MeasuringEngine,
    rows_of_one: tuple[int | None, int | None],
) -> dict[str, int]:
    """Classes that may be of fewer than k persons, by what the threat knows, and that only one of the two releases has.

    The data do not disclose which rows of a multiset are the additional ones, nor whose they are: n rows are of at least n / m
    persons, of whom none has more than m.
    """
    known = [name for name in threat.columns if name in shared]
    if threat.thresholds.k <= 1 or not known:
        return {}
    left, joined = engine.only_in_one(first, main, shared, known)
    sides = zip(("joined", "left"), (joined, left), rows_of_one, strict=True)
    return {name: int(np.count_nonzero(_persons_at_least(sizes, most) < threat.thresholds.k)) for name, sizes, most in sides}


def _persons_at_least(rows: NDArray[np.int64], most: int | None) -> NDArray[np.int64]:
    return np.ones_like(rows) if most is None else -(-rows // most)
