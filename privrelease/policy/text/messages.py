"""Wording of messages about values of a policy: what was written, which choices there are, which name was meant."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["CONTROL", "TURNING", "code_point", "did_you_mean", "no_choice", "problem", "shown"]

#: Signs that turn the direction of text, so that it reads otherwise than it is.
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


def problem(message: str, *, code: str = "P203", hint: str | None = None) -> PydanticCustomError:
    """Return the error that a validator raises: ``message`` follows the key's name; braces are taken literally."""
    return PydanticCustomError("privrelease", "{message}", {"message": message, "code": code, "hint": hint})


def shown(value: object) -> str:
    """Return how a message shows a value of the policy: short, on one line.

    >>> from privrelease.policy.text.nodes import Plain
    >>> shown(Plain("a" * 50))
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'
    """
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, tuple | list):
        return "a list"
    text = CONTROL.sub(" ", str(value))
    return text if len(text) <= 40 else f"{text[:37]}..."


def code_point(sign: str) -> str:
    """Name a character that may not be seen.

    >>> code_point(chr(0x85))
    'U+0085'
    """
    return f"U+{ord(sign):04X}"


def no_choice(value: object, choices: Sequence[str]) -> tuple[str, str | None]:
    """Return message and hint for a value that is not one of ``choices``.

    >>> from privrelease.policy.text.nodes import Plain
    >>> no_choice(Plain("quassi"), ("direct", "quasi"))
    ('must be direct or quasi, got quassi', 'did you mean quasi?')
    """
    words = ", ".join(choices[:-1]) + f" or {choices[-1]}" if len(choices) > 1 else choices[0]
    return f"must be {words}, got {shown(value)}", did_you_mean(value, choices) if isinstance(value, str) else None


def did_you_mean(name: str, names: Iterable[str]) -> str | None:
    """Return the hint that names the closest of ``names``; None where none is close.

    >>> did_you_mean("quasi_identifers", ["quasi_identifiers", "k"])
    'did you mean quasi_identifiers?'
    """
    known = list(dict.fromkeys(names))
    folded = {other.casefold(): other for other in reversed(known)}
    if name.casefold() in folded:
        return f"did you mean {folded[name.casefold()]}?"
    close = get_close_matches(name[:100], known, n=1, cutoff=0.6) if len(known) <= 2000 else []
    return f"did you mean {close[0]}?" if close else None
