"""``privrelease frontier``: what a release would lose at each of several thresholds of one threat. Publishes nothing, spends nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from privrelease.cli.commands.plan import table
from privrelease.cli.exit import Ending
from privrelease.cli.progress import world_of
from privrelease.errors import UsageError
from privrelease.pipeline.microdata import sweep
from privrelease.pipeline.settings import chosen
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.cli.output_files import Writer
    from privrelease.pipeline.settings import Settings
    from privrelease.plan.microdata.frontier import Frontier
    from privrelease.plan.model import MicrodataPlan, Plan, ThreatPlan

__all__ = ["Asked", "frontier", "read_k", "read_risks"]

_MOST: Final = 20
_MOST_K: Final = 1_000_000
_USUAL: Final = "2,3,5,10,20,50"


@dataclass(frozen=True, slots=True)
class Asked:
    """Request for a sweep: thresholds as class sizes or as risks, the threat (None: the first), the page, the chart."""

    release: str | None = None
    k: str | None = None
    risk: str | None = None
    threat: str | None = None
    page: Path | None = None
    chart: Path | None = None
    force: bool = False


def read_k(text: str) -> tuple[Fraction, ...]:
    """Return the risks of a list of class sizes. Raises UsageError (C121).

    >>> [str(risk) for risk in read_k("2, 5")]
    ['1/2', '1/5']
    """
    parts = [part.strip() for part in text.split(",")]
    sizes = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) <= len(str(_MOST_K))]
    if len(sizes) != len(parts) or len(sizes) > _MOST or not all(1 <= size <= _MOST_K for size in sizes):
        raise UsageError(
            code="C121",
            message="--k is not a list of class sizes",
            hint=f"write --k {_USUAL}: at most {_MOST} whole numbers from 1 to {_MOST_K:,}",
        )
    return tuple(Fraction(1, size) for size in sizes)


def read_risks(text: str) -> tuple[Fraction, ...]:
    """Return the exact risks of a list of decimals. Raises UsageError (C121).

    >>> [str(risk) for risk in read_risks("0.5,0.09")]
    ['1/2', '9/100']
    """
    from decimal import Decimal, InvalidOperation

    try:
        numbers = [Decimal(part.strip()) for part in text.split(",")]
    except InvalidOperation:
        numbers = []
    least = Decimal(1) / _MOST_K
    if not numbers or len(numbers) > _MOST or not all(one.is_finite() and least <= one <= 1 for one in numbers):
        raise UsageError(
            code="C121",
            message="--risk is not a list of risks",
            hint=f"write --risk 0.5,0.2,0.1: at most {_MOST} numbers from {1 / _MOST_K:f} to 1",
        )
    return tuple(map(Fraction, numbers))


def frontier(policy: Path, settings: Settings, asked: Asked, console: Console) -> Ending:
    """Sweep, report, and write what was asked for. Raises UsageError (C121 to C124, C130, C131), InputError where the source is
    not as declared.
    """
    from privrelease.cli.output_files import Writer, kept_of_policy

    if asked.k is not None and asked.risk is not None:
        raise UsageError(code="C121", message="--k and --risk say the same in two ways", hint="give one of them")
    risks = read_risks(asked.risk) if asked.risk is not None else read_k(_USUAL if asked.k is None else asked.k)
    _check(asked)
    loaded, planned = settings.load(policy)
    for finding in loaded.warnings:
        console.log(str(finding))
    writer = Writer(kept_of_policy(loaded, planned, settings.store(planned)), asked.force)
    writer.check(asked.page, asked.chart)
    release = _release(planned, asked.release)
    threat = _threat(release, asked.threat)
    found = sweep(release, threat, risks, world_of(settings, console))
    written = _write(found, planned, asked, writer)
    if console.json:
        console.document(_value(found))
    else:
        _tell(found, console)
    return Ending(0, f"a forecast for internal use: nothing was published or spent, and {written}")


def _check(asked: Asked) -> None:
    for target, option, suffixes in ((asked.page, "--html", {".html", ".htm"}), (asked.chart, "--chart", {".svg"})):
        if target is not None and target.suffix.lower() not in suffixes:
            raise UsageError(
                code="C124", message=f"{option} names no {min(suffixes, key=len)} file", hint=f"end its name in {max(suffixes)}"
            )


def _release(planned: Plan, name: str | None) -> MicrodataPlan:
    from privrelease.plan.microdata.frontier import sweepable
    from privrelease.plan.model import MicrodataPlan, releases_of

    named = releases_of(chosen(planned, () if name is None else (name,)), MicrodataPlan)
    found = [one for one in named if sweepable(one)]
    if len(found) == 1:
        return found[0]
    if found:
        known = ", ".join(one.id for one in found)
        raise UsageError(code="C122", message="several releases can be swept", hint=f"name one with --release: {known}")
    raise UsageError(
        code="C122",
        message="there is nothing to sweep" if name is None else f"release {name} has nothing to sweep",
        hint="it needs microdata, a step that suppresses cells, and a prosecutor's threat with highest_risk",
    )


def _threat(release: MicrodataPlan, name: str | None) -> ThreatPlan:
    from privrelease.plan.microdata.frontier import sweepable

    found = {threat.name: threat for threat in sweepable(release)}
    if name is None:
        return next(iter(found.values()))
    if name not in found:
        raise UsageError(
            code="C123", message=f"threat {name} cannot be swept in release {release.id}", hint=f"it has: {', '.join(found)}"
        )
    return found[name]


def _write(found: Frontier, planned: Plan, asked: Asked, writer: Writer) -> str:
    from privrelease.report.pages.frontier import render_frontier, render_frontier_chart

    written = []
    if asked.page is not None:
        writer.write(asked.page, render_frontier(found, (planned.policy_id, planned.policy_version)).encode())
        written.append(f"the page is in {asked.page}")
    if asked.chart is not None:
        writer.write(asked.chart, render_frontier_chart(found).encode())
        written.append(f"the chart is in {asked.chart}")
    return ", ".join(written) or "nothing was written"


def _tell(found: Frontier, console: Console) -> None:
    from privrelease.report.pages.frontier import build
    from privrelease.texts.catalogue import english

    texts = english()
    page = build(found, ("", ""), texts)
    console.data("\n".join(texts.plain(key, **values) for key, values in page.said))
    heads = ("k", "threshold", "highest", "average", "at_risk", "cells", "share", "rows")
    table(
        (*(texts.text(f"frontier.{name}").lower() for name in heads), *(name.lower() for name in page.points.measures), "note"),
        [
            (
                row.k,
                row.threshold,
                row.highest,
                row.average,
                row.at_risk,
                row.cells,
                row.share,
                row.rows,
                *row.kept,
                "; ".join(row.notes),
            )
            for row in page.points.rows
        ],
        page.title,
        console,
    )
    for key, values in (page.points.caption, page.points.cost):
        console.data(texts.plain(key, **values))


def _value(found: Frontier) -> dict[str, object]:
    return {
        "release": found.release,
        "threat": found.threat,
        "swept": "highest_risk",
        "columns": found.columns,
        "other_threats": found.others,
        "counts": found.counts,
        "records_at_risk_above": str(found.above),
        "limit": None if found.limit is None else str(found.limit),
        "source_rows": found.source_rows,
        "cells_total": found.cells_total,
        "points": [
            {
                "k": point.k,
                "threshold": str(point.risk),
                "policy": point.chosen,
                "feasible": point.feasible,
                "highest_risk": None if point.highest is None else str(point.highest),
                "average_risk": None if point.average is None else str(point.average),
                "records_at_risk": point.at_risk,
                "records": point.counted,
                "cells_lost": point.cells_lost,
                "costliest_column": point.costliest,
                "cells_share": str(Fraction(point.cells_lost, found.cells_total or 1)),
                "rows_dropped": point.rows_dropped,
                "within_limit": point.within_limit,
                "dominated": point.dominated,
                "entropy_whole_file": None if point.kept is None else point.kept.entropy_whole_file,
                "entropy_suppressed": None if point.kept is None else point.kept.entropy_suppressed,
                "granularity": None if point.kept is None or point.kept.granularity is None else str(point.kept.granularity),
            }
            for point in found.points
        ],
    }
