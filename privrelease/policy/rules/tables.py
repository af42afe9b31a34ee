"""Rules of tables: keys that are declared, sums that are exact, a minimum count, and the same rules for tables that can be compared."""

from __future__ import annotations

from decimal import Decimal
from math import prod
from typing import TYPE_CHECKING, Final

from privrelease.policy.language.number_values import exact_decimal
from privrelease.policy.rules.filter_values import declared_values, unknown_text
from privrelease.policy.rules.rule_context import duplicates
from privrelease.policy.rules.table_keys import MOST_KEYS, KeysFault, keys_of
from privrelease.policy.text.messages import shown
from privrelease.policy.validation.paths import PathFault
from privrelease.relational.filters import FilterFault, parse_filter
from privrelease.relational.schema import ColumnType, Role

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.datasets import ColumnSpec, Dataset
    from privrelease.policy.language.tables import TableRelease
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["MOST_CELLS", "table_rules"]

MOST_CELLS: Final = 5_000
_LEAST: Final = 3


def table_rules(reading: RuleContext, releases: Sequence[tuple[int, TableRelease]]) -> Iterator[Finding]:
    """Yield what is wrong with tables."""
    seen: dict[str, TableRelease] = {}
    rules = reading.policy.tables
    if rules is not None and rules.min_count is not None and rules.min_count < _LEAST:
        yield reading.error("P440", f"min_count must be at least {_LEAST}", "tables", "min_count", hint=_WHY)
    for number, release in releases:
        first = seen.setdefault(release.from_, release)
        if first is not release and (other := _other_rule(first, release)) is not None:
            message = f"{other} is not that of {first.id}, a table of the same rows: what one hides the other could disclose"
            yield reading.error("P444", message, "releases", number, "protect", hint="write the same `protect` in both")
        yield from _thresholds(reading, number, release)
        yield from _names(reading, number, release)
        dataset = reading.policy.datasets.get(release.from_)
        if dataset is not None and not any(item[:2] == ("columns", release.from_) for item in reading.broken):
            yield from _columns(reading, number, release, dataset)
            yield from _sums(reading, number, release, dataset)
            yield from _filters(reading, number, release, dataset)
            yield from _classes(reading, number, release, dataset)


def _other_rule(first: TableRelease, second: TableRelease) -> str | None:
    """The first key of `protect` in which two tables differ."""
    return next(
        (key for key in type(first.protect).model_fields if getattr(first.protect, key) != getattr(second.protect, key)), None
    )


_WHY: Final = "a suppressed count is known to be at least 1 and below the minimum"


def _thresholds(reading: RuleContext, number: int, release: TableRelease) -> Iterator[Finding]:
    path = ("releases", number, "protect")
    own, common = release.protect, reading.policy.tables
    least = own.min_count if own.min_count is not None else None if common is None else common.min_count
    if least is None and not reading.left_out("tables", "min_count"):
        yield reading.error("P440", "has no minimum count", *path[:2], hint="write `protect: {min_count: 10}`")
    if own.min_count is not None and own.min_count < _LEAST:
        yield reading.error("P440", f"min_count must be at least {_LEAST}", *path, "min_count", hint=_WHY)
    if common is None:
        return
    if None not in (own.min_count, common.min_count) and own.min_count < common.min_count:  # type: ignore[operator]  # neither is None
        yield reading.error("P445", "min_count is below that of `tables`", *path, "min_count", hint=f"write {common.min_count}")
    if own.p_percent is not None and common.p_percent is not None and own.p_percent < common.p_percent:
        yield reading.error(
            "P445", "p_percent is below that of `tables`", *path, "p_percent", hint=f"write {exact_decimal(common.p_percent)}"
        )
    if own.dominance is not None and common.dominance is not None and own.dominance != common.dominance:
        yield reading.error(
            "P445", "dominance is not that of `tables`", *path, "dominance", hint="leave it out: the policy's rule holds"
        )


