"""Rules of the log of publications: it outlives the state folder, and no recipient gets it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.policy.language.values import DEFAULT_LOG, IN_LEDGER
from privrelease.policy.text.messages import shown
from privrelease.policy.validation.paths import STATE_FOLDER, PathFault, companions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["publication_rules"]

_OWN = "name a file of its own, such as publications.jsonl next to the policy"


def publication_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with the place of the log, the default one included."""
    policy = reading.policy
    if policy.publications == IN_LEDGER:
        if policy.ledger is None and not reading.left_out("ledger"):
            hint = "name the ledger in `ledger`, or a file here"
            yield reading.error(
                "P520", "the log of publications is to be in the ledger, and none is named", "publications", hint=hint
            )
        return
    written = policy.publications or DEFAULT_LOG
    place = ("publications",) if policy.publications is not None else ("releases",)
    try:
        path = reading.roots.inside(written, reading.roots.folder)
    except PathFault as fault:
        yield reading.error(fault.code, fault.message, *place, hint=fault.hint)
        return
    if any(part.casefold() == STATE_FOLDER for part in path.parts[len(reading.roots.folder.parts) :]):
        message = f"{shown(written)} is inside the state folder, with which it would be lost"
        yield reading.error("P521", message, *place, hint=_OWN)
    for what, other in _taken(reading):
        if str(other).casefold() == str(path).casefold() or os.path.realpath(other) == os.path.realpath(path):
            yield reading.error("P522", f"the log of publications {shown(written)} would be {what}", *place, hint=_OWN)
            return
    shared = {target.parent for target in _targets(reading)} - {reading.roots.folder}
    if path.parent in shared:
        message = f"the log of publications {shown(written)} is in a folder of outputs, where recipients may get it"
        yield reading.error("P523", message, *place, hint=_OWN)


def _targets(reading: RuleContext) -> Iterator[Path]:
    """Paths at which outputs, manifests and reports are shown."""
    for release in reading.policy.releases:
        for number, spec in enumerate(release.output):
            try:
                target = reading.roots.sink(spec)[1]
            except PathFault:
                continue
            yield target
            if number == 0:
                yield from companions(target)


def _taken(reading: RuleContext) -> Iterator[tuple[str, Path]]:
    """Files that are something else already."""
    yield from (("a file of the policy", file) for file in reading.files)
    yield from (("where a release is published", target) for target in _targets(reading))
    for name, dataset in reading.policy.datasets.items():
        try:
            yield f"the source of dataset {name}", Path(reading.roots.source(dataset).path)
        except PathFault:
            continue
    approvals, ledger = reading.policy.approvals, reading.policy.ledger
    if approvals is not None:
        yield "the file of the approvers' keys", reading.roots.folder / approvals.keys
    if ledger is not None and ledger.url.startswith("sqlite:///"):
        yield "the ledger", reading.roots.folder / ledger.url.removeprefix("sqlite:///")
