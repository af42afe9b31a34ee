"""Environment variables of options: every option can be set by one, but for those that would weaken a run unseen.

An option that means the same for every verb has one variable (``PRIVRELEASE_STATE``), any other one for each verb
(``PRIVRELEASE_RUN_FORMAT``). The command line wins over a variable, and an empty variable counts as not set.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typer.core import TyperCommand, TyperGroup, TyperOption

__all__ = ["NEVER", "SHARED", "name_variables", "options_of", "variables_without_verb"]

PREFIX: Final = "PRIVRELEASE"

#: Options that mean the same for every verb.
SHARED: Final = frozenset(
    {"--data-root", "--env", "--memory-limit", "--quiet", "--state", "--temp", "--threads", "--verbose"},
)

#: Options that no variable sets, as (verb, option), ``*`` for every verb: what makes noise repeatable, overwrites a file, leaves the source out
#: of an audit, raises a cap, names whom to trust, or ends a command before it has begun.
NEVER: Final = frozenset(
    {
        ("*", "--force"),
        ("*", "--help"),
        ("*", "--install-completion"),
        ("*", "--show-completion"),
        ("*", "--version"),
        ("audit", "--source"),
        ("ledger init", "--owner"),
        ("ledger raise", "--delta"),
        ("ledger raise", "--epsilon"),
        ("run", "--test-noise"),
        ("verify", "--key"),
    }
)


def name_variables(group: TyperGroup) -> None:
    """Give every option below a group of commands its variable, which help then shows."""
    for verb, option in options_of(group):
        flag = flag_of(option)
        option.allow_from_autoenv = False
        if not NEVER & {("*", flag), (verb, flag)}:
            option.envvar = _variable(verb, flag)


def variables_without_verb(group: TyperGroup, arguments: Sequence[str]) -> str:
    """Return the refusal (C172) of a variable that names an option of the verb and not the verb, empty where there is none.

    ``PRIVRELEASE_DRY_RUN`` would otherwise set nothing, and the run would publish.
    """
    for verb, option in options_of(group):
        words = verb.split()
        flag = flag_of(option)
        name = "_".join((PREFIX, flag.removeprefix("--"))).replace("-", "_").upper()
        if (
            words
            and list(arguments[: len(words)]) == words
            and option.envvar
            and option.envvar != name
            and os.environ.get(name)
        ):
            return f"C172 {name} sets no option of {verb}\nhint: write {option.envvar}, or unset it"
    return ""


def options_of(group: TyperGroup) -> list[tuple[str, TyperOption]]:
    """Return (verb, option) of every option below a group of commands, that of the group itself under an empty verb."""
    from typer.core import TyperGroup, TyperOption

    found: list[tuple[str, TyperOption]] = []
    waiting: list[tuple[str, TyperCommand | TyperGroup]] = [("", group)]
    while waiting:
        verb, command = waiting.pop()
        found += [(verb, option) for option in command.params if isinstance(option, TyperOption)]
        if isinstance(command, TyperGroup):
            waiting += [(f"{verb} {name}".strip(), one) for name, one in command.commands.items()]  # type: ignore[misc]
    return found


def flag_of(option: TyperOption) -> str:
    """Return the long name of an option."""
    return next(name for name in option.opts if name.startswith("--"))


def _variable(verb: str, flag: str) -> str:
    """Return the variable of an option.

    >>> _variable("run", "--state"), _variable("ledger status", "--format")
    ('PRIVRELEASE_STATE', 'PRIVRELEASE_LEDGER_STATUS_FORMAT')
    """
    words = [PREFIX, *(() if flag in SHARED else verb.split()), flag.removeprefix("--")]
    return "_".join(words).replace("-", "_").upper()
