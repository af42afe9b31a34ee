"""A synthetic release from source to parked files: read, put aside, reserve, measure, draw, decode, write.

The exact counts exist between the engine and the envelope, and nowhere else. A method gets the envelope and public values; rows are drawn from
its model after the last question, by the operating system's randomness.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from privrelease.dp.noisy_bounds import noisy_bounds
from privrelease.errors import InputError, InternalError
from privrelease.execute.common.envelopes import CodedCounts, open_envelope
from privrelease.execute.common.inputs import digest_inputs
from privrelease.execute.common.manifest import manifest_of
from privrelease.execute.common.persons import check_unit
from privrelease.execute.common.progress import silent
from privrelease.execute.synthetic.asking import asking_of, claim_of, discovery_name
from privrelease.policy.language.synthetic import MOST_ROWS
from privrelease.policy.synthetic.domain import coded_domain
from privrelease.relational.aggregates import Aggregate, BinKey, Bounding, Measure
from privrelease.relational.coded_columns import BinnedCells, DiscoveredCells, DiscoveredRange
from privrelease.relational.schema import ColumnType, SinkKind
from privrelease.relational.treatments import Synthetic
from privrelease.release.digests import digest_key
from privrelease.release.manifest import InternalSynthetic, Manifest, ManifestColumn
from privrelease.release.privacy import (
    LedgerAnchor,
    PrivacyClaim,
    QueryClaim,
    SyntheticClaim,
    SyntheticColumn,
    SyntheticTable,
)
from privrelease.synthesis.methods import method_named
from privrelease.units import Rho
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.dp.envelope import Envelope
    from privrelease.dp.envelope_records import EnvelopeDraw
    from privrelease.dp.randomness import Randomness
    from privrelease.engine.protocol.base import Engine
    from privrelease.execute.common.envelopes import OpenEnvelope
    from privrelease.execute.common.progress import Progress
    from privrelease.ledger.protocol import Ledger, Reservation
    from privrelease.plan.model import Plan
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.relational.coded_columns import CellsOf, ListedCells
    from privrelease.relational.schema import Column, Sink
    from privrelease.release.digests import DigestKey
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore
    from privrelease.synthesis.domain import CodedDomain
    from privrelease.synthesis.method import Model, ModelFacts

__all__ = ["MODELLED", "NOT_PRIVATE", "ParkedSynthetic", "holdout_key", "run_synthetic", "write_rows"]

#: Before the name of the first column where the noise came from a test's seed.
NOT_PRIVATE: Final = "not private: "
#: The name of the one query that a claim lists: its draws are those of the whole run.
MODELLED: Final = "synthesis"
_LIBRARIES: Final = ("numpy", "pyarrow")


@dataclass(frozen=True, slots=True)
class ParkedSynthetic:
    """Synthetic rows that wait for their audit."""

    run: RunFolder
    manifest: Manifest
    internal: InternalSynthetic


@dataclass(frozen=True, eq=False, slots=True)
class _Fitted:
    """A model with the cells that it is about, and what was drawn for it. ``again``: the stored answers of an earlier run were served."""

    model: Model
    cells: tuple[ListedCells | BinnedCells, ...]
    domain: CodedDomain
    draws: tuple[EnvelopeDraw, ...]
    reservation: Reservation | None
    again: bool
    private: bool


def holdout_key(key: DigestKey) -> bytes:
    """Return the secret by which persons are held out: it follows from the key of digests, which is never released, and shows nothing of it."""
    return hmac.new(key.secret, b"privrelease holdout", hashlib.sha256).digest()


def run_synthetic(
    plan: SyntheticPlan,
    policy: Plan,
    *,
    engine: Engine,
    store: ReleaseStore,
    run: RunFolder,
    ledger: Ledger,
    randomness: Randomness,
    progress: Progress = silent,
    environment: Mapping[str, str] | None = None,
) -> ParkedSynthetic:
    """Execute one synthetic release and park it in ``run``.

    The whole budget is reserved before anything is asked. Raises InputError where the source cannot be read (nothing is charged then),
    BudgetError where the budget does not cover the release (nothing is drawn then).
    """
    progress("digest", None)
    key = digest_key(store.state, os.environ if environment is None else environment)
    inputs = digest_inputs((plan.source,), key)
    content = ",".join(f"{one.key_id}:{one.hmac_sha256}" for one in inputs.digests)
    progress("read", None)
    staged = engine.stage(plan.source)
    inputs.check_unchanged()
    if plan.unit is None:  # with one, rows are bounded: to refuse those of a person would tell of that person
        check_unit(plan, plan.source, engine, staged)
    unit, seen = None if plan.unit is None else plan.unit.column, staged
    held_out = 0
    if plan.holdout is not None:
        seen, aside = engine.divided(staged, unit, plan.holdout, holdout_key(key))
        held_out = aside.n_rows
    asking = asking_of(plan, key.id)
    bounding = Bounding(unit, 1, int.from_bytes(randomness.draw(8), "little"))
    counts = CodedCounts(engine, seen, bounding, asking.asked)
    claim = claim_of(plan, policy, content, run.id)
    with open_envelope(claim, asking, counts, ledger, randomness, fresh=plan.fresh) as lent:
        fitted = _fit(plan, lent, counts, progress)
    rows = _rows(plan, fitted.model)
    progress("draw", None)
    codes = fitted.model.draw(rows, randomness)
    if fitted.domain.impossible(codes).any():
        code, message = "D273", "a model drew a row that is impossible by the policy"
        raise InternalError(code, message)
    table = _table(plan, fitted, codes, randomness)
    progress("write", None)
    sinks = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, run.data, strict=True))
    write_rows(table, plan.columns, sinks, engine, private=fitted.private)
    head = ledger.head() if fitted.reservation is None else fitted.reservation.head
    manifest = manifest_of(
        plan.id,
        policy,
        run,
        sinks,
        tuple(ManifestColumn(name=column.name, type=column.type.value, treatment=Synthetic.code) for column in plan.columns),
        rows,
        order="values",
        libraries=(*engine.libraries, *_LIBRARIES),
        privacy=_privacy(plan, fitted, LedgerAnchor(ledger=head.ledger, sequence=head.sequence, hash=head.hash)),
        synthetic=_claimed(plan, fitted, rows),
        kind=plan.kind,
    )
    internal = InternalSynthetic(
        run=run.id,
        manifest_sha256=manifest.digest(),
        inputs=inputs.digests,
        source_rows=staged.n_rows,
        held_out=held_out,
        reservation=None if fitted.reservation is None else fitted.reservation.id,
    )
    store.park(run, manifest, internal)
    return ParkedSynthetic(run, manifest, internal)


def _rows(plan: SyntheticPlan, model: Model) -> int:
    """Return the number of rows to draw. Raises InputError (D274) where the noisy number is more than a policy may ask for."""
    rows = plan.rows if plan.rows is not None else model.total
    if rows > MOST_ROWS:
        raise InputError(
            code="D274",
            message=f"the noisy number of rows of release {plan.id} is above {MOST_ROWS}",
            hint="write a number of rows: the stored answers are served again, free, where the dataset names a `snapshot`",
        )
    return rows


def _fit(plan: SyntheticPlan, lent: OpenEnvelope, counts: CodedCounts, progress: Progress) -> _Fitted:
    """Buy what is discovered, then let the method ask."""
    envelope = lent.envelope
    cells = tuple(_known(plan, one, envelope, counts) for one in plan.modelled)
    domain = coded_domain(cells, plan.impossible) if plan.discoveries else plan.domain
    progress("fit", None)
    model = method_named(plan.method).fit(envelope, domain, plan.settings, progress)
    return _Fitted(
        model,
        cells,
        domain,
        envelope.close(),
        lent.reservation,
        again=lent.served is not None,
        private=envelope.private,
    )


def _known(plan: SyntheticPlan, cells: CellsOf, envelope: Envelope, counts: CodedCounts) -> ListedCells | BinnedCells:
    """Return the cells of a column, once what is read of it is bought."""
    if isinstance(cells, DiscoveredCells):
        return cells.found(_bought(plan, cells, envelope, counts))
    return _between(plan, cells, envelope, counts) if isinstance(cells, DiscoveredRange) else cells


def _between(plan: SyntheticPlan, cells: DiscoveredRange, envelope: Envelope, counts: CodedCounts) -> BinnedCells:
    """The bins between the noisy bounds."""
    price = next(one for one in plan.discoveries if one.column == cells.column)

    def ask(query: str, edges: Sequence[int]) -> None:
        key = BinKey(cells.column, tuple(edge * cells.grid for edge in edges), cells.grid)
        counts.apart[query] = Aggregate((Measure("rows"),), (key,))

    found = cells.found(*noisy_bounds(envelope, cells.column, price.loss, cells.outer, ask))
    counts.discovered[cells.column] = found.key
    return found


def _bought(plan: SyntheticPlan, cells: DiscoveredCells, envelope: Envelope, counts: CodedCounts) -> tuple[str, ...]:
    """The values that enough persons share: those with the largest noisy counts, where there are too many."""
    price = next(one for one in plan.discoveries if one.column == cells.column)
    assert price.failure is not None
    assert isinstance(price.loss, Rho)
    found = envelope.discover(discovery_name(cells.column), price.loss, price.failure)
    ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))[: cells.at_most]
    values = tuple(sorted(key[0] for key, _ in ranked))
    counts.discovered[cells.column] = values
    return values


def _table(plan: SyntheticPlan, fitted: _Fitted, codes: NDArray[np.int32], randomness: Randomness) -> pa.Table:
    """The rows as values, in the order of the output's columns, sorted by the released values."""
    import pyarrow as pa

    from privrelease.synthesis.decoding import decoded, made_texts

    made = {one.name: one for one in plan.made}
    places = {name: place for place, name in enumerate(fitted.domain.names)}
    cells = {one.column: one for one in fitted.cells}
    found: dict[str, pa.Array] = {}
    for column in plan.columns:
        name = column.name
        if name in made:
            one = made[name]
            found[name] = made_texts(one.pattern, len(codes), randomness, unique=one.unique, column=name)
        else:
            found[name] = decoded(codes[:, places[name]], cells[name], randomness)
    table = pa.table(found)
    return table.sort_by([(name, "ascending") for name in table.column_names]) if len(table) else table


