"""Rules of statistics: bounds, keys and filters that are declared, and a budget that covers every draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.rules.rule_context import duplicates
from privrelease.policy.text.messages import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.statistics import StatisticsRelease
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["statistics_rules"]


def statistics_rules(reading: RuleContext, releases: Sequence[tuple[int, StatisticsRelease]]) -> Iterator[Finding]:
    """Yield what is wrong with releases of statistics."""
    for number, release in releases:
        for index, name in duplicates(query.id for query in release.queries):
            path = ("releases", number, "queries", index, "id")
            yield reading.error("P408", f"two queries are called {shown(name)}", *path, hint="rename one of them")
        for index, output in enumerate(release.output):
            if output.format == "duckdb" or (output.format is None and output.path.lower().endswith(".duckdb")):
                path = ("releases", number, "output", index, "path")
                yield reading.error("P404", "statistics leave as CSV or Parquet", *path, hint="name a .csv or .parquet file")
        yield from _key_columns(reading, number, release)
        common = None if reading.policy.tables is None else reading.policy.tables.min_count
        if common is not None and release.min_count is not None and release.min_count < common:
            hint = f"write {common}, or leave it out"
            yield reading.error("P445", "min_count is below that of `tables`", "releases", number, "min_count", hint=hint)
        dataset = reading.policy.datasets.get(release.from_)
        if dataset is not None and not any(item[:2] == ("columns", release.from_) for item in reading.broken):
            yield from _queries(reading, number, release)


def _key_columns(reading: RuleContext, number: int, release: StatisticsRelease) -> Iterator[Finding]:
    """Keys in columns of their own next to those that every table of figures has."""
    from privrelease.policy.kind_statistics import BIN, STATISTICS_COLUMNS, group_columns

    keys = group_columns(release)
    taken = {name.casefold() for name in STATISTICS_COLUMNS} - {"group"} | ({BIN} if BIN in keys else set())
    for index, query in enumerate(release.queries if keys else ()):
        for name in query.by:
            if name.casefold() in taken:
                message = f"a key in a column of its own cannot be called {shown(name)}: the table of figures has such a column"
                hint = f"rename the column (`aliases: {{{shown(name)}: …}}`), or write `groups: json`"
                yield reading.error("P746", message, "releases", number, "queries", index, "by", hint=hint)


def _queries(reading: RuleContext, number: int, release: StatisticsRelease) -> Iterator[Finding]:
    from privrelease.policy.statistics.queries import resolve

    _, faults = resolve(release, release.from_, reading.policy.datasets[release.from_])
    for fault in faults:
        if fault.code in {"P302", "DP113"}:  # reported where the name, or the domain, stands
            continue
        path = fault.path if fault.whole else ("releases", number, *fault.path)
        told = reading.warning if fault.warn else reading.error
        yield told(fault.code, fault.message, *path, hint=fault.hint, key=fault.key)