def _names(reading: RuleContext, number: int, release: TableRelease) -> Iterator[Finding]:
    from privrelease.policy.kind_table import figure_name  # the kind names these rules

    path = ("releases", number)
    for index, name in duplicates(release.by):
        yield reading.error("P446", f"{shown(name)} appears twice", *path, "by", index, hint="remove one")
    for index, _ in duplicates(repr((one.count, one.weight, one.sum, one.mean)) for one in release.measures):
        yield reading.error("P446", "this figure appears twice", *path, "measures", index, hint="remove one")
    own = {"total_over", "status", *(figure_name(one) for one in release.measures)}
    folded = {name.casefold(): name for name in sorted(own)}
    for index, name in enumerate(release.by):
        if name.casefold() in folded:
            yield reading.error(
                "P533",
                f"{shown(name)} is called like the output's column {shown(folded[name.casefold()])}: a header with one name twice cannot be read",
                *path,
                "by",
                index,
                hint="give the column another name in the source: the table adds the columns "
                f"{', '.join(shown(one) for one in sorted(own))}, and capitals do not distinguish names",
            )
    for index, output in enumerate(release.output):
        if output.format == "duckdb" or (output.format is None and output.path.lower().endswith(".duckdb")):
            yield reading.error(
                "P404", "tables leave as CSV or Parquet", *path, "output", index, "path", hint="name a .csv or .parquet file"
            )


def _keys(
    reading: RuleContext, number: int, release: TableRelease, name: str, spec: ColumnSpec
) -> Generator[Finding, None, tuple[str, ...] | None]:
    """The keys of a column; empty where a file of them was found wanting."""
    try:
        return keys_of(release, name, spec, reading.roots)
    except (PathFault, KeysFault) as fault:
        code = fault.code if isinstance(fault, PathFault) else "P441"
        yield reading.error(code, fault.message, "releases", number, "keys", name, hint=fault.hint)
    return ()


def _filters(reading: RuleContext, number: int, release: TableRelease, dataset: Dataset) -> Iterator[Finding]:
    types = {name: column.type for name, column in dataset.columns.items()}
    grouped = {name: types[name] for name in release.by if name in types}
    values = declared_values(dataset)
    for key, text, columns in (("where", release.where, types), ("impossible", release.impossible, grouped)):
        if text is None:
            continue
        try:
            unknown = unknown_text(parse_filter(text, columns), values)
        except FilterFault as fault:
            yield reading.error("P447", fault.message, "releases", number, key, hint=fault.hint)
        else:
            if unknown is not None:
                yield reading.error("P447", unknown[0], "releases", number, key, hint=unknown[1])
    for name in release.keys:
        if name in dataset.columns and name not in release.by:
            message = f"{shown(name)} has keys, and is not a group of the table"
            yield reading.error(
                "P446", message, "releases", number, "keys", name, hint="add it to `by`, or remove it here", key=True
            )


def _columns(reading: RuleContext, number: int, release: TableRelease, dataset: Dataset) -> Iterator[Finding]:
    path = ("releases", number)
    sizes = []
    for index, name in enumerate(release.by):
        spec = dataset.columns.get(name)
        if spec is None:
            continue
        keys = yield from _keys(reading, number, release, name, spec)
        if keys == ():
            continue
        if spec.role is Role.DIRECT or (dataset.person is not None and dataset.person.column == name):
            yield reading.error(
                "P446",
                f"{shown(name)} names persons: a cell of one would be a person",
                *path,
                "by",
                index,
                hint="group by another column",
            )
        elif not keys:
            message = f"the keys of {shown(name)} are not declared: which of them occur would disclose something"
            yield reading.error(
                "P441", message, *path, "by", index, hint=f"write `domain: [key, …]` for {name}, of at most {MOST_KEYS} keys"
            )
        else:
            sizes.append(len(keys) + release.margins)
    if prod(sizes) > MOST_CELLS:
        yield reading.error(
            "P442",
            f"has {prod(sizes)} cells, more than {MOST_CELLS}",
            *path,
            "by",
            hint="group by fewer columns or coarser keys",
        )