def write_rows(table: pa.Table, columns: Sequence[Column], sinks: Sequence[Sink], engine: Engine, *, private: bool) -> None:
    """Write every sink, each a new file, all completely or none. Raises InputError (D1xx) where one cannot be written."""
    names = list(table.column_names)
    if not private:
        names[0] = NOT_PRIVATE + names[0]
    engine.write_tables(
        [((_as_texts(table, columns) if sink.kind is SinkKind.CSV else table).rename_columns(names), sink) for sink in sinks]
    )


def _as_texts(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """The table with dates as they are written in the source, where the policy declares a format."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, column in enumerate(columns):
        form = column.format.date
        if form is None or column.type not in {ColumnType.DATE, ColumnType.DATETIME}:
            continue
        cells = table.column(place)
        if column.type is ColumnType.DATETIME:
            cells = cells.cast(pa.timestamp("s"))  # whole seconds, without a fraction in the text
        table = table.set_column(place, column.name, pc.strftime(cells, format=form))
    return table


# ----------------------------------------------------------------------------------------------------------------------- claims


def _privacy(plan: SyntheticPlan, fitted: _Fitted, anchor: LedgerAnchor) -> PrivacyClaim:
    query = QueryClaim(
        id=MODELLED,
        figure="synthetic",
        by=fitted.domain.names,
        keys="private" if any(one.failure is not None for one in plan.discoveries) else "declared",
        epsilon=str(plan.budget.epsilon),
        delta=str(plan.budget.delta),
        served_again=fitted.again,
        draws=tuple(draw.record() for draw in fitted.draws),
    )
    return PrivacyClaim(
        private=fitted.private,
        neighbours=plan.setting.neighbours.value,
        unit="row" if plan.unit is None else plan.unit.column,
        max_rows=plan.setting.contribution.max_rows,
        population=plan.population,
        snapshot=plan.snapshot,
        epsilon=str(plan.budget.epsilon),
        delta=str(plan.budget.delta),
        accountant=plan.reserved.accountant,
        queries=(query,),
        anchor=anchor,
    )


def _claimed(plan: SyntheticPlan, fitted: _Fitted, rows: int) -> SyntheticClaim:
    method, facts = method_named(plan.method), fitted.model.facts()
    return SyntheticClaim(
        method=method.name,
        version=method.version,
        settings=dict(plan.settings),
        rows=rows,
        noisy_rows=plan.rows is None,
        holdout=None if plan.holdout is None else str(plan.holdout),
        columns=tuple(_columns(plan, fitted)),
        impossible=plan.rules,
        figures=facts.figures,
        tables=_tables(facts),
    )


def _tables(facts: ModelFacts) -> tuple[SyntheticTable, ...]:
    return tuple(SyntheticTable(name=one.name, header=one.header, rows=one.rows) for one in facts.tables)


def _columns(plan: SyntheticPlan, fitted: _Fitted) -> Sequence[SyntheticColumn]:
    made = {one.name: one for one in plan.made}
    cells = {one.column: one for one in fitted.cells}
    bought = {one.column: type(one) for one in plan.modelled}
    return [
        SyntheticColumn(name=one.name, made=made[one.name].written, unique=made[one.name].unique)
        if one.name in made
        else SyntheticColumn(
            name=one.name,
            cells=cells[one.name].size,
            values=cells[one.name].labels[:-1] if bought.get(one.name) is DiscoveredCells else None,
            bounds=_bounds(cells[one.name]) if bought.get(one.name) is DiscoveredRange else None,
        )
        for one in plan.columns
    ]


def _bounds(cells: ListedCells | BinnedCells) -> tuple[int, int]:
    """The lowest and the highest step of bins between bounds that were bought."""
    assert isinstance(cells, BinnedCells)
    return cells.starts[0], cells.end
