"""``privrelease simulate``: the effect of noise on a release's figures, on synthetic data, compared with theory and a study."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from privrelease.cli.commands.plan import table
from privrelease.cli.commands.plan_sweep import read_sweep
from privrelease.cli.exit import Ending
from privrelease.errors import UsageError
from privrelease.findings import pluralise
from privrelease.pipeline.settings import chosen
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.cli.output_files import Writer
    from privrelease.pipeline.settings import Settings
    from privrelease.plan.model import Plan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.plan.statistics.simulated import Simulated, Simulation
    from privrelease.units import Delta, Epsilon

__all__ = ["Asked", "simulate"]

_HEADER = (
    "query",
    "mechanism",
    "epsilon",
    "without noise",
    "observed sd",
    "exact sd",
    "ratio",
    "continuous sd",
    "exact delta",
    "errors, middle 95 %",
    "paper's sd",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Request for a simulation: budgets, how often, synthetic rows of a group, a delta in place of the release's; the report's
    file, and whether one that is there is overwritten.
    """

    sweep: str
    repetitions: int
    rows: int
    delta: str | None = None
    report: Path | None = None
    force: bool = False


def simulate(policy: Path | None, settings: Settings, ids: Sequence[str], asked: Asked, console: Console) -> Ending:
    """Simulate releases of statistics, or the study where no policy is named. Raises UsageError (C115, C118, C119, C130, C131)."""
    from privrelease.cli.output_files import Writer, kept_of_policy

    epsilons = read_sweep(asked.sweep)
    delta = _delta(asked.delta)
    writer = Writer(force=asked.force)
    releases: list[StatisticsPlan] = []
    name = None
    if policy is not None:
        loaded, planned = settings.load(policy)
        for finding in loaded.warnings:
            console.log(str(finding))
        releases, name = _of_statistics(planned, ids), planned.policy_id
        writer = Writer(kept_of_policy(loaded, planned, settings.store(planned)), asked.force)
    elif ids:
        raise UsageError(code="C115", message="--release is for a policy", hint="name the policy first")
    _check(asked.report, max(1, len(releases)), writer)
    found = [_study(epsilons, delta, asked, console)] if name is None else []
    found += [_release(release, str(name), epsilons, delta, asked, console) for release in releases]
    written = _write(found, asked.report, writer)
    for one in found if not console.json else ():
        _tell(one, console)
    if console.json:
        console.document({"repetitions": asked.repetitions, "rows": asked.rows, "releases": [_value(one) for one in found]})
    return Ending(0, f"made data: no row was read, no budget was spent, and {written}")


def _study(epsilons: Sequence[Epsilon], delta: Delta | None, asked: Asked, console: Console) -> Simulation:
    from privrelease.dp.randomness import SystemRandomness
    from privrelease.execute.statistics.reference_study import DELTA, study

    console.log(f"the study: {asked.repetitions} releases of made patients for each query, mechanism and epsilon")
    chosen_delta = DELTA if delta is None else delta
    return study(epsilons, repetitions=asked.repetitions, randomness=SystemRandomness(), delta=chosen_delta)


def _of_statistics(planned: Plan, ids: Sequence[str]) -> list[StatisticsPlan]:
    from privrelease.plan.model import releases_of
    from privrelease.plan.statistics.plan import StatisticsPlan

    releases = list(releases_of(chosen(planned, ids), StatisticsPlan))
    if not releases:
        raise UsageError(
            code="C115",
            message="there is no release of statistics to simulate",
            hint="name one with --release, of kind statistics",
        )
    return releases


def _release(
    release: StatisticsPlan, policy: str, epsilons: Sequence[Epsilon], delta: Delta | None, asked: Asked, console: Console
) -> Simulation:
    from privrelease.dp.randomness import SystemRandomness
    from privrelease.execute.statistics.simulation import simulate as repeat
    from privrelease.plan.statistics.simulated import Simulation

    console.log(f"{release.id}: {asked.repetitions} releases of made data for each query, mechanism and epsilon")
    figures = repeat(
        release, epsilons, repetitions=asked.repetitions, rows=asked.rows, randomness=SystemRandomness(), delta=delta
    )
    return Simulation(release.id, policy, asked.rows, asked.repetitions, figures)


def _delta(text: str | None) -> Delta | None:
    from privrelease.dp.rules import check_delta
    from privrelease.units import Delta

    if text is None:
        return None
    try:
        delta = Delta(text)
        fits = not any(finding.severity.value == "error" for finding in check_delta(delta))
    except ValueError:
        fits = False
    if not fits:
        raise UsageError(code="C118", message="--delta is not a probability", hint="write e.g. --delta 1e-5")
    return delta


def _check(report: Path | None, releases: int, writer: Writer) -> None:
    if report is not None and (releases != 1 or report.suffix.lower() not in {".html", ".htm"}):
        hint = "write --html noise.html, and --release if there are several"
        raise UsageError(code="C119", message="--html is one file of one release", hint=hint)
    writer.check(report)


def _write(found: Sequence[Simulation], report: Path | None, writer: Writer) -> str:
    from privrelease.report.pages.simulation import render_simulation

    if report is None:
        return "nothing was written"
    writer.write(report, render_simulation(found[0]).encode())
    return f"the report is in {report}"


def _value(one: Simulation) -> dict[str, object]:
    from privrelease.plan.statistics.simulated import paper_figures, paper_words

    figures = [asdict(figure) | {"agrees": figure.agrees} for figure in one.figures]
    return {"release": one.release, "figures": figures, "paper": list(paper_words(paper_figures(one.figures)))}


def _tell(one: Simulation, console: Console) -> None:
    from privrelease.plan.statistics.simulated import paper_figures, paper_words

    made = f"made groups of {pluralise(one.rows, 'row')}" if one.policy else f"{one.rows} made patients"
    title = f"{'release ' + one.release if one.policy else 'the study'}: {one.repetitions} repetitions, {made}"
    table(_HEADER, [_row(figure) for figure in one.figures], title, console)
    console.data("\n".join(paper_words(paper_figures(one.figures))))


def _row(one: Simulated) -> tuple[str, ...]:
    from privrelease.plan.statistics.simulated import PAPER

    return (
        one.query,
        one.mechanism,
        one.epsilon,
        f"{one.truth:.6g}",
        f"{one.observed:.4g}",
        "-" if one.theory is None else f"{one.theory:.4g}",
        "-" if not one.theory else f"{one.observed / one.theory:.3f}",
        "-" if one.continuous is None else f"{one.continuous:.4g}",
        "-" if one.exact_delta is None else f"{one.exact_delta:.3g}",
        f"{one.low:.4g} to {one.high:.4g}",
        f"{PAPER[one.epsilon]:g}" if one.counts and one.epsilon in PAPER else "-",
    )
