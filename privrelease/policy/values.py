"""Types of single values: from the text of the file to exact, typed values, once.

Every type takes what a file holds (:class:`~privrelease.policy.nodes.Plain`, :class:`~privrelease.policy.nodes.Quoted`) and what
Python code writes (``str``, ``int``, ``Decimal``); a ``float`` is refused everywhere, since 0.1 as a float is another number than the
0.1 that was written. Messages are written to follow the name of the key: ``highest_risk`` + ``must be in (0, 1], got 20``.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from pydantic_core import PydanticCustomError

from privrelease.policy.nodes import Plain, Quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from enum import StrEnum

__all__ = [
    "AnyText",
    "ColumnName",
    "Confidence",
    "Count",
    "Day",
    "Duration",
    "EnvironmentVariable",
    "Exact",
    "Flag",
    "Frozen",
    "Identifier",
    "PathText",
    "Positive",
    "Risk",
    "Share",
    "Text",
    "as_text",
    "problem",
    "shown",
]

#: Sign, digits, optional fraction and exponent: what YAML 1.2 and JSON both read as this decimal number.
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
#: A number whose exponent may be of any length; never turned into a Decimal.
_EXTREME = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE]([-+]?)([0-9]+)")
_LEADING_ZEROS = re.compile(r"[-+]?0[0-9]+(?:\.[0-9]*)?")
_NOT_FINITE = re.compile(r"[-+]?\.?(?:nan|inf|infinity)", re.IGNORECASE)
_BASED = re.compile(r"0[xob][0-9a-fA-F_]+|[-+]?[0-9][0-9_]*_[0-9_]*")
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%")
_LONGEST_NUMBER = 60
_LARGEST_EXPONENT = 30
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


class Frozen(BaseModel):
    """Base of every model of the policy: frozen, strict, no unknown key.

    The text under a field is its description in the JSON Schema. It is read when the schema is asked for, not at import (a fifth of
    the time that a command needs to start).
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)


def problem(message: str, *, code: str = "P203", hint: str | None = None) -> PydanticCustomError:
    """Return the error that a validator raises: ``message`` follows the key's name; braces are taken literally."""
    return PydanticCustomError("privrelease", "{message}", {"message": message, "code": code, "hint": hint})


def shown(value: object) -> str:
    """Return how a message shows a value of the policy: short, on one line.

    >>> shown(Plain("a" * 50))
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'
    """
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, tuple | list):
        return "a list"
    text = _CONTROL.sub(" ", str(value))
    return text if len(text) <= 40 else f"{text[:37]}..."


def as_text(value: object) -> object:
    """Turn a scalar as written into a text; what is no scalar is refused."""
    if isinstance(value, str):
        return str(value)
    if value is None:
        message = "needs a text, got nothing"
        raise problem(message, hint="quote it if the text `null` or an empty text is meant")
    message = f"needs a text, got {shown(value)}"
    raise problem(message)


def _choice(value: object) -> object:
    """Let a choice see a plain ``str``; what is no text is left to the choice's own message."""
    return str(value) if isinstance(value, str) else value


#: For a Literal: the text as written.
CHOICE = BeforeValidator(_choice)


