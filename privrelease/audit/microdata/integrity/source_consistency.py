"""The check of a file without a row map against its source: what must hold wherever cells were only lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, absent, failed, nothing_to_look_at, passed, unevaluated, warned
from privrelease.audit.document.visibility import count
from privrelease.audit.microdata.recoding import recoded_columns
from privrelease.texts.sentences import every, listed, say

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.source_consistency import SourceConsistency
    from privrelease.texts.sentences import Listed, Said

__all__ = ["rows_explained"]


def rows_explained(evidence: Evidence) -> CheckOutcome:
    """Every released value is one of its source column, and no values are kept in more rows than the source has with them."""
    if evidence.target.without_source:
        return absent(say("source_not_measured"))
    if evidence.main is None or evidence.source is None:
        return unevaluated(say("no_file"))
    found = evidence.explained
    changed = recoded_columns(evidence.usable)
    recoded = changed if found is None else tuple(name for name in changed if name not in found.compared)
    if found is None and not recoded:
        return absent(say("no_column_compared"))
    if found is not None and (found.recoded or found.over):
        return failed(say("every", parts=listed(_faults(found, changed), "semicolon")), count(found.rows), count(0))
    if found is None or recoded:
        return nothing_to_look_at(say("labels_unknown", columns=listed(recoded)))
    return _holds(found, changed)


def _faults(found: SourceConsistency, labelled: tuple[str, ...]) -> list[Said]:
    faults = []
    if not all(one.columns for one in found.over):
        faults.append(say("more_rows"))
    kinds = (
        ("not_in_source", [one for one in found.recoded if one[0] not in labelled], "n_rows"),
        ("represent_none", [one for one in found.recoded if one[0] in labelled], "n_rows"),
        ("more_often", _over(found, persons=False), "n_rows"),
        ("more_persons", _over(found, persons=True), "n_persons"),
    )
    for what, where, unit in kinds:
        if where:
            parts = (say("counted_in", name=names, count=say(unit, n=many)) for names, many in where)
            faults.append(say(what, where=listed(parts)))
    return faults


def _over(found: SourceConsistency, *, persons: bool) -> list[tuple[Listed, int]]:
    where = ((listed(one.columns, "with"), one.persons if persons else one.rows) for one in found.over if one.columns)
    return [(names, many) for names, many in where if many]


def _holds(found: SourceConsistency, labelled: tuple[str, ...]) -> CheckOutcome:
    beside = [say("counted_by", columns=listed(labelled))] if labelled else []
    beside += [say("left_uncompared", columns=listed(found.left_out))] if found.left_out else []
    if found.sufficient:
        return passed(_with(say("explained_own"), beside))
    if found.tried == found.patterns:
        return passed(_with(say("explained_all", n=found.patterns), beside))
    return warned(_with(say("explained_common", tried=found.tried, patterns=found.patterns), beside))


def _with(said: Said, beside: list[Said]) -> Said:
    return every((said, *beside)) or said
