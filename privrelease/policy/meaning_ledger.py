"""Rules of the ledger: a cap that means something, and releases that could fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.statistics import StatisticsRelease

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.context import Reading

__all__ = ["ledger_rules"]


def ledger_rules(reading: Reading) -> Iterator[Finding]:
    """Yield what is wrong with the cap, and releases that could never be charged."""
    ledger = reading.policy.ledger
    if ledger is None:
        for number, release in enumerate(reading.policy.releases):
            if isinstance(release, StatisticsRelease):
                yield reading.warning(
                    "P709",
                    f"release {release.id} spends privacy budget, and the policy names no ledger: it can be planned, not run",
                    *("releases", number, "budget"),
                    hint="write `ledger: {cap: {epsilon: …, delta: …}, url: sqlite:///ledger.db}`, then `privrelease ledger init`",
                    key=True,
                )
        return
    cap = ledger.cap
    if cap.delta is not None and not 0 <= cap.delta < 1:
        yield reading.error("P104", "delta must be in [0, 1)", "ledger", "cap", "delta", hint="write e.g. 1e-5")
        return
    for number, release in enumerate(reading.policy.releases):
        if not isinstance(release, StatisticsRelease):
            continue
        for name in ("epsilon", "delta"):
            asked, most = getattr(release.budget, name) or 0, getattr(cap, name) or 0
            if asked > most and (name == "epsilon" or asked < 1):  # a delta of 1 or above is told as what it is
                yield reading.error(
                    "P430",
                    f"the {name} of release {release.id}, {asked}, is above the ledger's cap, {most}: it could never be charged",
                    *("releases", number, "budget", name),
                    hint=f"lower it, or raise `ledger.cap.{name}`",
                )
