"""Verdicts on changes of hierarchies and of the steps that change values by them.

Weaker: a released value reveals more of its source, or may. Breaking: it reveals no more, and readers find other values than they had.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from privrelease.policy.changes.directions import elsewhere
from privrelease.relational.hierarchies import DATE_UNITS

if TYPE_CHECKING:
    from privrelease.policy.changes.directions import Effect
    from privrelease.policy.changes.environment_rules import Changed

__all__ = ["coarse", "declared", "elsewhere", "level", "level_rank", "lower_end", "more", "more_of_them", "multiple", "renamed"]
__all__ += ["upper_end"]


def declared(change: Changed) -> Effect | None:
    """Judge a hierarchy that a column newly has, or has no more: what uses it is a change of its own."""
    return "neutral" if change.old is None or change.new is None else None


def renamed(_change: Changed) -> Effect:
    """Judge labels that have other words."""
    return "breaking"


def _end(change: Changed, *, finer_if_higher: bool) -> Effect:
    if change.new is None:
        return "weaker"
    if change.old is None:
        return "breaking"
    assert isinstance(change.old, int | Decimal)
    assert isinstance(change.new, int | Decimal)
    return "weaker" if (change.new > change.old) is finer_if_higher else "breaking"


def upper_end(change: Changed) -> Effect:
    """Judge the value from which on all are one: a higher one reveals more apart."""
    return _end(change, finer_if_higher=True)


def lower_end(change: Changed) -> Effect:
    """Judge the value below which all are one: a lower one reveals more apart."""
    return _end(change, finer_if_higher=False)


def more(change: Changed) -> Effect:
    """Judge how many persons an area needs: fewer tell more areas apart."""
    return _end(change, finer_if_higher=False)


def more_of_them(change: Changed) -> Effect | None:
    """Judge areas that are drawn together, where they were not, and the reverse."""
    return "breaking" if change.old is None else "weaker" if change.new is None else None


def coarse(change: Changed) -> Effect | None:
    """Judge a column whose values are newly changed, or no more."""
    return "breaking" if change.added else "weaker" if change.removed else None


def level_rank(value: object) -> tuple[int, int] | None:
    """Return the place of a level among those that it can be compared with: by number, or by unit of time."""
    if isinstance(value, int):
        return 0, value
    return (1, DATE_UNITS.index(value)) if value in DATE_UNITS else None


def level(change: Changed) -> Effect:
    """Judge a level: a lower one reveals more; a number and a unit of time cannot be compared."""
    old, new = level_rank(change.old), level_rank(change.new)
    return "breaking" if old is not None and new is not None and old[0] == new[0] and new > old else "weaker"


def multiple(change: Changed) -> Effect:
    """Judge the step of rounding: a multiple of the old one reveals less, another may tell more."""
    assert isinstance(change.old, int | Decimal)
    assert isinstance(change.new, int | Decimal)
    return "breaking" if change.new % change.old == 0 else "weaker"
