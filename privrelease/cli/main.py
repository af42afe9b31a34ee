"""The command ``privrelease``: its verbs, and how each ends.

Every verb's work is in a module of its own, imported when it is called, so that ``privrelease --help`` stays quick.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privrelease import __version__
from privrelease.cli import options as o
from privrelease.cli.console import Console, FailOn, Format, PlainFormat
from privrelease.cli.diff import DiffFormat, StopAt
from privrelease.cli.ending import INTERRUPTED, MEANINGS, Ending, ended, ending_of, gone
from privrelease.cli.ledger_app import ledger_app

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["app", "main"]

_EPILOG = "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in MEANINGS.items()) + "."

app = typer.Typer(
    name="privrelease",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"privrelease {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Policy-as-code for releasing personal data: protect, audit, publish and report."""
    del version


@app.command()
def init(
    data_file: Annotated[Path, typer.Argument(metavar="DATA_FILE", help="A CSV or Parquet file.", show_default=False)],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write.")] = Path("policy.yaml"),
    *,
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", metavar="SIGN", help='Between cells of a text file, e.g. ";" or tab.')
    ] = None,
    quiet: o.Quiet = False,
) -> Ending:
    """Write a commented starter policy from the header of a data file; what each column is remains for a person to decide.

    Example: `privrelease init data/patients.csv -o policy.yaml`
    """
    from privrelease.cli.init import init as work

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(data_file, output, console, delimiter))


@app.command()
def validate(
    policy: o.PolicyFile,
    *,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="gdpr", help="List the legal fields that it requires and are not stated.")
    ] = None,
    form: o.FormatOption = Format.TEXT,
    fail_on: o.FailOnOption = FailOn.ERROR,
    quiet: o.Quiet = False,
) -> Ending:
    """Check a policy, without any data: every error at once, each with its place, what is wrong and what to write.

    Examples: `privrelease validate policy.yaml` · `privrelease validate policy.yaml --profile gdpr`
    """
    from privrelease.cli.validate import validate as work

    console = Console(form, -1 if quiet else 0)
    return ended(lambda: work(policy, env, data_root, profile, fail_on, console))


@app.command()
def plan(
    policy: o.PolicyFile,
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
    force: o.Force = False,
    release: o.Releases = None,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    memory_limit: o.MemoryLimit = "1GiB",
    threads: o.Threads = None,
    temp: o.Temp = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
) -> Ending:
    """Say what `run` will do: steps, and the class size k that each threshold means. Reads no row, unless --data is given.

    Examples: `privrelease plan policy.yaml` · `privrelease plan policy.yaml --data --format json` · `privrelease plan policy.yaml --sweep epsilon=0.1,0.5,1,2 --chart noise.svg`
    """
    from privrelease.cli.plan import plan as work
    from privrelease.cli.settings import Settings

    console = Console(form, -1 if quiet else verbose)
    return ended(
        lambda: work(
            policy,
            Settings(env, data_root, None, o.checked_memory(memory_limit), threads, temp),
            release or (),
            data,
            console,
            sweep,
            chart,
            force=force,
        )
    )


@app.command()
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
    memory_limit: o.MemoryLimit = "1GiB",
    threads: o.Threads = None,
    temp: o.Temp = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
) -> Ending:
    """Protect a release at several thresholds of one threat: risk beside what it costs. Reads the source; publishes and spends nothing.

    Examples: `privrelease frontier policy.yaml --release microdata --k 2,3,5,10,20,50` · `privrelease frontier policy.yaml --threat insider --risk 0.5,0.2,0.1 --html frontier.html --chart frontier.svg`
    """
    from privrelease.cli.frontier import Asked
    from privrelease.cli.frontier import frontier as work
    from privrelease.cli.settings import Settings

    console = Console(form, -1 if quiet else verbose)
    settings = Settings(env, data_root, None, o.checked_memory(memory_limit), threads, temp)
    return ended(lambda: work(policy, settings, Asked(release, k, risk, threat, html, chart, force), console))


