"""Checks of rows: none lost, none doubled, none removed but residual ones, sorted by what they show."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, absent, failed, not_asked, nothing_to_look_at, passed, unevaluated, warned
from privrelease.audit.document.visibility import count
from privrelease.audit.microdata.integrity.cells import cells_lost
from privrelease.audit.microdata.linkage import naming_columns
from privrelease.findings import pluralise
from privrelease.plan.microdata.links import household_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.plan.model import ThreatPlan, UnitPlan

__all__ = [
    "claims_agree",
    "most_droppable",
    "no_small_residual",
    "order_says_nothing",
    "persons_counted",
    "row_map_sound",
    "rows_add_up",
    "rows_left_residual",
]

_NO_MAP = "there is no row map: nothing leads back to the source"
_ONLY_RESIDUAL = "no row of the source is missing but those that the residual rule allows"
_NO_SOURCE = "the source was not measured"


def row_map_sound(evidence: Evidence) -> CheckOutcome:
    """The row map gives every released row one source row of its own, within the source."""
    if evidence.row_map_refused is not None:
        return failed(f"the row map cannot be read ({evidence.row_map_refused})")
    if evidence.target.row_map is None:
        return absent(_NO_MAP)
    faults = evidence.row_map
    if faults is None:
        return unevaluated("no file can be read")
    if evidence.sound_map:
        return passed("every released row leads to a source row of its own")
    found = (
        ("entries lead outside the source or the release", faults.out_of_range),
        ("source rows are led to twice", faults.sources_twice),
        ("released rows are named twice", faults.outputs_twice),
        ("released rows lead nowhere", faults.outputs_unmapped),
    )
    return failed("; ".join(f"{amount} {what}" for what, amount in found if amount))


def persons_counted(evidence: Evidence) -> CheckOutcome:
    """Check that every row has a person where one is declared, none has more rows than declared, and released rows could be led
    to theirs.

    Where none is, no pseudonym occurs in several rows: they would be one person's, and each was counted as a person; nor does a direct
    identifier of the source, unless the policy says that rows are persons: then nothing is asked. Without the source no one can say how many
    persons stand behind rows, unless each has one.
    """
    unit, persons = evidence.plan.unit, evidence.persons
    if unit is None:
        return _nobody_named_twice(evidence)
    if persons is None:
        return _without_source(evidence, unit)
    if persons.missing:
        return failed(
            f"{pluralise(persons.missing, 'row of the source has', 'rows of the source have')} no person",
            count(persons.missing),
            count(0),
        )
    if unit.max_rows is not None and persons.most_rows > unit.max_rows:
        return failed(f"a person has {persons.most_rows} rows", count(persons.most_rows), count(unit.max_rows))
    if persons.most_rows > 1 and evidence.person_after is None:
        return unevaluated("some person has several rows, and released rows cannot be led to their persons")
    return _named_across(evidence) or passed("classes count persons, not rows")


def _without_source(evidence: Evidence, unit: UnitPlan) -> CheckOutcome:
    if evidence.person_after is not None:
        return passed("persons are counted by the file's own column")
    if unit.max_rows == 1:
        return passed("a person has one row, as the policy says: rows are persons")
    return nothing_to_look_at("rows were counted, and how many persons they are cannot be known without the source")


def _nobody_named_twice(evidence: Evidence) -> CheckOutcome:
    if naming_columns(evidence.plan) and evidence.repeats is None:
        return unevaluated("no file can be read")
    households = household_columns(evidence.plan) if evidence.plan.rows_are_persons else ()
    for found in evidence.repeats or ():
        if found.repeated and found.column not in households:
            message = (
                f"pseudonyms of {found.column} bring rows together ({found.repeated} occur in several rows), "
                "and no person is declared: rows were counted as persons"
            )
            return failed(message, count(found.repeated), count(0))
    if evidence.plan.rows_are_persons:
        return not_asked("the policy says that every row is a person of its own")
    for name, repeated in evidence.unnamed:
        message = f"{pluralise(repeated, 'value')} of the direct identifier {name} {'occurs' if repeated == 1 else 'occur'} in several rows of the source, and no person is declared: rows were counted as persons"
        return failed(message, count(repeated), count(0))
    return passed("no person is declared: every row counts as a person of its own")


def _named_across(evidence: Evidence) -> CheckOutcome | None:
    """Warn of a direct identifier that appears with several persons: it may be the person, and the declared unit not.

    Not of one of which the policy says whom it links, or that is suspected of linking persons: a check of its own tells.
    """
    unit, persons = evidence.plan.unit, evidence.persons
    if unit is None or persons is None or persons.most_rows > 1:
        return None
    suspected = () if evidence.links is None else tuple(name for name, _ in evidence.links.suspected)
    for found in evidence.repeats or ():
        said = evidence.plan.source.column(found.column).links is not None or found.column in suspected
        if found.direct and found.repeated and found.column != unit.column and not said:
            message = f"{found.repeated} pseudonyms of {found.column} occur with several persons: is {unit.column} the person?"
            return warned(message, count(found.repeated))
    return None


def rows_add_up(evidence: Evidence) -> CheckOutcome:
    """Released rows are the source's rows less those that the run says it dropped; in every file."""
    source, main, internal = evidence.source, evidence.main, evidence.target.internal
    if evidence.target.without_source:
        return absent(_NO_SOURCE)
    if source is None or main is None:
        return unevaluated("no file can be read")
    if internal is None and evidence.left is None and main.n_rows < source.n_rows:
        return absent("the file has fewer rows than the source, and nothing says which left")
    claimed = 0 if internal is None else internal.claims.dropped_rows
    unexplained = 0 if evidence.left is None else evidence.left.rows
    expected = source.n_rows - (claimed if internal is not None else unexplained)
    for file in evidence.files:
        if file.released is not None and file.released.n_rows != expected:
            return failed(
                f"{file.sink.label} has {pluralise(file.released.n_rows, 'row')}, not the {expected} that the source leaves",
                count(file.released.n_rows),
                count(expected),
            )
    return passed("no row was lost or added beyond those that the run says it dropped")


