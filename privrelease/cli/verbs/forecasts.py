"""The verbs that say beforehand what a release costs, and publish and spend nothing: steps, thresholds, noise.

Their work is in modules of their own, imported when one is called.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 -- typer reads annotations at run time
from typing import Annotated

import typer

from privrelease.cli import options as o
from privrelease.cli.console import Console, PlainFormat
from privrelease.cli.exit import Ending, ended

__all__ = ["frontier", "plan", "simulate"]


def plan(
    policies: o.PolicyFiles,
    *,
    data: Annotated[bool, typer.Option("--data", help="Read the source: classes, risk before, forecast of loss.")] = False,
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep", metavar="epsilon=A,B,…", help="Statistics: standard deviations for several budgets, both mechanisms."
        ),
    ] = None,
    chart: Annotated[
        Path | None, typer.Option("--chart", metavar="FILE.svg", help="With --sweep: draw it, both mechanisms side by side.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Save the plan, with digests of its inputs, for review and `run --plan`."
        ),
    ] = None,
    force: o.Force = False,
    release: o.Releases = None,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    memory_limit: o.MemoryLimit = "1GiB",
    threads: o.Threads = None,
    temp: o.Temp = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
) -> Ending:
    """Say what `run` will do: steps, and the class size k that each threshold means. Reads no row, unless --data is given.

    Examples: `privrelease plan policy.yaml` · `privrelease plan policies` · `privrelease plan policy.yaml --data -o plan.json` · `privrelease plan policy.yaml --sweep epsilon=0.1,0.5,1,2 --chart noise.svg`
    """
    from privrelease.cli.commands.plan import plan as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else verbose)
    return ended(
        lambda: work(
            policies,
            Settings(env, data_root, state, o.checked_memory(memory_limit), threads, o.checked_temp(temp), log=console.log),
            release or (),
            data,
            console,
            sweep,
            chart,
            saved=output,
            force=force,
        )
    )


def frontier(
    policy: o.PolicyFile,
    *,
    release: Annotated[
        str | None, typer.Option("--release", metavar="ID", help="The release of microdata; needed where there are several.")
    ] = None,
    k: Annotated[str | None, typer.Option("--k", metavar="K,K,…", help="Class sizes to try. Default: 2,3,5,10,20,50.")] = None,
    risk: Annotated[
        str | None, typer.Option("--risk", metavar="R,R,…", help="The same as highest risks, e.g. 0.5,0.2,0.1.")
    ] = None,
    threat: Annotated[
        str | None,
        typer.Option("--threat", metavar="NAME", help="Whose highest risk is swept. Default: the first that has one."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page, chart and table, to this file.")
    ] = None,
    chart: Annotated[Path | None, typer.Option("--chart", metavar="FILE.svg", help="Write the chart alone.")] = None,
    force: o.Force = False,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    memory_limit: o.MemoryLimit = "1GiB",
    threads: o.Threads = None,
    temp: o.Temp = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
) -> Ending:
    """Protect a release at several thresholds of one threat: risk next to what it costs. Reads the source; publishes and spends nothing.

    Examples: `privrelease frontier policy.yaml --release microdata --k 2,3,5,10,20,50` · `privrelease frontier policy.yaml --threat insider --risk 0.5,0.2,0.1 --html frontier.html --chart frontier.svg`
    """
    from privrelease.cli.commands.frontier import Asked
    from privrelease.cli.commands.frontier import frontier as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else verbose)

    def protected() -> Ending:
        memory, folder = o.checked_memory(memory_limit), o.checked_temp(temp)
        settings = Settings(env, data_root, state, memory, threads, folder, log=console.log)
        return work(policy, settings, Asked(release, k, risk, threat, html, chart, force), console)

    return ended(protected)


def simulate(
    policy: Annotated[
        Path | None, typer.Argument(metavar="[POLICY]", help="The policy file; without one, a study of 10,000 made patients.")
    ] = None,
    *,
    sweep: Annotated[
        str, typer.Option("--sweep", metavar="epsilon=A,B,…", help="Budgets that each query gets.")
    ] = "epsilon=0.1,0.5,1,2",
    delta: Annotated[
        str | None,
        typer.Option("--delta", metavar="DELTA", help="Delta of Gaussian noise, in place of the release's (study: 1e-5)."),
    ] = None,
    repetitions: Annotated[
        int, typer.Option(min=10, max=100_000, metavar="N", help="How often each figure is released.")
    ] = 1000,
    rows: Annotated[int, typer.Option(min=1, max=1_000_000, metavar="N", help="Made rows in a group.")] = 1500,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a report with charts to this file.")
    ] = None,
    force: o.Force = False,
    release: o.Releases = None,
    env: o.Environment = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
) -> Ending:
    """Release statistics of made data again and again, by both mechanisms: observed noise next to theory. Reads no row, spends nothing.

    Examples: `privrelease simulate --html noise.html` · `privrelease simulate policy.yaml --release statistics --delta 1e-5 --sweep epsilon=0.1,0.5,1,2`
    """
    from privrelease.cli.commands.simulate import Asked
    from privrelease.cli.commands.simulate import simulate as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else verbose)
    settings = Settings(env, None, None, o.checked_memory("1GiB"), None, None, log=console.log)
    return ended(lambda: work(policy, settings, release or (), Asked(sweep, repetitions, rows, delta, html, force), console))
