"""A method of synthesis as a value: what it asks an envelope for, what it will cost, how it fits a model, and what a model can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.envelope import Envelope
    from privrelease.dp.queries import Setting
    from privrelease.dp.randomness import Randomness
    from privrelease.synthesis.domain import CodedDomain
    from privrelease.units import Epsilon, Rho

__all__ = ["FactTable", "Held", "MethodForecast", "Model", "ModelFacts", "Progress", "Settings", "Step", "SynthesisMethod"]

#: Exact settings of a method: texts, whole numbers, booleans, None, lists and mappings of them. Below ``after``: what changes no question.
Settings: TypeAlias = Mapping[str, object]
Progress: TypeAlias = "Callable[[str, float | None], None]"


@dataclass(frozen=True, slots=True)
class Held:
    """The budget of a method, discoveries taken off: a rho, or an epsilon where the budget has no delta; and what one person can change."""

    loss: Rho | Epsilon
    setting: Setting


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is forecast: ``times`` draws of ``loss`` each. ``cells``: of one of them, None where it is not known; ``error``: expected
    absolute error of a cell, in rows.
    """

    name: str
    loss: Rho | Epsilon
    times: int = 1
    cells: int | None = None
    error: float | None = None


@dataclass(frozen=True, slots=True)
class MethodForecast:
    """A forecast before any row is read. ``marginal_errors``: (columns, expected absolute error of a cell of a marginal of so many).

    ``counted``: loss and cells of the measurement that the noisy number of rows is added up from; where that is put together from several, those
    of a single one with no more noise than it.
    """

    steps: tuple[Step, ...]
    marginal_errors: tuple[tuple[int, float], ...] = ()
    notes: tuple[str, ...] = ()
    counted: tuple[Rho | Epsilon, int] | None = None


@dataclass(frozen=True, slots=True)
class FactTable:
    """A small table about a model: noisy or public figures alone."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts of a model: noisy or public figures by name, and tables."""

    figures: tuple[tuple[str, str | int], ...] = ()
    tables: tuple[FactTable, ...] = ()


class Model(Protocol):
    """A fitted model; it was made of noisy answers, so that whatever is drawn from it costs nothing."""

    @property
    def total(self) -> int:
        """The noisy number of rows, at least 0."""
        ...

    def draw(self, rows: int, randomness: Randomness) -> NDArray[np.int32]:
        """Return codes (rows, columns of the domain)."""
        ...

    def facts(self) -> ModelFacts:
        """Describe the model."""
        ...


@dataclass(frozen=True, slots=True)
class SynthesisMethod:
    """A method. ``version``: raised whenever equal answers lead to other questions.

    ``asks``: from the names of the columns and the settings, the columns of every marginal that may be asked for. ``forecast``: touches no
    row; raises PolicyError where the domain or what is held does not do. ``fit``: sees the envelope and public values only; what it asks follows
    from the domain, the settings and the answers before.
    """

    name: str
    version: int
    asks: Callable[[tuple[str, ...], Settings], Iterable[tuple[str, ...]]]
    forecast: Callable[[CodedDomain, Settings, Held], MethodForecast]
    fit: Callable[[Envelope, CodedDomain, Settings, Progress], Model]
