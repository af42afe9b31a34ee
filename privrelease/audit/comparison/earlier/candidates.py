"""Releases of one source together: whom an attacker can still take for the target once the files are combined.

The attacker knows the columns of a threat of one target, in whichever release shows them, and has every file. He considers each
one-to-one assignment of records that agrees on the pseudonyms and on the columns that the files share; a suppressed cell shows nothing,
so it agrees with anything. He sees which records of a file are like the target's in the columns that he knows; of these, a record remains
where some assignment has it together with such a record of every other file.

Values that a release writes coarser, and another otherwise, are not compared as texts: ages in tens and ages in sevens agree wherever they overlap, and an
attacker who compares them by containment may bring more records together than equal texts do. Two such releases are joined by their source rows, as by
an attacker who brings all of them together: a class is then that of (label in the first, label in the second).

The audit knows the true assignment from the row maps. Every other one it uses comes from exchanging records of one release among persons
with whose other records they agree: for two releases this gives all assignments (:mod:`privrelease.disclosure.assignments`); for more of
them, those that differ from the truth in one release, and exchanges of records that agree with the same ones. So no more records
are counted than really remain, and where the pairs are too many, fewer are.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.audit.document.visibility import count
from privrelease.audit.microdata.recoding import recoded_columns
from privrelease.disclosure.assignments import pairs_in_some_assignment
from privrelease.disclosure.classes.class_sizes import MatchSizes
from privrelease.disclosure.risk.prosecutor import prosecutor_verdict
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.assignment_protocol import JoinedUnit, SharedColumn
from privrelease.relational.treatments import CellRelation
from privrelease.texts.sentences import Number, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.audit.comparison.previous_release import EarlierRelease
    from privrelease.audit.document.model import Figure
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.assignment_protocol import Candidates, JoinedReleases
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import ReleasedFile
    from privrelease.plan.model import ThreatPlan
    from privrelease.texts.sentences import Said

__all__ = ["Joined", "Knowledge", "Opened", "beside_source", "by_source", "knowledge", "linked_to_new", "shared_columns"]

#: Pairs of types that are looked at for other assignments than the true one.
MOST_PAIRS: Final = 300_000


@dataclass(frozen=True, slots=True)
class Opened:
    """An earlier release of the present source, and its opened file. ``apart``: columns that it writes otherwise than the present release."""

    release: EarlierRelease
    file: ReleasedFile
    apart: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Columns that an attacker knows, wherever they are shown, and what is tolerated. ``name``: of the threat.

    ``otherwise``: a release alone is not judged by its classes but by what matches a missing cell or by a population, so that a class
    below k is none too small; combined, it is where the combination takes records away from it.
    """

    name: str
    columns: tuple[str, ...]
    limits: Thresholds
    knows_rows: bool = False
    otherwise: bool = False


@dataclass
class Joined:
    """Result for releases taken together: findings, and figures by threat."""

    faults: list[Said] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)


def knowledge(threats: Sequence[ThreatPlan], earlier: Sequence[EarlierRelease]) -> tuple[Knowledge, ...]:
    """Return what attackers know: of a threat of one name the columns of all releases, each at its own limit.

    Where the releases have no threat in common, nothing says that their attackers are two persons: each knows the columns of all.
    """
    theirs: dict[str, tuple[tuple[str, ...], Thresholds]] = {}
    for one in earlier:
        for threat in one.threats:
            columns, limits = theirs.get(threat.name, ((), Thresholds()))
            highest = min((risk for risk in (limits.highest, threat.highest) if risk is not None), default=None)
            theirs[threat.name] = (tuple(dict.fromkeys((*columns, *threat.columns))), Thresholds(highest=highest))
    ours = {threat.name: (*threat.columns, *threat.absent) for threat in threats}
    apart = not ours.keys() & theirs.keys()
    every_ours = tuple(column for columns in ours.values() for column in columns)
    every_theirs = tuple(column for columns, _ in theirs.values() for column in columns)
    found = [
        Knowledge(
            threat.name,
            tuple(dict.fromkeys((*ours[threat.name], *(every_theirs if apart else theirs.get(threat.name, ((), None))[0])))),
            threat.thresholds,
            threat.knows_rows,
            threat.missing == "wildcard" or threat.attacker != "prosecutor",
        )
        for threat in threats
    ]
    found += [
        Knowledge(name, tuple(dict.fromkeys((*columns, *(every_ours if apart else ())))), limits)
        for name, (columns, limits) in theirs.items()
        if name not in ours and limits.highest is not None
    ]
    return tuple(one for one in found if one.columns)


