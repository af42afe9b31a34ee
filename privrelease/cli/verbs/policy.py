"""The verbs about a policy alone: a starter for one, its errors, what it resolves to, what changed, its hierarchies, its format, its codes.

Their work is in modules of their own, imported when one is called.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privrelease.cli import options as o
from privrelease.cli.console import Console, DiffFormat, ExplainFormat, FailOn, Format, PlainFormat, StopAt
from privrelease.cli.exit import Ending, ended

__all__ = ["diff", "explain", "hierarchy", "init", "schema", "show", "validate"]


def init(
    data_file: Annotated[
        Path, typer.Argument(metavar="DATA_FILE", help="A CSV, Parquet, DuckDB or SQLite file.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write.")] = Path("policy.yaml"),
    *,
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", metavar="SIGN", help='Between cells of a text file, e.g. ";" or tab.')
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help="Of a text file, e.g. latin-1. Default: what can be proven, else it is asked for.",
        ),
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="Of a database; needed where it has several.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Read the names of columns alone: nothing is counted or proposed.")
    ] = False,
    quiet: o.Quiet = False,
) -> Ending:
    """Write a commented starter policy from a data file, with counts and proposals; what each column is remains for a person to decide.

    Example: `privrelease init data/patients.csv -o policy.yaml`
    """
    from privrelease.cli.commands.init import Asked
    from privrelease.cli.commands.init import init as work

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(data_file, output, console, Asked(delimiter, encoding, table, quick)))


def validate(
    policies: o.PolicyFiles,
    *,
    data: Annotated[
        bool,
        typer.Option(
            "--data",
            help="Read the data too: every kind of value that is not as declared, by file and line. Values outside a domain are refused where rows or tables are released; statistics clamp them.",
        ),
    ] = False,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    memory_limit: o.MemoryLimit = "1GiB",
    threads: o.Threads = None,
    temp: o.Temp = None,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="gdpr", help="List the legal fields that it requires and are not stated.")
    ] = None,
    only_policies: o.OnlyPolicies = False,
    form: o.FormatOption = Format.TEXT,
    fail_on: o.FailOnOption = FailOn.ERROR,
    quiet: o.Quiet = False,
) -> Ending:
    """Check policies, without any data unless --data is given: every error at once, each with its place, what is wrong and what to write.

    Examples: `privrelease validate policy.yaml --profile gdpr` · `privrelease validate policy.yaml --data` · `privrelease validate policies`
    """
    from privrelease.cli.commands.validate import validate as work

    console = Console(form, -1 if quiet else 0)

    def checked() -> Ending:
        from privrelease.pipeline.settings import Settings

        read = Settings(env, data_root, None, o.checked_memory(memory_limit), threads, o.checked_temp(temp)) if data else None
        return work(policies, env, data_root, profile, fail_on, console, only_policies=only_policies, data=read)

    return ended(checked)


def diff(
    old: Annotated[
        Path,
        typer.Argument(
            metavar="OLD",
            help="A policy, - for one on stdin, a folder of them, an audit.json or a run's folder.",
            show_default=False,
        ),
    ],
    new: Annotated[
        list[Path],
        typer.Argument(
            metavar="NEW...",
            help="Another of the same kind; with a folder as OLD also several policies, or a folder.",
            show_default=False,
        ),
    ],
    *,
    env: o.Environment = None,
    only_policies: o.OnlyPolicies = False,
    form: Annotated[DiffFormat, typer.Option("--format", help="Form of what goes to stdout.")] = DiffFormat.TEXT,
    fail_on: Annotated[
        StopAt, typer.Option("--fail-on", help="What makes the exit code 1; breaking stops at what weakens, too.")
    ] = StopAt.NEVER,
    quiet: o.Quiet = False,
) -> Ending:
    """Say what changed: in a policy what is weaker, breaking, stricter or neutral, with the line; in audits what is worse.

    Examples: `privrelease diff old.yaml policy.yaml --fail-on weaker` · `privrelease diff before policies --fail-on weaker` · `privrelease diff .privrelease/runs/RUN1 .privrelease/runs/RUN2 --format markdown`
    """
    from privrelease.cli.commands.diff import diff as work

    return ended(lambda: work(old, new, env, form, fail_on, Console(verbosity=-1 if quiet else 0), only_policies=only_policies))


def show(
    policy: o.PolicyFile,
    *,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="The policy with everything it extends and --env laid over.")
    ] = True,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """Print the policy that results from what it extends and from its environment.

    Example: `privrelease show policy.yaml --resolved`
    """
    from privrelease.cli.commands.show import show as work

    del resolved
    console = Console(form, -1 if quiet else 0)
    return ended(lambda: work(policy, env, data_root, console))


def hierarchy(
    policy: o.PolicyFile,
    *,
    column: Annotated[str, typer.Option("--column", metavar="NAME", help="The column.", show_default=False)],
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="Its dataset, where several have it.")
    ] = None,
    data: Annotated[
        bool, typer.Option("--data", help="Read the source: labels that it has, and the smallest of each level.")
    ] = False,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    memory_limit: o.MemoryLimit = "1GiB",
    threads: o.Threads = None,
    temp: o.Temp = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """Print the levels of a column's hierarchy with the number of labels of each; no value and no label.

    Examples: `privrelease hierarchy policy.yaml --column age` · `privrelease hierarchy policy.yaml --column age --data`
    """
    from privrelease.cli.commands.hierarchy import Asked
    from privrelease.cli.commands.hierarchy import hierarchy as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else 0)

    def listed() -> Ending:
        memory, folder = o.checked_memory(memory_limit), o.checked_temp(temp)
        settings = Settings(env, data_root, None, memory, threads, folder, log=console.log)
        return work(policy, settings, Asked(column, dataset, data), console)

    return ended(listed)


def schema(
    of: Annotated[str, typer.Argument(metavar="policy|audit|manifest", help="Which format.")] = "policy",
    *,
    quiet: o.Quiet = False,
) -> Ending:
    """Print the JSON Schema of a format, for editors and pipelines.

    Example: `privrelease schema policy > policy-v1.schema.json`
    """
    from privrelease.cli.commands.show import schema as work

    return ended(lambda: work(of, Console(verbosity=-1 if quiet else 0)))


def explain(
    codes: Annotated[
        list[str] | None, typer.Argument(metavar="[CODE]...", help="Codes, or ids of checks; all if none.", show_default=False)
    ] = None,
    *,
    form: Annotated[ExplainFormat, typer.Option("--format", help="Form of what goes to stdout.")] = ExplainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """Say what a code means, what causes it and what to do about it.

    Examples: `privrelease explain P403` · `privrelease explain AUDIT-DIRECT L120 --format json`
    """
    from privrelease.cli.commands.explain import explain as work

    return ended(lambda: work(codes or (), form, Console(verbosity=-1 if quiet else 0)))


def fmt(
    policies: o.PolicyFiles,
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where a policy would change.")] = False,
    only_policies: o.OnlyPolicies = False,
    quiet: o.Quiet = False,
) -> Ending:
    """Write policies in canonical layout: sections and keys in the order of the language, comments kept, and the meaning unchanged.

    Examples: `privrelease fmt policy.yaml` · `privrelease fmt policies`
    """
    from privrelease.cli.commands.fmt import fmt as work

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(policies, console, check=check, only_policies=only_policies))
