"""Levels of a resolved hierarchy: their names, their numbers, and how many labels each has."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING

from privrelease.policy.hierarchies.forms import step_of
from privrelease.relational.hierarchies import Dates, Intervals, Prefixes, Tree, number_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.policy.language.datasets import ColumnSpec
    from privrelease.relational.hierarchies import Form

__all__ = [
    "files_by_key",
    "label_counts",
    "level_count",
    "level_name",
    "level_names",
    "level_number",
    "written_files",
    "written_names",
]


def files_by_key(spec: ColumnSpec) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Return the files that a column's hierarchy is read from, as the policy writes them, by their keys below ``hierarchy``."""
    one = spec.hierarchy
    if one is None:
        return ()
    small, then = (None if part is None else getattr(part, key) for part, key in ((one.small, "file"), (one.then, "parents")))
    listed = ((("csv",), one.csv), (("parents",), one.parents), (("small", "file"), small), (("then", "parents"), then))
    return tuple((key, name) for key, name in listed if name is not None)


def written_files(spec: ColumnSpec) -> tuple[str, ...]:
    """Return the files that a column's hierarchy is read from, as the policy writes them."""
    return tuple(name for _, name in files_by_key(spec))


def level_names(form: Form) -> tuple[str, ...]:
    """Return what each level of a hierarchy is called.

    >>> level_names(Intervals((Decimal(5), Decimal(10)), top=Decimal(90)))
    ('intervals of 5', 'intervals of 10')
    """
    match form:
        case Intervals():
            return tuple(
                f"{len(level) - 1} intervals" if isinstance(level, tuple) else f"intervals of {number_text(level)}"
                for level in form.levels
            )
        case Dates():
            return form.levels
        case Prefixes():
            own = tuple(f"first {length} characters" if length > 1 else "first character" for length in form.lengths)
            return own + (() if form.then is None else level_names(form.then))
        case Tree():
            labels = [len(set(level)) for level in form.levels]
            return tuple(f"{many} labels" if many > 1 else "1 label" for many in labels)


def level_count(form: Form) -> int:
    """Return how many levels a hierarchy has above the values as they are."""
    return len(level_names(form))


def label_counts(spec: ColumnSpec, form: Form) -> tuple[int | None, ...]:
    """Return how many labels each level has by the policy alone, from level 0 on: as lists and domains say; None where nothing does."""
    domain = spec.domain
    values = None if domain is None else domain.values
    ends = None if domain is None or domain.range is None else domain.range
    match form:
        case Intervals() if ends is not None:
            low, high = (Decimal(text) for text in ends)
            step = step_of(spec)
            alone = None if step is None else int((high - low) // step) + 1
            return (alone, *(_intervals_within(form, level, low, high) for level in form.levels))
        case Intervals() | Dates():
            return (None,) * (len(form.levels) + 1)
        case Tree():
            return (len(form.leaves), *(len(set(level)) for level in form.levels))
        case Prefixes():
            return (None if values is None else len(values), *_prefix_counts(form, values))


def _intervals_within(form: Intervals, level: Decimal | tuple[Decimal, ...], low: Decimal, high: Decimal) -> int:
    """Count the intervals of a level that hold some number of a range, the open ones included."""
    below, above = form.bottom is not None and low < form.bottom, form.top is not None and high >= form.top
    first = form.bottom if below and form.bottom is not None else low
    if isinstance(level, tuple):
        inner = sum(begin <= high and end > first for begin, end in pairwise(level))
    else:
        last = ceil(form.top / level) - 1 if above and form.top is not None else floor(high / level)
        inner = last - floor(first / level) + 1
    return inner + below + above


def _prefix_counts(form: Prefixes, values: tuple[str, ...] | None) -> Iterator[int | None]:
    starts = None if values is None else list(values)
    if form.small is not None and starts is None:
        starts = sorted(form.small.others)
    for length in form.lengths:
        small = form.small is not None and any(one[: form.lengths[0]] in form.small.small for one in values or form.small.small)
        kept = [one for one in starts or () if form.small is None or one[: form.lengths[0]] in form.small.others]
        yield None if starts is None else len({one[:length] for one in kept}) + small
    if form.then is not None:
        yield from (len(set(level)) for level in form.then.levels)


def written_names(form: Form, level: int) -> frozenset[str]:
    """Return the labels of a level that a file or the policy names; empty where labels are computed of values.

    >>> sorted(written_names(Tree(("34", "45"), (("30-39", "40-49"), ("*", "*"))), 1))
    ['30-39', '40-49']
    """
    match form:
        case Tree():
            return frozenset(form.levels[level - 1])
        case Prefixes():
            above = level - len(form.lengths)
            if above > 0 and form.then is not None:
                return frozenset(form.then.levels[above - 1])
            return frozenset() if form.small is None else frozenset({form.small.label})
        case Intervals():
            ends = (
                f"{number_text(form.top)}+" if form.top is not None else None,
                f"<{number_text(form.bottom)}" if form.bottom is not None else None,
            )
            return frozenset(end for end in ends if end is not None)
        case Dates():
            return frozenset()


def level_name(form: Form, level: int) -> str:
    """Return what a level is called."""
    return level_names(form)[level - 1]


def level_number(form: Form, level: int | str) -> int | None:
    """Return the number of a level, given by its number or unit of time; None where there is no such level."""
    if isinstance(level, str):
        return form.levels.index(level) + 1 if isinstance(form, Dates) and level in form.levels else None
    return level if 1 <= level <= level_count(form) else None
