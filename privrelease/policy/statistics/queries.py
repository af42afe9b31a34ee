"""From queries as a policy writes them to queries of :mod:`privrelease.dp`: columns, domains, keys and filters resolved, or what is wrong.

Everything here comes from the policy. Nothing is looked up in the data.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Final

from privrelease.dp.budget import Budget
from privrelease.dp.domains import CELLS, Bins, CategoryDomain, NumericDomain
from privrelease.dp.queries import (
    Count,
    CountPersons,
    Histogram,
    Mean,
    PrivateKeys,
    PublicKeys,
    Quantile,
    Setting,
    Sum,
    Variance,
)
from privrelease.dp.rules import check_delta, check_epsilon, check_unit
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.errors import PolicyError
from privrelease.policy.statistics.budget_split import spending
from privrelease.policy.statistics.consistency import agreeing
from privrelease.policy.statistics.query_errors import Fault, FaultError, fail, filter_of
from privrelease.policy.text.messages import did_you_mean, shown
from privrelease.relational.filters import (
    columns_of,
)
from privrelease.relational.schema import ColumnType, Role
from privrelease.units import Delta, Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from privrelease.dp.composition import Accounting, Apart
    from privrelease.dp.draws import Draw
    from privrelease.dp.queries import Query
    from privrelease.findings import Finding
    from privrelease.policy.language.datasets import ColumnSpec, Dataset
    from privrelease.policy.language.statistics import QuerySpec, StatisticsRelease
    from privrelease.policy.statistics.consistency import Found
    from privrelease.relational.filters import Filter

__all__ = ["ResolvedQuery", "Statistics", "columns_read", "dataset_faults", "resolve"]

_NUMBERS: Final = frozenset({ColumnType.INTEGER, ColumnType.NUMBER})
_HALF: Final = Fraction(1, 2)
#: The key of rows whose keys are none of the published ones.
OTHER: Final = "other"
#: The key under which rows without a key are counted, where the policy asks for it.
MISSING: Final = "missing"


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """A query with its filter, its part of the budget and every draw it takes."""

    spec: QuerySpec
    query: Query
    where: Filter | None
    budget: Budget
    draws: tuple[Draw, ...]
    agrees: str | None = None
    """The counts that it is made to agree with: those of the same name."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """The queries of a release, by which rule they add up, and which of them no person can be in together."""

    setting: Setting
    budget: Budget
    queries: tuple[ResolvedQuery, ...]
    rule: Accounting
    apart: tuple[Apart, ...]


def resolve(release: StatisticsRelease, name: str, dataset: Dataset) -> tuple[Statistics | None, tuple[Fault, ...]]:
    """Return the release's queries and draws (None where there is an error), and all faults found. ``name``: of the dataset."""
    faults = [*dataset_faults(name, dataset)]
    setting = _setting(release, dataset)
    found: list[Found | None] = []
    for number, spec in enumerate(release.queries):
        try:
            query = _query(spec, dataset)
            where = filter_of(spec, dataset)
            _public(spec, query, setting, where)
            found.append((spec, query, where))
        except FaultError as error:
            fault = error.fault
            path = fault.path if fault.whole else ("queries", number, *fault.path)
            faults.append(Fault(fault.code, fault.message, path, fault.hint, fault.whole, fault.key))
            found.append(None)
        except PolicyError as error:
            faults += [_told(finding, ("queries", number, *_place(spec, finding.code))) for finding in error.findings]
            found.append(None)
    agreement: dict[str, str] = {}
    if "consistent" in release.post:
        try:
            found, agreement = agreeing(found, setting)
        except FaultError as error:
            faults.append(error.fault)
    whole, more = _budget(release)
    faults += more
    if whole is None or any(not fault.warn for fault in faults):
        return None, tuple(faults)
    queries = [item for item in found if item is not None]
    spent, over = spending(release, setting, whole, queries)
    if spent is None:
        return None, (*faults, *over)
    resolved = tuple(
        ResolvedQuery(spec, query, where, part, drawn, agreement.get(spec.id))
        for (spec, query, where), (part, drawn) in zip(queries, spent.parts, strict=True)
    )
    return Statistics(setting, whole, resolved, spent.rule, spent.apart), (*faults, *over)


