"""The command ``privrelease``: its verbs, and how each ends.

The options of its verbs are in the modules ``*_verbs``. The work of each is in a module of its own, imported when it is called, so that
``privrelease --help`` stays quick.
"""

from __future__ import annotations

import atexit
import gc
import inspect
import os
import re
import signal
import sys
import threading
import warnings
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, cast

import typer

from privrelease import __version__
from privrelease.cli.console import Console
from privrelease.cli.exit import INTERRUPTED, MEANINGS, Ending, ending_of, gone
from privrelease.cli.variables import name_variables, unreadable, variables_without_option, with_variables
from privrelease.cli.verbs import forecasts as forecast_verbs
from privrelease.cli.verbs import policy as policy_verbs
from privrelease.cli.verbs import publications as publication_verbs
from privrelease.cli.verbs import releases as release_verbs
from privrelease.cli.verbs.ledger import ledger_app
from privrelease.interruption import ask, forget
from privrelease.lean_imports import own_process

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Sequence

    from typer.core import TyperGroup
    from typer.exceptions import TyperException
    from typer.models import CommandInfo

__all__ = ["app", "command", "main"]

_EXIT_CODES = "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in MEANINGS.items()) + "."
_VARIABLES = (
    "Options can be set by environment variables: PRIVRELEASE_STATE for every command, PRIVRELEASE_RUN_FORMAT for one. The help of a command "
    "names them; options that would weaken a run have none."
)

