"""Rules of the frontier that a release asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.rules.rule_context import duplicates, leaving
from privrelease.policy.text.messages import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.releases import MicrodataRelease
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["frontier_rules"]


def frontier_rules(reading: RuleContext, releases: Sequence[tuple[int, MicrodataRelease]]) -> Iterator[Finding]:
    """Yield frontiers of which no point could differ from another, and class sizes that stand twice."""
    for number, release in releases:
        if not release.frontier:
            continue
        for index, size in duplicates(tuple(map(str, release.frontier))):
            yield reading.error(
                "P408", f"{size} stands twice in frontier", "releases", number, "frontier", index, hint="remove one"
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
        known = len(threats) == len(release.protect)  # one that is not there is told elsewhere
        if out.suppress is None or (known and not sweepable):
            message = f"release {shown(release.id)} has nothing that its frontier could sweep"
            hint = "it needs a `suppress` step and a protected prosecutor's threat with `highest_risk`; or remove `frontier`"
            yield reading.error("P423", message, "releases", number, "frontier", hint=hint)