def _told(finding: Finding, path: tuple[str | int, ...], *, whole: bool = False) -> Fault:
    return Fault(finding.code, finding.message, path, finding.hint, whole)


# -------------------------------------------------------------------------------------------------------------------- the release


def dataset_faults(name: str, dataset: Dataset) -> Iterator[Fault]:
    """Yield what is wrong with, or to know of, the unit and the population of a dataset whose budget is spent."""
    unit = dataset.person
    if unit is None and dataset.undeclared:
        message = f"dataset {name} has no unit: every row counts as a person of its own"
        yield Fault(
            "P706",
            message,
            ("datasets", name),
            "write `unit: {column: …, max_rows: 1}` if persons may repeat",
            True,
            True,
            True,
        )
    elif unit is not None:
        for finding in check_unit(unit.max_rows):
            yield _told(finding, ("datasets", name, "unit"), whole=True)
    if dataset.population is None:
        message = f"dataset {name} names no population: its budget adds up with every other dataset that names none"
        yield Fault("P707", message, ("datasets", name), "write `population: …`: who is in it", True, True, True)


def _setting(release: StatisticsRelease, dataset: Dataset) -> Setting:
    """Return what a person can hold. Exactly one row: under replace with at most one each, where reading drops none."""
    unit = dataset.person
    rows = 1 if unit is None or unit.max_rows is None else unit.max_rows
    neighbours = Neighbours(release.neighbours)
    drops = any(spec.outside == "drop" for spec in dataset.columns.values())
    one = neighbours is Neighbours.REPLACE and rows == 1 and not drops
    groups = None if unit is None or unit.max_groups is None else unit.max_groups
    return Setting(Contribution(rows, groups, one), neighbours)


def _budget(release: StatisticsRelease) -> tuple[Budget | None, list[Fault]]:
    faults = []
    for key, value in (("epsilon", release.budget.epsilon), ("delta", release.budget.delta)):
        if value is not None and value < 0:
            code = "DP101" if key == "epsilon" else "DP104"
            faults.append(Fault(code, f"{key} must not be negative", ("budget", key), "write what the release may spend"))
    for number, spec in enumerate(release.queries):
        if spec.epsilon is not None and spec.epsilon < 0:
            faults.append(Fault("DP101", "epsilon must be above 0", ("queries", number, "epsilon"), "write e.g. epsilon: 0.5"))
    if release.budget.delta is not None and release.budget.delta > 1:
        faults.append(Fault("DP104", "delta must be below 1", ("budget", "delta"), "write a delta such as 1e-6"))
    if faults:
        return None, faults
    whole = Budget(Epsilon(release.budget.epsilon), Delta(release.budget.delta or 0))
    faults += [_told(finding, ("budget", "epsilon")) for finding in check_epsilon(whole.epsilon)]
    for finding in check_delta(whole.delta):
        told = _told(finding, ("budget", "delta"))
        faults.append(Fault(told.code, told.message, told.path, told.hint, warn=finding.severity.value == "warn"))
    for number, spec in enumerate(release.queries):
        if spec.epsilon is not None:
            faults += [_told(finding, ("queries", number, "epsilon")) for finding in check_epsilon(Epsilon(spec.epsilon))]
    return (None if any(not fault.warn for fault in faults) else whole), faults


# ---------------------------------------------------------------------------------------------------------------------- a query


def _place(spec: QuerySpec, code: str) -> tuple[str, ...]:
    """Return the place in a query at which the fault of a domain, bin or quantile is reported."""
    if code in {"DP117", "DP123"} and spec.bins is not None:
        return ("bins",)
    return ("at",) if code == "DP119" else (spec.figure,)


def _query(spec: QuerySpec, dataset: Dataset) -> Query:
    figure, column = spec.figure, spec.column
    if column is not None and column not in dataset.columns:
        fail("P302", f"column {shown(column)} does not exist", figure)
    keys = _group_keys(spec, dataset)
    where = spec.filter
    if figure in {"median", "quantile"} and spec.mechanism == "gaussian":
        message = f"a {figure} is chosen, not noised: it has no Gaussian mechanism"
        fail("DP122", message, "mechanism", hint="remove `mechanism`")
    if spec.counted is not None:
        return (Count if figure == "count" else CountPersons)(spec.id, keys, where, column)
    assert column is not None
    return _on_numbers(spec, column, _numbers(figure, column, dataset.columns[column]), keys)


