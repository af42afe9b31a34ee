"""Utility for recipients: figures of which at least ``minimum`` cells changed, rounded so that no fewer can be distinguished.

A step of rounding is 1, 2 or 5 times a power of ten, never below ``least`` and never below ``minimum`` cells of those that the figure is
about: a count worked out from a rounded share is then off by up to half of ``minimum`` on either side. A figure that would need steps
above a tenth is withheld.
"""

from __future__ import annotations

from fractions import Fraction

from privrelease.audit.document.model import Figure, Visibility
from privrelease.audit.document.utility import Measured, Unit
from privrelease.value_classes import dataclass

__all__ = ["Change", "rounded", "step_of"]

_LARGEST = Fraction(1, 10)
_DIGITS = 9


def step_of(cells: int, minimum: int, least: Fraction) -> Fraction | None:
    """Return the step to which a figure about ``cells`` cells is rounded; None where it would be too coarse to be informative.

    >>> step_of(30_000, 10, Fraction(1, 1000)), step_of(3_000, 10, Fraction(1, 1000)), step_of(60, 10, Fraction(1, 1000))
    (Fraction(1, 1000), Fraction(1, 200), None)
    """
    if cells <= 0:
        return None
    needed = max(Fraction(minimum, cells), least)
    steps = (Fraction(digit, 10**power) for power in range(9, 0, -1) for digit in (1, 2, 5))
    return next((step for step in steps if needed <= step <= _LARGEST), None)


def rounded(value: Fraction, step: Fraction, *, share: bool) -> Fraction:
    """Round half away from zero; a share that is neither nothing nor all stays so.

    >>> [str(rounded(Fraction(v), Fraction(1, 100), share=True)) for v in ("0.126", "0.0001", "0.9999", "0", "1")]
    ['13/100', '1/100', '99/100', '0', '1']
    >>> rounded(Fraction("-0.126"), Fraction(1, 100), share=False)
    Fraction(-13, 100)
    """
    steps = int(abs(value) / step + Fraction(1, 2)) * (1 if value >= 0 else -1)
    found = steps * step
    if share and 0 < value < 1:
        return min(max(found, step), 1 - step)
    return found


@dataclass(frozen=True, slots=True)
class Change:
    """Cells that figures are about: ``changed`` of ``cells`` are no longer as they were; ``changed`` None: not known, so none
    is reported.

    >>> change = Change(changed=300, cells=3000, minimum=10)
    >>> change.figure(Fraction(1, 7), "share").rounded.exact, change.figure(None, "share", why="no cell").exact.note
    ('7/50', 'no cell')
    >>> Change(changed=3, cells=3000, minimum=10).figure(Fraction(1, 1000), "share").rounded is None
    True
    """

    changed: int | None
    cells: int
    minimum: int

    def figure(
        self,
        value: Fraction | float | None,
        unit: Unit = "number",
        *,
        why: str | None = None,
        least: Fraction = Fraction(1, 100),
    ) -> Measured:
        """Make a figure of the source: exact for the internal edition, rounded for recipients where it does not disclose few
        cells.

        ``why``: why there is no value. ``least``: the smallest step of rounding. A float keeps nine significant digits: further ones
        differ between machines.
        """
        if value is None:
            return Measured(exact=Figure.of(None, unit, note=why))
        if isinstance(value, float):
            value = float(f"{value:.{_DIGITS}g}")
        exact = Figure.of(value, unit)
        step = step_of(self.cells, self.minimum, least)
        if step is None or not self._enough:
            return Measured(exact=exact)
        told = rounded(Fraction(value), step, share=unit == "share")
        return Measured(exact=exact, rounded=Figure.of(told, unit, Visibility.RECIPIENT))

    @property
    def _enough(self) -> bool:
        """Return True if neither the cells that changed nor those that did not are few."""
        if self.changed is None or self.changed < self.minimum:
            return False
        return not 0 < self.cells - self.changed < self.minimum
