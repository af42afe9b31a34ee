"""``privrelease simulate``: what noise does to a release's figures, on made data, beside theory and beside a published study."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from privrelease.cli.ending import Ending
from privrelease.cli.plan import table
from privrelease.cli.plan_sweep import read_sweep
from privrelease.cli.settings import chosen
from privrelease.errors import UsageError
from privrelease.findings import amount

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.cli.settings import Settings
    from privrelease.execute.simulation import Simulated

__all__ = ["PAPER", "Asked", "paper_verdicts", "simulate"]

#: Standard deviations of a count that a study of medical data prints, by epsilon (reference: the study's table of results).
PAPER: Final = {"0.1": 20.0, "0.5": 8.0, "1": 4.0, "2": 2.0}
_NEAR: Final = 0.05

Asked = tuple[int, int]
_HEADER = (
    "query",
    "mechanism",
    "epsilon",
    "without noise",
    "observed sd",
    "theory sd",
    "ratio",
    "errors, middle 95 %",
    "paper's sd",
)


def simulate(policy: Path, settings: Settings, ids: Sequence[str], sweeping: str, asked: Asked, console: Console) -> Ending:
    """Simulate releases of statistics. ``asked``: repetitions, and made rows of a group. Raises UsageError (C115): none is chosen."""
    from privrelease.dp.randomness import SystemRandomness
    from privrelease.execute.simulation import simulate as repeat
    from privrelease.plan.statistics import StatisticsPlan

    epsilons = read_sweep(sweeping)
    loaded, planned = settings.load(policy)
    for finding in loaded.warnings:
        console.log(str(finding))
    releases = [release for release in chosen(planned, ids) if isinstance(release, StatisticsPlan)]
    if not releases:
        raise UsageError(
            code="C115",
            message="there is no release of statistics to simulate",
            hint="name one with --release, of kind statistics",
        )
    repetitions, rows = asked
    documents: list[dict[str, object]] = []
    for release in releases:
        console.log(f"{release.id}: {repetitions} releases of made data for each query, mechanism and epsilon")
        found = repeat(release, epsilons, repetitions=repetitions, rows=rows, randomness=SystemRandomness())
        verdicts = paper_verdicts(found)
        documents.append({"release": release.id, "figures": [asdict(one) for one in found], "paper": list(verdicts)})
        if not console.json:
            title = f"release {release.id}: {repetitions} repetitions, made groups of {amount(rows, 'row')}"
            table(_HEADER, [_row(one) for one in found], title, console)
            console.data("\n".join(verdicts))
    if console.json:
        console.document({"repetitions": repetitions, "rows": rows, "releases": documents})
    return Ending(0, "made data: no row was read, no budget was spent, and nothing was written")


def _row(one: Simulated) -> tuple[str, ...]:
    return (
        one.query,
        one.mechanism,
        one.epsilon,
        f"{one.truth:.6g}",
        f"{one.observed:.4g}",
        "-" if one.theory is None else f"{one.theory:.4g}",
        "-" if not one.theory else f"{one.observed / one.theory:.3f}",
        f"{one.low:.4g} to {one.high:.4g}",
        f"{PAPER[one.epsilon]:g}" if one.counts and one.epsilon in PAPER else "-",
    )


def paper_verdicts(found: Sequence[Simulated]) -> tuple[str, ...]:
    """Say of each of the paper's figures which mechanism's theory is within 5 % of it for a count, if any is."""
    first = next((one.query for one in found if one.counts), None)
    counts = [one for one in found if one.query == first and one.epsilon in PAPER]
    said = []
    given: list[set[str]] = []
    for epsilon in dict.fromkeys(one.epsilon for one in counts):
        paper = PAPER[epsilon]
        here = [one for one in counts if one.epsilon == epsilon]
        near = {one.mechanism for one in here if one.theory is not None and abs(one.theory - paper) <= _NEAR * paper}
        given.append(set(near))
        theory = ", ".join(f"{one.mechanism} {one.theory:.4g}" for one in here if one.theory is not None)
        gives = f"{' and '.join(sorted(near))} gives it, within 5 %" if near else "no mechanism here gives it"
        said.append(f"the paper's {paper:g} for a count at epsilon {epsilon}: {gives} (theory: {theory})")
    if len(given) > 1 and not set.intersection(*given):
        said.append("no single mechanism gives all of the paper's figures")
    return tuple(said)