def _on_numbers(spec: QuerySpec, column: str, domain: NumericDomain, keys: PublicKeys | PrivateKeys | None) -> Query:
    where, fill = spec.filter, _fill(spec, column, domain)
    whole = fill is not None
    if spec.figure in {"sum", "mean"}:
        return (Sum if spec.figure == "sum" else Mean)(spec.id, column, domain, keys, where, whole, fill)
    if spec.figure in {"variance", "stddev"}:
        return Variance(spec.id, column, domain, keys, where, whole, fill, root=spec.figure == "stddev")
    if spec.figure == "histogram":
        by, bins = _public_only(spec, keys), _bins(spec, domain, column)
        _few_cells((bins.size, 1 if by is None else by.size), "bins", hint="choose wider bins, or fewer groups")
        return Histogram(spec.id, column, bins, by, where)
    at = _HALF if spec.at is None else Fraction(spec.at)
    return Quantile(spec.id, column, domain, _public_only(spec, keys), where, whole, fill, at=at, interval=spec.interval)


def _fill(spec: QuerySpec, column: str, domain: NumericDomain) -> Fraction | None:
    """The number that represents a missing value: one that a value could be."""
    if spec.fill is None:
        return None
    fill = Fraction(spec.fill)
    if not domain.low <= fill <= domain.high or (fill / domain.grid).denominator != 1:
        message = f"{shown(str(spec.fill))} is not a value of {shown(column)}: it is outside its domain, or not on its grid"
        fail("DP115", message, "fill", hint=f"write a number from {float(domain.low):g} to {float(domain.high):g} on its grid")
    return fill


def _public_only(spec: QuerySpec, keys: PublicKeys | PrivateKeys | None) -> PublicKeys | None:
    if isinstance(keys, PrivateKeys):
        fail("DP122", f"a {spec.figure} has no private keys", "keys", hint="declare the keys, or count by them")
    return keys


def _numbers(figure: str, column: str, spec: ColumnSpec) -> NumericDomain:
    name = shown(column)
    if spec.type not in _NUMBERS:
        hint = "name a column of type integer or number"
        fail("P703", f"{name} is of type {spec.type.value}: it has no {figure}", figure, hint=hint)
    if spec.domain is None or spec.domain.range is None:
        message = f"{name} has no lower and upper bound: one person could move its {figure} without limit"
        hint = f"write `domain: [lower, upper]` for {name}; bounds are never read from the data"
        fail("DP111", message, figure, hint=hint)
    if spec.type is ColumnType.NUMBER and spec.grid is None:
        message = f"{name} has no grid: sums would not be exact"
        fail("P705", message, figure, hint=f"write e.g. `grid: 0.1` for {name}: the step on which its values lie")
    low, high = spec.domain.range
    return NumericDomain(low, high, grid=1 if spec.grid is None else spec.grid, column=column)


def _bins(spec: QuerySpec, domain: NumericDomain, column: str) -> Bins:
    assert spec.bins is not None
    if spec.bins.width is not None:
        return Bins.of_width(domain, spec.bins.width, outside=spec.other, column=column)
    assert spec.bins.edges is not None
    return Bins(spec.bins.edges, outside=spec.other, column=column)


def _group_keys(spec: QuerySpec, dataset: Dataset) -> PublicKeys | PrivateKeys | None:
    if not spec.by:
        return None
    for number, column in enumerate(spec.by):
        if column not in dataset.columns:
            fail("P302", f"column {shown(column)} does not exist", "by", number)
        if column in spec.by[:number]:
            fail("P408", f"{shown(column)} appears twice in by", "by", number, hint="remove one")
        if dataset.columns[column].role is Role.DIRECT:
            message = f"{shown(column)} is a direct identifier: its values never leave as keys"
            fail("P407", message, "by", number, hint="group by another column")
    keys = spec.keys
    if keys is not None and keys.private:
        return PrivateKeys(spec.by)
    listed = {} if keys is None else keys.listed
    for column in listed:
        if column not in spec.by:
            fail("P704", f"{shown(column)} has keys and is not in by", "keys", column, hint="add it to `by`", key=True)
    if spec.bins is not None and "bin" in spec.by:
        fail("P409", "a column called bin cannot be a key next to the bins of a histogram", "by", hint="rename the column")
    sizes = [_n_keys(dataset.columns[column], listed.get(column)) + spec.other + spec.missing for column in spec.by]
    _few_cells(sizes, "by", hint="group by fewer columns or coarser keys")
    domains = tuple(
        _key_domain(column, number, dataset.columns[column], listed.get(column), spec) for number, column in enumerate(spec.by)
    )
    return PublicKeys(spec.by, domains)


