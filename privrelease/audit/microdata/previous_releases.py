"""Two releases of rows about the same persons: intersection (classes shrink when both are combined) and differencing (rows only one has).

Intersection. Let q1 and q2 be what two releases say of a record in the columns that a threat knows. Who links the record in both knows
(q1, q2), so its class is that of the pair. Where both releases lead to one source, the audit links every record: no attacker does better.
Where they do not, it links what the files themselves link: rows that agree, on the columns which both show, with one row only. The class of
such a pair is then at most its linked records and, of those not linked, the fewer in the class of q1 and in that of q2: each of them may
have the pair, and no other. That is a bound from above, so a class below k is below k for this attacker; of records that the
files do not link nothing is said. A record counts as exposed where its class in either release alone was large enough.

Differencing. What only one of two releases shows (as multisets of rows over the columns both show) are the persons who joined, left or
changed in between: they have to satisfy each threat alone (DESIGN, Across releases). Two releases of one source have no such persons.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from privrelease.audit.comparison.combine import NO_COLUMN, earlier_check, named, set_aside, together
from privrelease.audit.document.previous_releases import ComparedRelease
from privrelease.audit.document.visibility import count
from privrelease.disclosure.classes.class_sizes import ClassSizes, MatchSizes
from privrelease.disclosure.risk.prosecutor import prosecutor_verdict
from privrelease.engine.protocol.release_pairs import LinkedPersons
from privrelease.errors import PrivreleaseError
from privrelease.findings import pluralise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.audit.comparison.combine import PreviousReleaseFindings
    from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases
    from privrelease.audit.document.model import CheckResult, Figure
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import ReleasedFile
    from privrelease.engine.protocol.release_pairs import CombinedClasses, Links
    from privrelease.plan.model import ThreatPlan

__all__ = ["MOST_PAIRS", "beside_microdata"]

#: Pairs of rows that are looked at for links through suppressed cells.
MOST_PAIRS: Final = 2_000_000

_INTERSECT, _DIFFERENCE = "AUDIT-EARLIER-INTERSECT", "AUDIT-EARLIER-DIFFERENCE"


@dataclass
class _Found:
    """What came of one pair of releases."""

    beside: ComparedRelease
    remaining: list[str] = field(default_factory=list)
    intersect: list[str] = field(default_factory=list)
    difference: list[str] = field(default_factory=list)


def beside_microdata(evidence: Evidence, earlier: EarlierReleases, engine: AuditEngine) -> PreviousReleaseFindings:
    """Compare the measured file with every earlier release."""
    if evidence.main is None:
        return together((), (), (), earlier)
    found = [_compared(evidence, evidence.main, one, engine) for one in earlier.releases]
    combined = [one for one in found if one.beside.looked in {"combined", "same_file"}]
    checks: tuple[CheckResult, ...] = ()
    if combined:
        names = named([one.beside.release for one in combined])
        same = [one.beside.release for one in combined if one.beside.looked == "same_file"]
        again = f"; {named(same)} holds the same" if same else ""
        intersect = [fault for one in found for fault in one.intersect]
        difference = [fault for one in found for fault in one.difference]
        checks = (
            earlier_check(_INTERSECT, intersect, f"classes stay large for who combines this release with {names}{again}"),
            earlier_check(_DIFFERENCE, difference, f"no small group of records is only in one of this release and {names}"),
        )
    return together([one.beside for one in found], checks, [text for one in found for text in one.remaining], earlier)


def _compared(evidence: Evidence, main: ReleasedFile, one: EarlierRelease, engine: AuditEngine) -> _Found:
    aside = set_aside(one, "microdata")
    if aside is not None:
        return _Found(*aside)
    if one.digests & {file.sha256 for file in evidence.files}:
        return _Found(ComparedRelease(release=one.name, run=one.run, looked="same_file"))
    try:
        first = engine.open_release(one.file, one.columns, marked=one.marked)
        return _combined(evidence, main, one, first, engine)
    except PrivreleaseError as error:
        if error.code == "D120":
            raise
        why = f"What {one.name} tells beside this release: its file could not be read ({error.code})."
        return _Found(ComparedRelease(release=one.name, run=one.run, looked="unreadable", note=error.code), remaining=[why])


def _combined(evidence: Evidence, main: ReleasedFile, one: EarlierRelease, first: ReleasedFile, engine: AuditEngine) -> _Found:
    types = dict(first.columns)
    links: Links | None = None
    by: Literal["source", "place", "columns"] | None = None
    shared: tuple[str, ...] = ()
    if one.run is None and evidence.usable and not any(types.get(column.name) is column.type for column in evidence.usable):
        why = f"What {one.name} tells beside this release: {NO_COLUMN}, so nothing was compared."
        return _Found(ComparedRelease(release=one.name, run=one.run, looked="unreadable", note=NO_COLUMN), remaining=[why])
    if _one_source(evidence, one):
        assert one.row_map is not None
        assert evidence.target.row_map is not None
        links, by = engine.links_by_maps(one.row_map, evidence.target.row_map), "source"
    else:
        alike = [column.name for column in evidence.usable if types.get(column.name) is column.type]
        shared = engine.same_coding(first, main, alike)
        links, by = _links(evidence, main, one, first, shared, engine)
    if links is None or by is None:
        what = "no column is written alike in both, so no record was linked" if first.n_rows else "its file holds no row"
        why = f"What {one.name} tells beside this release: {what}."
        return _Found(ComparedRelease(release=one.name, run=one.run, looked="nothing_shared"), remaining=[why])
    figures: dict[str, Figure] = {}
    found = _Found(ComparedRelease(release=one.name, run=one.run, looked="combined", linked_by=by, linked=count(links.pairs)))
    persons = _persons(evidence, one, by)
    what = "persons" if persons is not None or evidence.one_each else "records"
    max_rows = _rows_of_one(evidence)
    fewer = "records" if evidence.plan.unit is None else "persons"
    for threat in evidence.plan.threats:
        before = [name for name in threat.columns if name in types]
        if not before or not evidence.measurable(threat.columns):
            continue
        classes = engine.combined_classes(first, main, links, before, threat.columns, persons, unlinked=by == "columns")
        most = 1 if persons is not None else max_rows[1]
        exposed, faults = _exposed(threat, classes, certain=by != "columns", most=most)
        figures[f"exposed.{threat.name}"] = count(exposed)
        found.intersect += [f"with {one.name}, threat {threat.name}: {fault.format(what=what)}" for fault in faults]
        if by != "source":
            few = f"fewer than {threat.thresholds.k} {fewer}"
            more = _differences(threat, first, main, shared, engine, max_rows)
            figures |= {f"{name}.{threat.name}": count(number) for name, number in more.items()}
            found.difference += [
                f"{pluralise(number, f'class of {few} is', f'classes of {few} are')} {_SIDES[name].format(one.name)}, "
                f"by threat {threat.name}"
                for name, number in more.items()
                if number
            ]
    if by == "columns":
        found.remaining.append(
            f"Whether an attacker can link more records of {one.name} with this release than the files do by what both show"
            + ("." if links.complete else ", also through suppressed cells: there were too many pairs to look at.")
        )
    found.beside = found.beside.model_copy(update={"figures": figures})
    return found


_SIDES = {"joined": "in this release and not in {}", "left": "in {} and not in this release"}


def _one_source(evidence: Evidence, one: EarlierRelease) -> bool:
    """Whether both releases lead to the same rows of the same source."""
    target = evidence.target
    ours = () if target.internal is None else target.internal.inputs
    return one.row_map is not None and target.row_map is not None and evidence.sound_map and bool(ours) and ours == one.inputs


def _links(
    evidence: Evidence,
    main: ReleasedFile,
    one: EarlierRelease,
    first: ReleasedFile,
    shared: Sequence[str],
    engine: AuditEngine,
) -> tuple[Links | None, Literal["place", "columns"] | None]:
    if one.order == evidence.plan.order == "source" and first.n_rows == main.n_rows:
        return engine.links_by_place(first, main), "place"
    if not shared:
        return None, None
    lossy = one.lossy | (set(evidence.plan.quasi_identifiers) if evidence.plan.suppress is not None else set())
    exact = [name for name in shared if name not in lossy]
    loose = [name for name in shared if name in lossy]
    return engine.links_by_columns(first, main, exact, loose, MOST_PAIRS), "columns"


def _persons(evidence: Evidence, one: EarlierRelease, by: str) -> LinkedPersons | None:
    """Where to find the persons, if some person may have several rows and both releases lead to the source."""
    unit, source, row_map = evidence.plan.unit, evidence.source, evidence.target.row_map
    if by != "source" or unit is None or evidence.one_each or source is None or row_map is None or one.row_map is None:
        return None
    return LinkedPersons(source, one.row_map, row_map, unit.column)


def _exposed(threat: ThreatPlan, classes: CombinedClasses, *, certain: bool, most: int | None = 1) -> tuple[int, list[str]]:
    """Count records whose class is large enough in either release alone and not for who combines both; say which limits that breaks.

    ``most``: rows of one person, where ``classes`` count rows: they are then of as few persons as they can be, if combining took any away.
    """
    there = ~classes.residual
    sizes = classes.linked.copy()
    if not certain:
        sizes += np.minimum(classes.unlinked_first, classes.unlinked_second)
    limits, k = threat.thresholds, threat.thresholds.k
    if most != 1:
        smaller = sizes < np.minimum(classes.first, classes.second)
        sizes = np.where(smaller, _persons_at_least(sizes, most), sizes)
    small = there & (sizes < k) & (classes.first >= k) & (classes.second >= k)
    exposed = int(classes.linked[small].sum())
    faults = []
    if limits.highest is not None and exposed:
        smallest = int(sizes[small].min())
        faults.append(f"{exposed} {{what}} are in classes below {k} (smallest {smallest}) that neither release has alone")
    if certain and there.any():
        linked = classes.linked[there]
        together = prosecutor_verdict(ClassSizes.from_counts(linked), limits)
        alone = {
            judged.measure
            for side in (classes.first, classes.second)
            for judged in prosecutor_verdict(MatchSizes.of(side[there], linked), limits).failures
        }
        faults += [
            f"{judged.measure} is {judged.value}, above {judged.limit}, for who combines both"
            for judged in together.failures
            if judged.measure != "highest_risk" and judged.measure not in alone
        ]
    return exposed, faults


def _rows_of_one(evidence: Evidence) -> tuple[int | None, int | None]:
    """The most rows of one person in this release and in an earlier one; None: any number, for all that is known.

    Here the source tells, a row that names nobody being anybody's; an earlier source is gone, and the most that the policy allows stands for
    it where that is more.
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
    engine: AuditEngine,
    rows_of_one: tuple[int | None, int | None],
) -> dict[str, int]:
    """Classes that may be of fewer than k persons, by what the threat knows, and that only one of the two releases has.

    Which rows of a multiset are the ones more cannot be told, nor whose they are: n rows are of at least n / m persons, of whom none has more
    than m.
    """
    known = [name for name in threat.columns if name in shared]
    if threat.thresholds.k <= 1 or not known:
        return {}
    left, joined = engine.only_in_one(first, main, shared, known)
    sides = zip(("joined", "left"), (joined, left), rows_of_one, strict=True)
    return {name: int(np.count_nonzero(_persons_at_least(sizes, most) < threat.thresholds.k)) for name, sizes, most in sides}


def _persons_at_least(rows: NDArray[np.int64], most: int | None) -> NDArray[np.int64]:
    return np.ones_like(rows) if most is None else -(-rows // most)
