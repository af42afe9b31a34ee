"""A release of statistics from source to parked files: read, aggregate, charge, draw, write.

Exact figures exist in this module between the engine and :func:`~privrelease.dp.draws.charge_then_draw`, and nowhere else: they are in no
message, log or file.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from privrelease.dp.domains import CategoryDomain
from privrelease.dp.draws import charge_then_draw
from privrelease.dp.quantiles import scores
from privrelease.dp.queries import Histogram, Mean, PrivateKeys, PublicKeys, Quantile, Sum, Variance
from privrelease.execute.answers import answer_keys, answer_of, stored_answers
from privrelease.execute.common.inputs import digest_inputs
from privrelease.execute.common.manifest import manifest_of
from privrelease.execute.common.persons import check_unit
from privrelease.execute.common.progress import silent
from privrelease.execute.statistics.figures import Noisy, agreed, figures_of
from privrelease.execute.statistics.files import write_statistics
from privrelease.findings import Finding, Severity, pluralise
from privrelease.interruption import heed
from privrelease.ledger.accounts import unit_of
from privrelease.ledger.protocol import Claim
from privrelease.relational.aggregates import Aggregate, BinKey, Bounding, ColumnKey, Measure
from privrelease.release.digests import digest_key
from privrelease.release.manifest import (
    Manifest,
    ManifestColumn,
    StatisticsInternalManifest,
)
from privrelease.release.privacy import ApartClaim, LedgerAnchor, PrivacyClaim, QueryClaim
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from privrelease.dp.draws import Draw
    from privrelease.dp.randomness import Randomness
    from privrelease.engine.protocol.base import Engine
    from privrelease.execute.answers import Stored
    from privrelease.execute.common.inputs import InputFiles
    from privrelease.execute.common.progress import Progress
    from privrelease.execute.statistics.figures import ReleasedFigure
    from privrelease.ledger.protocol import Head, Ledger, Reservation
    from privrelease.plan.model import Plan
    from privrelease.plan.statistics.plan import StatisticPlan, StatisticsPlan
    from privrelease.relational.aggregates import Aggregated
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["ParkedStatistics", "run_statistics"]


@dataclass(frozen=True, slots=True)
class ParkedStatistics:
    """Statistics that wait for their audit. ``notes``: what whoever runs should know of answers that were served again."""

    run: RunFolder
    manifest: Manifest
    internal: StatisticsInternalManifest
    notes: tuple[Finding, ...] = ()


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
    if plan.unit is None:
        check_unit(plan, plan.source, engine, staged)
    stored = stored_answers(plan, policy, ledger, content)
    fresh = [query for query in plan.queries if query.id not in stored]
    answers = {name: one.noisy for name, one in stored.items()}
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
        keys = answer_keys(plan, content)
        claim = _claim(plan, policy, fresh, content, run, tuple(keys[query.id] for query in fresh if query.id in keys))
        work = [
            (draw, figures)
            for query, found in zip(fresh, exact, strict=True)
            for draw, figures in zip(query.draws, _exact(query, found), strict=True)
        ]
        heed()
        drawn = charge_then_draw(work, lambda draws: charged.append(ledger.reserve(replace(claim, draws=draws))), randomness)
        (reservation,) = charged
        values = iter(drawn)
        for query, found in zip(fresh, exact, strict=True):
            shown = tuple(next(values).values for _ in query.draws)
            answers[query.id] = _published(shown, found.keys) if isinstance(query.keys, PrivateKeys) else Noisy(shown)
        ledger.commit(
            reservation,
            {keys[query.id]: answer_of(plan, query, answers[query.id], content, run.id) for query in fresh if query.id in keys},
        )
    progress("write", None)
    together = agreed(plan.queries, answers, min_count=plan.min_count)
    figures = [
        figure
        for query in plan.queries
        for figure in figures_of(query, answers[query.id], min_count=plan.min_count, agreement=together.get(query.id))
    ]
    head = ledger.head() if reservation is None else reservation.head
    again = frozenset(query.id for query in plan.queries) - {query.id for query in fresh}
    done = _Done(staged.n_rows, randomness.private, head, again, reservation)
    parked = _park(plan, policy, store, run, inputs, figures, done, engine.libraries)
    return replace(parked, notes=tuple(_not_compared(plan, stored)))


def _not_compared(plan: StatisticsPlan, stored: Mapping[str, Stored]) -> Iterator[Finding]:
    """Say where answers were served again by the snapshot's label alone."""
    names = sorted(name for name, one in stored.items() if not one.compared)
    if names:
        yield Finding(
            "L134",
            f"stored answers are served for {pluralise(len(names), 'query', 'queries')} of snapshot {plan.snapshot}, and the data could not be compared "
            "with that of their run: it was digested under another key",
            Severity.WARN,
            hint="set the same PRIVRELEASE_DIGEST_KEY wherever the policy runs, so that changed data under one label is found",
        )


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
            ColumnKey(column, domain.values, domain.other, missing=domain.missing is not None)
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
        return [figure.tolist() for figure in found.figures]
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
        unit=unit_of(None if plan.unit is None else plan.unit.column),
    )


# ----------------------------------------------------------------------------------------------------------------------- parking


def _park(
    plan: StatisticsPlan,
    policy: Plan,
    store: ReleaseStore,
    run: RunFolder,
    inputs: InputFiles,
    figures: Sequence[ReleasedFigure],
    done: _Done,
    libraries: Sequence[str],
) -> ParkedStatistics:
    sinks = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, run.data, strict=True))
    write_statistics(figures, sinks, plan.column_types, private=done.private)
    columns = tuple(ManifestColumn(name=name, type=kind.value) for name, kind in plan.column_types.items())
    manifest = manifest_of(
        plan.id,
        policy,
        run,
        sinks,
        columns,
        len(figures),
        order="policy",
        libraries=(*libraries, "numpy", "pyarrow"),
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