def _key_domain(
    column: str, number: int, declared: ColumnSpec, listed: tuple[str, ...] | None, spec: QuerySpec
) -> CategoryDomain:
    domain = _values(declared)
    if domain is None:
        message = f"{shown(column)} has no list of keys: keys are never read from the data unless they are private"
        hint = f"write `domain: [a, b, …]` for {shown(column)}, or `keys: private` (which needs a delta)"
        fail("P704", message, "by", number, hint=hint)
    if spec.other and OTHER in domain:
        message = f"{shown(column)} has a key `{OTHER}` itself, which the rest would be counted under"
        fail("P704", message, "other", hint="remove `other`, or give that key another name", key=True)
    if spec.missing and MISSING in domain:
        message = f"{shown(column)} has a key `{MISSING}` itself, which rows without a key would be counted under"
        fail("P704", message, "missing", hint="remove `missing`, or give that key another name", key=True)
    rest, none = OTHER if spec.other else None, MISSING if spec.missing else None
    if listed is None:
        return CategoryDomain(domain, other=rest, missing=none, column=column)
    known = set(domain)
    for place, key in enumerate(listed):
        if key not in known:
            message = f"{shown(key)} is not a key of {shown(column)}: it is not in its domain"
            fail("P704", message, "keys", column, place, hint=did_you_mean(key, domain[:1000]) or "add it to the domain")
    return CategoryDomain(listed, other=rest, missing=none, column=column)


def _few_cells(sizes: Iterable[int], key: str, *, hint: str) -> None:
    """Refuse more cells than a query may have, before any of them is listed."""
    cells = prod(sizes)
    if cells > CELLS:
        fail("DP123", f"the query has {cells} cells, more than {CELLS}", key, hint=hint)


def _n_keys(spec: ColumnSpec, listed: tuple[str, ...] | None) -> int:
    """Return the number of keys that a column has by its declaration, counted without listing those of a range; 1 where they
    are not declared.
    """
    domain = spec.domain
    if listed is None and domain is not None and domain.range is not None and spec.type is ColumnType.INTEGER:
        low, high = domain.range
        return max(1, int(high) - int(low) + 1)
    return len(listed if listed is not None else _values(spec) or (1,))


def _values(spec: ColumnSpec) -> tuple[str, ...] | None:
    """The declared values as texts; whole numbers of a range one by one."""
    if spec.type is ColumnType.BOOLEAN:
        return ("false", "true") if spec.domain is None or spec.domain.values is None else spec.domain.values
    if spec.domain is None:
        return None
    if spec.type in {ColumnType.STRING, ColumnType.CATEGORY}:
        return spec.domain.values
    if spec.type is not ColumnType.INTEGER:
        return None
    if spec.domain.values is not None:
        return tuple(str(int(value)) for value in spec.domain.values)
    assert spec.domain.range is not None
    low, high = (int(bound) for bound in spec.domain.range)
    return tuple(map(str, range(low, high + 1))) if 0 <= high - low < CELLS else None


def _public(spec: QuerySpec, query: Query, setting: Setting, where: Filter | None) -> None:
    """A number that no neighbour changes would leave exactly as it is: no statistic of this kind does."""
    counts = isinstance(query, Count | CountPersons) and query.by is None and query.column is None and where is None
    exact = isinstance(query, CountPersons) or setting.contribution.exactly_one
    if counts and exact and setting.neighbours is Neighbours.REPLACE:
        message = "under `neighbours: replace` this number is public and would leave without noise"
        fail("DP122", message, spec.figure, hint="remove it, or write `neighbours: add_remove`", key=True)


def columns_read(resolved: ResolvedQuery) -> frozenset[str]:
    """Return the columns that a query looks at."""
    spec = resolved.spec
    found = set(spec.by) | (set() if spec.column is None else {spec.column})
    return frozenset(found | (set() if resolved.where is None else columns_of(resolved.where)))
