"""Checks of direct identifiers: none leaves as it is, not under another name either, and pseudonyms are keyed and consistent."""

from __future__ import annotations

import math
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
    """No column of the file holds the direct identifier of its own row, more often than chance gives, or in half of the rows.

    If cells fell anywhere, at most as many rows are expected to agree as source rows share the identifier's most frequent value. Fewer
    agreements than chance excludes are a warning where both are texts; numbers agree by chance. Where no row leads to its source: no
    column has half of its values in common with a direct identifier, and a text in common is a warning.
    """
    if evidence.same is None or evidence.main is None:
        return _hidden_values(evidence)
    kinds = dict(evidence.main.columns)
    hidden, perhaps = [], []
    for pair in evidence.same:
        if pair.same and (2 * pair.same >= pair.compared or _beyond_chance(pair.same, pair.most)):
            hidden.append(f"{pair.released} holds {pair.source}")
        elif pair.same and _texts(evidence, kinds, pair.source, pair.released):
            perhaps.append(f"{pair.released} and {pair.source}")
    if hidden:
        return failed(f"a direct identifier leaves under another name: {', '.join(hidden)}")
    if perhaps:
        return warned(
            f"some rows hold the text of their own direct identifier, no more than chance can give: {', '.join(perhaps)}"
        )
    return passed("no released column repeats a direct identifier")


def _beyond_chance(found: int, expected: int) -> bool:
    """Whether ``found`` agreements have a chance below one in a million where at most ``expected`` are expected.

    Chernoff's bound on the upper tail of a Poisson law: P(X >= k) <= exp(-m) (e m / k)^k for k > m.

    >>> _beyond_chance(9, 1), _beyond_chance(10, 1), _beyond_chance(60, 40)
    (False, True, False)
    """
    if not 0 < expected < found:
        return False
    return found - expected + found * math.log(expected / found) < math.log(1e-6)


def _texts(evidence: Evidence, kinds: dict[str, ColumnType], direct: str, released: str) -> bool:
    return ColumnType.INTEGER not in {kinds.get(released), evidence.plan.source.column(direct).type}


def _hidden_values(evidence: Evidence) -> Judged:
    if evidence.values is None or evidence.main is None:
        return untraced(evidence)
    kinds = dict(evidence.main.columns)
    sure, perhaps, some = [], [], []
    for direct, released, shared in evidence.values:
        texts = _texts(evidence, kinds, direct, released)
        if not shared.both or 2 * shared.both < min(shared.first, shared.second):
            some += [f"{released} and {direct}"] if shared.both and texts else []
        elif texts:
            sure.append(f"{released} holds values of {direct}")
        elif 2 * shared.second > evidence.main.n_rows:
            perhaps.append(f"{released} and {direct}")
    if sure:
        return failed(f"a direct identifier leaves under another name: {', '.join(sure)}")
    if some:
        return warned(f"some texts are values of a direct identifier: {', '.join(some)}")
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
