"""One difference of two audits: of texts, of figures, and what it means."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from privrelease.audit.document.previous_releases import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.audit.document.model import Figure

__all__ = ["Judged", "by_rank", "figures", "flags", "fraction", "texts"]

Judged: TypeAlias = Literal["better", "worse", "changed"]
_RANKS: Final = {"pass": 0, "warn": 1, "review": 2, "not_asked": 3, "not_evaluated": 4, "fail": 5}


def by_rank(before: str, after: str) -> Judged:
    """Compare two outcomes.

    >>> by_rank("pass", "review"), by_rank("fail", "warn"), by_rank("warn", "warn")
    ('worse', 'better', 'changed')
    """
    return flags(_RANKS[before], _RANKS[after])


def flags(before: float, after: float) -> Judged:
    """Compare two values of which a larger one is worse."""
    return "worse" if after > before else "better" if after < before else "changed"


def texts(
    what: str, before: str | None, after: str | None, effect: Judged = "changed", about: str = ""
) -> Iterator[Difference]:
    """Yield a difference where two texts differ."""
    if before != after:
        yield Difference(what=what, about=about, before=before, after=after, effect=effect)


def figures(what: str, before: Figure | None, after: Figure | None, higher: Judged, about: str = "") -> Iterator[Difference]:
    """Yield a difference where two figures differ; ``higher``: what a larger one means. One that was removed or
    undefined is worse: nothing shows that it is still as good.

    Raises ValueError, ArithmeticError: one is no finite number.
    """
    old, new = _number(before), _number(after)
    if old == new:
        return
    effect: Judged = "changed"
    if old is not None and new is not None and higher != "changed":
        opposite: Judged = "better" if higher == "worse" else "worse"
        effect = higher if new > old else opposite
    elif new is None and higher != "changed":
        effect = "worse"
    yield Difference(what=what, about=about, before_figure=before, after_figure=after, effect=effect)


def _number(figure: Figure | None) -> Fraction | None:
    if figure is None or figure.value is None:
        return None
    return fraction(figure.exact) if figure.exact is not None else Fraction(figure.value)


#: Numbers as audits write them: bounded, so that a short external text cannot denote a number that fills the memory.
_WRITTEN: Final = re.compile(r"-?[0-9]{1,400}(?:/[0-9]{1,400}|(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?)")


def fraction(text: str) -> Fraction:
    """Read an exact number.

    Raises ValueError, ZeroDivisionError: it is not a valid number.

    >>> fraction("1/5"), fraction("1e-6")
    (Fraction(1, 5), Fraction(1, 1000000))
    """
    if not _WRITTEN.fullmatch(text):
        message = "no exact number"
        raise ValueError(message)
    return Fraction(text)
