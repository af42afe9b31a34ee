"""Results of simulated releases of synthetic data, as values that a report can show: no real person's row contributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PAPER", "CellSpread", "ErrorBin", "PaperFigure", "Simulated", "Simulation", "paper_figures", "paper_words"]

#: Standard deviations of a count that a study of medical data prints, by epsilon (10,000 patients, 1,000 repetitions).
PAPER: Final = {"0.1": 20.0, "0.5": 8.0, "1": 4.0, "2": 2.0}
_NEAR: Final = 0.05


@dataclass(frozen=True, slots=True)
class ErrorBin:
    """Errors from ``low`` to below ``high``: the share of releases that had one, and the share by the law (None: no closed form)."""

    low: float
    high: float
    observed: float
    expected: float | None


@dataclass(frozen=True, slots=True)
class CellSpread:
    """A bin of a histogram: its number of synthetic rows, and what the middle 95 % of its released figures were."""

    label: str
    truth: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Simulated:
    """A figure of one query under one law and epsilon, in ``repetitions`` releases.

    ``truth``: the figure of the synthetic rows without noise (of a histogram: of its bins on average). ``observed``: the
    standard deviation of what was released; ``sampling``: that of ``observed`` itself, by the fourth moment. ``theory``: of the
    discrete law that was drawn (None: no closed form). ``continuous``, ``classic``: what continuous formulas say of the same
    sensitivity and budget (None: the figure has several draws). ``exact_delta``: of a Gaussian of one number, at its epsilon.
    ``low``, ``high``: the middle 95 % of the errors. ``counts``: a plain count.
    """

    query: str
    figure: str
    mechanism: Literal["laplace", "gaussian"]
    epsilon: str
    delta: str
    counts: bool
    truth: float
    observed: float
    sampling: float
    theory: float | None
    continuous: float | None
    classic: float | None
    exact_delta: float | None
    low: float
    high: float
    repetitions: int
    errors: tuple[ErrorBin, ...] = ()
    cells: tuple[CellSpread, ...] = ()

    @property
    def agrees(self) -> bool | None:
        """Return True if the observed deviation is within four of its own standard deviations of theory."""
        return None if self.theory is None else abs(self.observed - self.theory) <= 4 * self.sampling


@dataclass(frozen=True, slots=True)
class Simulation:
    """Every figure of a release, or of the study (``policy`` None); ``rows``: number of synthetic rows."""

    release: str
    policy: str | None
    rows: int
    repetitions: int
    figures: tuple[Simulated, ...]


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A figure of the study's, what theory says of each mechanism at its epsilon, and which of them are within 5 % of it."""

    epsilon: str
    printed: float
    theory: tuple[tuple[str, float], ...]
    given_by: tuple[str, ...]


def paper_figures(found: Sequence[Simulated]) -> tuple[PaperFigure, ...]:
    """Compare the study's figures with the first plain count, at every epsilon that both have."""
    first = next((one.query for one in found if one.counts), None)
    counts = [one for one in found if one.query == first and one.epsilon in PAPER]
    said = []
    for epsilon in dict.fromkeys(one.epsilon for one in counts):
        paper = PAPER[epsilon]
        theory = tuple((one.mechanism, one.theory) for one in counts if one.epsilon == epsilon and one.theory is not None)
        near = tuple(sorted(name for name, value in theory if abs(value - paper) <= _NEAR * paper))
        said.append(PaperFigure(epsilon, paper, theory, near))
    return tuple(said)


def paper_words(figures: Sequence[PaperFigure]) -> tuple[str, ...]:
    """Say it of each of them, and whether one mechanism gives them all.

    >>> print(paper_words([PaperFigure("0.1", 20.0, (("laplace", 14.136),), ())])[0])
    the paper's 20 for a count at epsilon 0.1: no mechanism here gives it (theory: laplace 14.14)
    """
    said = []
    for one in figures:
        theory = ", ".join(f"{name} {value:.4g}" for name, value in one.theory)
        gives = f"{' and '.join(one.given_by)} gives it, within 5 %" if one.given_by else "no mechanism here gives it"
        said.append(f"the paper's {one.printed:g} for a count at epsilon {one.epsilon}: {gives} (theory: {theory})")
    if len(figures) > 1 and not set.intersection(*(set(one.given_by) for one in figures)):
        said.append("no single mechanism gives all of the paper's figures")
    return tuple(said)
