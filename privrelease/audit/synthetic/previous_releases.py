"""Synthetic rows next to earlier releases of the same persons: budgets add up (DESIGN, semantics 11), and epsilon covers no release without noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.comparison.combine import against_cap, compared, earlier_check, named, together, total_cost
from privrelease.audit.document.model import Figure, Visibility
from privrelease.dp.budget import Budget, total
from privrelease.texts.sentences import say
from privrelease.units import Delta, Epsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.checks.charges import Charges
    from privrelease.audit.comparison.combine import PreviousReleaseFindings
    from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases
    from privrelease.audit.document.model import CheckResult
    from privrelease.audit.document.previous_releases import ComparedRelease
    from privrelease.plan.model import Plan
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.release.manifest import Manifest
    from privrelease.texts.sentences import Said

__all__ = ["beside_synthetic"]

_BUDGET: Final = "AUDIT-EARLIER-BUDGET"
_EXACT: Final = frozenset({"rows", "cells"})


def beside_synthetic(
    plan: SyntheticPlan, policy: Plan, manifest: Manifest | None, charges: Charges | None, earlier: EarlierReleases
) -> PreviousReleaseFindings:
    """Add up what a synthetic release and every earlier one with differential privacy cost."""
    looked: list[ComparedRelease] = []
    rest: list[Said] = []
    counted: list[tuple[EarlierRelease, Budget]] = []
    ours = frozenset() if manifest is None else {output.sha256 for output in manifest.outputs}
    own_unit = "row" if plan.unit is None else plan.unit.column
    for one in earlier.releases:
        claim = None if one.manifest is None else one.manifest.privacy
        if one.digests & ours and (one.run is None or manifest is None or one.run == manifest.run):
            looked.append(compared(one, "same_file"))
        elif claim is not None and claim.unit == own_unit:
            cost = total(
                Budget(Epsilon(query.epsilon), Delta(query.delta)) for query in claim.queries if not query.served_again
            )
            figures = {
                "epsilon": Figure.of(cost.epsilon.value, visibility=Visibility.RECIPIENT),
                "delta": Figure.of(cost.delta.value, visibility=Visibility.RECIPIENT),
            }
            looked.append(compared(one, "combined", figures=figures))
            counted.append((one, cost))
        elif one.content in _EXACT and one.held:
            looked.append(compared(one, "other_kind", note="exact"))
            rest.append(say("beyond_epsilon", name=one.name))
        else:
            looked.append(compared(one, "other_kind"))
            rest.append(say("not_compared", name=one.name))
    checks = () if not counted else (_budget(plan, policy, charges, counted),)
    return together(looked, checks, rest, earlier)


def _budget(
    plan: SyntheticPlan, policy: Plan, charges: Charges | None, counted: Sequence[tuple[EarlierRelease, Budget]]
) -> CheckResult:
    unknown: list[tuple[EarlierRelease, Budget]] = []
    if charges is not None and charges.spent:
        charged = {one.claim.run for one in charges.spent}
        unknown = [(one, cost) for one, cost in counted if one.run not in charged and cost.epsilon.value]
        spent = total((*(one.claim.cost for one in charges.spent), *(cost for _, cost in unknown)))
    else:
        spent = total((plan.budget, *(cost for _, cost in counted)))
    caps = [charges.cap] if charges is not None and charges.cap is not None else []
    caps += [policy.ledger.cap] if policy.ledger is not None else []
    said = total_cost(spent, [one.name for one, _ in unknown])
    over = next((cap for cap in caps if not spent.fits(cap)), None)
    found = against_cap(said, named([one.name for one, _ in counted]), over, known=bool(caps))
    return earlier_check(_BUDGET, *found, Figure.of(spent.epsilon.value, visibility=Visibility.RECIPIENT))
