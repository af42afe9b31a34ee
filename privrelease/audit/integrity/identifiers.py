"""Checks of direct identifiers: none leaves as it is, not under another name either, and pseudonyms are keyed and consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.integrity.cells import untraced
from privrelease.audit.integrity.judged import Judged, failed, passed, unevaluated, warned
from privrelease.findings import amount
from privrelease.relational.schema import ColumnType, Role

if TYPE_CHECKING:
    from privrelease.audit.evidence import Evidence

__all__ = ["no_direct_identifier", "no_hidden_identifier", "pseudonyms_keyed"]


def no_direct_identifier(evidence: Evidence) -> Judged:
    """No column that is declared a direct identifier stands in a file as it is."""
    if evidence.main is None:
        return unevaluated("no file can be read")
    direct = {column.name for column in evidence.plan.source.columns if column.role is Role.DIRECT}
    pseudonyms = {column.name for column in evidence.plan.columns if column.treatment == "pseudonym"}
    for file in evidence.files:
        if file.released is not None:
            left = [name for name, _ in file.released.columns if name in direct - pseudonyms]
            if left:
                return failed(f"direct identifiers are in {file.sink.label}: {', '.join(left)}")
    return passed("no direct identifier leaves as it is")


def no_hidden_identifier(evidence: Evidence) -> Judged:
    """No column of the file holds a direct identifier's value in at least half of the rows where both have one.

    Where no row leads to its source: no column has half of its values in common with a direct identifier. Numbers may by chance.
    """
    if evidence.same is None:
        return _hidden_values(evidence)
    hidden = [f"{pair.released} holds {pair.source}" for pair in evidence.same if pair.same and 2 * pair.same >= pair.compared]
    if hidden:
        return failed(f"a direct identifier leaves under another name: {', '.join(hidden)}")
    return passed("no released column repeats a direct identifier")


def _hidden_values(evidence: Evidence) -> Judged:
    if evidence.values is None or evidence.main is None:
        return untraced(evidence)
    kinds = dict(evidence.main.columns)
    sure, perhaps = [], []
    for direct, released, shared in evidence.values:
        if not shared.both or 2 * shared.both < min(shared.first, shared.second):
            continue
        numbers = ColumnType.INTEGER in {kinds[released], evidence.plan.source.column(direct).type}
        if not numbers:
            sure.append(f"{released} holds values of {direct}")
        elif 2 * shared.second > evidence.main.n_rows:
            perhaps.append(f"{released} and {direct}")
    if sure:
        return failed(f"a direct identifier leaves under another name: {', '.join(sure)}")
    if perhaps:
        return warned(f"numbers that stand once each are the same in: {', '.join(perhaps)}")
    return passed("no released column has the values of a direct identifier")


def pseudonyms_keyed(evidence: Evidence) -> Judged:
    """Every pseudonym stands for one value and one only, is not the value, and is no plain hash of it."""
    planned = [column.name for column in evidence.plan.columns if column.treatment == "pseudonym"]
    if not planned:
        return passed("the release has no pseudonyms")
    if evidence.tokens is None or len(evidence.tokens) < len(planned):
        return untraced(evidence)
    for facts in evidence.tokens:
        if facts.plain or facts.unkeyed:
            return failed(
                f"pseudonyms of {facts.column} are the value itself or a plain hash of it: {amount(facts.plain + facts.unkeyed, 'value')}"
            )
        if facts.missing_differs:
            return failed(
                f"pseudonyms of {facts.column} are there without a value, or lacking for one: {amount(facts.missing_differs, 'row')}"
            )
        if not facts.pairs == facts.values == facts.tokens:
            return failed(f"pseudonyms of {facts.column} do not stand for one value each")
    return passed("every pseudonym stands for one value and is no plain hash of it")
