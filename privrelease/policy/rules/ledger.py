"""Rules of the ledger: a cap that means something, and releases that could fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.language.ledger import CapSpec
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["ledger_rules"]


def ledger_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with the cap, and releases that could never be charged."""
    ledger = reading.policy.ledger
    if ledger is None:
        if reading.left_out("ledger"):
            return
        for number, release in enumerate(reading.policy.releases):
            if reading.kind(release).budget is not None:
                yield reading.warning(
                    "P709",
                    f"release {release.id} spends privacy budget, and the policy names no ledger: it can be planned, not run",
                    *("releases", number, "budget"),
                    hint="write `ledger: {cap: {epsilon: …, delta: …}, url: sqlite:///ledger.db}`, then `privrelease ledger init`",
                    key=True,
                )
        return
    caps: list[tuple[tuple[str, ...], CapSpec]] = [(("cap",), ledger.cap)]
    caps += [(("datasets", name), cap) for name, cap in ledger.datasets.items()]
    for place, cap in caps:
        if cap.delta is not None and not 0 <= cap.delta < 1:
            yield reading.error("P104", "delta must be in [0, 1)", "ledger", *place, "delta", hint="write e.g. 1e-5")
            continue
        yield from _never(reading, cap, place)


def _never(reading: RuleContext, cap: CapSpec, place: tuple[str, ...]) -> Iterator[Finding]:
    """Yield releases that a cap could never cover, whatever was spent before."""
    for number, release in enumerate(reading.policy.releases):
        spent = reading.kind(release).budget
        if spent is None or (len(place) > 1 and release.from_ != place[1]):
            continue
        budget = spent(release)
        for name in ("epsilon", "delta"):
            asked, most = getattr(budget, name) or 0, getattr(cap, name) or 0
            if asked > most and (name == "epsilon" or asked < 1):  # a delta of 1 or above is told as what it is
                where = ".".join(("ledger", *place, name))
                yield reading.error(
                    "P430",
                    f"the {name} of release {release.id}, {asked}, is above the ledger's cap, {most}: it could never be charged",
                    *("releases", number, "budget", name),
                    hint=f"lower it, or raise `{where}`",
                )
