"""Parts that audits of statistics and of tables share: small files of figures, checks of them, and statements about both.

Such a file has a line for each figure, not for each person, so it is read whole.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from privrelease.audit.checks.facts import column_facts
from privrelease.audit.document.model import (
    DataFacts,
    Figure,
    Outcome,
    OutputFacts,
    Visibility,
    check_unmade,
)
from privrelease.relational.schema import SinkKind
from privrelease.relational.treatments import REMOVED, Withheld
from privrelease.release.digests import sha256_of
from privrelease.texts.sentences import every, listed, of_key, say

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from privrelease.audit.document.model import CheckResult
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.schema import Sink
    from privrelease.release.manifest import Manifest
    from privrelease.texts.sentences import Said

__all__ = [
    "cells_of_file",
    "data_of",
    "digest_mismatches",
    "number_text",
    "output_facts",
    "remaining",
]

# ---------------------------------------------------------------------------------------------------------------------- reading


def cells_of_file(sink: Sink) -> tuple[list[str], list[list[object]]]:
    """Return the names of a file's columns and its lines as they are. Raises OSError, or ValueError where it is no such file."""
    if sink.kind is SinkKind.CSV:
        lines = list(csv.reader(io.StringIO(sink.path.read_text(encoding="utf-8")), strict=True, delimiter=sink.delimiter))
        return (lines[0] if lines else []), [list(line) for line in lines[1:]]
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(sink.path)
    except pa.ArrowException as error:
        raise ValueError from error
    return table.column_names, [list(row.values()) for row in table.to_pylist()]


def number_text(cell: object, sink: Sink) -> str | None:
    """Return the text of a figure with the point as its decimal sign; None where it is blank. Raises ValueError: another sign than the output's."""
    if cell is None or cell == "":
        return None
    text = str(cell)
    if sink.decimal == ".":
        return text
    if "." in text:
        raise ValueError
    return text.replace(sink.decimal, ".")


def digest_mismatches(files: Sequence[Sink], manifest: Manifest | None, altered: Sequence[Said]) -> Said | None:
    """Say which files are not those of the manifest, by their labels, or what of the run was ``altered`` itself."""
    if altered:
        return every(altered)
    if manifest is None:
        return None
    stated = {output.label: output.sha256 for output in manifest.outputs}
    other = [sink.label for sink in files if not sink.path.is_file() or stated.get(sink.label) != sha256_of(sink.path)]
    return say("not_of_manifest", files=listed(other)) if other else None


# ----------------------------------------------------------------------------------------------------------------------- checks


def remaining(always: tuple[str, ...], checks: Sequence[CheckResult]) -> tuple[Said, ...]:
    """Say what a person has yet to assess: what no audit settles, by its codes, and what this one could not look at."""
    unlooked = (check for check in checks if check.outcome is Outcome.NOT_EVALUATED)
    return (*map(of_key, always), *(check_unmade(check) for check in unlooked))


# ------------------------------------------------------------------------------------------------------------------------- facts


def output_facts(files: Sequence[Sink], tables: Sequence[Sequence[Any] | None]) -> tuple[OutputFacts, ...]:
    """Describe the files that are there, each with its number of lines (None: it could not be read)."""
    return tuple(
        OutputFacts(
            label=sink.label,
            kind=sink.kind.value,
            sha256=sha256_of(sink.path),
            bytes=sink.path.stat().st_size,
            rows=Figure.of(None if table is None else len(table), "count", Visibility.RECIPIENT),
        )
        for sink, table in zip(files, tables, strict=True)
        if sink.path.is_file()
    )


def data_of(
    plan: StatisticsPlan | TablePlan, population: str | None, used: Collection[str | None], treated: Withheld, figures: int
) -> DataFacts:
    """Describe the inputs of the figures: the source's columns, of which ``used`` went into them. No column is released."""
    return DataFacts(
        dataset=plan.source.dataset,
        snapshot=plan.snapshot,
        population=population,
        unit=None if plan.unit is None else plan.unit.column,
        source_rows=None,
        source_persons=None,
        released_rows=Figure.of(figures, "count", Visibility.RECIPIENT),
        columns=tuple(
            column_facts(column, (treated if column.name in used else REMOVED).words) for column in plan.source.declared
        ),
        order="policy",
        recipients=plan.recipients,
    )
