"""Types of numbers in a policy: exact decimals and whole numbers within their bounds, never through a float.

A ``float`` is refused everywhere, since 0.1 as a float is another number than the 0.1 that was written.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema

from privrelease.policy.text.messages import problem, shown
from privrelease.policy.text.nodes import Plain, Quoted

__all__ = [
    "ClassSize",
    "Combined",
    "Confidence",
    "Count",
    "Exact",
    "Level",
    "Positive",
    "Risk",
    "SampleSize",
    "Share",
    "exact_decimal",
    "exact_number",
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
    """Return the end at which a number as written is beyond what is computed with, None if it is not."""
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
    """Return what a field's own bounds do not say of a number that is too large or too close to 0."""
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


def exact_decimal(number: Fraction) -> Decimal:
    """Return the decimal that a fraction is; never rounded. Raises ValueError where it has no end.

    >>> exact_decimal(Fraction(1, 5)), exact_decimal(Fraction(1))
    (Decimal('0.2'), Decimal('1'))
    """
    places, rest = 0, number.denominator
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        places = max(places, power)
    if rest != 1:
        message = f"{number} is not a finite decimal"
        raise ValueError(message)
    digits = str(abs(number.numerator) * 10**places // number.denominator)
    return Decimal((int(number < 0), tuple(map(int, digits)), -places))


_IN_RISK = _bounded(0, 1, low_open=True)


def _risk(value: object) -> Fraction:
    """Return the threshold that is written, as the fraction that it is compared as."""
    if isinstance(value, Fraction):
        value = exact_decimal(value)
    return Fraction(_IN_RISK.func(value))


def _number_schema(**limits: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "number", **limits})


#: Any exact decimal.
Exact = Annotated[Decimal, BeforeValidator(exact_number), _number_schema()]
#: A risk threshold in (0, 1].
Risk = Annotated[Fraction, BeforeValidator(_risk), _number_schema(exclusiveMinimum=0, maximum=1)]
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
