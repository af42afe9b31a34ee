"""Rules of synthetic releases: domains, bins, patterns and rules that are declared, and a budget that a method can work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.language.synthetic import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.synthetic import SyntheticRelease
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["synthetic_rules"]


def synthetic_rules(reading: RuleContext, releases: Sequence[tuple[int, SyntheticRelease]]) -> Iterator[Finding]:
    """Yield what is wrong with synthetic releases."""
    from privrelease.policy.synthetic.resolve import resolve

    for number, release in releases:
        dataset = reading.policy.datasets.get(release.from_)
        if dataset is None or any(item[:2] == ("columns", release.from_) for item in reading.broken):
            continue
        for fault in resolve(release, release.from_, dataset)[1]:
            if fault.code in {"P302", "DP113"}:  # told where the name, or the domain, stands
                continue
            path = fault.path if fault.whole else ("releases", number, *fault.path)
            told = reading.warning if fault.warn else reading.error
            yield told(fault.code, fault.message, *path, hint=fault.hint, key=fault.key)
    for method in METHODS:
        own = [one for one in releases if one[1].method == method.name]
        for rule in method.rules:
            yield from rule(reading, own)
