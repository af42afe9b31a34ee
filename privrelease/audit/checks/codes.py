"""Codes of findings that no single check has; append-only, like those of the checks."""

from __future__ import annotations

from typing import Final, NamedTuple

from privrelease.audit.check import NOT_MADE_HINT, POLICY_CHECK

__all__ = ["OTHER_FINDINGS", "FindingKind", "kind_of"]


class FindingKind(NamedTuple):
    """A code, what it means, and what to do about it."""

    code: str
    title: str
    hint: str


OTHER_FINDINGS: Final = (
    FindingKind("A105", "a threat has nothing to measure", "k is undefined without records in classes, which does not pass"),
    FindingKind(
        "A107", "nothing was checked", "name the threats that the release must withstand (`protect`), or write a check"
    ),
    FindingKind(
        "A108",
        "a population has fewer persons than the file",
        "name the population from which the data was drawn, of the same day",
    ),
    FindingKind(
        "A300",
        "what households show",
        "information: the release is judged by the number of households that share a composition",
    ),
    FindingKind(POLICY_CHECK.code, POLICY_CHECK.title, POLICY_CHECK.hint),
    FindingKind("A302", "a check of the policy could not be made", NOT_MADE_HINT),
    FindingKind("A303", "a waiver does not count", "remove it, or have it approved again by someone other than its owner"),
    FindingKind("A501", "rows outside a domain were left out", "widen the domain if those rows belong to the release"),
)


def kind_of(code: str) -> FindingKind:
    """Return the kind of finding with this code.

    >>> kind_of("A107").title
    'nothing was checked'
    """
    return next(kind for kind in OTHER_FINDINGS if kind.code == code)
