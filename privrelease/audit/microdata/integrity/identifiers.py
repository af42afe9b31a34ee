"""Checks of direct identifiers: none is released as it is, and pseudonyms are keyed and consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, failed, not_asked, passed, unevaluated
from privrelease.audit.microdata.integrity.cells import untraced
from privrelease.relational.schema import Role
from privrelease.relational.treatments import CellRelation
from privrelease.texts.sentences import listed, say

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence

__all__ = ["no_direct_identifier", "pseudonyms_keyed"]


def no_direct_identifier(evidence: Evidence) -> CheckOutcome:
    """No column that is declared a direct identifier appears in a file as it is."""
    if evidence.main is None:
        return unevaluated(say("no_file"))
    direct = {column.name for column in evidence.plan.source.columns if column.role is Role.DIRECT}
    pseudonyms = {column.name for column in evidence.plan.columns if column.treatment.relation is CellRelation.KEYED_TOKEN}
    for file in evidence.files:
        if file.released is not None:
            left = [name for name, _ in file.released.columns if name in direct - pseudonyms]
            if left:
                return failed(say("direct_in", file=file.sink.label, columns=listed(left)))
    return passed(say("direct"))


def pseudonyms_keyed(evidence: Evidence) -> CheckOutcome:
    """Every pseudonym represents one value and one only, is not the value, and is no plain hash of it."""
    planned = [column.name for column in evidence.plan.columns if column.treatment.relation is CellRelation.KEYED_TOKEN]
    if not planned:
        return not_asked(say("no_pseudonym"))
    if evidence.tokens is None or len(evidence.tokens) < len(planned):
        return untraced(evidence)
    for facts in evidence.tokens:
        if facts.plain or facts.unkeyed:
            return failed(say("pseudonym_plain", column=facts.column, values=say("n_values", n=facts.plain + facts.unkeyed)))
        if facts.missing_differs:
            return failed(say("pseudonym_missing", column=facts.column, rows=say("n_rows", n=facts.missing_differs)))
        if not facts.pairs == facts.values == facts.tokens:
            return failed(say("pseudonym_many", column=facts.column))
    return passed(say("pseudonym"))
