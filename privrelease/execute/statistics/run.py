"""A release of statistics from source to parked files: read, aggregate, charge, draw, write.

Exact figures exist in this module between the engine and :func:`~privrelease.dp.draws.charge_then_draw`, and nowhere else: they are in no
message, log or file.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from privrelease.dp.domains import CategoryDomain
from privrelease.dp.draws import charge_then_draw
from privrelease.dp.quantiles import scores
from privrelease.dp.queries import Histogram, Mean, PrivateKeys, PublicKeys, Quantile, Sum, Variance
from privrelease.errors import BudgetError
from privrelease.execute.common.inputs import digest_inputs
from privrelease.execute.common.manifest import manifest_of
from privrelease.execute.common.progress import silent
from privrelease.execute.statistics.figures import Noisy, agreed, figures_of
from privrelease.execute.statistics.files import COLUMNS, write_statistics
from privrelease.ledger.protocol import Claim
from privrelease.relational.aggregates import Aggregate, BinKey, Bounding, ColumnKey, Measure
from privrelease.release.digests import digest_key
from privrelease.release.manifest import (
    Manifest,
    ManifestColumn,
    StatisticsInternalManifest,
)
from privrelease.release.privacy import ApartClaim, LedgerAnchor, PrivacyClaim, QueryClaim

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.dp.draws import Draw
    from privrelease.dp.randomness import Randomness
    from privrelease.engine.protocol.base import Engine
    from privrelease.execute.common.inputs import InputFiles
    from privrelease.execute.common.progress import Progress
    from privrelease.execute.statistics.figures import ReleasedFigure
    from privrelease.ledger.protocol import Head, Ledger, Reservation
    from privrelease.plan.model import Plan
    from privrelease.plan.statistics.plan import StatisticPlan, StatisticsPlan
    from privrelease.relational.aggregates import Aggregated
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["ParkedStatistics", "query_key", "run_statistics"]

_ANSWER = 1


@dataclass(frozen=True, slots=True)
class ParkedStatistics:
    """Statistics that wait for their audit."""

    run: RunFolder
    manifest: Manifest
    internal: StatisticsInternalManifest


def query_key(plan: StatisticsPlan, policy: Plan, query: StatisticPlan) -> str | None:
    """Return the key under which the answer to a query is stored: policy, snapshot, release and query. None without a snapshot label.

    The policy's digest covers everything else that the answer depends on.
    """
    if plan.snapshot is None:
        return None
    parts = [policy.policy_sha256, policy.environment, plan.source.dataset, plan.snapshot, plan.id, query.id]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def run_statistics(
    plan: StatisticsPlan,
    policy: Plan,
    *,
    engine: Engine,
    store: ReleaseStore,
    run: RunFolder,
    ledger: Ledger,
    randomness: Randomness,
    progress: Progress = silent,
    environment: Mapping[str, str] | None = None,
) -> ParkedStatistics:
    """Execute one release of statistics and park it in ``run``.

    Draws are charged to ``ledger`` in one reservation, before the first of them. Raises InputError where the source cannot be read (nothing
    is charged then), BudgetError where the budget does not cover the draws (nothing is drawn then).
    """
    progress("digest", None)
    inputs = digest_inputs((plan.source,), digest_key(store.state, os.environ if environment is None else environment))
    content = ",".join(f"{one.key_id}:{one.hmac_sha256}" for one in inputs.digests)
    progress("read", None)
    staged = engine.stage(plan.source)
    inputs.check_unchanged()
    stored = _stored_answers(plan, policy, ledger, content)
    fresh = [query for query in plan.queries if stored[query.id] is None]
    answers = {name: noisy for name, noisy in stored.items() if noisy is not None}
    reservation: Reservation | None = None
    if fresh:
        progress("aggregate", None)
        bounding = Bounding(
            None if plan.unit is None else plan.unit.column,
            plan.setting.contribution.max_rows,
            int.from_bytes(randomness.draw(8), "little"),
        )
        exact = engine.aggregates(staged, bounding, [_aggregate(plan, query) for query in fresh])
        progress("charge and draw", None)
        charged: list[Reservation] = []
        keys = {query.id: query_key(plan, policy, query) for query in fresh}
        claim = _claim(plan, policy, fresh, content, run, tuple(key for key in keys.values() if key is not None))
        work = [
            (draw, figures)
            for query, found in zip(fresh, exact, strict=True)
            for draw, figures in zip(query.draws, _exact(query, found), strict=True)
        ]
        drawn = charge_then_draw(work, lambda draws: charged.append(ledger.reserve(replace(claim, draws=draws))), randomness)
        (reservation,) = charged
        values = iter(drawn)
        for query, found in zip(fresh, exact, strict=True):
            shown = tuple(next(values).values for _ in query.draws)
            answers[query.id] = _published(shown, found.keys) if isinstance(query.keys, PrivateKeys) else Noisy(shown)
        ledger.commit(
            reservation,
            {key: _answer(query, answers[query.id], content, run) for query in fresh if (key := keys[query.id]) is not None},
        )
    progress("write", None)
    together = agreed(plan.queries, answers)
    figures = [
        figure
        for query in plan.queries
        for figure in figures_of(query, answers[query.id], min_count=plan.min_count, agreement=together.get(query.id))
    ]
    head = ledger.head() if reservation is None else reservation.head
    again = frozenset(query.id for query in plan.queries) - {query.id for query in fresh}
    return _park(plan, policy, store, run, inputs, figures, _Done(staged.n_rows, randomness.private, head, again, reservation))


@dataclass(frozen=True, slots=True)
class _Done:
    rows: int
    private: bool
    head: Head
    again: frozenset[str]
    reservation: Reservation | None


# ------------------------------------------------------------------------------------------------------------- what is asked for


def _aggregate(plan: StatisticsPlan, query: StatisticPlan) -> Aggregate:
    asked = query.query
    keys: tuple[ColumnKey | BinKey, ...] = ()
    if isinstance(asked.by, PublicKeys):
        keys = tuple(
            ColumnKey(column, domain.values, domain.other)
            if isinstance(domain, CategoryDomain)
            else ColumnKey(column, domain.labels)
            for column, domain in zip(asked.by.columns, asked.by.domains, strict=True)
        )
    elif isinstance(asked.by, PrivateKeys):
        keys = tuple(ColumnKey(column, None) for column in asked.by.columns)
    if isinstance(asked, Histogram):
        keys = (*keys, _bin_key(asked, _grid(plan, asked.column)))
    contribution = plan.setting.contribution
    few = contribution.max_groups is not None and contribution.max_groups < contribution.max_rows and bool(query.columns)
    return Aggregate(
        measures=tuple(dict.fromkeys(replace(_measure(draw), fill=_fill(query, draw)) for draw in query.draws)),
        keys=keys,
        where=query.where,
        complete=() if asked.column is None or getattr(asked, "fill", None) is not None else (asked.column,),
        max_groups=contribution.max_groups if few else None,
    )


def _bin_key(asked: Histogram, grid: Fraction) -> BinKey:
    return BinKey(asked.column, asked.bins.edges, grid, asked.bins.closed, asked.bins.outside)


def _grid(plan: StatisticsPlan, column: str) -> Fraction:
    grid = plan.source.column(column).grid
    return Fraction(1) if grid is None else Fraction(grid)


def _measure(draw: Draw) -> Measure:
    target = draw.target
    if target.figure in {"rows", "persons"}:
        return Measure("rows" if target.figure == "rows" else "persons")
    if target.figure == "squares":  # their grid is that of the values, squared
        root = Fraction(_root(draw.grid.numerator), _root(draw.grid.denominator))
        return Measure("squares", target.column, target.low, target.high, target.centre, target.offset, root)
    kind = "sum" if target.figure == "sum" else "steps"
    return Measure(kind, target.column, target.low, target.high, target.centre, grid=draw.grid)  # type: ignore[arg-type]  # both are kinds


def _fill(query: StatisticPlan, draw: Draw) -> int | None:
    """The step that a missing value counts as, for what is about values."""
    asked = query.query
    if (
        not isinstance(asked, Sum | Mean | Variance | Quantile)
        or asked.fill is None
        or draw.target.figure in {"rows", "persons"}
    ):
        return None
    return int(asked.fill / asked.domain.grid)


def _root(square: int) -> int:
    from math import isqrt

    root = isqrt(square)
    assert root * root == square
    return root


def _exact(query: StatisticPlan, found: Aggregated) -> list[Sequence[int] | Sequence[Sequence[int]]]:
    """The exact integers of each draw; for a quantile the scores of every candidate, by cell."""
    if not isinstance(query.query, Quantile):
        return list(found.figures)
    return [
        cast("Sequence[Sequence[int]]", [scores(draw.target, step, rows) for step, rows in found.steps]) for draw in query.draws
    ]


def _published(values: tuple[tuple[int | None, ...], ...], keys: tuple[tuple[str, ...], ...]) -> Noisy:
    """Keep what the selection published; of other keys not even the number stays."""
    shown = [place for place, value in enumerate(values[0]) if value is not None]
    return Noisy(tuple(tuple(row[place] for place in shown) for row in values), tuple(keys[place] for place in shown))


# --------------------------------------------------------------------------------------------------------- charging and answers


def _claim(
    plan: StatisticsPlan,
    policy: Plan,
    queries: Sequence[StatisticPlan],
    content: str,
    run: RunFolder,
    keys: tuple[str, ...],
) -> Claim:
    spends, apart = plan.composed_of(frozenset(query.id for query in queries))
    return Claim(
        population=plan.population,
        dataset=plan.source.dataset,
        release=f"{policy.policy_id}/{plan.id}",
        policy_sha256=policy.policy_sha256,
        draws=(),
        cost=spends.cost,
        snapshot=plan.snapshot,
        content=content,
        accountant=spends.accountant,
        run=run.id,
        queries=keys,
        apart=apart,
    )


def _answer(query: StatisticPlan, noisy: Noisy, content: str, run: RunFolder) -> bytes:
    draws = [draw.record() for draw in query.draws]
    value = {
        "version": _ANSWER,
        "content": content,
        "draws": draws,
        "values": noisy.values,
        "keys": noisy.keys,
        "run": run.id,
    }
    return json.dumps(value, sort_keys=True).encode()


def _stored_answers(plan: StatisticsPlan, policy: Plan, ledger: Ledger, content: str) -> dict[str, Noisy | None]:
    """Return by query the stored answer, None where it is to be drawn.

    Parts count as apart because one run keeps the same rows of a person for all of them: answers of several runs are not served together.
    """
    stored = {query.id: _stored(plan, policy, query, ledger, content) for query in plan.queries}
    for family in plan.apart:
        names = [name for part in family.parts for name in part.queries]
        runs = {None if (found := stored[name]) is None else found[1] for name in names}
        if len(runs) > 1 or None in runs:
            stored |= dict.fromkeys(names)
    return {name: None if found is None else found[0] for name, found in stored.items()}


def _stored(
    plan: StatisticsPlan, policy: Plan, query: StatisticPlan, ledger: Ledger, content: str
) -> tuple[Noisy, str | None] | None:
    """Return the stored answer and the run that drew it.

    Raises BudgetError (L131) where the data under the snapshot's label is another than it was.
    """
    key = query_key(plan, policy, query)
    found = None if key is None or query.fresh else ledger.answer(key)
    if found is None:
        return None
    value = json.loads(found)
    if value.get("version") != _ANSWER or value["draws"] != [draw.record() for draw in query.draws]:
        return None
    if _differ(value["content"], content):
        raise BudgetError(
            code="L131",
            message=f"the data of snapshot {plan.snapshot} is not what it was when query {query.id} was answered",
            hint="give changed data a new `snapshot` label",
        )
    return Noisy(tuple(map(tuple, value["values"])), tuple(map(tuple, value["keys"]))), value.get("run")


def _differ(before: str, after: str) -> bool:
    """Whether two contents, digested under the same keys, differ; under other keys nobody can tell."""
    then, present = (tuple(tuple(part.split(":", 1)) for part in content.split(",")) for content in (before, after))
    return [part[0] for part in then] == [part[0] for part in present] and then != present


# ----------------------------------------------------------------------------------------------------------------------- parking


def _park(
    plan: StatisticsPlan,
    policy: Plan,
    store: ReleaseStore,
    run: RunFolder,
    inputs: InputFiles,
    figures: Sequence[ReleasedFigure],
    done: _Done,
) -> ParkedStatistics:
    sinks = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, run.data, strict=True))
    write_statistics(figures, sinks, private=done.private)
    columns = tuple(ManifestColumn(name=name, type=kind) for name, kind in COLUMNS)
    manifest = manifest_of(
        plan.id,
        policy,
        run,
        sinks,
        columns,
        len(figures),
        order="policy",
        libraries=("duckdb", "numpy", "pyarrow"),
        privacy=_privacy(plan, done),
    )
    internal = StatisticsInternalManifest(
        run=run.id,
        manifest_sha256=manifest.digest(),
        inputs=inputs.digests,
        source_rows=done.rows,
        reservation=None if done.reservation is None else done.reservation.id,
    )
    store.park(run, manifest, internal)
    return ParkedStatistics(run, manifest, internal)


def _privacy(plan: StatisticsPlan, done: _Done) -> PrivacyClaim:
    contribution = plan.setting.contribution
    return PrivacyClaim(
        private=done.private,
        neighbours=plan.setting.neighbours.value,
        unit="row" if plan.unit is None else plan.unit.column,
        max_rows=contribution.max_rows,
        max_groups=contribution.max_groups,
        population=plan.population,
        snapshot=plan.snapshot,
        epsilon=str(plan.cost.epsilon),
        delta=str(plan.cost.delta),
        accountant=plan.composed.accountant,
        apart=tuple(
            ApartClaim(parts=tuple(part.queries for part in family.parts), at_most=family.most) for family in plan.apart
        ),
        min_count=plan.min_count,
        queries=tuple(
            QueryClaim(
                id=query.id,
                figure=query.figure,
                column=query.query.column,
                by=query.columns,
                keys="none" if query.keys is None else "private" if isinstance(query.keys, PrivateKeys) else "declared",
                epsilon=str(query.cost.epsilon),
                delta=str(query.cost.delta),
                post=query.afterwards(plan.min_count),
                served_again=query.id in done.again,
                draws=tuple(draw.record() for draw in query.draws),
            )
            for query in plan.queries
        ),
        anchor=LedgerAnchor(ledger=done.head.ledger, sequence=done.head.sequence, hash=done.head.hash),
    )
