"""Formats of figures for a reader.

A share is never rounded to 0 % or 100 % when it is not (case r03), a figure is never rounded onto its threshold when it differs
from it, and a number that is short is written exactly.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Final

from privrelease.texts.sentences import Said
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.texts.catalogue import Catalogue

__all__ = [
    "beside",
    "count",
    "limit",
    "marked",
    "number",
    "part_of",
    "percent",
    "percent_up",
    "risk",
    "rounded_up",
    "unbroken",
    "written_in",
]

_MOST_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class _Marks:
    """Marks and words of numbers in a language: of decimals and of thousands, of a part, of one in k, and of what lies just next to a limit."""

    decimal: str = "."
    thousands: str = ","
    part_of: str = "{part} of {whole}"
    one_in: str = "1 in {k}"
    above: str = "just above {limit}"
    below: str = "just below {limit}"


_MARKS: Final[ContextVar[_Marks]] = ContextVar("marks of numbers", default=_Marks())  # noqa: B039 -- frozen


@contextmanager
def written_in(catalogue: Catalogue) -> Iterator[None]:
    """Write numbers as the language of a catalogue does while the block lasts.

    >>> from privrelease.texts.catalogue import catalogue_of
    >>> with written_in(catalogue_of("de")):
    ...     count(1193504), percent(Fraction(1, 8))
    ('1.193.504', '12,5 %')
    """
    names = ("decimal", "thousands", "part_of", "one_in", "above", "below")
    before = _MARKS.set(_Marks(**{name: catalogue.texts[f"numbers.{name}"] for name in names}))
    try:
        yield
    finally:
        _MARKS.reset(before)


def marked(text: str) -> str:
    """Write a number that is written as in English with the marks of the page's language.

    >>> marked("0.25")
    '0.25'
    """
    marks = _MARKS.get()
    return text if marks.decimal == "." else text.translate({ord("."): marks.decimal, ord(","): marks.thousands})


def count(value: int) -> str:
    """Write a whole number with thousands separators.

    >>> count(1193504)
    '1,193,504'
    """
    return marked(f"{value:,}")


def percent(share: Fraction, decimals: int = 1) -> str:
    """Write a share in [0, 1] as per cent: exactly where ``decimals`` digits are enough, else rounded half up.

    A share above nothing is never written as nothing, nor one below all as all.

    >>> [percent(Fraction(s)) for s in ("1/5", "1/8", "1/7", "1/3000", "2999/3000", "0", "1")]
    ['20 %', '12.5 %', '14.3 %', '<0.1 %', '>99.9 %', '0 %', '100 %']
    """
    return marked(_percent(share, decimals))


def percent_up(share: Fraction) -> str:
    """Write a share as per cent, rounded up to tenths: what is at most this is never more than what is written.

    >>> percent_up(Fraction(1, 3)), percent_up(Fraction(1, 10)), percent_up(Fraction(1, 10**6)), percent_up(Fraction(5, 2))
    ('33.4 %', '10 %', '0.1 %', '250 %')
    """
    return percent(Fraction(ceil(share * 1000), 1000))


def rounded_up(value: Fraction, digits: int) -> Fraction:
    """Round a number of at least 0 up to ``digits`` significant digits: what is at most this is never more than what is written.

    >>> [str(rounded_up(Fraction(v), 3)) for v in ("1.2214", "20.0855", "2.5", "1234", "0")]
    ['123/100', '201/10', '5/2', '1240', '0']
    """
    if value <= 0:
        return value
    leading = (Decimal(value.numerator) / Decimal(value.denominator)).adjusted()
    step = Fraction(10) ** (leading + 1 - digits)
    return ceil(value / step) * step


def _percent(share: Fraction, decimals: int = 1) -> str:
    hundredfold = share * 100
    text = _rounded(hundredfold, decimals)
    if Fraction(text.replace(",", "")) == hundredfold:
        return f"{_short(text)} %"
    least = "0." + "0" * (decimals - 1) + "1" if decimals else "1"
    if 0 < hundredfold < Fraction(least):
        return f"<{least} %"
    most = "99." + "9" * decimals if decimals else "99"
    if Fraction(most) < hundredfold < 100:
        return f">{most} %"
    return f"{text} %"


def unbroken(text: str) -> str:
    r"""Return a text whose numbers no line break parts from their per cent signs.

    >>> unbroken("at most 5 %")
    'at most 5\xa0%'
    """
    written = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return text.reworded(written) if isinstance(text, Said) else written


def limit(share: Fraction) -> str:
    """Write a threshold, which is a policy's decimal, as it is; rounded only where that takes too many digits.

    >>> limit(Fraction("0.0003")), limit(Fraction("0.2")), limit(Fraction(1, 3))
    ('0.03 %', '20 %', '33.3 %')
    """
    return marked(_limit(share))


def _limit(share: Fraction) -> str:
    return _unrounded(share) or _percent(share)


def beside(share: Fraction, threshold: Fraction) -> tuple[str, str]:
    """Write a share and its threshold with as many decimals as are needed to distinguish them, and on which side the share
    lies.

    A threshold is a policy's decimal: it is written as it is, and not rounded.

    >>> beside(Fraction("0.2004"), Fraction("0.2"))
    ('20.04 %', '20 %')
    >>> beside(Fraction(1, 5), Fraction("0.2"))
    ('20 %', '20 %')
    >>> beside(Fraction("0.0124"), Fraction("0.0122")), beside(Fraction("0.0005"), Fraction("0.0001"))
    (('1.24 %', '1.22 %'), ('0.05 %', '0.01 %'))
    """
    as_it_is = _unrounded(threshold)
    for decimals in range(1, _MOST_DECIMALS + 1):
        text, against = _percent(share, decimals), as_it_is or _percent(threshold, decimals)
        if share == threshold or (text != against and _on_side(text, against, above=share > threshold)):
            return marked(text if share != threshold else against), marked(against)
    against, marks = limit(threshold), _MARKS.get()
    return (marks.above if share > threshold else marks.below).format(limit=against), against


def _on_side(text: str, against: str, *, above: bool) -> bool:
    """Return True if a share as it is written lies above a threshold as it is written, or else below."""
    written, bound = (Fraction(_plain(one).replace(",", "")) for one in (text, against))
    if text[0] in "<>":  # between 0 and what is written, or between that and 100
        low, high = (Fraction(0), written) if text[0] == "<" else (written, Fraction(100))
        return low >= bound if above else high <= bound
    return written > bound if above else written < bound


def _unrounded(share: Fraction) -> str | None:
    """Write a share as per cent exactly; None where that takes too many digits."""
    texts = (_percent(share, decimals) for decimals in range(1, _MOST_DECIMALS + 1))
    return next(
        (text for text in texts if text[0] not in "<>" and Fraction(_plain(text).replace(",", "")) == share * 100), None
    )


def risk(value: Fraction) -> str:
    """Write a risk as per cent, and as one in k where it is one.

    >>> risk(Fraction(1, 5)), risk(Fraction(1, 7)), risk(Fraction(2, 7)), risk(Fraction(1))
    ('20 % (1 in 5)', '14.3 % (1 in 7)', '28.6 %', '100 %')
    """
    if value.numerator != 1 or value.denominator == 1:
        return percent(value)
    return f"{percent(value)} ({_MARKS.get().one_in.format(k=count(value.denominator))})"


def part_of(part: int, whole: int) -> str:
    """Write a part of a whole, with its share where there is one.

    >>> part_of(2, 6000), part_of(0, 6000), part_of(0, 0)
    ('2 of 6,000 (<0.1 %)', '0 of 6,000', '0 of 0')
    """
    share = f" ({percent(Fraction(part, whole))})" if part and whole else ""
    return _MARKS.get().part_of.format(part=count(part), whole=count(whole)) + share


def number(value: Fraction) -> str:
    """Write any number: whole or with at most four decimals exactly, else with four significant digits.

    >>> [number(Fraction(v)) for v in ("12000", "0.25", "1/3", "123456.789", "-1/30000")]
    ['12,000', '0.25', '0.3333', '123,456.789', '-0.00003333']
    """
    if value.denominator == 1:
        return count(int(value))
    exact = _rounded(value, 4)
    if Fraction(exact.replace(",", "")) == value:
        return marked(_short(exact))
    magnitude = Decimal(value.numerator) / Decimal(value.denominator)
    return marked(_short(_rounded(value, max(0, 3 - magnitude.adjusted()))))


def _rounded(value: Fraction, decimals: int) -> str:
    scaled = value * 10**decimals
    half_up = (Decimal(scaled.numerator) / Decimal(scaled.denominator)).to_integral_value(ROUND_HALF_UP)
    return f"{half_up.scaleb(-decimals):,.{decimals}f}"


def _short(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _plain(text: str) -> str:
    figure = text.removesuffix(" %").strip("<>")
    return _short(figure)
