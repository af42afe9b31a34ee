"""The check of a file without a row map against its source: what must hold wherever cells were only lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, absent, failed, nothing_to_look_at, passed, unevaluated, warned
from privrelease.audit.document.visibility import count
from privrelease.audit.microdata.recoding import recoded_columns
from privrelease.findings import pluralise

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.source_consistency import SourceConsistency

__all__ = ["rows_explained"]


def rows_explained(evidence: Evidence) -> CheckOutcome:
    """Every released value is one of its source column, and no values are kept in more rows than the source has with them."""
    if evidence.target.without_source:
        return absent("the source was not measured")
    if evidence.main is None or evidence.source is None:
        return unevaluated("no file can be read")
    found = evidence.explained
    changed = recoded_columns(evidence.usable)
    recoded = changed if found is None else tuple(name for name in changed if name not in found.compared)
    if found is None and not recoded:
        return absent("no column of the file can be compared with the source")
    if found is not None and (found.recoded or found.over):
        return failed("; ".join(_faults(found, changed)), count(found.rows), count(0))
    if found is None or recoded:
        return nothing_to_look_at(
            f"nothing tells for which values of the source those of {', '.join(recoded)} stand, without a row map"
        )
    return _holds(found, changed)


def _faults(found: SourceConsistency, labelled: tuple[str, ...]) -> list[str]:
    faults = []
    if not all(one.columns for one in found.over):
        faults.append("the file has more rows than the source")
    kinds = (
        ("values not in the source, recoded or changed", [one for one in found.recoded if one[0] not in labelled], "row"),
        ("values that represent none of the source's", [one for one in found.recoded if one[0] in labelled], "row"),
        ("values in more rows than in the source, changed or repeated", _over(found, persons=False), "row"),
        ("values with more persons than in the source", _over(found, persons=True), "person"),
    )
    for what, where, unit in kinds:
        if where:
            faults.append(f"{what}, in: {', '.join(f'{names} ({pluralise(many, unit)})' for names, many in where)}")
    return faults


def _over(found: SourceConsistency, *, persons: bool) -> list[tuple[str, int]]:
    where = ((" with ".join(one.columns), one.persons if persons else one.rows) for one in found.over if one.columns)
    return [(names, many) for names, many in where if many]


def _holds(found: SourceConsistency, labelled: tuple[str, ...]) -> CheckOutcome:
    beside = f"; counted by what represents the source's values: {', '.join(labelled)}" if labelled else ""
    beside += f"; not compared: {', '.join(found.left_out)}" if found.left_out else ""
    if found.sufficient:
        return passed(
            "every row has a source row of its own with all the values it keeps; a cell that was changed to what another, missing or "
            f"suppressed row of the source holds cannot be distinguished from that row{beside}"
        )
    said = "that is necessary where cells were only suppressed, not sufficient: that no cell was changed is not shown"
    if found.tried == found.patterns:
        return passed(
            "every value is the source's, and no values are kept in more rows than the source has with them "
            f"(all {found.patterns} patterns of suppressed cells): {said}{beside}"
        )
    return warned(
        "every value is the source's, and no values are kept in more rows than the source has with them, over the commonest "
        f"{found.tried} of {found.patterns} patterns of suppressed cells: {said}{beside}"
    )
