"""Fills sections 10 and 12: the claim from the plan, the draws from the manifest, the budget from the ledger."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp, pi, sqrt
from typing import TYPE_CHECKING, Final, Literal

from privrelease.audit.checks.charges import budget_facts
from privrelease.audit.document.model import Figure, Visibility
from privrelease.audit.document.privacy import PrivacyFacts, Unprotected
from privrelease.audit.document.synthetic import (
    MeasuredFacts,
    ModelTable,
    SpentFacts,
    SyntheticColumnFacts,
    SyntheticFacts,
)
from privrelease.dp.accountants.events import Together
from privrelease.dp.accountants.pure import PureAccountant
from privrelease.relational.coded_columns import BinnedCells, DiscoveredCells, DiscoveredRange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from privrelease.audit.synthetic.evidence import SyntheticEvidence
    from privrelease.audit.synthetic.source import BesideSource
    from privrelease.dp.envelope_records import EnvelopeDraw
    from privrelease.plan.model import Plan
    from privrelease.relational.coded_columns import CellsOf

__all__ = ["MOST_MEASURED", "privacy_section", "synthesis_section"]

#: Draws that the section repeats at most: the manifest and the ledger hold all.
MOST_MEASURED: Final = 200
_SHOWN_VALUES: Final = 8


def privacy_section(evidence: SyntheticEvidence, policy: Plan, version: str | None) -> PrivacyFacts:
    """Return section 10: who is protected, at which loss, and what is left of the budget."""
    plan, claim, charges = evidence.plan, evidence.privacy, evidence.target.charges
    contribution = plan.setting.contribution
    unprotected: list[Unprotected] = ["other_releases", "declared"]
    if plan.setting.neighbours.value == "replace":
        unprotected.append("persons")
    unprotected.append("rows" if plan.unit is None else "identifiers")
    return PrivacyFacts(
        noise="unknown" if claim is None else "secret" if claim.private else "test",
        unit=None if plan.unit is None else plan.unit.column,
        max_rows=contribution.max_rows,
        max_groups=None,
        neighbours=plan.setting.neighbours.value,
        epsilon=str(plan.budget.epsilon),
        delta=str(plan.budget.delta),
        composition=plan.reserved.accountant,
        allowed_epsilon=str(plan.budget.epsilon),
        allowed_delta=str(plan.budget.delta),
        library=f"privrelease {version}" if version else "privrelease",
        confidence="0.95",
        min_count=None,
        unprotected=(*unprotected, "course"),
        queries=(),
        budget=None if charges is None else budget_facts(policy, evidence.target.manifest, charges),
    )


def synthesis_section(evidence: SyntheticEvidence, beside: BesideSource | None) -> SyntheticFacts:
    """Return section 12. ``beside``: the rows next to the source, None where it was not read. What the model says of itself is taken from the manifest, and is noisy or public."""
    plan, claim = evidence.plan, evidence.claim
    draws = evidence.draws or ()
    pure = plan.reserved.accountant == "pure"
    rows = None if evidence.first is None else evidence.first.n_rows
    return SyntheticFacts(
        method=plan.method,
        version=None if claim is None else claim.version,
        settings={} if claim is None else dict(_flat(claim.settings)),
        rows=Figure.of(rows, "count", Visibility.RECIPIENT),
        noisy_rows=plan.rows is None,
        cells=_product(one.size for one in evidence.cells()),
        holdout=None if plan.holdout is None else f"{float(plan.holdout):g}",
        impossible=plan.rules,
        columns=tuple(_columns(evidence)),
        measure="epsilon" if pure else "rho",
        reserved=_short(plan.reserved.loss.value),
        draws=len(draws),
        spent=tuple(_spent(draws, pure=pure, reserved=plan.reserved.loss.value)),
        measured=tuple(_measured(one, pure=pure) for one in draws[:MOST_MEASURED]),
        figures=() if claim is None else claim.figures,
        tables=()
        if claim is None
        else tuple(ModelTable(name=one.name, header=one.header, rows=one.rows) for one in claim.tables),
        source=None if beside is None else beside.facts(),
    )


def _product(sizes: Iterable[int]) -> int:
    found = 1
    for size in sizes:
        found *= size
    return found


def _flat(settings: dict[str, object], name: str = "") -> Iterator[tuple[str, str]]:
    for key, value in sorted(settings.items()):
        if isinstance(value, dict):
            yield from _flat(value, f"{name}{key}." if key != "after" else name)
        else:
            yield f"{name}{key}", value if isinstance(value, str) else json.dumps(value)


def _columns(evidence: SyntheticEvidence) -> Iterator[SyntheticColumnFacts]:
    made = {one.name: one for one in evidence.plan.made}
    cells = {one.column: one for one in evidence.cells()}
    bought = {one.column: one.failure is None for one in evidence.plan.discoveries}
    for column in evidence.plan.columns:
        name = column.name
        if name in made:
            yield SyntheticColumnFacts(name=name, made=made[name].written, unique=made[name].unique)
        else:
            one = cells[name]
            bounded = bought.get(name, False)
            found = name in bought and not bounded
            yield SyntheticColumnFacts(name=name, cells=one.size, domain=_domain(one), discovered=found, bounded=bounded)


def _domain(cells: CellsOf) -> str:
    labels = cells.labels[:-1]
    if isinstance(cells, DiscoveredCells):
        return f"at most {len(labels)} values"
    if isinstance(cells, DiscoveredRange):
        return f"at most {len(labels)} bins"
    if isinstance(cells, BinnedCells):
        return labels[0] if len(labels) == 1 else f"{labels[0]}, …, {labels[-1]}" if len(labels) > 2 else ", ".join(labels)
    more = ", …" if len(labels) > _SHOWN_VALUES else ""
    return ", ".join(labels[:_SHOWN_VALUES]) + more


# ------------------------------------------------------------------------------------------------------------------------ draws


def _spent(draws: Iterable[EnvelopeDraw], *, pure: bool, reserved: Fraction) -> Iterator[SpentFacts]:
    figures: tuple[Literal["keys", "choice", "cells"], ...] = ("keys", "choice", "cells")
    for figure in figures:
        own = [one for one in draws if one.figure == figure]
        if own:
            loss = sum((_loss(one, pure=pure) for one in own), Fraction(0))
            yield SpentFacts(
                figure=figure, draws=len(own), loss=_short(loss), share=float(loss / reserved) if reserved else 0.0
            )


def _loss(draw: EnvelopeDraw, *, pure: bool) -> Fraction:
    from privrelease.dp.accountants.zcdp import ZcdpAccountant

    whole = Together((draw.event,))
    if pure and PureAccountant.supports(whole):
        return PureAccountant().compose(whole).spent.value
    return ZcdpAccountant().compose(whole).rho.value


def _measured(draw: EnvelopeDraw, *, pure: bool) -> MeasuredFacts:
    return MeasuredFacts(
        query=draw.query if len(draw.query) <= 200 else f"{draw.query[:200]}…",
        figure=draw.figure,
        mechanism=draw.mechanism,
        numbers=draw.size,
        scale=float(f"{float(draw.scale):.6g}"),
        loss=_short(_loss(draw, pure=pure)),
        error=_error(draw),
        threshold=draw.threshold,
    )


def _error(draw: EnvelopeDraw) -> float | None:
    """The expected absolute value of the noise of a cell, in rows."""
    if draw.mechanism == "exponential":
        return None
    if draw.mechanism == "discrete_gaussian":
        return float(f"{sqrt(draw.scale) * sqrt(2 / pi):.6g}")
    a = exp(-1 / float(draw.scale))
    return float(f"{2 * a / (1 - a * a):.6g}")


def _short(value: Fraction) -> str:
    return f"{float(value):.6g}"
