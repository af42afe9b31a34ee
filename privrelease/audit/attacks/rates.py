"""Success rates of attacks, their Wilson intervals, and what a release adds to what an attacker could do without it.

A rate is successes over the attempts that could be made. Risk is (main - control) / (1 - control): of what could not be had about persons
who are not in the release, the share that was had about those who are. It is undefined where the control always succeeds (0/0).

Sources: Wilson 1927 (interval); Newcombe 1998, method 10 (difference of rates); Fisher 1935 (exact test of two rates); Donner and Zou 2012 (ratio of rates from the intervals of
each), of which risk is one minus the ratio of the two failure rates; Giomi et al. 2023 (Anonymeter) for risk itself. Anonymeter's point
estimates are the centres of the Wilson intervals (``wilson_centre``), not the rates.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, sqrt
from statistics import NormalDist

from privrelease.texts.sentences import Said, say
from privrelease.value_classes import dataclass

__all__ = ["Interval", "Rate", "Risk", "advantage", "attempts_needed", "exceeds", "residual_risk", "wilson", "wilson_centre"]

#: Ends of intervals are floats, kept to so many decimals: the same bytes on every machine.
_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Interval:
    """Ends of a two-sided interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rate:
    """``successes`` of ``attempts`` that could be made; ``known``: the probability itself, where nothing had to be tried to know it.

    >>> Rate(98, 98).value, Rate(0, 0).value, Rate(known=Fraction(1, 7)).value
    (Fraction(1, 1), None, Fraction(1, 7))
    """

    successes: int = 0
    attempts: int = 0
    known: Fraction | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.attempts:
            msg = "successes are between 0 and the attempts"
            raise ValueError(msg)

    @property
    def value(self) -> Fraction | None:
        """The rate; None where no attempt could be made."""
        if self.known is not None:
            return self.known
        return Fraction(self.successes, self.attempts) if self.attempts else None

    def interval(self, confidence: Fraction) -> Interval | None:
        """Give the Wilson interval; the rate itself where it is known; None where no attempt could be made."""
        if self.known is not None:
            return Interval(float(self.known), float(self.known))
        return wilson(self.successes, self.attempts, confidence) if self.attempts else None


@dataclass(frozen=True, slots=True)
class Risk:
    """A figure made of two rates and its interval; both None where it is undefined, ``why`` then says so."""

    value: Fraction | None
    interval: Interval | None
    why: Said | None = None


def _quantile(confidence: Fraction) -> float:
    if not 0 < confidence < 1:
        msg = "confidence is between 0 and 1"
        raise ValueError(msg)
    return NormalDist().inv_cdf((1 + float(confidence)) / 2)


def _kept(low: float, high: float) -> Interval:
    return Interval(round(low, _DECIMALS) + 0.0, round(high, _DECIMALS) + 0.0)


def wilson(successes: int, attempts: int, confidence: Fraction) -> Interval:
    """Return the Wilson interval of a rate: within [0, 1], and its end where every attempt, or none, succeeded.

    >>> wilson(100, 100, Fraction("0.95"))
    Interval(low=0.963006501793, high=1.0)
    >>> wilson(20, 100, Fraction("0.95"))
    Interval(low=0.133366933331, high=0.288829165593)
    """
    z = _quantile(confidence)
    centre = float(wilson_centre(successes, attempts, confidence))
    # successes (attempts - successes) is an exact whole number: the root is of no negative number, whatever is rounded
    half = z / (attempts + z * z) * sqrt(successes * (attempts - successes) / attempts + z * z / 4)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == attempts else min(1.0, centre + half)
    return _kept(low, high)


def attempts_needed(limit: Fraction, confidence: Fraction) -> int:
    """Return the fewest attempts with which the upper end of no success, z²/(n + z²), is at most ``limit`` (above 0).

    >>> attempts_needed(Fraction(1, 10), Fraction("0.95")), attempts_needed(Fraction(1), Fraction("0.95"))
    (35, 1)
    """
    return max(1, ceil(_quantile(confidence) ** 2 * float((1 - limit) / limit)))


