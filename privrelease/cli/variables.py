"""Environment variables of options: every option can be set by one, but for those that would weaken a run unseen.

An option that means the same for every verb has one variable (``PRIVRELEASE_STATE``), any other one for each verb
(``PRIVRELEASE_RUN_FORMAT``). The command line wins over a variable, and an empty variable counts as not set.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from typer.core import TyperCommand, TyperGroup, TyperOption

__all__ = [
    "NEVER",
    "SHARED",
    "name_variables",
    "options_of",
    "unreadable",
    "variables_without_option",
    "with_variables",
]

PREFIX: Final = "PRIVRELEASE"

#: How variables end that may hold what a policy names: keys, tokens.
_SECRETS: Final = ("_KEY", "_TOKEN", "_PASSWORD", "_SECRET")

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


def with_variables(group: TyperGroup, arguments: Sequence[str], said: str) -> str:
    """Return what is said of a refusal, with the variable of each option that it is about and that was set by one: no one wrote that option.

    A refusal is about an option that its first line names, or whose value has the code of one of its lines.
    """
    first, line, rest = said.partition("\n")
    verb = _verb_of([named for named, _ in options_of(group)], arguments)
    for named, option in options_of(group):
        flag = flag_of(option)
        if named != verb or not option.envvar or not os.environ.get(str(option.envvar)):
            continue
        written = any(one == name or one.startswith(f"{name}=") for one in arguments for name in option.opts)
        if written:
            continue
        told = f" (it is set by the variable {option.envvar})"
        if re.search(rf"(?<![\w-]){flag}(?![\w-])", first):
            first += told
        for code in (code for code, about in _ABOUT.items() if about == flag):
            first, rest = (
                re.sub(rf"^((?:\S+: )?{code} .*)$", rf"\g<1>{told}", part, flags=re.MULTILINE) for part in (first, rest)
            )
    return first + line + rest


#: Options whose value a code refuses that does not name them, since programs meet it too.
_ABOUT: Final = {"C103": "--release", "P501": "--env"}


def _verb_of(verbs: Iterable[str], arguments: Sequence[str]) -> str:
    """Return the verb that is called; empty where none is recognised."""
    return max((verb for verb in verbs if verb and list(arguments[: len(verb.split())]) == verb.split()), key=len, default="")


def variables_without_option(group: TyperGroup, arguments: Sequence[str]) -> str:
    """Return the refusal (C172) of a variable that is meant for an option of the verb and sets none, empty where there is no such variable.

    ``PRIVRELEASE_DRY_RUN`` or ``PRIVRELEASE_RUN_DRYRUN`` would otherwise set nothing, and the run would publish. Meant for the verb is what has its name
    in front, or is spelled like one of its options but for underscores. Keys and passwords may have any name: a policy says which.
    """
    options = options_of(group)
    verb = _verb_of([named for named, _ in options], arguments)
    if not verb:
        return ""
    own = [option for named, option in options if named == verb]
    known = {option.envvar for _, option in options if option.envvar}
    alike = {
        _squeezed(name): option
        for option in own
        for name in (_bare(option), _named(verb, flag_of(option)), str(option.envvar or ""))
    }
    front = "_".join((PREFIX, *verb.replace("-", "_").upper().split(), ""))
    for name in sorted(
        name for name, value in os.environ.items() if value and name.startswith(f"{PREFIX}_") and name not in known
    ):
        option = alike.get(_squeezed(name))
        if option is None and (not name.startswith(front) or name.endswith(_SECRETS)):
            continue
        if option is None:
            hint = f"`privrelease {verb} --help` names the variables there are; unset it"
        elif option.envvar:
            hint = f"write {option.envvar}, or unset it"
        else:  # whoever set it counts on what the option does
            hint = f"no variable sets {flag_of(option)}, so that none weakens a run: give it on the command line; unset it"
        return f"C172 {name} sets no option of {verb}\nhint: {hint}"
    return ""


#: Seconds since 1970; numpy reads it when it is loaded, and loading fails where it is no such number.
_EPOCH: Final = "SOURCE_DATE_EPOCH"
#: How Python keeps a byte that is not UTF-8.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def unreadable(group: TyperGroup, arguments: Sequence[str]) -> str:
    """Return the refusal (C173) of a variable or an argument that this call takes and cannot read, empty where there is none.

    What is not UTF-8 can be written neither into a record nor into a report, and the engine opens no file of such a name.
    """
    epoch = os.environ.get(_EPOCH)
    if epoch is not None:
        try:
            time.gmtime(int(epoch))
        except (ValueError, OverflowError, OSError):
            return f"C173 {_EPOCH} is not a number of seconds since 1970\nhint: write a whole number, or unset it"
    options = options_of(group)
    verb = _verb_of([named for named, _ in options], arguments)
    names = sorted({str(option.envvar) for named, option in options if named == verb and option.envvar})
    given = [(f"argument {number}", one) for number, one in enumerate(arguments, 1)]
    for name, value in (*given, *((name, os.environ.get(name, "")) for name in names)):
        if _SURROGATE.search(value):
            return f"C173 {name} is not UTF-8\nhint: write it in UTF-8, and rename the file or folder that it names"
    return ""


def _bare(option: TyperOption) -> str:
    return _named("", flag_of(option))


def _squeezed(name: str) -> str:
    return name.replace("_", "")


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
    return _named("" if flag in SHARED else verb, flag)


def _named(verb: str, flag: str) -> str:
    return "_".join((PREFIX, *verb.split(), flag.removeprefix("--"))).replace("-", "_").upper()
