"""Checks of the files themselves: readable, unaltered since parking, the planned columns and types, all sinks the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, absent, failed, passed, unevaluated, warned
from privrelease.audit.checks.codes import NO_MANIFEST
from privrelease.audit.document.visibility import count
from privrelease.findings import pluralise

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def files_readable(evidence: Evidence) -> CheckOutcome:
    """Every output of the plan is there and reads as what it claims to be."""
    from_run = evidence.target.run is not None
    if not evidence.files or (from_run and len(evidence.files) < len(evidence.plan.sinks)):
        return failed("an output of the plan is missing from the release")
    refused = [
        f"{file.sink.label} ({file.refused}{f' {file.why}' if file.why else ''})"
        for file in evidence.files
        if file.released is None
    ]
    return failed(f"cannot be read: {_listed(refused)}") if refused else passed("every output is there and can be read")


def records_released(evidence: Evidence) -> CheckOutcome:
    """There is at least one record: of an empty release nothing can be said, and wiping everything is no protection."""
    if evidence.main is None:
        return unevaluated("no file can be read")
    return passed("there are released records") if evidence.main.n_rows else failed("no released records")


def digests_agree(evidence: Evidence) -> CheckOutcome:
    """The SHA-256 of every file, and of the row map, is the one in the manifest, and the manifest names no other file."""
    manifest = evidence.target.manifest
    if evidence.target.altered:
        return failed("; ".join(evidence.target.altered))
    if manifest is None:
        return absent(NO_MANIFEST)
    claimed: dict[str, str | None] = {output.label: output.sha256 for output in manifest.outputs}
    found = {file.sink.label: file.sha256 for file in evidence.files}
    internal = evidence.target.internal
    if internal is not None:
        claimed["the row map"], found["the row map"] = internal.row_map.sha256, evidence.row_map_sha256
    wrong = sorted(label for label in claimed.keys() | found.keys() if claimed.get(label) != found.get(label))
    if wrong:
        return failed(f"the SHA-256 differs from the manifest: {_listed(wrong)}")
    return passed("the SHA-256 of every file is that of the manifest")


def columns_planned(evidence: Evidence) -> CheckOutcome:
    """Every file has exactly the planned columns in the planned order."""
    if evidence.main is None:
        return unevaluated("no file can be read")
    planned = [column.name for column in evidence.plan.columns]
    for file in evidence.files:
        if file.released is None:
            continue
        found = [name for name, _ in file.released.columns]
        if found == planned:
            continue
        if evidence.target.foreign and sorted(found) == sorted(planned):
            return warned(f"{file.sink.label} has the planned columns in another order")
        extra = [name for name in found if name not in planned]
        lacking = [name for name in planned if name not in found]
        parts = [f"not planned: {_listed(extra)}"] if extra else []
        parts += [f"lacking: {_listed(lacking)}"] if lacking else []
        return failed(f"{file.sink.label} has other columns than the plan: {'; '.join(parts) or 'another order'}")
    return passed("every file has exactly the planned columns, in order")


def types_planned(evidence: Evidence) -> CheckOutcome:
    """Every planned column has its planned type in every file and, where the source is not measured, only texts that its `domain` lists."""
    if evidence.main is None:
        return unevaluated("no file can be read")
    planned = {column.name: column.type for column in evidence.plan.columns}
    for file in evidence.files:
        if file.released is None:
            continue
        wrong = [name for name, kind in file.released.columns if name in planned and planned[name] is not kind]
        if wrong:
            return failed(f"{file.sink.label} has another type than declared in: {_listed(wrong)}")
    if evidence.undeclared:
        rows = ", ".join(f"{name} ({pluralise(amount, 'row')})" for name, amount in evidence.undeclared)
        return failed(f"values are not in the declared `domain` of: {rows}")
    return passed("every column has its declared type")


def nothing_left_over(evidence: Evidence) -> CheckOutcome:
    """No file holds anything besides its rows: metadata, other tables, values that were made missing in every row."""
    found = [f"{file.sink.label}: {_listed(file.leftovers)}" for file in evidence.files if file.leftovers]
    return failed("; ".join(found)) if found else passed("the files hold their rows and nothing else")


def files_same(evidence: Evidence) -> CheckOutcome:
    """All files of the release hold the same rows in the same places."""
    for file in evidence.files:
        if file.differs:
            return failed(
                f"{file.sink.label} differs from {evidence.files[0].sink.label} in {pluralise(file.differs, 'row')}",
                count(file.differs),
            )
        if file.released is None or (file.released is not evidence.main and file.differs is None):
            return unevaluated(f"{file.sink.label} cannot be compared with the other files")
    return passed("all files hold the same rows")