def beside_source(
    evidence: Evidence, main: ReleasedFile, one: EarlierRelease, file: ReleasedFile, engine: MeasuringEngine
) -> Opened:
    """Return an earlier release of the present source with the columns that both keep as they are and in which rows that both row maps lead to one
    source row do not agree: by other aliases, say.
    """
    theirs = {name: kind for name, kind in file.columns if name not in one.pseudonyms}
    columns = [
        column.name
        for column in evidence.usable
        if column.treatment.relation.own_values and theirs.get(column.name) is column.type and column.name not in one.recoded
    ]
    assert one.row_map is not None
    assert evidence.target.row_map is not None
    found = engine.differing((file, main), (one.row_map, evidence.target.row_map), columns)
    return Opened(one, file, frozenset(name for name, column in zip(columns, found, strict=True) if column.values))


@dataclass(frozen=True, slots=True)
class _Side:
    """A release among several: its file and row map, columns that are pseudonyms, those of which cells may have been suppressed, and those whose
    values represent others.
    """

    file: ReleasedFile
    row_map: Path
    pseudonyms: frozenset[str]
    lossy: frozenset[str]
    order: str
    columns: frozenset[str]
    recoded: frozenset[str]


def _sides(evidence: Evidence, main: ReleasedFile, earlier: Sequence[Opened]) -> tuple[_Side, ...]:
    plan, row_map = evidence.plan, evidence.target.row_map
    found = []
    for one in earlier:
        of = one.release
        assert of.row_map is not None
        columns = frozenset(name for name, _ in one.file.columns)
        found.append(_Side(one.file, of.row_map, of.pseudonyms, of.lossy, of.order, columns, one.apart | {*of.recoded}))
    assert row_map is not None
    ours = frozenset(column.name for column in evidence.usable if column.treatment.relation is CellRelation.KEYED_TOKEN)
    lossy = plan.lossy
    usable = frozenset(column.name for column in evidence.usable)
    recoded = frozenset(recoded_columns(evidence.usable))
    return (*found, _Side(main, row_map, ours, lossy, plan.order, usable, recoded))


def shared_columns(
    evidence: Evidence, main: ReleasedFile, earlier: Sequence[Opened], engine: MeasuringEngine
) -> tuple[SharedColumn, ...]:
    """Return the columns that at least two of the releases show alike; the new one is the last of them.

    Columns that are released as they are, or written alike, under one name; pseudonyms of one column and key; the place of a row, where releases keep the
    order of the source, or write a column coarser in different ways.
    """
    sides = _sides(evidence, main, earlier)
    found = []
    apart: list[tuple[int, ...]] = []
    ordered = tuple(place for place, side in enumerate(sides) if side.order == "source")
    if len(ordered) > 1:
        found.append(SharedColumn(None, ordered))
    for name in sorted(frozenset[str]().union(*(side.columns for side in sides))):
        there = [place for place, side in enumerate(sides) if name in side.columns]
        tokens = [place for place in there if name in sides[place].pseudonyms]
        plain = [place for place in there if place not in tokens]
        alike = [plain]
        if any(name in sides[place].recoded for place in plain):
            alike = _one_key(name, plain, sides, engine)
            if len(alike) > 1 and tuple(plain) not in apart:
                apart.append(tuple(plain))
        found += [
            SharedColumn(name, tuple(group), not any(name in sides[place].lossy for place in group))
            for group in (*alike, *_one_key(name, tokens, sides, engine))
            if len(group) > 1
        ]
    found += [SharedColumn(None, group) for group in apart]
    return tuple(found)


def _one_key(name: str, places: Sequence[int], sides: Sequence[_Side], engine: MeasuringEngine) -> list[list[int]]:
    """Group releases by the key of a pseudonym, or by how they write a column: under one key, one value has one pseudonym."""
    groups: list[list[int]] = []
    for place in places:
        for group in groups:
            one, other = sides[group[0]], sides[place]
            (found,) = engine.differing((one.file, other.file), (one.row_map, other.row_map), [name])
            if not found.values:
                group.append(place)
                break
        else:
            groups.append([place])
    return groups


