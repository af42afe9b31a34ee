"""``privrelease plan``: steps and the k that each threshold means; with ``--data`` also what a run would find and take."""

from __future__ import annotations

import sys
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from privrelease.cli.ci_output import stopped_in_form
from privrelease.cli.commands.plan_sweep import check_chart, draw, header, read_sweep, table_rows
from privrelease.cli.exit import Ending
from privrelease.cli.findings_output import finding_value
from privrelease.cli.policy_inputs import are_many, for_each, policy_inputs
from privrelease.cli.progress import world_of
from privrelease.errors import UsageError
from privrelease.findings import Severity
from privrelease.pipeline.kinds import KINDS, kind_of
from privrelease.pipeline.settings import chosen
from privrelease.pipeline.spending import spendings, sweep
from privrelease.plan.model import named
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from privrelease.cli.commands.saved_plan import SavedPlan
    from privrelease.cli.console import Console
    from privrelease.cli.output_files import Writer
    from privrelease.cli.policy_inputs import PolicyInput
    from privrelease.execute.microdata.forecast import Forecast, ThreatForecast
    from privrelease.execute.tables.forecast import TableForecast
    from privrelease.pipeline.kinds import Kind, PlainForecast
    from privrelease.pipeline.settings import Settings
    from privrelease.plan.microdata.cell_bound import CellBound

__all__ = ["plan", "table"]

_THREATS = ("threat", "attacker", "k wanted", "smallest class", "classes", "alone", "below k", "highest risk", "average risk")
_COLUMNS = ("column", "cells to suppress", "in dropped rows", "share of the column")


def plan(
    named: Sequence[Path],
    settings: Settings,
    ids: Sequence[str],
    data: bool,
    console: Console,
    sweeping: str | None = None,
    chart: Path | None = None,
    *,
    saved: Path | None = None,
    force: bool = False,
    kinds: Sequence[Kind[Any]] = KINDS,
) -> Ending:
    """Explain every release of policies, and forecast it on its data where that was asked for. ``saved``: where the plan is written for `run --plan`."""
    inputs = policy_inputs(named, console)
    if not are_many(named):
        return _plan(inputs[0], settings, ids, data, console, sweeping, chart, saved=saved, force=force, kinds=kinds)
    if chart is not None or saved is not None:
        raise UsageError(code="C163", message="--chart and --output are one file of one policy each", hint="name one policy")
    return for_each(inputs, lambda one, kept: _plan(one, settings, ids, data, kept, sweeping, kinds=kinds), console)


def _plan(
    given: PolicyInput,
    settings: Settings,
    ids: Sequence[str],
    data: bool,
    console: Console,
    sweeping: str | None = None,
    chart: Path | None = None,
    *,
    saved: Path | None = None,
    force: bool = False,
    kinds: Sequence[Kind[Any]],
) -> Ending:
    from dataclasses import replace

    from privrelease.cli.output_files import Writer, kept_of_policy
    from privrelease.plan.explain import explain

    epsilons = () if sweeping is None else read_sweep(sweeping)
    check_chart(chart, epsilons)
    with stopped_in_form("plan", given.path, console):
        loaded, planned = settings.load(given.path, kinds, content=given.content)
    for finding in loaded.warnings:
        console.log(str(finding))
    writer = Writer(kept_of_policy(loaded, planned, settings.store(planned)), force)
    writer.check(chart, saved)
    releases = chosen(planned, ids)
    explained = explain(replace(planned, releases=releases), explainers=tuple((kind.name, kind.explain) for kind in kinds))
    if not console.json:
        console.data("\n".join(explained.as_lines()))
    spent = spendings(planned, releases, settings)
    for one in spent if not console.json else ():
        console.data("\n".join(one.as_lines()))
    swept = sweep(releases, epsilons) if epsilons else ()
    if swept and not console.json:
        table(
            header(epsilons),
            table_rows(swept),
            "standard deviations, if the query had that epsilon and the release's delta",
            console,
        )
    if chart is not None:
        draw(swept, epsilons, chart, writer)
    forecasts: list[tuple[_Printed, Any]] = []
    for release in releases if data else ():
        forecast = kind_of(release, kinds).forecast
        if forecast is None:
            console.log(f"release {release.id}: nothing is read beforehand; its forecast is printed above")
            continue
        printed, found = (
            named(release.kind, (*_PRINTED, (release.kind, _PLAIN))),
            forecast(release, planned, world_of(settings, console)),
        )
        forecasts.append((printed, found))
        printed.tell(found, console)
    values = [printed.value(found) for printed, found in forecasts]
    if console.json:
        document = {**explained.as_data(), "forecasts": values}
        console.document(
            document
            | ({"budgets": [one.as_data() for one in spent]} if spent else {})
            | ({"sweep": [one.as_data() for one in swept]} if swept else {})
        )
    _save(saved, writer, lambda made: made(loaded, planned, releases, settings, kinds, values))
    short = [found.release for printed, found in forecasts if printed.fails(found)]
    files = [str(path) for path in (chart, saved) if path is not None]
    written = f"{', '.join(files)} {'is' if len(files) == 1 else 'are'} written" if files else "nothing was written"
    if short:
        return Ending(1, f"as the data is, a run would fail: {', '.join(short)}" + (f"; {written}" if files else ""))
    return Ending(
        0, f"a forecast; {written}" if data else f"no row was read; {written}" if files else f"no row was read, and {written}"
    )


