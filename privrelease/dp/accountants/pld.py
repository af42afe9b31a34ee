"""PLD accountant: privacy loss distributions of dp-accounting, composed numerically; tight within one release fixed beforehand.

Not for what chooses as it goes, and not across releases (adaptive choice of parameters: use basic or zCDP composition there).

Each mechanism enters by a pair that dominates it:
    one number moved by at most D: the discrete Laplace or Gaussian against itself shifted by D;
    c numbers moved by exactly the largest change each (l1 = c · largest, or l2^2 = c · largest^2): c of these;
    any other Laplace vector, and every pure or bounded-range mechanism: randomised response at its epsilon, which dominates all of them;
    an (epsilon, delta) mechanism: the pair of those parameters.
Other Gaussian vectors are refused: zCDP takes them. The losses of Gaussian noise come from :mod:`.gaussian_losses`, of any sigma.
In parallel: equal events as many times as parts; unequal pure ones by their largest epsilons; others are refused.

dp-accounting works in floats with pessimistic rounding on a grid of losses; parameters are passed rounded against us (a larger rate, a
smaller sigma and delta), and results are rounded up once more.

The privacy loss of discrete Gaussian noise moved by a whole number, on a grid of losses, rounded against us; whatever sigma is.

Loss
    P is the noise, Q the noise moved by D. At x the loss is log P(x)/Q(x) = (D/s2)(D/2 - x), s2 = sigma squared. It falls in x, so a block
    of neighbouring x counts with the loss of its first. The grid takes ceil(loss / step).

Mass
    P(x) = exp(-x^2/(2 s2)) / Z. A block counts with its width times its largest weight; Z is taken as the larger of sqrt(2 pi s2), below
    which it never is (Poisson summation: every term is positive), and 1, the weight at 0. Noise beyond ten sigma has probability below
    2 exp(-50) (it is sub-Gaussian: Canonne, Kamath, Steinke 2020) and counts as lost: infinite loss.
    Small sigma has blocks of one x, and Z is summed. Floats err by some 1e-15 of a weight, covered by the factor 1 + 1e-12.

So the masses are an upper bound at every loss, and composed masses bound the composed loss. They exceed the truth by a share below 10 w / sigma,
w the width of a block: at most 10 / 2^14 in one draw.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from privrelease.dp.accountants.approximate import ApproximateAccountant
from privrelease.dp.accountants.events import (
    Approximate,
    BoundedRange,
    Charged,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    Pure,
    Together,
)
from privrelease.dp.accountants.protocol import Accountant
from privrelease.dp.accountants.pure import PureAccountant
from privrelease.dp.bounds import float_up
from privrelease.errors import InputError
from privrelease.units import Delta, Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.dp.accountants.events import Event

    Leaf = Pure | Approximate | LaplaceNoise | GaussianNoise

__all__ = ["PldAccountant", "check_available", "gaussian_losses"]


#: Sigma in blocks: up to this sigma every x is a block of its own.
_BLOCKS: Final = 1 << 14
_REACH: Final = 10
_ABOVE: Final = 1 + 1e-12
_TIE: Final = 1e-9


def gaussian_losses(s2: Fraction, shift: int, step: float) -> tuple[dict[int, float], float]:
    """Return the masses by loss (in whole steps of the grid), and the mass of infinite loss.

    >>> from fractions import Fraction
    >>> masses, lost = gaussian_losses(Fraction(100), 1, 1e-3)
    >>> 1 <= sum(masses.values()) < 1 + 1e-9, lost < 1e-21
    (True, True)
    """
    import numpy as np

    variance, sigma = float(s2), math.sqrt(s2)
    width = max(1, math.ceil(sigma / _BLOCKS))
    blocks = math.ceil(_REACH * sigma / width) + 1
    first = np.arange(-blocks, blocks + 1, dtype=np.float64) * width
    nearest = np.where(first > 0, first, np.minimum(0.0, first + (width - 1)))
    weight = np.exp(-(nearest * nearest) / (2 * variance))
    least = float(weight.sum()) if width == 1 else math.sqrt(2 * math.pi * variance)
    mass = weight * (width / max(1.0, least) * _ABOVE)
    loss = (shift / variance) * (shift / 2 - first)
    at = np.ceil(loss / step + _TIE).astype(np.int64)
    low = int(at.min())
    summed = np.bincount(at - low, mass)
    return {low + place: float(summed[place]) for place in np.flatnonzero(summed).tolist()}, 2 * math.exp(-(_REACH**2) / 2)


#: Largest sensitivity whose losses under Laplace noise are enumerated.
_LARGEST: Final = 1 << 15
#: Step of the grid of losses.
_STEP: Final = 1e-4
_MARGIN: Final = 1e-9


@dataclass(frozen=True, slots=True)
class PldAccountant(Accountant):
    """Mechanisms with how many times each; composed when a figure is asked for. Needs the extra ``dp``."""

    name: ClassVar[str] = "pld"

    counts: tuple[tuple[Leaf, int], ...] = ()

    @classmethod
    def supports(cls, event: Event) -> bool:
        """Return True if each mechanism inside has a dominating pair."""
        return _expanded(event) is not None

    def _composed(self, event: Event, times: int) -> Self:
        counts = dict(self.counts)
        for leaf in _expanded(event) or ():
            if times:
                counts[leaf] = counts.get(leaf, 0) + times
        return type(self)(tuple(counts.items()))

    def epsilon(self, delta: Delta) -> Epsilon | None:
        """Return the epsilon of the composed distribution at ``delta``, rounded up."""
        if not self.counts:
            return Epsilon(0)
        simple = self._basic()
        known = simple.epsilon(delta) if simple is not None else None
        if delta.value == 0:
            return known
        found = float(self._distribution().get_epsilon_for_delta(math.nextafter(float(delta.value), 0)))
        if math.isinf(found):
            return known
        rounded = Epsilon(float_up(found * (1 + _MARGIN) + _MARGIN))
        return rounded if known is None else min(rounded, known)

    def delta(self, epsilon: Epsilon) -> Delta:
        """Return the delta of the composed distribution at ``epsilon``, rounded up."""
        simple = self._basic()
        known = simple.delta(epsilon) if simple is not None else Delta(1)
        if known.value == 0:
            return known
        at = max(0.0, math.nextafter(float(epsilon.value), 0) * (1 - _MARGIN) - _MARGIN)
        found = float(self._distribution().get_delta_for_epsilon(at)) * (1 + _MARGIN) + 1e-30
        return min(known, Delta(min(Fraction(1), float_up(found))))

    def _basic(self) -> ApproximateAccountant | None:
        """Return basic composition where it applies: its exact sums cut what the grid of losses adds."""
        total = ApproximateAccountant()
        for leaf, times in self.counts:
            if not total.supports(leaf):
                return None
            total = total.compose(leaf, times)
        return total

    def _distribution(self) -> Any:  # noqa: ANN401 - dp-accounting is untyped
        return _composed_distribution(self.counts)


@lru_cache(maxsize=8)
def _composed_distribution(counts: tuple[tuple[Leaf, int], ...]) -> Any:  # noqa: ANN401 - dp-accounting is untyped
    total: Any = None
    for leaf, times in counts:
        one = _distribution_of(leaf)
        several = one.self_compose(times) if times > 1 else one
        total = several if total is None else total.compose(several)
    return total


def _expanded(event: Event) -> tuple[Leaf, ...] | None:
    """Return the mechanisms that dominate an event together, None where there is no such list."""
    if isinstance(event, Charged | Together):
        inside = event.events if isinstance(event, Together) else (event.event,)
        return _flattened([_expanded(inner) for inner in inside])
    if isinstance(event, Parallel):
        return _expanded_parallel(event)
    if isinstance(event, LaplaceNoise):
        return _expanded_laplace(event)
    if isinstance(event, GaussianNoise):
        return _expanded_gaussian(event)
    if isinstance(event, BoundedRange):
        return (Pure(event.epsilon),)
    return (event,)


def _expanded_laplace(event: LaplaceNoise) -> tuple[Leaf, ...]:
    s = event.sensitivity
    if s.largest <= _LARGEST and (s.coordinates == 1 or s.l1 == s.coordinates * s.largest):
        return (LaplaceNoise(event.scale, type(s).of_one_number(s.largest)),) * s.coordinates
    return (Pure(Fraction(s.l1) / event.scale),)


def _expanded_gaussian(event: GaussianNoise) -> tuple[Leaf, ...] | None:
    s = event.sensitivity
    listed = s.coordinates == 1 or s.l2_squared == s.coordinates * s.largest**2
    if not listed:
        return None
    return (GaussianNoise(event.scale, type(s).of_one_number(s.largest)),) * s.coordinates


def _expanded_parallel(event: Parallel) -> tuple[Leaf, ...] | None:
    if event.parts >= len(event.events):
        return _expanded(Together(event.events))
    if len(set(event.events)) == 1:
        return _flattened([_expanded(event.events[0])] * event.parts)
    if all(PureAccountant.supports(inner) for inner in event.events):
        epsilons = sorted((PureAccountant().compose(inner).spent.value for inner in event.events), reverse=True)
        return tuple(Pure(epsilon) for epsilon in epsilons[: event.parts])
    return None


def _flattened(parts: list[tuple[Leaf, ...] | None]) -> tuple[Leaf, ...] | None:
    flat: list[Leaf] = []
    for part in parts:
        if part is None:
            return None
        flat.extend(part)
    return tuple(flat)


def _distribution_of(leaf: Leaf) -> Any:  # noqa: ANN401 - dp-accounting is untyped
    common, masses, pld = _modules()
    if isinstance(leaf, LaplaceNoise):
        rate = math.nextafter(float(1 / leaf.scale), math.inf)
        return pld.from_discrete_laplace_mechanism(rate, leaf.sensitivity.largest, value_discretization_interval=_STEP)
    if isinstance(leaf, GaussianNoise):
        found, lost = gaussian_losses(leaf.scale, leaf.sensitivity.largest, _STEP)
        return pld.PrivacyLossDistribution(masses.create_pmf(found, _STEP, lost, pessimistic_estimate=True))
    epsilon = math.nextafter(float(leaf.epsilon), math.inf)
    delta = math.nextafter(float(leaf.delta), 1) if isinstance(leaf, Approximate) and leaf.delta else 0.0
    parameters = common.DifferentialPrivacyParameters(epsilon, delta)
    return pld.from_privacy_parameters(parameters, value_discretization_interval=_STEP)


def check_available() -> None:
    """Raise InputError (D301) where dp-accounting is not installed; it is looked for, not loaded."""
    if find_spec("dp_accounting") is None:
        raise _missing()


def _missing() -> InputError:
    code, message = "D301", "the PLD accountant needs dp-accounting"
    return InputError(code, message, hint="pip install 'privrelease[dp]'")


def _modules() -> tuple[Any, Any, Any]:
    """Return dp-accounting's modules; it is imported here only (some seconds of CPU), and it is an extra."""
    try:
        names = ("common", "pld_pmf", "privacy_loss_distribution")
        common, masses, pld = (import_module(f"dp_accounting.pld.{name}") for name in names)
    except ImportError as error:
        raise _missing() from error
    return common, masses, pld
