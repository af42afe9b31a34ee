"""Checks of columns that bring rows of several persons together: households are as many as the threats demand, and none is passed over in silence."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, failed, nothing_to_look_at, passed
from privrelease.audit.checks.findings import per_cent
from privrelease.audit.document.model import Outcome
from privrelease.audit.figure_model import Figure
from privrelease.plan.microdata.links import declared_households, household_columns, possible_links
from privrelease.texts.sentences import listed, say, share_of

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.households import HouseholdRisk
    from privrelease.texts.sentences import Said

__all__ = ["households_declared", "households_hidden", "households_unasked", "links_declared", "links_possible"]


def households_declared(evidence: Evidence) -> bool:
    """Return True if the policy says of a column that it links the persons of a household."""
    return bool(declared_households(evidence.plan))


def households_unasked(evidence: Evidence) -> Said | None:
    """Say why households need not be judged, None where they must."""
    if not household_columns(evidence.plan):
        return say("no_household")
    if all(threat.thresholds.highest is None for threat in evidence.plan.threats):
        return say("no_highest")
    return None


def households_hidden(evidence: Evidence) -> CheckOutcome:
    """As many households share each composition as the highest risk of every threat demands: 1/f <= limit, compared as fractions."""
    limits = [threat for threat in evidence.plan.threats if threat.thresholds.highest is not None]
    judged = () if evidence.links is None else evidence.links.households
    if evidence.links is None or len(judged) < len(evidence.plan.threats) * len(household_columns(evidence.plan)):
        return nothing_to_look_at(_why_not(evidence))
    faults = [(one, _excess(one)) for one in judged if one.threat in limits]
    worst, excess = max(faults, key=lambda pair: pair[1])
    if excess > 1:
        return _found(worst)
    alone = [one for one in judged if one.threat in limits and _alone(one) * one.threat.thresholds.k > 1]
    if alone:
        return _found_alone(max(alone, key=_alone))
    return passed(say("households"))


def _alone(one: HouseholdRisk) -> Fraction:
    """The highest risk of a person without a number, among those without one."""
    smallest = one.found.unnumbered.smallest
    return Fraction(0) if smallest is None else Fraction(1, smallest)


def _found_alone(one: HouseholdRisk) -> CheckOutcome:
    limit, sizes, k = one.threat.thresholds.highest or Fraction(1), one.found.unnumbered, one.threat.thresholds.k
    persons = say("n_persons", n=sizes.records_below(k))
    message = say("households_alone", persons=persons, all=sizes.n_records, column=one.column, threat=one.threat.name, k=k)
    return failed(message, Figure.of(_alone(one), "share"), Figure.of(limit, "share"))


def _why_not(evidence: Evidence) -> Said:
    if evidence.main is None:
        return say("no_file")
    asked = (*household_columns(evidence.plan), *possible_links(evidence.plan), *evidence.plan.quasi_identifiers)
    return say("no_members") if evidence.measurable(asked) else say("lacks_columns")


def _highest(one: HouseholdRisk) -> Fraction:
    smallest = one.found.sizes.smallest
    return Fraction(0) if smallest is None else Fraction(1, smallest)


def _excess(one: HouseholdRisk) -> Fraction:
    return _highest(one) / Fraction(one.threat.thresholds.highest or 1)


def _found(one: HouseholdRisk) -> CheckOutcome:
    limit, sizes = one.threat.thresholds.highest or Fraction(1), one.found.sizes
    k = one.threat.thresholds.k
    message = say(
        "households_found",
        threat=one.threat.name,
        households=say("n_households", n=sizes.records_below(k)),
        all=sizes.n_records,
        column=one.column,
        k=k,
        risk=share_of(per_cent(_highest(one))),
        limit=share_of(per_cent(limit)),
    )
    return failed(message, Figure.of(_highest(one), "share"), Figure.of(limit, "share"))


def links_possible(evidence: Evidence) -> bool:
    """Return True if a released column may link persons and the policy does not say."""
    return bool(possible_links(evidence.plan))


def links_declared(evidence: Evidence) -> CheckOutcome:
    """No column of which the policy says nothing has values that mostly belong to a few persons each; else a person decides."""
    links = evidence.links
    if links is None:
        return nothing_to_look_at(_why_not(evidence))
    if not links.suspected:
        return passed(say("links"))
    named = listed(say("counted_in", name=name, count=say("n_values", n=linked)) for name, linked in links.suspected)
    return CheckOutcome(Outcome.REVIEW, say("links_suspected", where=named))