def linked_to_new(shared: Sequence[SharedColumn], last: int) -> tuple[int, ...]:
    """Return the earlier releases that shared columns connect with the last one, directly or by others between them."""
    linked = {last}
    for _ in range(last + 1):
        linked |= {side for one in shared if linked & set(one.sides) for side in one.sides}
    return tuple(sorted(linked - {last}))


def by_source(
    evidence: Evidence,
    main: ReleasedFile,
    earlier: Sequence[Opened],
    shared: Sequence[SharedColumn],
    engine: MeasuringEngine,
) -> Joined:
    """Join releases of one source, the new one last; say for each attacker whom they single out only together."""
    unit, sides = _unit(evidence, earlier), _sides(evidence, main, earlier)
    joined = engine.join_releases([side.file for side in sides], [side.row_map for side in sides], shared, unit)
    vectors = _assignments(joined, engine)
    what = "persons" if unit is not None or evidence.one_each else "records"
    found = Joined()
    for one in knowledge(evidence.plan.threats, [other.release for other in earlier]):
        known = [[name for name in one.columns if name in side.columns] for side in sides]
        if not any(known):
            continue
        remain = engine.candidates(joined, vectors, known, knows_rows=one.knows_rows)
        exposed, faults = _judged(one, remain, what)
        found.figures[f"exposed.{one.name}"] = count(exposed)
        found.faults += [say("threat_fault", threat=one.name, fault=fault) for fault in faults]
    return found


def _unit(evidence: Evidence, earlier: Sequence[Opened]) -> JoinedUnit | None:
    """Return the unit if some person may have several rows; they are together where rows stay linkable or have a pseudonym."""
    unit, source = evidence.plan.unit, evidence.source
    if unit is None or source is None or evidence.one_each:
        return None
    together = evidence.linkable or any(one.release.pseudonyms for one in earlier)
    return JoinedUnit(source, unit.column, together)


def _assignments(joined: JoinedReleases, engine: MeasuringEngine) -> NDArray[np.int64]:
    """Return the types of a record in all releases, in the true assignment and in others."""
    two, exact = len(joined.files) == 2, all(one.exact for one in joined.shared)
    if (joined.unit is not None and joined.unit.together) or (two and exact):
        return joined.vectors
    found = [joined.vectors]
    for side in range(1 if two else len(joined.files)):
        agreed = engine.agreement(joined, side, MOST_PAIRS)
        if agreed is not None:
            pairs = agreed.pairs[pairs_in_some_assignment(agreed.first, agreed.second, agreed.pairs)]
            found.append(np.insert(agreed.rest[pairs[:, 1]], side, pairs[:, 0], axis=1))
    return np.unique(np.concatenate(found), axis=0)


def _judged(attacker: Knowledge, remain: Candidates, what: str) -> tuple[int, list[Said]]:
    """Count targets that some release has enough records for alone and not together; say which limits are broken only together."""
    limits = attacker.limits
    there, k = ~remain.lost, limits.k
    enough = remain.candidates < remain.alone if attacker.otherwise else remain.alone >= k
    small = (remain.candidates < k) & enough
    exposed = there & small.any(axis=1)
    number = int(remain.persons[exposed].sum())
    faults = []
    if limits.highest is not None and number:
        smallest = int(np.where(small, remain.candidates, np.iinfo(np.int64).max)[exposed].min())
        faults.append(say("singled_out", who=say(f"n_{what}", n=number), k=k, smallest=smallest))
    if there.any():
        records = remain.persons[there]
        rest = Thresholds(average=limits.average, at_risk=limits.at_risk)
        both = prosecutor_verdict(MatchSizes.of(remain.candidates[there, -1], records), rest)
        alone = prosecutor_verdict(MatchSizes.of(remain.alone[there, -1], records), rest)
        before = {judged.measure for judged in alone.failures}
        faults += [
            say(
                "measure_them",
                measure=say(f"measure_{judged.measure}"),
                value=Number(str(judged.value)),
                limit=Number(str(judged.limit)),
            )
            for judged in both.failures
            if judged.measure not in before
        ]
    return number, faults