def no_choice(value: object, choices: Sequence[str]) -> tuple[str, str | None]:
    """Return message and hint for a value that is none of ``choices``.

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


def enumerated(kind: type[StrEnum]) -> BeforeValidator:
    """Return the validator that turns a text into a member of ``kind``."""
    choices = [member.value for member in kind]

    def check(value: object) -> StrEnum:
        if isinstance(value, str) and value in choices:
            return kind(str(value))
        if value is None:
            message, _ = no_choice(value, choices)
            message = message.replace("must be", "is not decided: write").replace(", got nothing", "")
            raise problem(message, code="P205")
        message, hint = no_choice(value, choices)
        raise problem(message, code="P202", hint=hint)

    return BeforeValidator(check)


_ANY_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}

#: Any text, also an empty one.
AnyText = Annotated[str, BeforeValidator(as_text), WithJsonSchema(_ANY_SCALAR)]


def _filled(value: object) -> object:
    text = as_text(value)
    if isinstance(text, str) and not text.strip():
        message = "must not be empty"
        raise problem(message)
    return text


#: A text with something in it.
Text = Annotated[str, BeforeValidator(_filled), WithJsonSchema({**_ANY_SCALAR, "pattern": r"\S"})]


def _column_name(value: object) -> object:
    text = _filled(value)
    if isinstance(text, str) and (_CONTROL.search(text) or len(text) > 255):
        message = "is no column name: no control characters, at most 255 characters"
        raise problem(message)
    return text


#: A column's name, exactly as in the source.
ColumnName = Annotated[str, BeforeValidator(_column_name), WithJsonSchema({**_ANY_SCALAR, "pattern": r"\S", "maxLength": 255})]


def _path(value: object) -> object:
    text = _filled(value)
    if isinstance(text, str) and (_CONTROL.search(text) or len(text) > 1000):
        message = "is no path: no control characters, at most 1000 characters"
        raise problem(message)
    if isinstance(text, str) and "://" in text:
        # not shown: an address may hold a password
        message = "must be a path of a file, not an address"
        raise problem(message)
    return text


#: A path of a file.
PathText = Annotated[
    str, BeforeValidator(_path), WithJsonSchema({**_ANY_SCALAR, "pattern": r"^(?!.*://).*\S", "maxLength": 1000})
]

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def _identifier(value: object) -> object:
    text = as_text(value)
    if isinstance(text, str) and (not _IDENTIFIER.fullmatch(text) or ".." in text):
        message = f"is no name: {shown(text)}"
        raise problem(message, hint="letters, digits, `-`, `_` and `.`, at most 64, starting with a letter or digit")
    return text


_IDENTIFIER_SCHEMA: dict[str, Any] = {**_ANY_SCALAR, "pattern": r"^[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9_.-]{0,63}$"}

#: For mappings of names to values.
NAMED: dict[str, Any] = {"propertyNames": {"pattern": _IDENTIFIER_SCHEMA["pattern"]}}

#: The name of a dataset, threat, release or check; it may become part of a file name.
Identifier = Annotated[str, BeforeValidator(_identifier), WithJsonSchema(_IDENTIFIER_SCHEMA)]

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,127}")


def _variable(value: object) -> object:
    text = as_text(value)
    if isinstance(text, str) and not _VARIABLE.fullmatch(text):
        # the text is not shown: somebody may have written the secret itself
        message = "must be the name of an environment variable (capitals, digits, `_`)"
        raise problem(message, hint="secrets are named, never written in a policy")
    return text


#: The name of an environment variable that holds a secret; never the secret.
EnvironmentVariable = Annotated[
    str, BeforeValidator(_variable), WithJsonSchema({"type": "string", "pattern": "^[A-Z_][A-Z0-9_]{0,127}$"})
]


def exact_number(value: object) -> Decimal:
    """Return the exact decimal that is written; never through a float.

    >>> exact_number(Plain("0.20"))
    Decimal('0.20')
    """
    if isinstance(value, Decimal) and value.is_finite():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, Quoted):
        message = f"needs a number, got the text {shown(value)!r}"
        raise problem(message, hint="remove the quotes")
    if not isinstance(value, Plain):
        message = f"needs a number, got {'a float' if isinstance(value, float) else shown(value)}"
        raise problem(message)
    if len(value) > _LONGEST_NUMBER:
        message = f"needs a number, got {shown(value)}"
        raise problem(message)
    if _NUMBER.fullmatch(value):
        number = Decimal(value)
        if number == 0 or abs(number.adjusted()) <= _LARGEST_EXPONENT:
            return number
    message, hint = _why_no_number(value)
    raise problem(message, hint=hint)


def _extreme(value: object) -> Literal["huge", "tiny"] | None:
    """Whether a number as written is beyond what is computed with, at which end."""
    found = _EXTREME.fullmatch(value) if isinstance(value, Plain) else None
    if found is None or not re.search("[1-9]", re.split("[eE]", found.string)[0]):
        return None
    if len(found[2].lstrip("0")) > 3:
        return "tiny" if found[1] == "-" else "huge"
    exponent = Decimal(found.string).adjusted()
    return None if abs(exponent) <= _LARGEST_EXPONENT else "huge" if exponent > 0 else "tiny"


def _why_no_number(text: str) -> tuple[str, str | None]:
    got = f"got {shown(text)}"
    hint: str | None = None
    if percent := _PERCENT.fullmatch(text):
        words, hint = f"needs a number, {got}", f"write {_hundredth(Decimal(percent[1]))} for {percent[1]} %"
    elif _NOT_FINITE.fullmatch(text):
        words = f"must be finite, {got}"
    elif _LEADING_ZEROS.fullmatch(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        words, hint = f"must not start with zeros, {got}", f"write {digits if digits[0].isdigit() else '0' + digits}"
    elif _BASED.fullmatch(text):
        words = f"must be written in decimal digits, {got}"
    elif _extreme(Plain(text)) is not None:
        words = f"is too large or too close to 0, {got}"
        hint = f"write a number between 1e-{_LARGEST_EXPONENT} and 1e{_LARGEST_EXPONENT}"
    elif re.fullmatch(r"[-+]?[0-9]+,[0-9]+", text):
        words, hint = f"needs a number, {got}", f"write {text.replace(',', '.')}"
    else:
        words = f"needs a number, {got}"
    return words, hint


def _hundredth(number: Decimal) -> str:
    return f"{(number / 100).normalize():f}"


def _beyond(text: str, extreme: Literal["huge", "tiny"], *, bounded: bool) -> str:
    """What a field's own bounds do not say of a number that is too large or too close to 0."""
    if text.startswith("-") or (extreme == "huge" and bounded):
        return ""
    return f" and at most 1e{_LARGEST_EXPONENT}" if extreme == "huge" else f" and at least 1e-{_LARGEST_EXPONENT}"


