"""Synthetic rows next to earlier releases of the same persons: budgets add up (DESIGN, semantics 11), and epsilon covers no release without noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.comparison.combine import earlier_check, named, together
from privrelease.audit.document.model import Figure, Visibility
from privrelease.audit.document.previous_releases import ComparedRelease
from privrelease.dp.budget import Budget, total
from privrelease.units import Delta, Epsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.checks.charges import Charges
    from privrelease.audit.comparison.combine import PreviousReleaseFindings
    from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases
    from privrelease.audit.document.model import CheckResult
    from privrelease.plan.model import Plan
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.release.manifest import Manifest

__all__ = ["beside_synthetic"]

_BUDGET: Final = "AUDIT-EARLIER-BUDGET"
_EXACT: Final = frozenset({"rows", "cells"})


def beside_synthetic(
    plan: SyntheticPlan, policy: Plan, manifest: Manifest | None, charges: Charges | None, earlier: EarlierReleases
) -> PreviousReleaseFindings:
    """Add up what a synthetic release and every earlier one with differential privacy cost."""
    looked: list[ComparedRelease] = []
    rest: list[str] = []
    counted: list[tuple[EarlierRelease, Budget]] = []
    ours = frozenset() if manifest is None else {output.sha256 for output in manifest.outputs}
    own_unit = "row" if plan.unit is None else plan.unit.column
    for one in earlier.releases:
        claim = None if one.manifest is None else one.manifest.privacy
        if one.digests & ours and (one.run is None or manifest is None or one.run == manifest.run):
            looked.append(ComparedRelease(release=one.name, run=one.run, looked="same_file"))
        elif claim is not None and claim.unit == own_unit:
            cost = total(
                Budget(Epsilon(query.epsilon), Delta(query.delta)) for query in claim.queries if not query.served_again
            )
            figures = {
                "epsilon": Figure.of(cost.epsilon.value, visibility=Visibility.RECIPIENT),
                "delta": Figure.of(cost.delta.value, visibility=Visibility.RECIPIENT),
            }
            looked.append(ComparedRelease(release=one.name, run=one.run, looked="combined", figures=figures))
            counted.append((one, cost))
        elif one.content in _EXACT and one.held:
            looked.append(ComparedRelease(release=one.name, run=one.run, looked="other_kind", note="exact"))
            rest.append(f"What {one.name} discloses without noise of the same persons: epsilon does not cover it.")
        else:
            looked.append(ComparedRelease(release=one.name, run=one.run, looked="other_kind"))
            rest.append(f"What {one.name} discloses together with this release: the two were not compared.")
    checks = () if not counted else (_budget(plan, policy, charges, counted),)
    return together(looked, checks, rest, earlier)


def _budget(
    plan: SyntheticPlan, policy: Plan, charges: Charges | None, counted: Sequence[tuple[EarlierRelease, Budget]]
) -> CheckResult:
    uncharged = ""
    if charges is not None and charges.spent:
        charged = {one.claim.run for one in charges.spent}
        unknown = [(one, cost) for one, cost in counted if one.run not in charged and cost.epsilon.value]
        spent = total((*(one.claim.cost for one in charges.spent), *(cost for _, cost in unknown)))
        if unknown:
            uncharged = f", of which the ledger does not know {named([one.name for one, _ in unknown])}"
    else:
        spent = total((plan.budget, *(cost for _, cost in counted)))
    caps = [charges.cap] if charges is not None and charges.cap is not None else []
    caps += [policy.ledger.cap] if policy.ledger is not None else []
    said = f"all releases of these persons together cost epsilon {spent.epsilon}, delta {spent.delta}{uncharged}"
    over = next((cap for cap in caps if not spent.fits(cap)), None)
    faults = [] if over is None else [f"{said}: more than the cap of epsilon {over.epsilon}, delta {over.delta}"]
    fine = f"{said}, {named([one.name for one, _ in counted])} included" + ("" if caps else "; no cap is known")
    return earlier_check(_BUDGET, faults, fine, Figure.of(spent.epsilon.value, visibility=Visibility.RECIPIENT))
