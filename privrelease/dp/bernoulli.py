"""Exact coins: uniform integers, Bernoulli of a rational, Bernoulli of exp(-rational); one at a time and in batches.

Every function returns *exactly* the law it names, given uniform independent bytes; no float decides an outcome that it could get
wrong. One at a time: Python integers throughout. In batches, a coin of bias n/d compares one 32-bit word w with the float t of
2^32 n/d. The float is off by less than 2^-18 (five correctly rounded IEEE operations, relative error at most 6·2^-53), so the coin is
certain unless w lies within 1 + 2^-16 of t; those, about one in four billion, are decided with Python integers from the same word and
fresh bits: U = (w + R)/2^32 with R uniform in [0, 1), hence U < n/d if and only if R < (2^32 n - w d)/d.

Bernoulli(exp(-x)) for x in [0, 1] is the alternating-series race of Canonne, Kamath and Steinke 2020 (algorithm 1, after von Neumann
and Forsythe): toss coins of bias x/1, x/2, x/3, ... until one fails at toss K; K is odd with probability exp(-x).

exp(-1) to the power of a counter, the geometric law P(V >= v) = exp(-v), is read off a table of floor(2^64 exp(-v)): a 64-bit word
strictly between two entries decides V; a word equal to an entry is extended by further bits until it is not.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import factorial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.randomness import Randomness

    Integers = NDArray[np.int64]
    Coins = NDArray[np.bool_]

__all__ = [
    "bernoulli",
    "bernoulli_exp",
    "bernoulli_exp_batch",
    "geometric",
    "geometric_batch",
    "sign_batch",
    "uniform_below",
    "uniform_below_batch",
]

_WORD: Final = 1 << 32
#: Half-width of the band in which a 32-bit word does not decide a coin; the proof above needs 2^-18.
_BAND: Final = 2.0**-16


# ---------------------------------------------------------------------------------------------- one at a time, Python integers


def uniform_below(bound: int, randomness: Randomness) -> int:
    """Return an integer uniform in 0..bound-1 (``bound`` >= 1, of any size), by rejection of too large words."""
    bits = (bound - 1).bit_length()
    size = (bits + 7) // 8
    while True:
        value = int.from_bytes(randomness.draw(size), "little") >> (8 * size - bits)
        if value < bound:
            return value


def bernoulli(numerator: int, denominator: int, randomness: Randomness) -> bool:
    """Return True with probability exactly numerator/denominator, clipped to [0, 1]."""
    return uniform_below(denominator, randomness) < numerator


def bernoulli_exp(numerator: int, denominator: int, randomness: Randomness) -> bool:
    """Return True with probability exactly exp(-numerator/denominator), numerator >= 0 (CKS 2020, algorithm 1)."""
    whole, rest = divmod(numerator, denominator)
    if whole and geometric(randomness) < whole:
        return False
    toss = 1
    while bernoulli(rest, denominator * toss, randomness):
        toss += 1
    return toss % 2 == 1


def geometric(randomness: Randomness) -> int:
    """Return V >= 0 with P(V >= v) = exp(-v) exactly."""
    return _geometric_from(int.from_bytes(randomness.draw(8), "little"), 64, randomness)


def _geometric_from(word: int, bits: int, randomness: Randomness) -> int:
    """Return the V of the uniform number whose first ``bits`` bits are ``word``; draws more bits where they do not decide."""
    while True:
        table = _thresholds(bits)
        value = next(v for v, threshold in enumerate(table) if threshold <= word)  # the table ends with 0
        if table[value] != word:
            return value
        word = word << 64 | int.from_bytes(randomness.draw(8), "little")
        bits += 64


@cache
def _thresholds(bits: int) -> tuple[int, ...]:
    """Return floor(2^bits exp(-(v+1))) for v = 0, 1, ... down to the first 0; entry v is the bound below which V > v.

    exp(-1) lies between two consecutive partial sums of its alternating series; so do its powers, and the floor is certain where both
    ends agree.
    """
    low, high = _inverse_e(bits)
    floors: list[int] = []
    power_low, power_high = Fraction(1), Fraction(1)
    while not floors or floors[-1]:
        power_low, power_high = power_low * low, power_high * high
        floor, other = (int(power_low * 2**bits), int(power_high * 2**bits))
        if floor != other:
            msg = "the bracket of exp(-1) is too wide"  # it has 2 * bits + 64 bits: not seen, and never passed over
            raise ArithmeticError(msg)
        floors.append(floor)
    return tuple(floors)


def _inverse_e(bits: int) -> tuple[Fraction, Fraction]:
    """Return a bracket of exp(-1), narrower than 2^-(2 bits + 64)."""
    terms = 2
    while factorial(terms) < 1 << (2 * bits + 64):
        terms += 1
    last = sum((Fraction((-1) ** k, factorial(k)) for k in range(terms)), Fraction(0))
    following = last + Fraction((-1) ** terms, factorial(terms))
    return min(last, following), max(last, following)


# ------------------------------------------------------------------------------------------------------------- in batches, numpy


def _words32(size: int, randomness: Randomness) -> NDArray[np.uint32]:
    import numpy as np

    return np.frombuffer(randomness.draw(4 * size), dtype="<u4")


def _words64(size: int, randomness: Randomness) -> NDArray[np.uint64]:
    import numpy as np

    return np.frombuffer(randomness.draw(8 * size), dtype="<u8")


def sign_batch(size: int, randomness: Randomness) -> Coins:
    """Return ``size`` fair coins."""
    import numpy as np

    raw = np.frombuffer(randomness.draw(-(-size // 8)), dtype=np.uint8)
    return np.unpackbits(raw, count=size).view(np.bool_)


def uniform_below_batch(bound: int, size: int, randomness: Randomness) -> Integers:
    """Return *at most* ``size`` independent integers uniform in 0..bound-1, 1 <= bound <= 2^62: the rejected are left out.

    Up to 2^32 by multiplication (Lemire 2019: of w·bound the high half is kept unless the low half is below 2^32 mod bound), beyond by
    rejection of the top bits of 64-bit words. All intermediates are below 2^64.
    """
    import numpy as np

    if not 1 <= bound <= 1 << 62:
        msg = "uniform_below_batch needs 1 <= bound <= 2^62"
        raise ValueError(msg)
    if bound == 1:
        return np.zeros(size, np.int64)
    if bound <= _WORD:
        product = _words32(size, randomness).astype(np.uint64)
        product *= np.uint64(bound)
        high = (product >> np.uint64(32)).view(np.int64)
        reject_below = _WORD % bound
        if not reject_below:
            return high
        kept = (product & np.uint64(_WORD - 1)) >= np.uint64(reject_below)
        return high if kept.all() else high[kept]
    value = (_words64(size, randomness) >> np.uint64(64 - (bound - 1).bit_length())).view(np.int64)
    return value[value < bound]


def _coins(
    bias: NDArray[np.float64],
    numerator: Integers,
    denominator: int,
    which: NDArray[np.intp] | None,
    toss: int,
    randomness: Randomness,
) -> Coins:
    """Return coins of bias numerator[which]/(denominator·toss), whose float is bias/toss; see the module's proof."""
    import numpy as np

    target = bias * (_WORD / toss) if which is None else bias[which] * (_WORD / toss)
    words = _words32(target.size, randomness)
    target -= words
    coins: Coins = target >= 1.0 + _BAND
    doubtful = np.flatnonzero((target > -_BAND) & ~coins)
    for position in doubtful.tolist():
        of = position if which is None else int(which[position])
        whole = denominator * toss
        coins[position] = bernoulli((int(numerator[of]) << 32) - int(words[position]) * whole, whole, randomness)
    return coins


