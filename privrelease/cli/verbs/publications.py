"""The verbs for those who answer for a release: keys, signatures, approvals, publication and withdrawal.

Their work is in modules of their own, imported when one is called.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privrelease.cli import options as o  # noqa: TC001 -- typer reads annotations at run time
from privrelease.cli.console import Console, PlainFormat
from privrelease.cli.exit import Ending, ended

__all__ = ["approve", "keygen", "list_", "publish", "sign", "verify", "withdraw"]


def keygen(
    file: Annotated[str | None, typer.Argument(metavar="-o FILE", hidden=True)] = None,
    *,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where the private key goes.")] = Path(
        "privrelease.key"
    ),
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """Make an Ed25519 key pair: FILE (private, mode 0600) and FILE.pub.

    Example: `privrelease keygen -o keys/dpo.key`
    """
    from privrelease.cli.commands.signing import keygen as work

    return ended(lambda: work(output, Console(form, -1 if quiet else 0), unnamed=file))


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
    from privrelease.cli.commands.signing import sign as work

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(audit, key, key_env, output, console, force=force))


def verify(
    attestation: Annotated[
        Path,
        typer.Argument(metavar="TARGET", help="A signed attestation, or a run: its folder, or its id.", show_default=False),
    ],
    *,
    key: Annotated[
        list[Path] | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="Public key of a signer; may be repeated. Each must have approved a run; one must have signed an attestation.",
        ),
    ] = None,
    file: Annotated[list[Path] | None, typer.Option("--file", metavar="FILE", help="A released file to compare.")] = None,
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="FOLDER", help="State folder of a run named by its id. Default: .privrelease here."),
    ] = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """Verify a signed attestation and the files it speaks of, or a run: its state, manifest, files, audit, approvals.

    Example: `privrelease verify release.dsse.json --key keys/dpo.key.pub --file out/patients.parquet`
    """
    from privrelease.cli.commands.signing import verify as work

    return ended(lambda: work(attestation, key or (), file or (), Console(form, -1 if quiet else 0), state=state))


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
    from privrelease.cli.commands.publishing import approve as work
    from privrelease.pipeline.settings import Settings

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(policy, Settings(None, data_root, state, log=console.log), run_id, role, (key, key_env), console))


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
    from privrelease.cli.commands.publishing import publish as work
    from privrelease.pipeline.settings import Settings

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(policy, Settings(None, data_root, state, log=console.log), run_id, console))


def withdraw(
    policy: o.PolicyFile,
    release: Annotated[
        str, typer.Argument(metavar="RELEASE|RUN", help="The release, or its run by id or folder.", show_default=False)
    ],
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
    from privrelease.cli.commands.publishing import withdraw as work
    from privrelease.pipeline.settings import Settings

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(policy, Settings(env, data_root, state, log=console.log), release, reason, console))


def list_(
    place: Annotated[
        Path, typer.Argument(metavar="POLICY|FOLDER", help="A policy, a state folder, or a run's folder.", show_default=False)
    ],
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="Show this run: its id, or its folder.", show_default=False)
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Also what was superseded, failed or abandoned.")] = False,
    state: o.State = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """List releases and their states: published, parked, quarantined or withdrawn, since when, by which policy version, and where.

    Examples: `privrelease list policy.yaml` · `privrelease list policy.yaml RUN` · `privrelease list .privrelease --all`
    """
    from privrelease.cli.commands.listing import list_releases as work

    console = Console(form, -1 if quiet else 0)
    return ended(lambda: work(place, run, state, every, console))