@app.command()
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
    """Release statistics of made data again and again, by both mechanisms: observed noise beside theory. Reads no row, spends nothing.

    Examples: `privrelease simulate --html noise.html` · `privrelease simulate policy.yaml --release statistics --delta 1e-5 --sweep epsilon=0.1,0.5,1,2`
    """
    from privrelease.cli.settings import Settings
    from privrelease.cli.simulate import Asked
    from privrelease.cli.simulate import simulate as work

    console = Console(form, -1 if quiet else verbose)
    settings = Settings(env, None, None, o.checked_memory("1GiB"), None, None)
    return ended(lambda: work(policy, settings, release or (), Asked(sweep, repetitions, rows, delta, html, force), console))


@app.command()
def run(
    policy: o.PolicyFile,
    *,
    release: o.Releases = None,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
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

    Examples: `privrelease run policy.yaml` · `privrelease run policy.yaml --release microdata --memory-limit 4GiB`
    """
    from privrelease.cli.run import run as work
    from privrelease.cli.settings import Settings

    console = Console(form, -1 if quiet else verbose)
    return ended(
        lambda: work(
            policy,
            Settings(env, data_root, state, o.checked_memory(memory_limit), threads, temp, test_noise),
            release or (),
            fail_on,
            console,
        )
    )


@app.command()
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
    from privrelease.cli.audit import Audited
    from privrelease.cli.audit import audit as work
    from privrelease.cli.settings import Settings

    console = Console(form, -1 if quiet else verbose)
    asked = Audited(release, tuple(file), source, audit_file, report_file, force, tuple(against or ()))
    return ended(
        lambda: work(
            policy, Settings(env, data_root, None, o.checked_memory(memory_limit), threads, temp), asked, fail_on, console
        )
    )


@app.command()
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
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> Ending:
    """Render an audit as a page, text, JSON or a form for machines, for those inside or for recipients; or an index over many.

    Examples: `privrelease report .privrelease/runs/RUN --edition recipient -o report.html` · `privrelease report --index .privrelease -o index.html`
    """
    from privrelease.cli.report import Asked
    from privrelease.cli.report import report as work

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(Asked(audit, index, edition, "pdf" if pdf else form, output, force), console))


@app.command()
def keygen(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where the private key goes.")] = Path(
        "privrelease.key"
    ),
    *,
    form: o.PlainFormatOption = PlainFormat.TEXT,
) -> Ending:
    """Make an Ed25519 key pair: FILE (private, mode 0600) and FILE.pub.

    Example: `privrelease keygen -o keys/dpo.key`
    """
    from privrelease.cli.signing import keygen as work

    return ended(lambda: work(output, Console(form)))


@app.command()
def sign(
    audit: Annotated[Path, typer.Argument(metavar="AUDIT", help="An audit.json, or the folder of a run.", show_default=False)],
    *,
    key: o.KeyFile = None,
    key_env: o.KeyVariable = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write here, not to stdout.")] = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> Ending:
    """Sign what an audit attests (in-toto statement in a DSSE envelope), for whoever gets the files.

    Example: `privrelease sign .privrelease/runs/RUN --key-env RELEASE_KEY -o release.dsse.json`
    """
    from privrelease.cli.signing import sign as work

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(audit, key, key_env, output, console, force=force))


@app.command()
def verify(
    attestation: Annotated[
        Path, typer.Argument(metavar="TARGET", help="A signed attestation, or a run's folder.", show_default=False)
    ],
    *,
    key: Annotated[
        list[Path] | None, typer.Option("--key", metavar="FILE", help="Public key of a signer; several may do.")
    ] = None,
    file: Annotated[list[Path] | None, typer.Option("--file", metavar="FILE", help="A released file to compare.")] = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
) -> Ending:
    """Verify a signed attestation and the files it speaks of, or a run's folder: manifest, files, audit, approvals.

    Example: `privrelease verify release.dsse.json --key keys/dpo.key.pub --file out/patients.parquet`
    """
    from privrelease.cli.signing import verify as work

    return ended(lambda: work(attestation, key or (), file or (), Console(form)))


@app.command()
def approve(
    policy: o.PolicyFile,
    run_id: o.RunId,
    *,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="The role to approve in.", show_default=False)],
    key: o.KeyFile = None,
    key_env: o.KeyVariable = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    quiet: o.Quiet = False,
) -> Ending:
    """Sign the digests of a parked release (policy, files, audit) in a role. Publishes nothing.

    Example: `privrelease approve policy.yaml RUN --role dpo --key-env DPO_KEY`
    """
    from privrelease.cli.publishing import approve as work
    from privrelease.cli.settings import Settings

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(policy, Settings(None, data_root, state), run_id, role, (key, key_env), console))


@app.command()
def publish(
    policy: o.PolicyFile,
    run_id: o.RunId,
    *,
    data_root: o.DataRoot = None,
    state: o.State = None,
    quiet: o.Quiet = False,
) -> Ending:
    """Publish a parked release once its approvals are there; digests and signatures are verified, nothing is executed again.

    Example: `privrelease publish policy.yaml RUN`
    """
    from privrelease.cli.publishing import publish as work
    from privrelease.cli.settings import Settings

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(policy, Settings(None, data_root, state), run_id, console))


@app.command()
def withdraw(
    policy: o.PolicyFile,
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="The release.", show_default=False)],
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the record.", show_default=False)],
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    quiet: o.Quiet = False,
) -> Ending:
    """Take the current release back: its output paths show nothing any more, and the reason stays on record.

    Example: `privrelease withdraw policy.yaml microdata --reason "wrong region codes"`
    """
    from privrelease.cli.publishing import withdraw as work
    from privrelease.cli.settings import Settings

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(policy, Settings(env, data_root, state), release, reason, console))


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A policy, an audit.json or a run's folder.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another of the same kind.", show_default=False)],
    *,
    env: o.Environment = None,
    form: Annotated[DiffFormat, typer.Option("--format", help="Form of what goes to stdout.")] = DiffFormat.TEXT,
    fail_on: Annotated[
        StopAt, typer.Option("--fail-on", help="What makes the exit code 1; breaking stops at what weakens, too.")
    ] = StopAt.NEVER,
) -> Ending:
    """Say what changed: in a policy what is weaker, breaking, stricter or neutral, with the line; in audits what is worse.

    Examples: `privrelease diff old.yaml policy.yaml --fail-on weaker` · `privrelease diff RUN1 RUN2 --format markdown`
    """
    from privrelease.cli.diff import diff as work

    return ended(lambda: work(old, new, env, form, fail_on, Console()))


@app.command()
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
    from privrelease.cli.show import show as work

    del resolved
    console = Console(form, -1 if quiet else 0)
    return ended(lambda: work(policy, env, data_root, console))


@app.command()
def schema(
    of: Annotated[str, typer.Argument(metavar="policy|audit|manifest", help="Which format.")] = "policy",
) -> Ending:
    """Print the JSON Schema of a format, for editors and pipelines.

    Example: `privrelease schema policy > policy-v1.schema.json`
    """
    from privrelease.cli.schema import schema as work

    return ended(lambda: work(of, Console()))


app.add_typer(ledger_app)

#: Objects made until the collector looks for cycles. Most of a command's are those of libraries it loads, which stay: at Python's own 700,
#: looking through them again and again takes a tenth of its CPU.
_COLLECT_AFTER = 50_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. Never a traceback; the last line on stderr says how it ended."""
    gc.set_threshold(_COLLECT_AFTER, 10, 10)
    try:
        ending = _called(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        ending = gone()
    if ending is None:
        return 0
    console = Console()
    try:
        if ending.said:
            console.say(ending.said)
        console.say(ending.last_line)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return ending.code


def _called(arguments: list[str]) -> Ending | None:
    """Call a command; None where only help or the version was asked for."""
    from typer.exceptions import TyperException

    try:
        result = app(args=arguments, standalone_mode=False, prog_name="privrelease")
    except TyperException as error:
        if error.exit_code != 2:  # interrupted while asking, or a fault of our own making
            return ending_of(error)
        message = error.format_message()
        if not message:  # help was printed, because no command was given
            return Ending(2, "no command was given")
        hint = "see `privrelease --help`, or `privrelease COMMAND --help`"
        return Ending(2, "the command line cannot be understood", f"C101 {message}\nhint: {hint}")
    if isinstance(result, Ending):
        return result
    return INTERRUPTED if result else None  # a number other than 0 is what typer gives for Ctrl-C


if __name__ == "__main__":
    sys.exit(main())