def wilson_centre(successes: int, attempts: int, confidence: Fraction) -> float:
    """Return the centre of the Wilson interval: what Anonymeter gives as the rate.

    >>> round(wilson_centre(100, 100, Fraction("0.95")), 4), round(wilson_centre(20, 100, Fraction("0.95")), 4)
    (0.9815, 0.2111)
    """
    z = _quantile(confidence)
    return (successes + z * z / 2) / (attempts + z * z)


def residual_risk(main: Rate, control: Rate, confidence: Fraction) -> Risk:
    """Return (main - control) / (1 - control) with its interval; negative where persons outside the release fare worse.

    >>> residual_risk(Rate(100, 100), Rate(20, 100), Fraction("0.95")).value
    Fraction(1, 1)
    >>> residual_risk(Rate(98, 98), Rate(100, 100), Fraction("0.95")).why
    'undefined (0/0): the control always succeeds'
    """
    ours, theirs = main.value, control.value
    if ours is None or theirs is None:
        return Risk(None, None, _nothing_tried(main, control))
    if theirs == 1:
        return Risk(None, None, say("undefined_control"))
    ratio = _ratio(1 - ours, main.interval(confidence), 1 - theirs, control.interval(confidence))
    return Risk((ours - theirs) / (1 - theirs), _kept(1 - ratio.high, 1 - ratio.low))


def advantage(main: Rate, control: Rate, confidence: Fraction) -> Risk:
    """Return main - control with its interval.

    >>> advantage(Rate(8, 10), Rate(3, 10), Fraction("0.95")).value
    Fraction(1, 2)
    """
    ours, theirs = main.value, control.value
    if ours is None or theirs is None:
        return Risk(None, None, _nothing_tried(main, control))
    one, other = main.interval(confidence), control.interval(confidence)
    assert one is not None
    assert other is not None
    a, b = float(ours), float(theirs)
    low = a - b - sqrt((a - one.low) ** 2 + (other.high - b) ** 2)
    high = a - b + sqrt((one.high - a) ** 2 + (b - other.low) ** 2)
    return Risk(ours - theirs, _kept(max(-1.0, low), min(1.0, high)))


def exceeds(main: Rate, control: Rate) -> float:
    """Return how probable so many successes of ``main`` are, or more, if it were an arbitrary part of all attempts: Fisher's exact test.

    Exact at any number of attempts, where an interval of the difference is too short at few: 10 of 14 against 0 of 4 is more than 0 by
    Newcombe's interval of 0.99, and is found by chance in one case of 44. It is 1 where nothing was tried, or all succeeded, or none.

    >>> round(exceeds(Rate(10, 14), Rate(0, 4)), 6), exceeds(Rate(3, 3), Rate(0, 0))
    (0.022876, 1.0)
    """
    successes = main.successes + control.successes
    most = min(main.attempts, successes)
    least = max(0, successes - control.attempts)
    import numpy as np

    at = np.arange(least, most, dtype=np.float64)
    steps = (main.attempts - at) * (successes - at) / ((at + 1) * (control.attempts - successes + at + 1))
    logarithms = np.concatenate([[0.0], np.cumsum(np.log(steps))])
    weights = np.exp(logarithms - logarithms.max())
    return float(weights[main.successes - least :].sum() / weights.sum())


def _nothing_tried(main: Rate, control: Rate) -> Said:
    assert main.value is None or control.value is None
    return say("undefined_attempts") if main.value is None else say("undefined_attempts_control")


def _ratio(p1: Fraction, failing: Interval | None, p2: Fraction, control: Interval | None) -> Interval:
    """Return the interval of p1/p2 from success intervals; in the form without a difference that could vanish."""
    assert failing is not None
    assert control is not None
    l1, u1, l2, u2 = 1 - failing.high, 1 - failing.low, 1 - control.high, 1 - control.low
    a, b = float(p1), float(p2)
    product = a * b
    below, above = l1 * (2 * a - l1), u2 * (2 * b - u2)
    low = below / (product + sqrt(max(0.0, product * product - below * above))) if below > 0 else 0.0
    below, above = u1 * (2 * a - u1), l2 * (2 * b - l2)
    high = (product + sqrt(max(0.0, product * product - below * above))) / above
    return Interval(low, high)
