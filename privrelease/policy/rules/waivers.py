"""Rules of waivers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.language.waivers import same_person
from privrelease.policy.text.messages import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["waiver_rules"]


def waiver_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with waivers, and those that will not count."""
    releases = {check.id: check.release for check in reading.policy.checks}
    severities = {check.id: check.severity for check in reading.policy.checks}
    known = {release.id for release in reading.policy.releases}
    seen: set[tuple[str, str]] = set()
    for number, waiver in enumerate(reading.policy.waivers):
        if (waiver.check, waiver.release) in seen:
            message = f"two waivers are about check {shown(waiver.check)} of release {shown(waiver.release)}"
            yield reading.error("P408", message, "waivers", number, "check", hint="keep one of them")
        seen.add((waiver.check, waiver.release))
        about = releases.get(waiver.check)
        if about is not None and about != waiver.release and waiver.release in known:
            message = f"check {shown(waiver.check)} is about release {shown(about)}, not {shown(waiver.release)}"
            yield reading.error("P419", message, "waivers", number, "release", hint=f"write `release: {shown(about)}`")
        if severities.get(waiver.check) == "warn":
            message = f"the waiver of {shown(waiver.check)} changes nothing: the check only warns"
            yield reading.warning("P611", message, "waivers", number, "check", hint="remove the waiver")
        if same_person(waiver.owner, waiver.approved_by):
            message = f"the waiver of {shown(waiver.check)} is approved by its owner and does not count"
            yield reading.warning("P611", message, "waivers", number, "approved_by", hint="let somebody else approve it")
