"""Rules of checks and of the legal fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.checks import CHECKS
from privrelease.policy.completeness import missing_legal_fields
from privrelease.policy.context import leaving
from privrelease.policy.releases import MicrodataRelease
from privrelease.policy.values import did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from privrelease.findings import Finding
    from privrelease.policy.checks import Check, CheckKind
    from privrelease.policy.context import Reading

__all__ = ["check_rules"]

_KINDS = {kind.name: kind for kind in CHECKS}


def check_rules(reading: Reading) -> Iterator[Finding]:
    """Yield what is wrong with checks, and the legal fields that are missing."""
    checks = reading.policy.checks
    for number, check in enumerate(checks):
        kind = _KINDS.get(check.expect)
        if kind is None:
            hint = did_you_mean(check.expect, _KINDS) or f"checks: {', '.join(_KINDS)}"
            yield reading.error("P305", f"check {shown(check.expect)} does not exist", "checks", number, "expect", hint=hint)
            continue
        yield from _limits(reading, number, check, kind)
        yield from _target(reading, number, check, kind)
    missing = missing_legal_fields(reading.policy)
    if missing:
        message = f"the profile gdpr requires fields that are missing in legal: {', '.join(missing)}"
        yield reading.warning("P606", message, "legal", key=True, hint="without them the decision is `review`, not `pass`")


def _limits(reading: Reading, number: int, check: Check, kind: CheckKind) -> Iterator[Finding]:
    if check.max is None and check.min is None:
        message = f"{check.id} has no limit: nothing would be checked"
        yield reading.error("P418", message, "checks", number, hint="write `max` or `min`")
    for key in ("max", "min"):
        limit: Decimal | None = getattr(check, key)
        if limit is None:
            continue
        if kind.measures == "count" and (limit < 0 or limit != limit.to_integral_value()):
            yield reading.error(
                "P418", f"{key} of {kind.name} must be a whole number of at least 0, got {limit}", "checks", number, key
            )
        elif kind.measures != "count" and not 0 <= limit <= 1:
            per_cent = f"write {(limit / 100).normalize():f} for {limit} %" if 1 < limit <= 100 else None
            yield reading.error(
                "P104", f"{key} of {kind.name} must be in [0, 1], got {limit}", "checks", number, key, hint=per_cent
            )
    if check.max is not None and check.min is not None and check.min > check.max:
        yield reading.error(
            "P418", f"min {check.min} is above max {check.max}: {check.id} could never pass", "checks", number, "min"
        )


def _target(reading: Reading, number: int, check: Check, kind: CheckKind) -> Iterator[Finding]:
    for key in ("threat", "column"):
        if getattr(check, key) is not None and not getattr(kind, key):
            yield reading.error("P418", f"{kind.name} takes no {key}", "checks", number, key, key=True, hint="remove it")
    release = next((release for release in reading.policy.releases if release.id == check.release), None)
    dataset = reading.policy.datasets.get(release.from_) if release is not None else None
    if release is not None and not isinstance(release, MicrodataRelease):
        message = f"{kind.name} measures rows about persons, and release {release.id} is of kind {release.kind}"
        yield reading.error("P418", message, "checks", number, "release", hint="name a release of kind microdata")
        return
    if release is None or dataset is None:
        return
    if kind.name == "missing_cells" and check.column is None:
        yield reading.error("P418", "missing_cells needs a column", "checks", number, hint="write `column`")
    out = leaving(release, dataset).columns
    if kind.column and check.column is not None and check.column in dataset.columns and check.column not in out:
        message = f"{shown(check.column)} does not leave in release {release.id}"
        yield reading.error("P418", message, "checks", number, "column", hint="name a column that leaves")
    if kind.threat and check.threat is None and not release.protect:
        message = f"{kind.name} needs a threat: release {release.id} protects against none"
        yield reading.error("P418", message, "checks", number, hint="write `threat`")
    threat = reading.policy.threats.get(check.threat) if check.threat is not None else None
    if threat is not None and threat.dataset != release.from_:
        message = f"{check.threat} is about dataset {threat.dataset}, the release is made of {release.from_}"
        yield reading.error("P413", message, "checks", number, "threat", hint="name a threat of that dataset")
    elif threat is not None and kind.threat and check.threat not in release.protect:
        message = f"release {release.id} does not protect against {check.threat}"
        yield reading.error("P418", message, "checks", number, "threat", hint="add it to `protect`, or name a protected threat")
