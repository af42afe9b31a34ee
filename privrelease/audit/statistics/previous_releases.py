"""Statistics combined with statistics of the same persons: what all of them cost together, and questions that were answered
more than once.

Budgets add up (DESIGN, semantics 11). The ledger counts what it holds of the population; an earlier release that it does not
know is added, at the sum of its queries. The same question about the same state of the data, answered m times with noise of its
own, has an average with noise 1/sqrt(m) as wide: that was paid for m times, and is reported, since it may be unintended.
"""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING, Final

from privrelease.audit.checks.aggregate_checks import cells_of_file, number_text
from privrelease.audit.comparison.combine import against_cap, compared, earlier_check, named, set_aside, together, total_cost
from privrelease.audit.document.model import Figure, Outcome, Visibility
from privrelease.audit.document.sentences import coded
from privrelease.dp.budget import Budget, total
from privrelease.texts.sentences import Number, listed, say
from privrelease.units import Delta, Epsilon

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from privrelease.audit.checks.charges import Charges
    from privrelease.audit.comparison.combine import PreviousReleaseFindings
    from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases
    from privrelease.audit.document.model import CheckResult
    from privrelease.audit.document.previous_releases import ComparedRelease
    from privrelease.plan.model import Plan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.release.manifest import Manifest
    from privrelease.release.privacy import QueryClaim
    from privrelease.texts.sentences import Said

__all__ = ["beside_statistics"]

#: The sentences about exact releases of the same persons: noise hides nothing that they show.
_EXACT: Final = {
    "rows": "exact_rows",
    "cells": "exact_cells",
}
_BUDGET, _REPEATED = "AUDIT-EARLIER-BUDGET", "AUDIT-EARLIER-REPEATED"


def beside_statistics(
    plan: StatisticsPlan, policy: Plan, manifest: Manifest | None, charges: Charges | None, earlier: EarlierReleases
) -> PreviousReleaseFindings:
    """Add up what a release of statistics and every earlier one cost, and look for questions that were asked before.

    ``manifest``, ``charges``: of the release, as in its own audit. Nothing of the source is read. Two runs of the same figures are two
    releases: what either drew was paid for, whether or not the noise came out alike.
    """
    looked: list[ComparedRelease] = []
    remaining: list[Said] = []
    counted: list[tuple[EarlierRelease, Budget]] = []
    ours = frozenset() if manifest is None else {output.sha256 for output in manifest.outputs}
    for one in earlier.releases:
        if one.digests & ours and (one.run is None or manifest is None or one.run == manifest.run):
            looked.append(compared(one, "same_file"))
            continue
        aside = set_aside(one, "statistics")
        cost = None if aside is not None else _cost(one)
        if aside is not None and one.content in _EXACT and one.held:
            looked.append(aside[0].model_copy(update={"note": "exact"}))
            remaining.append(say(_EXACT[one.content], name=one.name))
        elif aside is not None:
            looked.append(aside[0])
            remaining += aside[1]
        elif cost is None:
            looked.append(compared(one, "unreadable"))
            remaining.append(say("cost_unread", name=one.name))
        else:
            figures = {
                "epsilon": Figure.of(cost.epsilon.value, visibility=Visibility.RECIPIENT),
                "delta": Figure.of(cost.delta.value, visibility=Visibility.RECIPIENT),
            }
            looked.append(compared(one, "combined", figures=figures))
            counted.append((one, cost))
    if not counted:
        return together(looked, (), remaining, earlier)
    checks = (_budget(plan, policy, manifest, charges, counted), _repeated(plan, manifest, [one for one, _ in counted]))
    return together(looked, checks, remaining, earlier)


