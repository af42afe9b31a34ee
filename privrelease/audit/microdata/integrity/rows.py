"""Checks of rows: none lost, none doubled, none removed but residual ones, sorted by what they show."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, absent, failed, not_asked, nothing_to_look_at, passed, unevaluated, warned
from privrelease.audit.document.visibility import count
from privrelease.audit.microdata.integrity.cells import cells_lost
from privrelease.audit.microdata.linkage import naming_columns
from privrelease.plan.microdata.links import household_columns
from privrelease.texts.sentences import listed, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.plan.model import ThreatPlan, UnitPlan
    from privrelease.texts.sentences import Said

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


def row_map_sound(evidence: Evidence) -> CheckOutcome:
    """The row map gives every released row one source row of its own, within the source."""
    if evidence.row_map_refused is not None:
        return failed(say("map_unreadable", code=evidence.row_map_refused))
    if evidence.target.row_map is None:
        return absent(say("no_map"))
    faults = evidence.row_map
    if faults is None:
        return unevaluated(say("no_file"))
    if evidence.sound_map:
        return passed(say("row_map"))
    found = (
        ("map_outside", faults.out_of_range),
        ("map_sources_twice", faults.sources_twice),
        ("map_outputs_twice", faults.outputs_twice),
        ("map_nowhere", faults.outputs_unmapped),
    )
    return failed(say("every", parts=listed((say(what, n=amount) for what, amount in found if amount), "semicolon")))


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
        return failed(say("persons_missing", n=persons.missing), count(persons.missing), count(0))
    if unit.max_rows is not None and persons.most_rows > unit.max_rows:
        return failed(say("person_rows", n=persons.most_rows), count(persons.most_rows), count(unit.max_rows))
    if persons.most_rows > 1 and evidence.person_after is None:
        return unevaluated(say("persons_unled"))
    return _named_across(evidence) or passed(say("persons"))


def _without_source(evidence: Evidence, unit: UnitPlan) -> CheckOutcome:
    if evidence.person_after is not None:
        return passed(say("persons_column"))
    if unit.max_rows == 1:
        return passed(say("persons_rows"))
    return nothing_to_look_at(say("persons_unknown"))


def _nobody_named_twice(evidence: Evidence) -> CheckOutcome:
    if naming_columns(evidence.plan) and evidence.repeats is None:
        return unevaluated(say("no_file"))
    households = household_columns(evidence.plan) if evidence.plan.rows_are_persons else ()
    for found in evidence.repeats or ():
        if found.repeated and found.column not in households:
            message = say("pseudonyms_repeat", column=found.column, n=found.repeated)
            return failed(message, count(found.repeated), count(0))
    if evidence.plan.rows_are_persons:
        return not_asked(say("persons_said"))
    for name, repeated in evidence.unnamed:
        return failed(say("direct_repeat", n=repeated, name=name), count(repeated), count(0))
    return passed(say("persons_none"))


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
            message = say("pseudonyms_across", n=found.repeated, column=found.column, unit=unit.column)
            return warned(message, count(found.repeated))
    return None


def rows_add_up(evidence: Evidence) -> CheckOutcome:
    """Released rows are the source's rows less those that the run says it dropped; in every file."""
    source, main, internal = evidence.source, evidence.main, evidence.target.internal
    if evidence.target.without_source:
        return absent(say("source_not_measured"))
    if source is None or main is None:
        return unevaluated(say("no_file"))
    if internal is None and evidence.left is None and main.n_rows < source.n_rows:
        return absent(say("fewer_rows"))
    claimed = 0 if internal is None else internal.claims.dropped_rows
    unexplained = 0 if evidence.left is None else evidence.left.rows
    expected = source.n_rows - (claimed if internal is not None else unexplained)
    for file in evidence.files:
        if file.released is not None and file.released.n_rows != expected:
            return failed(
                say("rows_differ", file=file.sink.label, rows=say("n_rows", n=file.released.n_rows), expected=expected),
                count(file.released.n_rows),
                count(expected),
            )
    return passed(say("rows"))


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
        return absent(say("no_map")) if evidence.target.row_map is None else unevaluated(say("map_unsound"))
    dropped = left.rows if left.persons is None else left.persons
    most, only = most_droppable(evidence), say("residual_only")
    if not left.rows:
        # in the same words and figures as where some were dropped: recipients read this, and must not learn which it is
        return passed(only) if most is None else passed(only, count(0), count(most))
    if most is None:
        return unevaluated(say("columns_unmeasured"))
    if dropped > most:
        words = "rows_missing" if left.persons is None else "persons_rows_missing"
        return failed(say(words, n=dropped, most=most), count(dropped), count(most))
    return passed(only, count(dropped), count(most))


def no_small_residual(evidence: Evidence) -> CheckOutcome:
    """Records with every column of a threat missing are none or at least k: a smaller group is found by elimination."""
    step = evidence.plan.suppress
    small: list[Said] = []
    for threat in evidence.plan.threats:
        residual = evidence.residual(threat.columns)
        if residual is None:
            return unevaluated(say("columns_unmeasured"))
        if 0 < residual < threat.thresholds.k:
            small.append(say("residual_of", threat=threat.name, n=residual, k=threat.thresholds.k))
    if not small:
        return passed(say("residual"))
    message = say("residual_small", where=listed(small, "semicolon"))
    return failed(message) if step is not None and step.residual == "drop" else warned(message)


def order_says_nothing(evidence: Evidence) -> CheckOutcome:
    """Rows are sorted by the released values, so their order discloses nothing of the source."""
    if evidence.plan.order == "source":
        return warned(say("order_source"))
    if evidence.order_breaks is None:
        return unevaluated(say("no_planned_file"))
    if evidence.order_breaks:
        return failed(
            say("unsorted", n=evidence.order_breaks),
            count(evidence.order_breaks),
            count(0),
        )
    return passed(say("order"))


def claims_agree(evidence: Evidence) -> CheckOutcome:
    """The counts that the run states of itself are those found."""
    internal, source, main = evidence.target.internal, evidence.source, evidence.main
    if internal is None:
        return absent(say("no_counts"))
    if source is None or main is None:
        return unevaluated(say("no_file"))
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
        return failed(say("claims_differ", names=listed(wrong)))
    return passed(say("claims"))


def _released_point(evidence: Evidence) -> list[str]:
    """Of a frontier that the run states, what differs at the point that it released."""
    stated = None if evidence.target.internal is None else evidence.target.internal.frontier
    lost = cells_lost(evidence)
    if stated is None or lost is None or evidence.left is None:
        return []
    found = sum(nulled + dropped for nulled, dropped in lost.values()), evidence.left.rows
    released = [(point.cells_lost, point.rows_dropped) for point in stated.points if point.chosen]
    return [] if released == [found] else ["frontier"]