def bernoulli_exp_batch(numerator: Integers, denominator: int, randomness: Randomness) -> Coins:
    """Return coins with P(True) = exp(-numerator/denominator) exactly, for 0 <= numerator <= denominator."""
    import numpy as np

    bias = numerator / float(denominator)
    result = np.zeros(numerator.size, np.bool_)
    alive = None
    toss = 1
    while True:
        coins = _coins(bias, numerator, denominator, alive, toss, randomness)
        if toss % 2:  # those that fail at an odd toss are True
            if alive is None:
                result = ~coins
            else:
                result[alive[~coins]] = True
        alive = np.flatnonzero(coins) if alive is None else alive[coins]
        if not alive.size:
            return result
        toss += 1


def geometric_batch(size: int, randomness: Randomness) -> Integers:
    """Return ``size`` independent V >= 0 with P(V >= v) = exp(-v) exactly. Values stay below 2^31 (see below).

    A value v needs some 1.44 v bits equal to zero: 2^31 would need gigabytes of zero bits from the source.
    """
    import numpy as np

    ascending = _ascending_thresholds()
    words = _words64(size, randomness)
    # the words are dense near the large entries: comparing with the first few settles nearly all of them
    values = np.zeros(size, np.int64)
    doubtful: list[int] = []
    undecided: NDArray[np.intp] | None = None
    for v in range(ascending.size):
        threshold = ascending[-1 - v]
        at = words if undecided is None else words[undecided]
        below = at < threshold
        ties = np.flatnonzero(at == threshold)
        if ties.size:
            doubtful.extend((ties if undecided is None else undecided[ties]).tolist())
        if undecided is None:
            values += below
            undecided = np.flatnonzero(below)
        else:
            undecided = undecided[below]
            values[undecided] += 1
        if not undecided.size:
            break
    for position in doubtful:
        values[position] = _geometric_from(int(words[position]), 64, randomness)
    return values


@cache
def _ascending_thresholds() -> NDArray[np.uint64]:
    import numpy as np

    return np.array(_thresholds(64)[::-1], dtype=np.uint64)