def _classes(reading: RuleContext, number: int, release: TableRelease, dataset: Dataset) -> Iterator[Finding]:
    """Warn where the members of a group may share one sensitive key, and the policy does not ask that this be repaired."""
    sensitive = [name for name in release.by if name in dataset.columns and dataset.columns[name].role is Role.SENSITIVE]
    if not sensitive or release.protect.class_disclosure:
        return
    names, path = ", ".join(map(shown, sensitive)), ("releases", number, "protect")
    if release.protect.class_disclosure is None:
        yield reading.warning(
            "P650",
            f"table {release.id} is grouped by {names}, which is sensitive, and `class_disclosure` is not given: a group that shares one key parks the release",
            *path,
            hint="write `class_disclosure: true` to suppress what discloses it, or `false` where such groups are harmless",
        )
    else:
        yield reading.warning(
            "P651",
            f"table {release.id} is grouped by {names}, which is sensitive, and is not checked for groups that share one key",
            *path,
            "class_disclosure",
            hint="write `class_disclosure: true`, or state in the policy's context why such groups are harmless",
        )


def _signed(
    reading: RuleContext, release: TableRelease, key: str, name: str, domain: tuple[object, object] | None
) -> tuple[str, str, str] | None:
    """Return code, message and hint where values may be negative and that is no way to publish them. A domain from 0 would refuse or leave out rows
    that hold such values, and its hint would lead to a zero that is printed.
    """
    if domain is None:
        least = "0" if key == "weight" else "lowest"
        why = "" if key == "weight" else "; `lowest` may be negative under `min_count` alone"
        return "P443", f"{shown(name)} has no smallest value", f"write `domain: [{least}, highest]` for {name}{why}"
    if Decimal(str(domain[0])) >= 0:
        return None
    if key == "weight":
        return (
            "P443",
            f"{shown(name)} has no smallest value of at least 0",
            f"write `domain: [0, highest]` for {name}: weights are not negative",
        )
    common = reading.policy.tables
    for rule in ("dominance", "p_percent"):
        own = getattr(release.protect, rule) is not None
        if own or getattr(common, rule, None) is not None:
            there = f"`{rule}`" if own else f"`{rule}` of `tables`"
            why = "whose values may be negative: they cancel out, and the largest are no share of"
            hint = (
                f"leave {there} out, so that `min_count` alone protects the {key}; or count persons here and publish the {key} in a "
                "release with `kind: statistics`"
            )
            return "P600", f"{there} is not a rule for {shown(name)}, {why} the {key}", hint
    return None


def _sums(reading: RuleContext, number: int, release: TableRelease, dataset: Dataset) -> Iterator[Finding]:
    path = ("releases", number)
    for index, measure in enumerate(release.measures):
        name = measure.column or ""
        spec = dataset.columns.get(name)
        if spec is None:
            continue
        domain = spec.domain.range if spec.domain is not None else None
        exact = spec.type is ColumnType.INTEGER or (spec.type is ColumnType.NUMBER and spec.grid is not None)
        key = next(key for key in ("sum", "mean", "weight") if getattr(measure, key) is not None)
        if not exact:
            yield reading.error(
                "P443",
                f"{shown(name)} cannot be added exactly",
                *path,
                "measures",
                index,
                key,
                hint=f"write `type: integer`, or a `grid` for {name}",
            )
        elif (fault := _signed(reading, release, key, name, domain)) is not None:
            code, message, hint = fault
            yield reading.error(code, message, *path, "measures", index, key, hint=hint)
        elif (
            domain is not None
            and key != "weight"
            and Decimal(domain[1]) - Decimal(domain[0]) == (1 if spec.grid is None else Decimal(spec.grid))
        ):
            message = (
                f"{shown(name)} has two values: its {key} is a count of persons, and is suppressed where fewer than the minimum "
                "count have one of them"
            )
            hint = "count by that column to see which, or coarsen `by`"
            yield reading.info("P614", message, *path, "measures", index, key, hint=hint)