def _save(target: Path | None, writer: Writer, plan: Callable[[Callable[..., SavedPlan]], SavedPlan]) -> None:
    """Write the plan for a reviewer, and for `run --plan`, where a file was asked for."""
    if target is not None:
        from privrelease.cli.commands.saved_plan import saved_plan

        writer.write(target, plan(saved_plan).content())


def _tell_table(found: TableForecast, console: Console) -> None:
    if found.parks:
        console.say(f"release {found.release}: a run would park it, since a group shares one key")
    for one in found.dependencies:
        console.say(f"release {found.release}: {one} in every row: the tables of both are protected together")
    if console.json:
        return
    console.data(f"\nforecast for release {found.release}: {_many(found.source_rows, 'row')}, {_many(found.cells, 'cell')}")
    console.data(f"  suppressed                                {_many(found.suppressed, 'cell')}")
    if found.lost is not None:
        console.data(f"  fewest {found.prefer:<34} {_above_least(found.lost, found.least)}")
    console.data(f"  groups known to share one key             {found.shared}")
    if found.repaired is not None:
        console.data(f"  suppressed with `class_disclosure: true`  {_many(found.repaired, 'cell')}")


def _above_least(lost: int, least: int | None) -> str:
    """Return how far a suppression may be from the one that loses least.

    >>> _above_least(3, 3), _above_least(4, 3)
    ('at the minimum', 'at most 33.4 % above the minimum')
    """
    from privrelease.report.view.numbers import percent_up

    if least is None:
        return "no bound known"
    return (
        "at the minimum" if lost <= least else f"at most {percent_up(Fraction(lost - least, max(least, 1)))} above the minimum"
    )


def _would_fail(found: Forecast) -> bool:
    return not found.feasible or bool(found.unmet) or any(finding.severity is Severity.ERROR for finding in found.findings)


def _tell(found: Forecast, console: Console) -> None:
    from privrelease.report.view.numbers import count, part_of, percent, risk

    for finding in found.findings:
        console.say(str(finding))
    if not found.feasible:
        console.say(f"release {found.release}: the threats cannot all be met by suppressing cells")
    for name in found.unmet:
        console.say(
            f"release {found.release}: the data as it is does not hold against threat {name}, and no step suppresses cells"
        )
    if console.json:
        return
    persons = "" if found.source_persons is None else f", {_many(found.source_persons, 'person')}"
    console.data(
        f"\nforecast for release {found.release}: {_many(found.source_rows, 'row')}{persons}, {_many(found.classes, 'class', 'classes')}"
    )
    table(
        _THREATS,
        [
            (
                threat.name,
                threat.attacker,
                count(threat.k),
                "-" if threat.smallest is None else count(threat.smallest),
                "-" if threat.classes is None else count(threat.classes),
                count(threat.uniques),
                count(threat.below_k) if threat.attacker == "prosecutor" else "-",
                _assessed(threat, threat.highest, risk),
                _assessed(threat, threat.average, percent),
            )
            for threat in found.threats
        ],
        "risk before suppression, by threat",
        console,
    )
    for threat in found.threats:
        if threat.not_assessed is not None:
            console.data(f"threat {threat.name}: the {threat.attacker}'s risk is not assessed: {threat.not_assessed}")
    rows = max(found.source_rows, 1)
    table(
        _COLUMNS,
        [
            (
                column.column,
                count(column.suppressed),
                count(column.in_dropped_rows),
                percent(Fraction(column.lost, rows)),
            )
            for column in found.columns
        ],
        "cells that a run would take",
        console,
    )
    costliest = max(found.columns, key=lambda column: column.lost, default=None)
    most = f", most of {costliest.column}" if costliest is not None and costliest.lost else ""
    console.data(
        f"in all {part_of(found.cells_lost, found.cells_total)} cells{most}; {_many(found.rows_dropped, 'row')} dropped"
    )
    if found.bound is not None:
        console.data(_bounded(found.bound, found.cells_lost))


