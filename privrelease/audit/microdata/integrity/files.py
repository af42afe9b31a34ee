"""Checks of the files themselves: readable, unaltered since parking, the planned columns and types, all sinks the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.check import CheckOutcome, absent, failed, passed, unevaluated, warned
from privrelease.audit.document.visibility import count
from privrelease.texts.sentences import every, listed, say

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence

__all__ = [
    "columns_planned",
    "digests_agree",
    "files_readable",
    "files_same",
    "nothing_left_over",
    "records_released",
    "types_planned",
]

#: Of the row map, next to the labels of files, which name a kind and a path.
_ROW_MAP: Final = "the row map"


def files_readable(evidence: Evidence) -> CheckOutcome:
    """Every output of the plan is there and reads as what it claims to be."""
    from_run = evidence.target.run is not None
    if not evidence.files or (from_run and len(evidence.files) < len(evidence.plan.sinks)):
        return failed(say("output_missing"))
    refused = [
        say("file_refused_why", file=file.sink.label, code=str(file.refused), why=file.why)
        if file.why
        else say("file_refused", file=file.sink.label, code=str(file.refused))
        for file in evidence.files
        if file.released is None
    ]
    return failed(say("unreadable", files=listed(refused))) if refused else passed(say("files"))


def records_released(evidence: Evidence) -> CheckOutcome:
    """There is at least one record: of an empty release nothing can be said, and wiping everything is no protection."""
    if evidence.main is None:
        return unevaluated(say("no_file"))
    return passed(say("records")) if evidence.main.n_rows else failed(say("no_records"))


def digests_agree(evidence: Evidence) -> CheckOutcome:
    """The SHA-256 of every file, and of the row map, is the one in the manifest, and the manifest names no other file."""
    manifest = evidence.target.manifest
    if evidence.target.altered:
        return failed(say("every", parts=listed(evidence.target.altered, "semicolon")))
    if manifest is None:
        return absent(say("no_manifest"))
    claimed: dict[str, str | None] = {output.label: output.sha256 for output in manifest.outputs}
    found = {file.sink.label: file.sha256 for file in evidence.files}
    internal = evidence.target.internal
    if internal is not None:
        claimed[_ROW_MAP], found[_ROW_MAP] = internal.row_map.sha256, evidence.row_map_sha256
    wrong = sorted(label for label in claimed.keys() | found.keys() if claimed.get(label) != found.get(label))
    if wrong:
        return failed(
            say("digests_differ", files=listed(say("the_row_map") if label == _ROW_MAP else label for label in wrong))
        )
    return passed(say("digests"))


def columns_planned(evidence: Evidence) -> CheckOutcome:
    """Every file has exactly the planned columns in the planned order."""
    if evidence.main is None:
        return unevaluated(say("no_file"))
    planned = [column.name for column in evidence.plan.columns]
    for file in evidence.files:
        if file.released is None:
            continue
        found = [name for name, _ in file.released.columns]
        if found == planned:
            continue
        if evidence.target.foreign and sorted(found) == sorted(planned):
            return warned(say("columns_order", file=file.sink.label))
        extra = [name for name in found if name not in planned]
        lacking = [name for name in planned if name not in found]
        parts = [say("not_planned", columns=listed(extra))] if extra else []
        parts += [say("lacking", columns=listed(lacking))] if lacking else []
        return failed(say("columns_differ", file=file.sink.label, how=every(parts) or say("another_order")))
    return passed(say("columns"))


def types_planned(evidence: Evidence) -> CheckOutcome:
    """Every planned column has its planned type in every file and, where the source is not measured, only texts that its `domain` lists."""
    if evidence.main is None:
        return unevaluated(say("no_file"))
    planned = {column.name: column.type for column in evidence.plan.columns}
    for file in evidence.files:
        if file.released is None:
            continue
        wrong = [name for name, kind in file.released.columns if name in planned and planned[name] is not kind]
        if wrong:
            return failed(say("types_differ", file=file.sink.label, columns=listed(wrong)))
    if evidence.undeclared:
        rows = listed(say("counted_in", name=name, count=say("n_rows", n=amount)) for name, amount in evidence.undeclared)
        return failed(say("undeclared", where=rows))
    return passed(say("types"))


def nothing_left_over(evidence: Evidence) -> CheckOutcome:
    """No file holds anything besides its rows: metadata, other tables, values that were made missing in every row."""
    found = every(
        say("left_over", file=file.sink.label, what=listed(file.leftovers)) for file in evidence.files if file.leftovers
    )
    return passed(say("leftover")) if found is None else failed(found)


def files_same(evidence: Evidence) -> CheckOutcome:
    """All files of the release hold the same rows in the same places."""
    for file in evidence.files:
        if file.differs:
            rows = say("n_rows", n=file.differs)
            said = say("files_differ", file=file.sink.label, other=evidence.files[0].sink.label, rows=rows)
            return failed(said, count(file.differs))
        if file.released is None or (file.released is not evidence.main and file.differs is None):
            return unevaluated(say("not_comparable", file=file.sink.label))
    return passed(say("same"))
