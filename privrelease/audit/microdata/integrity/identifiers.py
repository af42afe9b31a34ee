"""Checks of direct identifiers: none is released as it is, and pseudonyms are keyed and consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, failed, not_asked, passed, unevaluated
from privrelease.audit.microdata.integrity.cells import untraced
from privrelease.findings import pluralise
from privrelease.relational.schema import Role
from privrelease.relational.treatments import CellRelation

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence

__all__ = ["no_direct_identifier", "pseudonyms_keyed"]


def no_direct_identifier(evidence: Evidence) -> CheckOutcome:
    """No column that is declared a direct identifier appears in a file as it is."""
    if evidence.main is None:
        return unevaluated("no file can be read")
    direct = {column.name for column in evidence.plan.source.columns if column.role is Role.DIRECT}
    pseudonyms = {column.name for column in evidence.plan.columns if column.treatment.relation is CellRelation.KEYED_TOKEN}
    for file in evidence.files:
        if file.released is not None:
            left = [name for name, _ in file.released.columns if name in direct - pseudonyms]
            if left:
                return failed(f"direct identifiers are in {file.sink.label}: {', '.join(left)}")
    return passed("no direct identifier is released as it is")


def pseudonyms_keyed(evidence: Evidence) -> CheckOutcome:
    """Every pseudonym represents one value and one only, is not the value, and is no plain hash of it."""
    planned = [column.name for column in evidence.plan.columns if column.treatment.relation is CellRelation.KEYED_TOKEN]
    if not planned:
        return not_asked("the release has no pseudonyms")
    if evidence.tokens is None or len(evidence.tokens) < len(planned):
        return untraced(evidence)
    for facts in evidence.tokens:
        if facts.plain or facts.unkeyed:
            return failed(
                f"pseudonyms of {facts.column} are the value itself or a plain hash of it: {pluralise(facts.plain + facts.unkeyed, 'value')}"
            )
        if facts.missing_differs:
            return failed(
                f"pseudonyms of {facts.column} are there without a value, or lacking for one: {pluralise(facts.missing_differs, 'row')}"
            )
        if not facts.pairs == facts.values == facts.tokens:
            return failed(f"pseudonyms of {facts.column} do not represent one value each")
    return passed("every pseudonym represents one value and is not a plain hash of it")
