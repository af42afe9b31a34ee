"""A synthetic release in words: domain, method, what each step spends, and how noisy its counts will be."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from privrelease.findings import pluralise
from privrelease.plan.attacks import attack_words
from privrelease.plan.checks import check_words, exact_text
from privrelease.relational.coded_columns import DiscoveredCells, DiscoveredRange
from privrelease.relational.schema import ColumnType
from privrelease.units import Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.relational.coded_columns import CellsOf
    from privrelease.synthesis.method import Step
    from privrelease.units import Rho

__all__ = ["StepExplanation", "SyntheticExplanation", "explain_synthetic", "loss_words"]


@dataclass(frozen=True, slots=True)
class StepExplanation:
    """A step of the method: how often it draws, at which loss each, of how many cells, with which expected absolute error."""

    name: str
    times: int
    loss: str
    cells: int | None
    error: str | None


@dataclass(frozen=True, slots=True)
class SyntheticExplanation:
    """A synthetic release before it is run."""

    id: str
    kind: str
    source: str
    population: str
    snapshot: str | None
    unit: str
    neighbours: str
    budget: str
    method: str
    rows: str
    columns: tuple[str, ...]
    cells: int
    steps: tuple[StepExplanation, ...]
    errors: tuple[str, ...]
    rules: tuple[str, ...]
    holdout: str | None
    outputs: tuple[str, ...]
    notes: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ()

    def as_data(self) -> dict[str, object]:
        """Return it as dictionaries, tuples, texts and numbers, for JSON."""
        return asdict(self)

    def as_lines(self) -> tuple[str, ...]:
        """Return it as lines of text."""
        snapshot = "" if self.snapshot is None else f", snapshot {self.snapshot}"
        again = "in every run: no snapshot is declared" if self.snapshot is None else "once per snapshot"
        lines = [
            f"release {self.id}",
            f"  source  {self.source}{snapshot}",
            f"  unit    {self.unit}; neighbours {self.neighbours}; population {self.population}",
            f"  spends  {self.budget}, {again}",
            f"  method  {self.method}, {self.cells} cells in all",
            f"  rows    {self.rows}",
            *(f"  column  {one}" for one in self.columns),
            *(f"  step    {_step_words(one)}" for one in self.steps),
            *(f"  error   {one}" for one in self.errors),
            *(f"  rule    impossible: {one}" for one in self.rules),
        ]
        if self.holdout is not None:
            lines.append(f"  holdout {self.holdout}")
        lines += [f"  note    {one}" for one in self.notes]
        lines += [f"  attack  {one}" for one in self.attacks]
        lines += [f"  check   {one}" for one in self.checks]
        return (*lines, *(f"  output  {one}" for one in self.outputs))

    def in_short(self) -> tuple[str, ...]:
        """Return what it spends, and how noisy it will be."""
        return (
            f"release {self.id}: spends {self.budget} by method {self.method}",
            *(f"release {self.id}: {one}" for one in self.errors),
        )


def _step_words(step: StepExplanation) -> str:
    times = "" if step.times == 1 else f" {step.times} times,"
    cells = "" if step.cells is None else f", {step.cells} cells"
    error = "" if step.error is None else f", expected absolute error of a cell {step.error}"
    return f"{step.name}:{times} {step.loss}{cells}{error}"


def loss_words(loss: Rho | Epsilon) -> str:
    """Say a loss with its unit.

    >>> loss_words(Epsilon("0.5"))
    'epsilon 0.5'
    """
    return f"{'epsilon' if isinstance(loss, Epsilon) else 'rho'} {float(loss.value):.6g}"


def explain_synthetic(plan: SyntheticPlan) -> SyntheticExplanation:
    """Say in words what a plan will do."""
    made = {one.name: one for one in plan.made}
    cells = {one.column: one for one in plan.modelled}
    columns = []
    for column in plan.columns:
        if column.name in made:
            one = made[column.name]
            unique = ", each once" if one.unique else ""
            columns.append(f"{column.name}: made up ({one.pattern.capacity} texts{unique})")
        elif isinstance(cells[column.name], DiscoveredRange):
            bins = cells[column.name].size - 1
            columns.append(
                f"{column.name}: at most {bins} bins between bounds read from the data{_limit(cells[column.name])}, and missing"
            )
        elif isinstance(cells[column.name], DiscoveredCells):
            columns.append(f"{column.name}: at most {cells[column.name].size - 1} values, read from the data, and missing")
        else:
            columns.append(f"{column.name}: {pluralise(cells[column.name].size - 1, 'cell')} and missing")
    discovered = [
        StepExplanation(f"bounds of {one.column}", 2, loss_words(type(one.loss)(one.loss.value / 2)), None, None)
        if one.failure is None
        else StepExplanation(f"values of {one.column}", 1, f"{loss_words(one.loss)}, delta {one.failure}", None, None)
        for one in plan.discoveries
    ]
    budget = f"epsilon {plan.budget.epsilon}" + (f", delta {plan.budget.delta}" if plan.budget.delta.value else "")
    return SyntheticExplanation(
        id=plan.id,
        kind=plan.kind,
        source=plan.source.label,
        population=plan.population,
        snapshot=plan.snapshot,
        unit="every row is a person" if plan.unit is None else f"person by {plan.unit.column}, one row each",
        neighbours=plan.setting.neighbours.value,
        budget=budget,
        method=plan.method,
        rows=f"{plan.rows}" if plan.rows is not None else "as many as the noisy count says",
        columns=tuple(columns),
        cells=plan.domain.cells,
        steps=(*discovered, *map(_step, plan.forecast.steps)),
        errors=tuple(
            f"expected absolute error of a cell of a {ways}-way marginal: about {error:.4g} rows"
            for ways, error in plan.forecast.marginal_errors
        ),
        rules=plan.rules,
        holdout=None if plan.holdout is None else f"about {exact_text(plan.holdout)} of the persons are kept out of the model",
        outputs=tuple(sink.label for sink in plan.sinks),
        notes=plan.forecast.notes,
        checks=tuple(map(check_words, plan.checks)),
        attacks=() if plan.attacks is None else tuple(f"{one}; never decides" for one in attack_words(plan.attacks)),
    )


def _limit(cells: CellsOf) -> str:
    """Say how far out bounds of a number are looked for, in its own steps; dates have all years that formats can say."""
    if not isinstance(cells, DiscoveredRange) or cells.type not in {ColumnType.INTEGER, ColumnType.NUMBER}:
        return ""
    return f" (within 2^{cells.outer[1].bit_length() - 1} steps of {exact_text(cells.grid)} from 0)"


def _step(step: Step) -> StepExplanation:
    error = None if step.error is None else f"{step.error:.4g}"
    return StepExplanation(step.name, step.times, loss_words(step.loss), step.cells, error)
