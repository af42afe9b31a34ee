"""The verbs that make, judge and describe a release: run, audit, report.

Their work is in modules of their own, imported when one is called.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 -- typer reads annotations at run time
from typing import Annotated

import typer

from privrelease.cli import options as o
from privrelease.cli.console import Console, FailOn, Format
from privrelease.cli.exit import Ending, ended

__all__ = ["audit", "report", "run"]


def run(
    policy: o.PolicyFile,
    *,
    release: o.Releases = None,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="Run exactly the plan that `plan -o FILE` saved, or refuse."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Do all but publish: nothing is published, parked or charged. Reports go to dry-run in the state folder.",
        ),
    ] = False,
    test_noise: o.TestNoise = None,
    memory_limit: o.MemoryLimit = "1GiB",
    threads: o.Threads = None,
    temp: o.Temp = None,
    form: o.FormatOption = Format.TEXT,
    fail_on: o.FailOnOption = FailOn.ERROR,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
) -> Ending:
    """Protect, audit, publish and report every release of a policy. What fails its audit goes to quarantine, never out.

    Examples: `privrelease run policy.yaml --dry-run` · `privrelease run policy.yaml` · `privrelease run policy.yaml --release microdata --memory-limit 4GiB`
    """
    from privrelease.cli.commands.run import run as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else verbose)
    return ended(
        lambda: work(
            policy,
            Settings(
                env,
                data_root,
                state,
                o.checked_memory(memory_limit),
                threads,
                o.checked_temp(temp),
                test_noise,
                log=console.log,
            ),
            release or (),
            fail_on,
            console,
            dry=dry_run,
            saved=plan,
        )
    )


def audit(
    policy: o.PolicyFile,
    *,
    release: Annotated[str, typer.Option("--release", metavar="ID", help="The release whose rules apply.", show_default=False)],
    file: Annotated[
        list[Path], typer.Option("--file", metavar="FILE", help="The file to audit; once per output.", show_default=False)
    ],
    source: Annotated[bool, typer.Option("--source/--no-source", help="Whether to measure the source too.")] = True,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="EARLIER",
            help="A release of the same persons that went before: a file, a folder, a run or a release's id; POLICY#EARLIER under another policy.",
        ),
    ] = None,
    report_file: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write the internal edition of the report here.")
    ] = None,
    audit_file: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write audit.json here.")] = None,
    force: o.Force = False,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    memory_limit: o.MemoryLimit = "1GiB",
    threads: o.Threads = None,
    temp: o.Temp = None,
    form: o.FormatOption = Format.TEXT,
    fail_on: o.FailOnOption = FailOn.ERROR,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
) -> Ending:
    """Audit files that exist already, whoever made them, against a release of a policy. What cannot be checked is said.

    Example: `privrelease audit policy.yaml --release microdata --file out/patients.parquet --report report.html`
    """
    from privrelease.cli.commands.audit import Audited
    from privrelease.cli.commands.audit import audit as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else verbose)
    asked = Audited(release, tuple(file), source, audit_file, report_file, force, tuple(against or ()))
    return ended(
        lambda: work(
            policy,
            Settings(env, data_root, state, o.checked_memory(memory_limit), threads, o.checked_temp(temp), log=console.log),
            asked,
            fail_on,
            console,
        )
    )


def report(
    audit: Annotated[
        Path | None, typer.Argument(metavar="[AUDIT]", help="An audit.json, or the folder of a run.", show_default=False)
    ] = None,
    *,
    index: Annotated[
        Path | None,
        typer.Option(
            "--index", metavar="FOLDER", exists=True, file_okay=False, help="One page over every audit below this folder."
        ),
    ] = None,
    pdf: Annotated[bool, typer.Option("--pdf", help="The page in print form (extra pdf); the same as --format pdf.")] = False,
    edition: Annotated[str, typer.Option("--edition", metavar="internal|recipient", help="Who it is for.")] = "internal",
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write here, not to stdout.")] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORM",
            help="html, pdf, text, json, sarif, junit, github, markdown, in-toto, dpv or dp-deployment.",
        ),
    ] = "html",
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            metavar="en|de|fr",
            help="Language of the page. Default: that of the policy; of an index, of all audits.",
        ),
    ] = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> Ending:
    """Render an audit as a page, text, JSON or a form for machines, for those inside or for recipients; or an index over many.

    Examples: `privrelease report .privrelease/runs/RUN --edition recipient -o report.html` · `privrelease report --index .privrelease -o index.html`
    """
    from privrelease.cli.commands.report import Asked
    from privrelease.cli.commands.report import report as work

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(Asked(audit, index, edition, "pdf" if pdf else form, output, force, language), console))