app = typer.Typer(
    name="privrelease",
    help="Policy-as-code for releasing personal data: protect, audit, publish and report.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog=f"{_EXIT_CODES}\n\n{_VARIABLES}",
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


#: The verbs, in the order in which help lists them.
_VERBS = (
    policy_verbs.init,
    policy_verbs.validate,
    forecast_verbs.plan,
    forecast_verbs.frontier,
    forecast_verbs.simulate,
    release_verbs.run,
    release_verbs.audit,
    release_verbs.report,
    publication_verbs.list_,
    publication_verbs.keygen,
    publication_verbs.sign,
    publication_verbs.verify,
    publication_verbs.approve,
    publication_verbs.publish,
    publication_verbs.withdraw,
    policy_verbs.diff,
    policy_verbs.show,
    policy_verbs.hierarchy,
    policy_verbs.fmt,
    policy_verbs.schema,
    policy_verbs.explain,
)

for _verb in _VERBS:
    app.command(_verb.__name__.rstrip("_"))(_verb)
app.add_typer(ledger_app)


def _docstring(function: Callable[..., object]) -> str:
    """Return a function's docstring; from its source where Python was started without docstrings (``-OO``)."""
    if function.__doc__ is not None or sys.flags.optimize < _STRIPPED:
        return function.__doc__ or ""
    import ast

    (parsed,) = ast.parse(inspect.getsource(function)).body
    return ast.get_docstring(cast("ast.FunctionDef", parsed)) or ""


#: The level of optimisation (``-OO``) at which Python leaves out docstrings.
_STRIPPED = 2


def _with_help(command: CommandInfo) -> None:
    """Set a verb's help from its docstring: the first sentence where verbs are listed, and examples on lines of their own."""
    paragraphs = inspect.cleandoc(_docstring(command.callback) if command.callback else "").split("\n\n")
    command.short_help = re.split(r"(?<=\.) ", paragraphs[0])[0]
    examples = [line for one in paragraphs if one.startswith("Example") for line in re.findall("`([^`]+)`", one)]
    shown = "\n".join(("\b", f"Example{'s' if len(examples) > 1 else ''}:", *(f"  {line}" for line in examples)))
    command.help = "\n\n".join((*(one for one in paragraphs if not one.startswith("Example")), shown))


for _command in (*app.registered_commands, *ledger_app.registered_commands):
    _with_help(_command)

#: Objects made until the collector looks for cycles. Most of a command's are those of libraries it loads, which stay: at Python's own 700,
#: looking through them again and again takes a tenth of its CPU.
_COLLECT_AFTER = 200_000


#: How long idle threads of numpy's linear algebra spin until they sleep (2 to the power of it, in cycles): its own 26 is some 30 ms of every
#: core, whether or not a command multiplies matrices.
_BLAS_SLEEPS = ("OPENBLAS_THREAD_TIMEOUT", "4")

#: Options by which nothing is read, so that no library is loaded that reads.
_HELP = frozenset({"--help", "-h", "--version"})

#: The warning of a missing extension, which the command line writes as a note of its own.
_SAID_AT_THE_END = "the compiled loops cannot be loaded"


def command() -> int:
    """Run the command line as all that this process does, as the installed command is: libraries are loaded leaner than other programs need them."""
    gc.set_threshold(_COLLECT_AFTER, 10, 10)
    atexit.register(gc.freeze)  # no last look through all objects for cycles: the memory is freed with the process
    os.environ.setdefault(*_BLAS_SLEEPS)
    os.environ.setdefault(
        "PYDANTIC_DISABLE_PLUGINS", "__all__"
    )  # none is ours: looking through every package for them takes time
    own_process()
    return _main(None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line in a program, and return the exit code; the program's libraries, collector and environment stay as they are.

    Never a traceback; the last line on stderr says how it ended. Without ``arguments`` those of the program are taken.
    """
    return _main(list(sys.argv[1:] if arguments is None else arguments))


def _main(arguments: list[str] | None) -> int:
    """Run the command line; without arguments on those of the process, which ends with it."""
    warnings.filterwarnings("ignore", message=_SAID_AT_THE_END, category=RuntimeWarning)
    try:
        with _terminated_as_interrupted(last=arguments is None):
            ending = _called(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        ending = gone()
    except KeyboardInterrupt:
        ending = INTERRUPTED
    console = Console()
    try:
        if (note := _loops_note(arguments)) is not None:
            console.say(note)
        if ending is None:
            return 0
        if ending.said:
            console.say(ending.said)
        console.say(ending.last_line)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return 0 if ending is None else ending.code


def _loops_note(arguments: Sequence[str] | None) -> str | None:
    """Return what is said once where the loops of this process were the plain ones and no one asked for them."""
    if {"-q", "--quiet"} & set(sys.argv[1:] if arguments is None else arguments) or os.environ.get("PRIVRELEASE_QUIET"):
        return None
    loops = sys.modules.get("privrelease.loops")  # a command that runs no loop does not load them
    return f"note: {loops.PLAIN}; the plain ones did the same work more slowly" if loops and loops.fell_back() else None


@contextmanager
def _terminated_as_interrupted(*, last: bool) -> Iterator[None]:
    """Let SIGTERM, by which pipelines cancel a job, end a command as Ctrl-C does: what it began is removed. Both are remembered, too.

    ``last``: this is all that the process does. What the command did is then done, and its exit code says so: a later signal changes nothing.
    """

    def interrupt(_signal: int, _frame: object) -> None:
        ask()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    forget()
    before = signal.signal(signal.SIGTERM, interrupt)
    pressed = signal.getsignal(signal.SIGINT)
    if pressed is signal.default_int_handler:  # whoever starts a command in the background may have it ignored
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN if last else before)
        if pressed is signal.default_int_handler:
            signal.signal(signal.SIGINT, pressed)


def _nothing() -> None:
    """Stand for a verb that is not called."""


def _for_call(arguments: Sequence[str]) -> typer.Typer:
    """Return the application with the options of the verb that is called; the others keep their names and what help says of each.

    Reading the options of thirty verbs takes longer than most of them work. Where no verb is recognised all are complete.
    """
    verbs = {_name_of(one): one for one in app.registered_commands}
    asked = arguments[0] if arguments else ""
    if asked not in {*verbs, "ledger", "--help", "-h"}:
        return app
    lean = copy(app)
    lean.registered_commands = [one if name == asked else _listed(one) for name, one in verbs.items()]
    if asked != "ledger":
        (group,) = app.registered_groups
        group, inner = copy(group), copy(ledger_app)
        inner.registered_commands, group.typer_instance = [], inner
        lean.registered_groups = [group]
    return lean


def _name_of(command: CommandInfo) -> str:
    return command.name or ""


def _listed(command: CommandInfo) -> CommandInfo:
    named = copy(command)
    named.callback = _nothing
    return named


@lru_cache(maxsize=64)
def _command_for(asked: str) -> TyperGroup:
    """Return the tree of commands for a call of a verb, kept for a program that calls it again: no call changes it."""
    from typer.main import get_command

    command = cast("TyperGroup", get_command(_for_call([asked])))
    name_variables(command)
    return command


def _called(arguments: list[str]) -> Ending | None:
    """Call a command; None where only help or the version was asked for."""
    from privrelease.lean_imports import models_alone

    if arguments and not _HELP & {*arguments}:
        models_alone()  # typer reads every value by pydantic
    command = _command_for(arguments[0] if arguments else "")
    if said := variables_without_option(command, arguments):
        return Ending(2, "a variable sets no option", said)
    if arguments and not _HELP & {*arguments} and (said := unreadable(command, arguments)):
        return Ending(2, "a variable or an argument cannot be read", said)
    return _ran(command, arguments)


def _ran(command: TyperGroup, arguments: list[str]) -> Ending | None:
    from typer.exceptions import TyperException

    try:
        result = command.main(args=arguments, standalone_mode=False, prog_name="privrelease")
    except SystemExit as done:  # completion of a shell was asked for
        return None if not done.code else Ending(2, "there is no completion for this shell")
    except TyperException as error:
        if error.exit_code != 2:  # interrupted while asking, or a fault of our own making
            return ending_of(error)
        message = error.format_message()
        if type(error).__name__ == "NoArgsIsHelpError":  # which has all of the help as its message
            return Ending(2, "no command was given", _short_help(command) if not arguments else message)
        hint = _hint_of(error)
        return Ending(2, "the command line cannot be understood", f"C101 {message}\nhint: {hint}")
    if isinstance(result, Ending):
        return result if result.code != 2 else replace(result, said=with_variables(command, arguments, result.said))
    return INTERRUPTED if result else None  # a number other than 0 is what typer gives for Ctrl-C


#: The verbs of a first release, in the order of the work.
_FIRST = {
    "init": "write a starter policy from a data file",
    "validate": "check a policy; with --data, the data as well",
    "plan": "say what a run will do",
    "run": "protect, audit, publish and report",
    "list": "list releases and their states",
}


def _short_help(group: TyperGroup) -> str:
    """Return what is said where no command is given."""
    verbs = "\n".join(f"  privrelease {verb:<9} {words}" for verb, words in _FIRST.items())
    return (
        f"Policy-as-code for releasing personal data.\n\nUsage: privrelease COMMAND [OPTIONS]\n\n{verbs}\n\n"
        f"`privrelease --help` lists all {len(group.commands)} commands, `privrelease COMMAND --help` the options of one."
    )


def _hint_of(error: TyperException) -> str:
    """Say where help is; of a command of a group that does not exist, which there are."""
    context = getattr(error, "ctx", None)
    commands = () if context is None or context.parent is None else getattr(context.command, "commands", ())
    if context is None or not commands:
        return "see `privrelease --help`, or `privrelease COMMAND --help`"
    return f"the commands of `{context.command_path}` are {', '.join(sorted(commands))}"


if __name__ == "__main__":
    sys.exit(command())