def _cost(one: EarlierRelease) -> Budget | None:
    """Return an earlier release's cost: its queries together, those served again apart; None where its file is not valid."""
    if one.manifest is not None and one.manifest.privacy is not None:
        return _of_queries(one.manifest.privacy.queries)
    try:
        names, lines = cells_of_file(one.file)
        rows = [dict(zip(names, line, strict=True)) for line in lines]
        parts = {
            str(row["query"]): (number_text(row["epsilon"], one.file) or "", number_text(row["delta"], one.file))
            for row in rows
        }
        return total(Budget(Epsilon(epsilon), Delta(delta or "0")) for epsilon, delta in parts.values())
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _of_queries(queries: Iterable[QueryClaim]) -> Budget:
    return total(Budget(Epsilon(one.epsilon), Delta(one.delta)) for one in queries if not one.served_again)


def _budget(
    plan: StatisticsPlan,
    policy: Plan,
    manifest: Manifest | None,
    charges: Charges | None,
    counted: Sequence[tuple[EarlierRelease, Budget]],
) -> CheckResult:
    own_unit = "row" if plan.unit is None else plan.unit.column
    others = [one for one, _ in counted if _unit_of(one) not in {None, own_unit}]
    counted = [(one, cost) for one, cost in counted if one not in others]
    names = named([one.name for one, _ in counted]) if counted else say("this_one")
    if charges is not None and charges.spent:
        charged = {one.claim.run for one in charges.spent}
        unknown = [(one, cost) for one, cost in counted if one.run not in charged and cost.epsilon.value]
        spent = total((*(one.claim.cost for one in charges.spent), *(cost for _, cost in unknown)))
    else:
        own = plan.cost if manifest is None or manifest.privacy is None else _of_queries(manifest.privacy.queries)
        spent = total((own, *(cost for _, cost in counted)))
        unknown = []
    caps = [charges.cap] if charges is not None and charges.cap is not None else []
    caps += [policy.ledger.cap] if policy.ledger is not None else []
    said = total_cost(spent, [one.name for one, _ in unknown])
    if others:
        said = say("cost_without", cost=said, names=named([one.name for one in others]))
    observed = Figure.of(spent.epsilon.value, visibility=Visibility.RECIPIENT)
    over = next((cap for cap in caps if not spent.fits(cap)), None)
    return earlier_check(_BUDGET, *against_cap(said, names, over, known=bool(caps)), observed)


def _unit_of(one: EarlierRelease) -> str | None:
    """Return the unit whose epsilon an earlier release spent; None where it has no manifest that says so."""
    return None if one.manifest is None or one.manifest.privacy is None else one.manifest.privacy.unit


def _repeated(plan: StatisticsPlan, manifest: Manifest | None, earlier: Sequence[EarlierRelease]) -> CheckResult:
    """Warn of questions that an earlier release answered with other noise, on the same state of the data."""
    ours = None if manifest is None else manifest.privacy
    times: Counter[str] = Counter()
    if ours is not None and plan.snapshot is not None:
        mine = {_question(query): query.id for query in ours.queries if not query.served_again}
        for one in earlier:
            claim = None if one.manifest is None else one.manifest.privacy
            if claim is None or claim.snapshot != plan.snapshot or not _same_stream(one.manifest, manifest):
                continue
            times.update(mine[key] for query in claim.queries if not query.served_again and (key := _question(query)) in mine)
    result = earlier_check(_REPEATED, (), say("not_asked_before"))
    if not times:
        return result
    words = [
        say("asked_times", query=query, times=count + 1, share=Number(f"{1 / sqrt(count + 1):.0%}"))
        for query, count in times.items()
    ]
    message = say("asked_again", queries=listed(words, "semicolon"))
    return result.model_copy(update={"outcome": Outcome.WARN, "message": str(message), "message_coded": coded(message)})


def _same_stream(one: Manifest | None, other: Manifest | None) -> bool:
    """Return True if two manifests are of one release of one policy, where a query's name says which rows it is about."""
    return one is not None and other is not None and (one.policy.id, one.release) == (other.policy.id, other.release)


def _question(query: QueryClaim) -> frozenset[tuple[str, object]]:
    """Return the question that a query of a release asks, however it is answered."""
    asked = {pair for draw in query.draws for pair in draw.items() if pair[0].startswith("target.")}
    return frozenset((*asked, ("id", query.id), ("figure", query.figure), ("column", query.column), ("by", query.by)))