def _residual_rules(threat: ThreatPlan) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the sets of columns over which a residual group may have been dropped, each with the size that a group needs to stay."""
    yield threat.columns, threat.thresholds.k
    limit = threat.subsets
    if limit is not None:
        for chosen in combinations(threat.columns, min(limit.up_to, len(threat.columns))):
            yield chosen, limit.k


def most_droppable(evidence: Evidence) -> int | None:
    """Most records (persons where rows are persons') that the residual rule can explain as dropped; None: not measurable.

    A record is dropped where leaving it with every protected cell missing would make a residual group of 1..k-1 records of some threat, or
    of a combination of columns that a threat protects. Put back together, m dropped records would join the residual group that is there: that
    group is none or at least k already, so only where it is none, and m below k, had they to be suppressed. Hence the
    largest k - 1 of these.
    """
    step = evidence.plan.suppress
    if step is None or step.residual == "keep":
        return 0
    most = 0
    for threat in evidence.plan.threats:
        for columns, k in _residual_rules(threat):
            residual = evidence.residual(columns)
            if residual is None:
                return None
            most = max(most, k - 1) if residual == 0 else most
    return most


def rows_left_residual(evidence: Evidence) -> CheckOutcome:
    """No more rows are missing from the release than the residual rule can explain."""
    left = evidence.left
    if left is None:
        return absent(_NO_MAP) if evidence.target.row_map is None else unevaluated("the row map is not sound")
    dropped = left.rows if left.persons is None else left.persons
    most = most_droppable(evidence)
    if not left.rows:
        # in the same words and figures as where some were dropped: recipients read this, and must not learn which it is
        return passed(_ONLY_RESIDUAL) if most is None else passed(_ONLY_RESIDUAL, count(0), count(most))
    if most is None:
        return unevaluated("a threat's columns cannot be measured")
    what = "rows" if left.persons is None else "persons' rows"
    if dropped > most:
        return failed(f"{dropped} {what} are missing; the residual rule explains at most {most}", count(dropped), count(most))
    return passed(_ONLY_RESIDUAL, count(dropped), count(most))


def no_small_residual(evidence: Evidence) -> CheckOutcome:
    """Records with every column of a threat missing are none or at least k: a smaller group is found by elimination."""
    step = evidence.plan.suppress
    small: list[str] = []
    for threat in evidence.plan.threats:
        residual = evidence.residual(threat.columns)
        if residual is None:
            return unevaluated("a threat's columns cannot be measured")
        if 0 < residual < threat.thresholds.k:
            small.append(f"{threat.name}: {residual} < {threat.thresholds.k}")
    if not small:
        return passed("no small group of records is left whose every column is missing")
    message = f"records whose every column is missing can be found by elimination ({'; '.join(small)})"
    return failed(message) if step is not None and step.residual == "drop" else warned(message)


def order_says_nothing(evidence: Evidence) -> CheckOutcome:
    """Rows are sorted by the released values, so their order discloses nothing of the source."""
    if evidence.plan.order == "source":
        return warned("rows are in the order of the source, as the policy says: their place can identify and align them")
    if evidence.order_breaks is None:
        return unevaluated("no file with the planned columns can be read")
    if evidence.order_breaks:
        return failed(
            f"{pluralise(evidence.order_breaks, 'row stands', 'rows stand')} before a smaller one",
            count(evidence.order_breaks),
            count(0),
        )
    return passed("rows are sorted by the released values")


def claims_agree(evidence: Evidence) -> CheckOutcome:
    """The counts that the run states of itself are those found."""
    internal, source, main = evidence.target.internal, evidence.source, evidence.main
    if internal is None:
        return absent("the run states no counts")
    if source is None or main is None:
        return unevaluated("no file can be read")
    claims = internal.claims
    wrong = ["source_rows"] if claims.source_rows != source.n_rows else []
    wrong += ["released_rows"] if claims.released_rows != main.n_rows else []
    if evidence.left is not None:
        wrong += ["dropped_rows"] if claims.dropped_rows != evidence.left.rows else []
    if evidence.changes is not None:
        nulled = {change.column: change.nulled for change in evidence.changes}
        columns = sorted({*evidence.plan.quasi_identifiers, *claims.suppressed})
        wrong += [f"suppressed.{name}" for name in columns if claims.suppressed.get(name, 0) != nulled.get(name, 0)]
    wrong += _released_point(evidence)
    if wrong:
        return failed(f"the run states other counts than found: {', '.join(wrong)}")
    return passed("the counts that the run states are those found")


def _released_point(evidence: Evidence) -> list[str]:
    """Of a frontier that the run states, what differs at the point that it released."""
    stated = None if evidence.target.internal is None else evidence.target.internal.frontier
    lost = cells_lost(evidence)
    if stated is None or lost is None or evidence.left is None:
        return []
    found = sum(nulled + dropped for nulled, dropped in lost.values()), evidence.left.rows
    released = [(point.cells_lost, point.rows_dropped) for point in stated.points if point.chosen]
    return [] if released == [found] else ["frontier"]