def _bounded(bound: CellBound, lost: int) -> str:
    """Say how far the cells of a run are from the fewest that would do."""
    from privrelease.report.view.numbers import count, percent_up
    from privrelease.texts.catalogue import english

    if bound.why_not is not None:
        return english().plain(f"utility.no_bound.{bound.why_not}")
    gap = bound.gap(lost)
    said = {"threat": bound.threat or "", "cells": count(bound.cells or 0)}
    if gap is None:
        return english().plain("utility.bound_alone", **said)
    return english().plain("utility.bound", **said, above=percent_up(gap))


def _assessed(threat: ThreatForecast, figure: Fraction | None, written: Callable[[Fraction], str]) -> str:
    """Write a figure of the threat's attacker."""
    if threat.not_assessed is not None:
        return "not assessed"
    return "-" if figure is None else written(figure)


def _many(number: int, one: str, many: str | None = None) -> str:
    """Write a number with separators, and its noun."""
    from privrelease.report.view.numbers import count

    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str, console: Console) -> None:
    """Print a table: drawn on a terminal, aligned by blanks elsewhere."""
    from privrelease.cli.console import harmless

    safe = [[harmless(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from rich.console import Console as Terminal
        from rich.table import Table
        from rich.text import Text

        drawn = Table(title=title, title_justify="left")
        for place, name in enumerate(header):
            drawn.add_column(name, justify="left" if place == 0 else "right", overflow="fold")
        for row in safe:
            drawn.add_row(*map(Text, row))
        Terminal().print(drawn)
        return
    widths = [max(map(len, column)) for column in zip(header, *safe, strict=True)]
    console.data(title)
    for row in ([*header], *safe):
        cells = [
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        console.data("  " + "  ".join(cells))


def _value(found: Forecast) -> dict[str, object]:
    return {
        "release": found.release,
        "source_rows": found.source_rows,
        "source_persons": found.source_persons,
        "classes": found.classes,
        "feasible": found.feasible,
        "unmet": found.unmet,
        "cells_lost": found.cells_lost,
        "cells_total": found.cells_total,
        "rows_dropped": found.rows_dropped,
        "threats": [
            {
                "name": threat.name,
                "attacker": threat.attacker,
                "not_assessed": threat.not_assessed,
                "columns": threat.columns,
                "counted": threat.counted,
                "reading": threat.reading,
                "k": threat.k,
                "smallest": threat.smallest,
                "classes": threat.classes,
                "uniques": threat.uniques,
                "below_k": threat.below_k,
                "highest": None if threat.highest is None else str(threat.highest),
                "average": None if threat.average is None else str(threat.average),
            }
            for threat in found.threats
        ],
        "columns": [
            {"column": one.column, "suppressed": one.suppressed, "in_dropped_rows": one.in_dropped_rows}
            for one in found.columns
        ],
        "findings": [finding_value(finding) for finding in found.findings],
    } | ({} if found.bound is None else {"bound": _bound_value(found.bound, found.cells_lost)})


def _bound_value(bound: CellBound, lost: int) -> dict[str, object]:
    gap = bound.gap(lost)
    return {
        "threat": bound.threat,
        "cells": bound.cells,
        "above": None if gap is None else str(gap),
        "why_not": bound.why_not,
    }


@dataclass(frozen=True, slots=True)
class _Printed:
    """The forms of a forecast of one kind: on the console, as JSON, and whether the run it foresees would fail."""

    tell: Callable[[Any, Console], None]
    value: Callable[[Any], dict[str, object]]
    fails: Callable[[Any], bool]


def _passes(_: TableForecast) -> bool:
    return False


def _tell_plainly(found: PlainForecast, console: Console) -> None:
    if not console.json:
        console.data("\n".join(("", *found.as_lines())))


#: A forecast of a kind that says itself how it is shown.
_PLAIN: Final = _Printed(_tell_plainly, lambda found: found.as_data(), lambda found: found.fails)

#: Kinds whose releases are forecast on their data, and shown in forms of their own.
_PRINTED: Final = (("microdata", _Printed(_tell, _value, _would_fail)), ("table", _Printed(_tell_table, asdict, _passes)))
