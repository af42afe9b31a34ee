"""From a synthetic release as a policy writes it to coded columns, rules, budget and settings, or what is wrong. Nothing is looked up in the data."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.dp.budget import Budget
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.rules import check_delta, check_epsilon
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.errors import PolicyError
from privrelease.policy.language.synthetic import METHODS, method_spec
from privrelease.policy.rules.filter_values import declared_values, unknown_text
from privrelease.policy.statistics.queries import dataset_faults
from privrelease.policy.statistics.query_errors import Fault, FaultError, fail
from privrelease.policy.synthetic.columns import cells_of, date_like, made_column
from privrelease.policy.synthetic.domain import ZeroFault, check_rules, coded_domain
from privrelease.policy.text.messages import shown
from privrelease.relational.filters import FilterFault, columns_of, parse_filter
from privrelease.synthesis.method import Held
from privrelease.synthesis.methods import method_named
from privrelease.units import Delta, Epsilon, Rho
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.synthetic import SyntheticRelease
    from privrelease.policy.synthetic.columns import MadeColumn
    from privrelease.relational.coded_columns import CellsOf
    from privrelease.relational.filters import Filter
    from privrelease.synthesis.domain import CodedDomain
    from privrelease.synthesis.method import MethodForecast

__all__ = ["Discovery", "Synthesis", "resolve"]


@dataclass(frozen=True, slots=True)
class Discovery:
    """The price of what is read of a column: ``loss`` of the envelope; of values ``failure`` of its delta, None of bounds."""

    column: str
    loss: Rho | Epsilon
    failure: Delta | None


@dataclass(frozen=True, eq=False, slots=True)
class Synthesis:
    """A synthetic release resolved. ``columns``: modelled ones, in the order of their names."""

    columns: tuple[CellsOf, ...]
    made: tuple[MadeColumn, ...]
    impossible: tuple[Filter, ...]
    domain: CodedDomain
    discoveries: tuple[Discovery, ...]
    setting: Setting
    budget: Budget
    reserved: Reserved
    held: Held
    settings: dict[str, object]
    forecast: MethodForecast


def resolve(release: SyntheticRelease, name: str, dataset: Dataset) -> tuple[Synthesis | None, tuple[Fault, ...]]:
    """Return the release resolved (None where there is an error), and all faults found. ``name``: of the dataset."""
    faults = [*dataset_faults(name, dataset), *_unit_faults(name, dataset), *_names(release, dataset)]
    columns: list[CellsOf] = []
    made: list[MadeColumn] = []
    for number, column in enumerate(release.columns):
        if column not in dataset.columns:
            continue  # reported where the name stands
        try:
            if column in release.make:
                made.append(made_column(release, column))
            else:
                columns.append(cells_of(release, number, column, dataset.columns[column]))
                faults += date_like(number, column, dataset.columns[column])
        except FaultError as error:
            faults.append(error.fault)
    if not columns and not any(not one.warn for one in faults):
        faults.append(Fault("P700", "no column is modelled", ("columns",), "name at least one column that is not made up"))
    impossible, more = _rules(release, dataset)
    faults += more
    budget, reserved, discoveries, more = _budget(release)
    faults += more
    if budget is None or reserved is None or any(not one.warn for one in faults):
        return None, tuple(faults)
    try:
        return _whole(release, columns, made, impossible, budget, reserved, discoveries), tuple(faults)
    except FaultError as error:
        return None, (*faults, error.fault)
    except PolicyError as error:
        return None, (*faults, *(Fault(one.code, one.message, ("method",), one.hint) for one in error.findings))


def _whole(
    release: SyntheticRelease,
    columns: list[CellsOf],
    made: list[MadeColumn],
    impossible: tuple[Filter, ...],
    budget: Budget,
    reserved: Reserved,
    discoveries: tuple[Discovery, ...],
) -> Synthesis:
    spec, method = method_spec(release.method), method_named(release.method)
    cells = 1
    for one in columns:
        cells *= one.size
    if spec.most_cells is not None and cells > spec.most_cells:
        others = ", ".join(other.name for other in METHODS if other.most_cells is None or other.most_cells >= cells)
        message = (
            f"the joint of {len(columns)} columns has {cells} cells, and method {spec.name} holds at most {spec.most_cells}"
        )
        fail("P717", message, "columns", hint=f"use coarser bins or fewer columns{f', or method {others}' if others else ''}")
    try:
        check_rules(columns, impossible)
        domain = coded_domain(columns, impossible)
    except ZeroFault as fault:
        fail("P716", f"the rule {fault.message}", "impossible", fault.rule, hint=fault.hint)
    setting = Setting(Contribution(1), Neighbours(release.neighbours))
    loss = reserved.loss
    held = Held(type(loss)(loss.value - _spent(discoveries)), setting)
    settings = spec.settings(release)
    return Synthesis(
        tuple(sorted(columns, key=lambda one: one.column)),
        tuple(made),
        impossible,
        domain,
        discoveries,
        setting,
        budget,
        reserved,
        held,
        settings,
        method.forecast(domain, settings, held),
    )


def _spent(discoveries: tuple[Discovery, ...]) -> Fraction:
    """The cost of everything that is read from the data, in the measure of the envelope."""
    return sum((one.loss.value for one in discoveries), Fraction(0))


def _unit_faults(name: str, dataset: Dataset) -> Iterator[Fault]:
    unit = dataset.person
    if unit is not None and unit.max_rows is not None and unit.max_rows > 1:
        message = f"a person has up to {unit.max_rows} rows in dataset {name}, and a synthetic row has no person to belong to"
        hint = "bring the rows of each person together in the source, and write `max_rows: 1`"
        yield Fault("P713", message, ("datasets", name, "unit"), hint, True)


def _names(release: SyntheticRelease, dataset: Dataset) -> Iterator[Fault]:
    seen: set[str] = set()
    for number, column in enumerate(release.columns):
        if column in seen:
            yield Fault("P408", f"{shown(column)} appears twice in columns", ("columns", number), "remove one")
        seen.add(column)
    for key in ("bins", "make", "discover"):
        for column in getattr(release, key):
            if column not in release.columns and column in dataset.columns:
                message = f"{shown(column)} is not one of the columns of the release"
                yield Fault("P715", message, (key, column), "add it to `columns`, or remove it here", key=True)
    for column in release.make:
        for other in ("bins", "discover"):
            if column in getattr(release, other):
                message = f"{shown(column)} is made up, and has {other}"
                yield Fault("P715", message, (other, column), "remove it here, or from `make`", key=True)
    yield from _foreign_keys(release)


def _foreign_keys(release: SyntheticRelease) -> Iterator[Fault]:
    """Keys that belong to another method."""
    spec = method_spec(release.method)
    for key in sorted(set().union(*(one.keys for one in METHODS)) - spec.keys):
        if getattr(release, key) is not None:
            owners = ", ".join(one.name for one in METHODS if key in one.keys)
            message = f"`{key}` is a key of method {owners}, and the method is {release.method}"
            yield Fault("P719", message, (key,), "remove it, or choose that method", key=True)


# ------------------------------------------------------------------------------------------------------------------------ rules


def _rules(release: SyntheticRelease, dataset: Dataset) -> tuple[tuple[Filter, ...], list[Fault]]:
    found: list[Filter] = []
    faults: list[Fault] = []
    modelled = set(release.columns) - set(release.make)
    for number, text in enumerate(release.impossible):
        try:
            rule = parse_filter(text, {name: column.type for name, column in dataset.columns.items()})
        except FilterFault as fault:
            faults.append(Fault("P716", fault.message, ("impossible", number), fault.hint))
            continue
        unknown = unknown_text(rule, declared_values(dataset))
        if unknown is not None:
            faults.append(Fault("P716", unknown[0], ("impossible", number), unknown[1]))
        elif other := sorted(columns_of(rule) - modelled):
            message = f"the rule is about {shown(other[0])}, which is not modelled"
            faults.append(Fault("P716", message, ("impossible", number), "write rules over the modelled columns"))
        else:
            found.append(rule)
    return tuple(found), faults


# ----------------------------------------------------------------------------------------------------------------------- budget


def _budget(
    release: SyntheticRelease,
) -> tuple[Budget | None, Reserved | None, tuple[Discovery, ...], list[Fault]]:
    faults = list(_numbers(release))
    if faults:
        return None, None, (), faults
    budget = release.budget
    whole = Budget(Epsilon(budget.epsilon), Delta(budget.delta or 0))
    faults = [Fault(one.code, one.message, ("budget", "epsilon"), one.hint) for one in check_epsilon(whole.epsilon)]
    if whole.delta.value:
        faults += [
            Fault(one.code, one.message, ("budget", "delta"), one.hint, warn=one.severity.value == "warn")
            for one in check_delta(whole.delta)
        ]
    wanted = "zcdp" if whole.delta.value else "pure"
    if budget.accounting is not None and budget.accounting != wanted:
        message = f"`accounting` of a synthetic release {'with' if whole.delta.value else 'without'} a delta must be {wanted}"
        faults.append(Fault("P720", message, ("budget", "accounting"), f"write {wanted}, or leave it out"))
    if any(not fault.warn for fault in faults):
        return None, None, (), faults
    discoveries = tuple(
        Discovery(
            column,
            Rho(Fraction(one.epsilon) ** 2 / 2) if whole.delta.value else Epsilon(one.epsilon),
            None if one.delta is None else Delta(one.delta),
        )
        for column, one in sorted(release.discover.items())
    )
    failure = sum((one.failure.value for one in discoveries if one.failure is not None), Fraction(0))
    if failure and failure >= whole.delta.value:
        message = "the deltas of `discover` add up to the delta of the budget, or more"
        return None, None, (), [*faults, Fault("P720", message, ("discover",), "lower them, or raise the delta of the budget")]
    reserved = Reserved.of(whole, Delta(failure))
    if discoveries and _spent(discoveries) >= reserved.loss.value:
        message = "reading values and bounds from the data (`discover`) spends the whole budget"
        faults.append(Fault("P720", message, ("discover",), "lower their epsilon, or raise that of the budget"))
    return whole, reserved, discoveries, faults


def _numbers(release: SyntheticRelease) -> Iterator[Fault]:
    """Numbers that no budget can be made of."""
    spec, budget = method_spec(release.method), release.budget
    if budget.epsilon <= 0:
        yield Fault("DP101", "epsilon must be above 0", ("budget", "epsilon"), "write what the release may spend")
    if budget.delta is not None and not 0 <= budget.delta < 1:
        yield Fault("DP104", "delta must be at least 0 and below 1", ("budget", "delta"), "write a delta such as 1e-6")
    if not budget.delta and (spec.needs_delta or any(one.delta is not None for one in release.discover.values())):
        who = f"method {spec.name}" if spec.needs_delta else "reading values from the data"
        hint = "write e.g. `delta: 1e-6`, well below 1 / the number of persons"
        yield Fault("P720", f"{who} needs a delta", ("budget",), hint)
    for column, one in release.discover.items():
        for key, value in (("epsilon", one.epsilon), ("delta", one.delta)):
            if value is not None and (value <= 0 or (key == "delta" and value >= 1)):
                message = f"{key} must be above 0" + (" and below 1" if key == "delta" else "")
                yield Fault("P720", message, ("discover", column, key), "write what the values may cost")
