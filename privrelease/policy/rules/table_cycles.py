"""Tables of one dataset that are linked in a ring with more cells of all columns than can be looked at: reported before a row
is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.rules.table_keys import KeysFault, keys_of
from privrelease.policy.validation.paths import PathFault
from privrelease.relational.filters import FilterFault, parse_filter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.disclosure.tables.published_table import PrintedTable
    from privrelease.findings import Finding
    from privrelease.policy.language.tables import TableRelease
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["ring_rules"]


def ring_rules(reading: RuleContext, releases: Sequence[tuple[int, TableRelease]]) -> Iterator[Finding]:
    """Yield a warning at the table of a dataset that makes the ring too large: a run of any of them looks at all, and would stop (D632)."""
    tables: dict[str, list[tuple[int, TableRelease]]] = {}
    for number, release in releases:
        tables.setdefault(release.from_, []).append((number, release))
    for found in tables.values():
        if len(found) > 1:
            yield from _rings(reading, found)


def _rings(reading: RuleContext, tables: list[tuple[int, TableRelease]]) -> Iterator[Finding]:
    from privrelease.disclosure.tables.acyclicity import MOST_TOGETHER, cells_together

    printed: list[PrintedTable] = []
    for number, release in tables:
        one = _printed(reading, release)
        if one is None:  # its fault is reported elsewhere
            return
        printed.append(one)
        cells = cells_together(printed)
        if cells is not None and cells > MOST_TOGETHER:
            message = (
                f"table {release.id} is linked in a ring with the tables of {release.from_} before it: {cells} cells of all columns together, "
                f"more than {MOST_TOGETHER}; none of them could be released (D632)"
            )
            hint = "group by fewer or coarser keys, or leave out a table"
            yield reading.warning("P612", message, "releases", number, "by", hint=hint)
            return


def _printed(reading: RuleContext, release: TableRelease) -> PrintedTable | None:
    """Return what a table prints, as far as it decides what it shares with others; None where that is not known."""
    from privrelease.disclosure.tables.published_table import PrintedTable

    dataset = reading.policy.datasets.get(release.from_)
    if dataset is None or not set(release.by) <= set(dataset.columns):
        return None
    types = {name: spec.type for name, spec in dataset.columns.items()}
    try:
        keys = tuple(keys_of(release, name, dataset.columns[name], reading.roots) or () for name in release.by)
        where = None if release.where is None else parse_filter(release.where, types)
    except (PathFault, KeysFault, FilterFault):
        return None
    return PrintedTable(release.by, keys, release.margins, where) if all(keys) else None
