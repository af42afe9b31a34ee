"""What audits of statistics and of tables share: small files of figures, checks that look at them, and what is said of both.

Such a file has a line for each figure, not for each person, so it is read whole.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from privrelease.audit.checks.decision import place_of
from privrelease.audit.checks.facts import domain_words
from privrelease.audit.checks.findings import place
from privrelease.audit.checks.hints import hint_of
from privrelease.audit.document.model import (
    CheckResult,
    ColumnFacts,
    DataFacts,
    Figure,
    FindingRecord,
    Outcome,
    OutputFacts,
    Visibility,
    check_unmade,
)
from privrelease.relational.schema import SinkKind
from privrelease.release.digests import sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.schema import Sink
    from privrelease.release.manifest import Manifest

__all__ = [
    "Check",
    "Need",
    "cells_of_file",
    "check_findings",
    "data_of",
    "digest_mismatches",
    "made",
    "output_facts",
    "private_findings",
    "remaining",
]

#: What a check needs besides the file.
Need = Literal["manifest", "source", "ledger"]

_AS_IT_SHOULD: Final = "as it should be"

Evidence_ = TypeVar("Evidence_")


@dataclass(frozen=True, slots=True)
class Check(Generic[Evidence_]):
    """One check: the function that says what is wrong (None: nothing), and what it ``needs`` besides the file.

    A judge that needs the source is not asked without it. The others are, and ``alone``, where there is one: what the file alone shows to be
    wrong is wrong. ``promised``: the policy's protection itself, so that without what it needs a person has to decide.
    """

    judge: Callable[[Evidence_], str | None]
    needs: Need | None = None
    alone: Callable[[Evidence_], str | None] | None = None
    promised: bool = False


# ---------------------------------------------------------------------------------------------------------------------- reading


def cells_of_file(sink: Sink) -> tuple[list[str], list[list[object]]]:
    """Return the names of a file's columns and its lines as they are. Raises OSError, or ValueError where it is no such file."""
    if sink.kind is SinkKind.CSV:
        lines = list(csv.reader(io.StringIO(sink.path.read_text(encoding="utf-8")), strict=True))
        return (lines[0] if lines else []), [list(line) for line in lines[1:]]
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(sink.path)
    except pa.ArrowException as error:
        raise ValueError from error
    return table.column_names, [list(row.values()) for row in table.to_pylist()]


def digest_mismatches(files: Sequence[Sink], manifest: Manifest | None, altered: Sequence[str]) -> str | None:
    """Say which files are not those of the manifest, by their labels, or what of the run was ``altered`` itself."""
    if altered:
        return "; ".join(altered)
    if manifest is None:
        return None
    stated = {output.label: output.sha256 for output in manifest.outputs}
    other = [sink.label for sink in files if not sink.path.is_file() or stated.get(sink.label) != sha256_of(sink.path)]
    return f"not the file of the manifest: {', '.join(other)}" if other else None


# ----------------------------------------------------------------------------------------------------------------------- checks


def made(
    codes: Sequence[tuple[str, str, str]],
    checks: Sequence[Check[Evidence_]],
    evidence: Evidence_,
    lacking: Mapping[Need, str],
) -> Iterator[CheckResult]:
    """Make every check. ``codes``: id, code and title of each; ``lacking``: what is not at hand, and what to say of a check that needs it."""
    for (name, _, title), check in zip(codes, checks, strict=True):
        absent = None if check.needs is None else lacking.get(check.needs)
        judge = check.alone if absent is not None and check.needs == "source" else check.judge
        wrong = None if judge is None else judge(evidence)
        if wrong is None and absent is not None:
            severity: Literal["error", "warn"] = "error" if check.promised else "warn"
            yield CheckResult(
                id=name,
                title=title,
                outcome=Outcome.NOT_EVALUATED,
                severity=severity,
                message=absent,
                vacuous=check.promised,
            )
            continue
        outcome = Outcome.PASS if wrong is None else Outcome.FAIL
        yield CheckResult(id=name, title=title, outcome=outcome, severity="error", message=wrong or _AS_IT_SHOULD)


def check_findings(
    plan: StatisticsPlan | TablePlan, codes: Sequence[tuple[str, str, str]], checks: Sequence[CheckResult]
) -> tuple[FindingRecord, ...]:
    """Give a finding to every check that does not pass."""
    return tuple(
        FindingRecord(
            code=code,
            message=f"{check.id} {check.title}: {check.message}",
            severity="warn" if check.outcome is Outcome.NOT_EVALUATED else "error",
            hint=hint_of(code, check),
            subject=f"checks.{check.id}",
            **place(plan.location),
        )
        for check, (_, code, _) in zip(checks, codes, strict=True)
        if check.outcome is not Outcome.PASS
    )


def private_findings(plan: StatisticsPlan, checks: Sequence[CheckResult]) -> tuple[FindingRecord, ...]:
    """Tell what checks on the source found: as information, so that nothing depends on it."""
    return tuple(
        FindingRecord(
            code="A302" if check.outcome is Outcome.NOT_EVALUATED else "A301",
            message=f"{check.id} {check.title}: {check.message}",
            severity="info",
            subject=f"checks.{check.id}",
            **place_of(check, plan.location),
        )
        for check in checks
        if check.outcome is not Outcome.PASS
    )


def remaining(always: tuple[str, ...], checks: Sequence[CheckResult]) -> tuple[str, ...]:
    """Say what a person has yet to assess: what no audit settles, and what this one could not look at."""
    unlooked = (check for check in checks if check.outcome is Outcome.NOT_EVALUATED)
    return (*always, *(check_unmade(check) for check in unlooked))


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
    plan: StatisticsPlan | TablePlan, population: str | None, used: Collection[str | None], treatment: str, figures: int
) -> DataFacts:
    """Describe what the figures were made of: the source's columns, of which ``used`` went into them. No column leaves."""
    return DataFacts(
        dataset=plan.source.dataset,
        snapshot=plan.snapshot,
        population=population,
        unit=None if plan.unit is None else plan.unit.column,
        source_rows=None,
        source_persons=None,
        released_rows=Figure.of(figures, "count", Visibility.RECIPIENT),
        columns=tuple(
            ColumnFacts(
                name=column.name,
                role=column.role.value,
                type=column.type.value,
                leaves=False,
                treatment=treatment if column.name in used else "removed (attribute suppression)",
                domain=domain_words(column),
                category=column.category,
            )
            for column in plan.source.declared
        ),
        order="policy",
    )
