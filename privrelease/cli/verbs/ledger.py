"""The verbs of ``privrelease ledger``; their work is in :mod:`privrelease.cli.commands.ledger`, imported when one is called."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 -- typer reads annotations at run time
from typing import Annotated

import typer

from privrelease.cli import options as o  # noqa: TC001 -- typer reads annotations at run time
from privrelease.cli.console import Console, PlainFormat
from privrelease.cli.exit import Ending, ended

__all__ = ["ledger_app"]

ledger_app = typer.Typer(
    name="ledger",
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Make, inspect, verify, export and raise the privacy-budget ledger.",
    help="The privacy-budget ledger: what may be spent, what was spent, and whether it is what was written.",
)


@ledger_app.command()
def init(
    policy: o.PolicyFile,
    *,
    owner: Annotated[
        list[Path] | None,
        typer.Option("--owner", metavar="KEY.pub", help="A public key whose holder may raise caps later; may be repeated."),
    ] = None,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """Make the ledger that the policy names, with the policy's caps; once. To an existing one, add what it does not know.

    Never a habit of a pipeline: a new ledger has forgotten what was spent.

    Example: `privrelease ledger init policy.yaml --owner keys/dpo.key.pub`
    """
    from privrelease.cli.commands.ledger import init as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else 0)
    return ended(lambda: work(policy, Settings(env, data_root, state, log=console.log), owner or (), console))


@ledger_app.command()
def status(
    policy: o.PolicyFile,
    *,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """Show each population's cap, what it has spent over its whole life, what is left, and who spent it.

    Example: `privrelease ledger status policy.yaml --format json`
    """
    from privrelease.cli.commands.ledger import status as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else 0)
    return ended(lambda: work(policy, Settings(env, data_root, state, log=console.log), console))


@ledger_app.command()
def history(
    policy: o.PolicyFile,
    *,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """List every entry, oldest first; with --format json, every draw with its mechanism, sensitivity, scale and grid.

    Example: `privrelease ledger history policy.yaml`
    """
    from privrelease.cli.commands.ledger import history as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else 0)
    return ended(lambda: work(policy, Settings(env, data_root, state, log=console.log), console))


@ledger_app.command()
def verify(
    policy: o.PolicyFile,
    *,
    manifest: Annotated[
        list[Path] | None,
        typer.Option("--manifest", metavar="FILE", help="A manifest from elsewhere that names an entry; may be repeated."),
    ] = None,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """Check every entry, the chain, the draws and the stored answers, and name the last entry that a manifest vouches for.

    Example: `privrelease ledger verify policy.yaml --manifest out/statistics.manifest.json`
    """
    from privrelease.cli.commands.ledger import verify as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else 0)
    return ended(lambda: work(policy, Settings(env, data_root, state, log=console.log), manifest or (), console))


@ledger_app.command()
def export(
    policy: o.PolicyFile,
    *,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write here, not to stdout.")] = None,
    force: o.Force = False,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    quiet: o.Quiet = False,
) -> Ending:
    """Write every entry as it is hashed, one JSON document a line.

    Example: `privrelease ledger export policy.yaml -o ledger.jsonl`
    """
    from privrelease.cli.commands.ledger import export as work
    from privrelease.pipeline.settings import Settings

    console = Console(verbosity=-1 if quiet else 0)
    return ended(lambda: work(policy, Settings(env, data_root, state, log=console.log), output, console, force=force))


@ledger_app.command()
def forget(
    policy: o.PolicyFile,
    *,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """Delete the stored answers of the policy's releases whose retention is over; a run does so too. What was spent stays spent.

    Example: `privrelease ledger forget policy.yaml`
    """
    from privrelease.cli.commands.ledger import forget as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else 0)
    return ended(lambda: work(policy, Settings(env, data_root, state, log=console.log), console))


@ledger_app.command("raise")
def raise_(
    policy: o.PolicyFile,
    *,
    population: Annotated[
        str | None, typer.Option("--population", metavar="NAME", help="The population whose cap it is.")
    ] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", metavar="NAME", help="Or the dataset whose cap it is.")] = None,
    epsilon: Annotated[str, typer.Option("--epsilon", metavar="E", help="The new cap.", show_default=False)],
    delta: Annotated[str, typer.Option("--delta", metavar="D", help="The new cap's delta.")] = "0",
    key: Annotated[Path | None, typer.Option("--key", metavar="FILE", help="An owner's private key.")] = None,
    key_env: Annotated[
        str | None,
        typer.Option("--key-env", metavar="NAME", help="The environment variable that holds an owner's private key."),
    ] = None,
    env: o.Environment = None,
    data_root: o.DataRoot = None,
    state: o.State = None,
    form: o.PlainFormatOption = PlainFormat.TEXT,
    quiet: o.Quiet = False,
) -> Ending:
    """Set the cap of a population or of a dataset again, or that of a new population, by an entry that an owner of the ledger signs.

    Example: `privrelease ledger raise policy.yaml --population patients --epsilon 6 --delta 1e-5 --key keys/dpo.key`
    """
    from privrelease.cli.commands.ledger import Raised
    from privrelease.cli.commands.ledger import raise_cap as work
    from privrelease.pipeline.settings import Settings

    console = Console(form, -1 if quiet else 0)
    asked = Raised(population, dataset, epsilon, delta, key, key_env)
    return ended(lambda: work(policy, Settings(env, data_root, state, log=console.log), asked, console))
