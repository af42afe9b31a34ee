"""The description of a synthetic release under which its answers are kept: method, settings, rules, holdout, and every marginal that it may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.execute.common.asking import Asking, Method, canonical
from privrelease.execute.common.envelopes import stored_transcript
from privrelease.ledger.accounts import unit_of
from privrelease.ledger.protocol import Claim
from privrelease.relational.aggregates import Aggregate, ColumnKey, Measure
from privrelease.relational.filter_forms import filter_form
from privrelease.synthesis.methods import method_named

if TYPE_CHECKING:
    from privrelease.ledger.protocol import Ledger
    from privrelease.plan.model import Plan
    from privrelease.plan.synthetic.plan import SyntheticPlan

__all__ = ["asking_of", "claim_of", "discovery_name", "stored_already"]


def discovery_name(column: str) -> str:
    """Return the name under which the values of a column are asked for."""
    return next(iter(canonical([_values(column)])))


def _values(column: str) -> Aggregate:
    return Aggregate((Measure("persons"),), (ColumnKey(column, None),))


def asking_of(plan: SyntheticPlan, key_id: str | None) -> Asking:
    """Return the description. ``key_id``: of the key by which persons are held out; None where none are."""
    method = method_named(plan.method)
    cells = {one.column: one for one in plan.modelled}
    marginals = dict.fromkeys(tuple(sorted(columns)) for columns in method.asks(plan.domain.names, plan.settings))
    asked = [Aggregate((Measure("rows"),), tuple(cells[name].key for name in columns)) for columns in marginals]
    asked += [_values(one.column) for one in plan.discoveries if one.failure is not None]
    settings = {name: value for name, value in plan.settings.items() if name != "after"}
    settings["impossible"] = sorted((filter_form(one) for one in plan.impossible), key=repr)
    settings["holdout"] = None if plan.holdout is None else [str(plan.holdout), key_id]
    settings["discover"] = {
        one.column: [str(one.loss), "bounds" if one.failure is None else str(one.failure), cells[one.column].size - 1]
        for one in plan.discoveries
    }
    return Asking(
        Method(method.name, method.version, settings),
        plan.reserved,
        plan.setting,
        plan.source,
        None if plan.unit is None else plan.unit.column,
        canonical(asked),
    )


def claim_of(plan: SyntheticPlan, policy: Plan, content: str | None, run: str | None) -> Claim:
    """Return what is charged: the whole budget, before anything is asked."""
    return Claim(
        population=plan.population,
        dataset=plan.source.dataset,
        release=f"{policy.policy_id}/{plan.id}",
        policy_sha256=policy.policy_sha256,
        draws=(),
        cost=plan.budget,
        snapshot=plan.snapshot,
        content=content,
        run=run,
        unit=unit_of(None if plan.unit is None else plan.unit.column),
    )


def stored_already(plan: SyntheticPlan, policy: Plan, ledger: Ledger, key_id: str | None = None) -> bool:
    """Return True if the ledger holds the answers under the snapshot's label; the data is not read."""
    if plan.fresh:
        return False
    return stored_transcript(asking_of(plan, key_id), claim_of(plan, policy, None, None), ledger) is not None
