"""The common part of mechanisms that add integer noise: one protocol, so that one contract suite tests them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.randomness import Randomness

__all__ = ["BATCH", "SMALL", "AdditiveNoise", "add_noise", "fit_int64", "joined"]

#: Below so many draws Python integers are faster than a numpy batch (some 0.3 ms of overhead against 15-30 microseconds a draw).
SMALL: Final = 20
#: Most candidates at a time: the arrays of a batch stay within the processor's caches, and memory stays flat for any size.
BATCH: Final = 1 << 18


class AdditiveNoise(Protocol):
    """A symmetric law on the integers that is added to an integer statistic. Frozen."""

    @property
    def name(self) -> str:
        """Return the name that a ledger stores."""
        ...

    @property
    def scale(self) -> Fraction:
        """The exact parameter: b of the discrete Laplace, sigma squared of the discrete Gaussian."""
        ...

    def sample(self, size: int, randomness: Randomness) -> NDArray[np.int64] | NDArray[np.object_]:
        """Return ``size`` independent draws: int64, or Python integers in an object array where one draw does not fit."""
        ...

    def probability(self, value: int) -> float:
        """Return P(X = value), to double precision; for tests and charts, no privacy rests on it."""
        ...

    def tail(self, value: int) -> Fraction:
        """Return an upper bound of P(X >= value), above it by a relative 1e-9 at most."""
        ...

    def standard_deviation(self) -> float:
        """Return the standard deviation of one draw, to double precision."""
        ...

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|X| <= h) >= confidence: [y - h, y + h] covers the true value with that probability."""
        ...


def add_noise(noise: AdditiveNoise, values: Sequence[int], randomness: Randomness) -> tuple[int, ...]:
    """Return values plus independent noise as Python integers: no width, so no overflow and no wrap."""
    draws: list[int] = noise.sample(len(values), randomness).tolist()
    return tuple(value + draw for value, draw in zip(values, draws, strict=True))


def fit_int64(values: Sequence[int] | NDArray[Any]) -> NDArray[np.int64] | NDArray[np.object_]:
    """Return Python integers as int64 where all fit, else as they are in an object array: never wrapped, never cut."""
    import numpy as np

    exact = np.empty(len(values), dtype=object)
    exact[:] = values
    try:
        return exact.astype(np.int64)
    except OverflowError:
        return exact


def joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the parts of a batch as one array; one part that holds Python integers makes the whole an object array."""
    import numpy as np

    return parts[0] if len(parts) == 1 else np.concatenate(parts)
