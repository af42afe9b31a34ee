"""Editions: what of an audit each kind of reader may see.

The recipient edition is made by one walk over the whole audit, so that a figure which a later section adds is withheld until its
visibility admits it. Anything that carries no visibility of its own and could disclose the source (reasons, findings, smallest
classes of single combinations, the input's digest, sections that are all internal) is left out altogether.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from privrelease.audit.document.attacks import for_recipients as attacks_for_recipients
from privrelease.audit.document.model import AuditResult, Figure, ThreatResult, Visibility, check_unmade
from privrelease.audit.document.previous_releases import for_recipients as earlier_for_recipients
from privrelease.audit.document.privacy import for_recipients
from privrelease.audit.document.sentences import both
from privrelease.audit.document.utility import for_recipients as utility_for_recipients

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.audit.document.synthetic import SyntheticFacts
    from privrelease.audit.document.utility import Measured, UtilityMeasures

__all__ = ["WITHHELD", "Edition", "for_edition", "is_withheld"]

#: The note of a figure that an edition may not show.
WITHHELD = "withheld"


class Edition(StrEnum):
    """``internal``: for the data-protection officer and the steward; ``recipient``: for whoever gets the data."""

    INTERNAL = "internal"
    RECIPIENT = "recipient"

    def admits(self, visibility: Visibility) -> bool:
        """Return whether something of that visibility may be shown.

        >>> Edition.RECIPIENT.admits(Visibility.INTERNAL), Edition.RECIPIENT.admits(Visibility.PUBLIC)
        (False, True)
        """
        return self is Edition.INTERNAL or visibility is not Visibility.INTERNAL


def for_edition(audit: AuditResult, edition: Edition) -> AuditResult:
    """Return the audit with everything removed that the edition may not show; still a valid ``audit.json``.

    A figure that is withheld has no value, no exact text and the note ``withheld``.
    """
    if edition is Edition.INTERNAL:
        return audit
    kept: AuditResult = _figures_withheld(audit, edition)
    worst = kept.decision.worst
    decision = {
        "reasons": (),
        "reasons_coded": None,
        **both("assessment_remaining", _remaining_for_recipients(audit, edition)),
        **_counts_for(audit, edition),
        "worst": None if worst is None or is_withheld(worst.figure) else worst,
    }
    return kept.model_copy(
        update={
            "decision": kept.decision.model_copy(update=decision),
            "identity": kept.identity.model_copy(update={"input_digest": None, "run": None}),
            "legal": kept.legal.model_copy(update={"stated": _legal_for_recipients(kept.legal.stated), "missing": ()}),
            "data": kept.data.model_copy(
                update={
                    "recipients": None,
                    "columns": tuple(column.model_copy(update={"domain": None}) for column in kept.data.columns),
                }
            ),
            "threats": tuple(_without_combinations(threat) for threat in kept.threats),
            "utility": None if kept.utility is None else kept.utility.model_copy(update={"bound": None}),
            "union": None if kept.union is None else _without_combinations(kept.union),
            "checks": tuple(
                check.model_copy(update={"file": None}) for check in kept.checks if edition.admits(check.visibility)
            ),
            "findings": (),
            "synthetic": _without_source(kept.synthetic),
            **_sections_for_recipients(audit, edition),
        }
    )


def _without_source(facts: SyntheticFacts | None) -> SyntheticFacts | None:
    """The model without what was read of the source, which has no noise."""
    return None if facts is None else facts.model_copy(update={"source": None})


def is_withheld(figure: Figure) -> bool:
    """Return whether an edition took the value of this figure away."""
    return figure.value is None and figure.note == WITHHELD


def _sections_for_recipients(audit: AuditResult, edition: Edition) -> dict[str, object]:
    """Of the sections, recipients get four. The claim of differential privacy: it was known before a row was read, or is released anyway.
    Rates of attacks, rounded, where neither successes nor failures were few; figures of utility in the same way, by cells that changed.
    Of earlier releases, whether this one holds together with them.
    """
    claim, earlier, attacks, measures = audit.statistics, audit.earlier, audit.attacks, audit.utility_measures
    return {
        "statistics": None if claim is None else _figures_withheld(for_recipients(claim), edition),
        "earlier": None if earlier is None else earlier_for_recipients(earlier),
        "attacks": None if attacks is None else attacks_for_recipients(_figures_withheld(attacks, edition)),
        "utility_measures": None
        if measures is None
        else _with_shifts_shown(_figures_withheld(utility_for_recipients(measures), edition)),
        **dict.fromkeys(("table", "sensitive", "quasi_identifiers", "waivers", "signoff", "since")),
    }


def _with_shifts_shown(measures: UtilityMeasures) -> UtilityMeasures:
    """Leave out columns of which no shift is shown: that they are listed would tell of a dropped row that no cell shows."""

    def hidden(figure: Measured) -> bool:
        return figure.rounded is None and is_withheld(figure.exact)

    found = measures.numbers
    columns = tuple(
        one
        for one in found.columns
        if not all(hidden(figure) for figure in (one.mean, one.il1s, *(each.shift for each in one.quantiles)))
    )
    il1s = None if found.il1s is None or hidden(found.il1s) else found.il1s
    return measures.model_copy(update={"numbers": found.model_copy(update={"columns": columns, "il1s": il1s})})


def _counts_for(audit: AuditResult, edition: Edition) -> dict[str, int]:
    """Count the checks that the edition shows. How many of the others hold would reveal of each whether it does, and so whether
    a figure that is withheld is above a limit that the policy states.
    """
    hidden = [check for check in audit.checks if not check.private and not edition.admits(check.visibility)]
    states = Counter(check.outcome.state for check in hidden)
    return {
        "checks_passed": audit.decision.checks_passed - states["holds"],
        "checks_total": audit.decision.checks_total - states["holds"] - states["does_not_hold"],
        "checks_not_made": audit.decision.checks_not_made - states["not_assessed"],
        "checks_not_asked": audit.decision.checks_not_asked - states["not_asked"],
    }


def _remaining_for_recipients(audit: AuditResult, edition: Edition) -> tuple[str, ...]:
    """Return what remains to assess, without texts that name other releases or checks that are not shown: those stay inside."""
    inside: set[str] = {check_unmade(check) for check in audit.checks if not edition.admits(check.visibility)}
    inside.update(() if audit.earlier is None else audit.earlier.remaining)
    return tuple(text for text in audit.decision.told_remaining if text not in inside)


def _legal_for_recipients(stated: Mapping[str, str | tuple[str, ...]]) -> dict[str, str | tuple[str, ...]]:
    """The impact assessment and the security measures stay with the controller."""
    kept_back = ("dpia", "legal.dpia", "security_measures", "legal.security_measures")
    return {name: value for name, value in stated.items() if not name.startswith(kept_back)}


def _without_combinations(threat: ThreatResult) -> ThreatResult:
    if threat.subsets is None:
        return threat
    return threat.model_copy(update={"subsets": threat.subsets.model_copy(update={"by_size": ()})})


def _figures_withheld(value: Any, edition: Edition) -> Any:  # noqa: ANN401 -- walks a model of any shape
    if isinstance(value, Figure):
        if edition.admits(value.visibility):
            return value
        return Figure(value=None, unit=value.unit, visibility=value.visibility, note=WITHHELD)
    if isinstance(value, BaseModel):
        fields = {name: _figures_withheld(getattr(value, name), edition) for name in type(value).model_fields}
        return value.model_copy(update=fields)
    if isinstance(value, tuple):
        return tuple(_figures_withheld(item, edition) for item in value)
    if isinstance(value, dict):
        return {name: _figures_withheld(item, edition) for name, item in value.items()}
    return value
