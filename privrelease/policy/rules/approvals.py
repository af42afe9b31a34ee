"""Rules of approvals.

Rules of waivers.

Rules of the frontier that a release asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.language.approvals import same_person
from privrelease.policy.rules.rule_context import duplicates, leaving
from privrelease.policy.text.messages import shown
from privrelease.policy.validation.paths import PathFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.releases import MicrodataRelease
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["approval_rules", "frontier_rules", "waiver_rules"]


def approval_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with the approvals that a policy requires. The file of keys itself is read when it is used."""
    approvals = reading.policy.approvals
    if approvals is None:
        return
    for number, role in duplicates(approvals.required):
        yield reading.error("P408", f"role {shown(role)} is required twice", "approvals", "required", number, hint="keep one")
    try:
        reading.roots.inside(approvals.keys, reading.roots.folder)
    except PathFault as fault:
        yield reading.error(fault.code or "P403", fault.message, "approvals", "keys", hint=fault.hint)


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


def frontier_rules(reading: RuleContext, releases: Sequence[tuple[int, MicrodataRelease]]) -> Iterator[Finding]:
    """Yield frontiers of which no point could differ from another, and class sizes that appear twice."""
    for number, release in releases:
        if not release.frontier:
            continue
        for index, size in duplicates(tuple(map(str, release.frontier))):
            yield reading.error(
                "P408", f"{size} appears twice in frontier", "releases", number, "frontier", index, hint="remove one"
            )
        dataset = reading.policy.datasets.get(release.from_)
        if dataset is None:
            continue
        out = leaving(release, dataset)
        threats = [reading.policy.threats[name] for name in release.protect if name in reading.policy.threats]
        sweepable = any(
            threat.attacker == "prosecutor" and threat.highest_risk is not None and set(threat.knows) & set(out.columns)
            for threat in threats
        )
        known = len(threats) == len(release.protect)  # one that is not there is reported elsewhere
        if out.suppress is None or (known and not sweepable):
            message = f"release {shown(release.id)} has nothing that its frontier could sweep"
            hint = "it needs a `suppress` step and a protected prosecutor's threat with `highest_risk`; or remove `frontier`"
            yield reading.error("P423", message, "releases", number, "frontier", hint=hint)