def _bounded(low: int | None, high: int | None, *, low_open: bool, high_open: bool = False) -> Any:  # noqa: ANN401  a pydantic marker
    """A validator of exact numbers between two bounds, with the hint for per cent."""
    if high is None:
        words = f"must be above {low}" if low_open else f"must be at least {low}"
    else:
        words = f"must be in {'(' if low_open else '['}{low}, {high}{')' if high_open else ']'}"

    def check(value: object) -> Decimal:
        extreme = _extreme(value)
        if extreme is not None:
            message = f"{words}{_beyond(str(value), extreme, bounded=high is not None)}, got {shown(value)}"
            raise problem(message, code="P104")
        number = exact_number(value)
        below = low is not None and (number <= low if low_open else number < low)
        above = high is not None and (number >= high if high_open else number > high)
        if below or above:
            message = f"{words}, got {shown(value)}"
            per_cent = high == 1 and 1 < number <= 100
            raise problem(
                message, code="P104", hint=f"write {_hundredth(number)} for {number.normalize():f} %" if per_cent else None
            )
        return number

    return BeforeValidator(check)


def _number_schema(**limits: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "number", **limits})


#: Any exact decimal.
Exact = Annotated[Decimal, BeforeValidator(exact_number), _number_schema()]
#: A risk threshold in (0, 1].
Risk = Annotated[Decimal, _bounded(0, 1, low_open=True), _number_schema(exclusiveMinimum=0, maximum=1)]
#: A level of risk in [0, 1): records above it are counted.
Level = Annotated[Decimal, _bounded(0, 1, low_open=False, high_open=True), _number_schema(minimum=0, exclusiveMaximum=1)]
#: Confidence of an interval, in (0, 1).
Confidence = Annotated[
    Decimal, _bounded(0, 1, low_open=True, high_open=True), _number_schema(exclusiveMinimum=0, exclusiveMaximum=1)
]
#: A share in [0, 1].
Share = Annotated[Decimal, _bounded(0, 1, low_open=False), _number_schema(minimum=0, maximum=1)]
#: An exact decimal above 0.
Positive = Annotated[Decimal, _bounded(0, None, low_open=True), _number_schema(exclusiveMinimum=0)]


def _whole(smallest: int, largest: int) -> Any:  # noqa: ANN401  a pydantic marker
    def check(value: object) -> int:
        if _extreme(value) == "huge":
            bound = f"at least {smallest}" if str(value).startswith("-") else f"at most {largest}"
            message = f"must be {bound}, got {shown(value)}"
            raise problem(message, code="P104")
        number = exact_number(value)
        if number != number.to_integral_value():
            message = f"needs a whole number, got {shown(value)}"
            raise problem(message)
        if not smallest <= number <= largest:
            message = f"must be at least {smallest}, got {shown(value)}" if number < smallest else f"must be at most {largest}"
            raise problem(message, code="P104")
        return int(number)

    return BeforeValidator(check)


_LARGEST = 2**63 - 1
#: A whole number of at least 1.
Count = Annotated[int, _whole(1, _LARGEST), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": _LARGEST})]
#: A class size: a whole number of at least 2.
ClassSize = Annotated[int, _whole(2, _LARGEST), WithJsonSchema({"type": "integer", "minimum": 2, "maximum": _LARGEST})]
#: Columns that an attacker combines.
Combined = Annotated[int, _whole(1, 20), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 20})]
#: Attempts of an attack.
SampleSize = Annotated[int, _whole(1, 100_000), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 100_000})]


def _flag(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, Plain) and value in {"true", "True", "TRUE"}:
        return True
    if isinstance(value, Plain) and value in {"false", "False", "FALSE"}:
        return False
    message = f"must be true or false, got {shown(value)}"
    raise problem(message)


#: ``true`` or ``false``; ``yes``, ``on`` and their like are refused.
Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]


def _day(value: object) -> object:
    text = _filled(value)
    try:
        if isinstance(text, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    message = f"must be a day as YYYY-MM-DD, got {shown(text)}"
    raise problem(message)


#: A calendar day, ``2027-01-15``.
Day = Annotated[str, BeforeValidator(_day), WithJsonSchema({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"})]

_DURATION = r"P(?=[0-9T])(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+W)?(?:[0-9]+D)?(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?"


def _duration(value: object) -> object:
    text = _filled(value)
    if isinstance(text, str) and not re.fullmatch(_DURATION, text):
        message = f"must be a duration such as P10Y (ISO 8601), got {shown(text)}"
        raise problem(message)
    return text


#: An ISO 8601 duration, ``P10Y``.
Duration = Annotated[str, BeforeValidator(_duration), WithJsonSchema({"type": "string", "pattern": f"^{_DURATION}$"})]
