"""Keys of the methods dpcocgen (co-clustering) and privbayes (a Bayesian network), their settings and their rules."""

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import BeforeValidator, WithJsonSchema

from privrelease.policy.changes.directions import always
from privrelease.policy.language.keys import Judged
from privrelease.policy.language.number_values import Exact, exact_number
from privrelease.policy.language.values import Flag, Frozen
from privrelease.policy.text.messages import problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.synthetic import SyntheticRelease
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["GridKeys", "NetworkKeys", "grid_rules", "grid_settings", "network_rules", "network_settings"]

_MOST_CELLS: Final = 10_000_000
_MOST_THETA: Final = 1_000_000
_MOST_DEGREE: Final = 20


def _split(value: object) -> object:
    number = exact_number(value)
    if not 0 < number < 1:
        message = f"must be above 0 and below 1, got {shown(value)}"
        raise problem(message, code="P776", hint="write 0.5, so that each of the two measurements costs half")
    return number


def _max_cells(value: object) -> object:
    number = exact_number(value)
    if number != int(number) or not 0 <= number <= _MOST_CELLS:
        message = f"must be a whole number of at least 0 and at most {_MOST_CELLS}, got {shown(value)}"
        raise problem(message, code="P777", hint="write 0 for the grid that describes the noisy counts best")
    return int(number)


def _theta(value: object) -> object:
    number = exact_number(value)
    if not 0 < number <= _MOST_THETA:
        message = f"must be above 0 and at most {_MOST_THETA}, got {shown(value)}"
        raise problem(message, code="P779", hint="write 4, the value of the published method")
    return number


def _degree(value: object) -> object:
    number = exact_number(value)
    if number != int(number) or not 1 <= number <= _MOST_DEGREE:
        message = f"must be a whole number of at least 1 and at most {_MOST_DEGREE}, got {shown(value)}"
        raise problem(message, code="P780", hint="write how many parents a column may have, or `theta` in its place")
    return int(number)


class GridKeys(Frozen):
    """Keys of co-clustering."""

    split: Annotated[
        Exact | None,
        BeforeValidator(_split),
        WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
        Judged(always("breaking")),
    ] = None
    """The share of the budget that measures the joint, for the grid; the rest counts by the cells of the grid. 0.5 where not given."""
    max_cells: Annotated[
        int | None,
        BeforeValidator(_max_cells),
        WithJsonSchema({"type": "integer", "minimum": 0, "maximum": _MOST_CELLS}),
        Judged(always("breaking")),
    ] = None
    """The most cells of the grid: a coarser level of its hierarchy is used where the best grid has more. 0, the default: the best grid."""
    refine: Annotated[Flag | None, Judged(always("breaking"))] = None
    """Both measurements are projected and combined, and rows follow the first inside a cell of the grid; `false`: as published."""


class NetworkKeys(Frozen):
    """Keys of the Bayesian network."""

    theta: Annotated[
        Exact | None,
        BeforeValidator(_theta),
        WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": _MOST_THETA}),
        Judged(always("breaking")),
    ] = None
    """A marginal is measured only where the noisy mean count of its cells is at least so many times the expected error of one. 4 where not given."""
    degree: Annotated[
        int | None,
        BeforeValidator(_degree),
        WithJsonSchema({"type": "integer", "minimum": 1, "maximum": _MOST_DEGREE}),
        Judged(always("breaking")),
    ] = None
    """The most parents of a column, in place of `theta`."""


def grid_settings(release: "SyntheticRelease") -> dict[str, object]:
    """Return the exact settings of co-clustering, defaults filled in."""
    split = Fraction(1, 2) if release.split is None else Fraction(release.split)
    return {"split": str(split), "max_cells": release.max_cells or 0, "refine": release.refine is not False}


def network_settings(release: "SyntheticRelease") -> dict[str, object]:
    """Return the exact settings of the Bayesian network, defaults filled in."""
    theta = Fraction(4) if release.theta is None else Fraction(release.theta)
    return {"theta": None if release.degree is not None else str(theta), "degree": release.degree}


def grid_rules(reading: "RuleContext", releases: "Sequence[tuple[int, SyntheticRelease]]") -> "Iterator[Finding]":
    """Yield what is wrong with releases by co-clustering."""
    for number, release in releases:
        modelled = [name for name in release.columns if name not in release.make]
        if len(modelled) == 1:
            message = "co-clustering finds which values of several columns go together, and only one column is modelled"
            hint = "write `method: histogram`, or add a column"
            yield reading.error("P782", message, "releases", number, "method", hint=hint)
        if release.max_cells == 1:
            message = "a grid of one cell keeps nothing of what the second measurement could show"
            hint = "raise `max_cells`, or write `method: histogram`"
            yield reading.warning("P778", message, "releases", number, "max_cells", hint=hint)


def network_rules(reading: "RuleContext", releases: "Sequence[tuple[int, SyntheticRelease]]") -> "Iterator[Finding]":
    """Yield what is wrong with releases by a Bayesian network."""
    for number, release in releases:
        if release.theta is not None and release.degree is not None:
            message = "`theta` and `degree` both say how many parents a column may have"
            yield reading.error("P781", message, "releases", number, "degree", hint="remove one of them", key=True)
