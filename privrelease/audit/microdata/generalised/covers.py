"""Covers of columns that are written coarser, from what the policy declares of them: read from the labels, apart from what makes labels."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.audit.attacks.cover import Cover, Leaves
from privrelease.audit.microdata.generalised import dates, intervals, names
from privrelease.audit.microdata.generalised.judge import at_level, under
from privrelease.relational.hierarchies import Coded, Dates, Generalised, Intervals, Prefixes, RoundedTo, Tree
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.relational.schema import Domain

__all__ = ["coverer"]

#: A domain of more values is counted as one of so many: the share of a label in it is nothing either way.
_MOST_LEAVES = 2**62


@dataclass(frozen=True, slots=True)
class _Kind:
    """``others``: labels of other levels than the planned one over values, by level. ``ends``: of labels as numbers, None for names.

    ``steps``: see :class:`Cover`. ``grid``: the step of numbers on a grid. ``has``: of values, whether there is a label for them.
    ``listed``: whether the domain is a list of names.
    """

    others: Callable[[Any, Any, Any], Iterator[tuple[int, Any]]]
    ends: Callable[[Any, Any, Any], NDArray[np.float64]] | None
    steps: Callable[[Any, Any, NDArray[np.int64]], Sequence[Any]] | None
    grid: Callable[[Any], Decimal | None]
    has: Callable[[Any, Any], NDArray[np.bool_]]
    listed: bool = False


def _planned(declared: object) -> int:
    return declared.level if isinstance(declared, Generalised) else 1


def _levels(declared: Generalised) -> int:
    form: Any = declared.form
    return _DEPTH[type(form)](form)


_DEPTH: dict[type[Any], Callable[[Any], int]] = {
    Intervals: lambda form: len(form.levels),
    Dates: lambda form: len(form.levels),
    Tree: lambda form: len(form.levels),
    Prefixes: lambda form: len(form.lengths) + (0 if form.then is None else len(form.then.levels)),
}


def _by_level(declared: Generalised, labels: Any) -> NDArray[np.int64]:  # noqa: ANN401  Arrow has no types
    """Return the level that each label is read as: the planned one where it is one of its labels, else the finest; -1 for none."""
    found = np.full(len(labels), -1, np.int64)
    for level in (*range(_levels(declared), -1, -1), declared.level):
        found[_true(at_level(replace(declared, level=level), labels))] = level
    return found


def _other_levels(declared: Generalised, values: Any, labels: Any) -> Iterator[tuple[int, Any]]:  # noqa: ANN401  Arrow has no types
    import pyarrow as pa

    of = _by_level(declared, labels)
    for level in np.unique(of[(of >= 0) & (of != declared.level)]).tolist():
        yield level, under(replace(declared, level=level), values, labels.filter(pa.array(of == level)))


def _coded_others(declared: Coded, values: Any, labels: Any) -> Iterator[tuple[int, Any]]:  # noqa: ANN401  Arrow has no types
    yield 0, intervals.coded_as_they_are(declared, values, labels)


def _rounded_others(declared: RoundedTo, values: Any, labels: Any) -> Iterator[tuple[int, Any]]:  # noqa: ANN401  Arrow has no types
    yield 0, intervals.rounded_as_they_are(declared, values, labels)


# -------------------------------------------------------------------------------------------------------------------------- ends


def _number_ends(read: Callable[[Any], intervals.Extent | None], labels: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """Return (2, v) ends of labels; nan for one that is no label."""
    pairs = []
    for label in labels.to_pylist():
        one = read(label)
        if one is None:
            pairs.append((np.nan, np.nan))
            continue
        low = -np.inf if one.low is None else float(one.low)
        pairs.append((low, low if one.single else np.inf if one.high is None else float(one.high)))
    return np.array(pairs, np.float64).reshape(-1, 2).T


def _interval_ends(declared: Generalised, values: Any, labels: Any) -> NDArray[np.float64]:  # noqa: ANN401  Arrow has no types
    del values
    readers = [intervals.extent_of(declared, level) for level in (declared.level, *range(_levels(declared) + 1))]
    return _number_ends(lambda label: next((one for read in readers if (one := read(label)) is not None), None), labels)


def _coded_ends(declared: Coded, values: Any, labels: Any) -> NDArray[np.float64]:  # noqa: ANN401  Arrow has no types
    del values
    return _number_ends(partial(intervals.coded_extent, declared), labels)


def _rounded_ends(declared: RoundedTo, values: Any, labels: Any) -> NDArray[np.float64]:  # noqa: ANN401  Arrow has no types
    del values
    return _number_ends(partial(intervals.rounded_extent, declared), labels)


def _date_ends(declared: Generalised, values: Any, labels: Any) -> NDArray[np.float64]:  # noqa: ANN401  Arrow has no types
    """Return the ends of periods as columns hold times: in days where they hold dates, else in microseconds."""
    import pyarrow as pa

    ends = np.full((2, len(labels)), np.nan)
    for level in (*range(_levels(declared), -1, -1), declared.level):
        first, end = dates.period_ends(declared, level, labels)
        known = end > first
        ends[:, known] = first[known], end[known]
    return ends / dates.DAY if pa.types.is_date(values.type) else ends


# ------------------------------------------------------------------------------------------------------------------------- kinds


def _no_step(declared: Any) -> Decimal | None:  # noqa: ANN401  whatever a step declares
    del declared
    return None


def _form_step(declared: Any) -> Decimal | None:  # noqa: ANN401  whatever a step declares
    step: Decimal | None = declared.form.step
    return step


def _own_step(declared: Any) -> Decimal | None:  # noqa: ANN401  whatever a step declares
    step: Decimal | None = declared.step
    return step


def _any_number(declared: Any, values: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    del declared
    return np.ones(len(values), np.bool_)


#: By the class of what is declared, of generalised columns by that of the form.
_KINDS: dict[type[Any], _Kind] = {
    Intervals: _Kind(_other_levels, _interval_ends, None, _form_step, intervals.interval_has),
    Dates: _Kind(_other_levels, _date_ends, None, _no_step, dates.period_has),
    Prefixes: _Kind(_other_levels, None, names.prefix_steps, _no_step, names.prefix_has),
    Tree: _Kind(_other_levels, None, names.tree_steps, _no_step, names.tree_has, listed=True),
    Coded: _Kind(_coded_others, _coded_ends, None, _own_step, _any_number),
    RoundedTo: _Kind(_rounded_others, _rounded_ends, None, _own_step, _any_number),
}


def _kind(declared: object) -> _Kind:
    return _KINDS[type(declared.form) if isinstance(declared, Generalised) else type(declared)]


def _true(values: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    return np.asarray(values.fill_null(False), np.bool_)


# ------------------------------------------------------------------------------------------------------------------------ covers


def _layers(declared: Any, values: Any, labels: Any) -> Iterator[tuple[int, Any]]:  # noqa: ANN401  Arrow has no types
    """Yield a level, and the one of ``labels`` at it that each of ``values`` is under, or null; the planned level first."""
    import pyarrow as pa

    if not len(values):
        yield _planned(declared), pa.nulls(0, labels.type)
        return
    yield _planned(declared), under(declared, values, labels)
    astray = ~_true(at_level(declared, labels))
    if astray.any():
        yield from _kind(declared).others(declared, values, labels.filter(pa.array(astray)))


def coverer(declared: object, values: Any, labels: Any, domain: Domain | None) -> tuple[Cover, NDArray[np.int64]]:  # noqa: ANN401
    """Return the cover of distinct ``values`` by distinct ``labels``, Arrow arrays without nulls, and the order of its labels, (v,).

    Labels of the cover ascend with their ends, or are in the order given; its label i + 1 is the one at ``order[i]``. ``domain``: what the policy
    declares; None: the values are all that there are.

    >>> import pyarrow as pa
    >>> tens = Generalised(Intervals((Decimal(10),), top=Decimal(90), step=Decimal(1)), 1)
    >>> cover, order = coverer(tens, pa.array([21, 29, 95]), pa.array(["90+", "[20, 30)"]), None)
    >>> cover.under.tolist(), order.tolist(), cover.leaves.of.tolist()
    ([[0, 1, 1, 2]], [1, 0], [75, 9, 6])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = _kind(declared)
    ends = None if kind.ends is None else kind.ends(declared, values, labels)
    order = np.arange(len(labels)) if ends is None else np.lexsort((ends[1], ends[0]))
    placed = labels.take(pa.array(order))
    layers = list(_layers(declared, values, labels))
    covered = np.stack(
        [np.concatenate(([0], np.asarray(pc.index_in(layer, placed).fill_null(-1), np.int64) + 1)) for _, layer in layers]
    )
    numbers = _numbers(values)
    own = np.insert(_by_level(declared, placed), 0, 0) if kind.steps is not None and isinstance(declared, Generalised) else None
    if ends is not None:
        ends = np.concatenate((np.full((2, 1), np.nan), ends[:, order]), axis=1)
    return Cover(
        covered,
        _leaves(declared, kind, values, placed, covered, ends, numbers, domain),
        tuple(level for level, _ in layers),
        np.concatenate(([False], ~kind.has(declared, values) if len(values) else np.zeros(0, np.bool_))),
        _levels(declared) if isinstance(declared, Generalised) else None,
        ends,
        None if ends is None else numbers,
        _steps(declared, kind, values, placed, own),
        own,
    ), order


def _numbers(values: Any) -> NDArray[np.float64]:  # noqa: ANN401  Arrow has no types
    """Return values as numbers, place 0 nan; all nan for names."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_date(kind):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp("us")).cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return np.full(len(values) + 1, np.nan)
    return np.concatenate(([np.nan], np.asarray(values.cast(pa.float64(), safe=False), np.float64)))


def _steps(
    declared: Any,  # noqa: ANN401  whatever a step declares
    kind: _Kind,
    values: Any,  # noqa: ANN401  Arrow has no types
    labels: Any,  # noqa: ANN401  Arrow has no types
    own: NDArray[np.int64] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    import pyarrow as pa

    if kind.steps is None or own is None:
        return None
    sides = [
        kind.steps(declared.form, side, levels)
        for side, levels in ((values, np.zeros(len(values), np.int64)), (labels, own[1:]))
    ]
    found: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]] = ([], [])
    for ours, theirs in zip(*sides, strict=True):
        coded = pa.chunked_array([ours, theirs]).combine_chunks().dictionary_encode()
        codes = np.asarray(coded.indices.fill_null(-1), np.int64) + 1
        for made, part in zip(found, (codes[: len(values)], codes[len(values) :]), strict=True):
            made.append(np.concatenate(([0], part)))
    return np.stack(found[0]), np.stack(found[1])


def _leaves(
    declared: Any,  # noqa: ANN401  whatever a step declares
    kind: _Kind,
    values: Any,  # noqa: ANN401  Arrow has no types
    labels: Any,  # noqa: ANN401  Arrow has no types
    covered: NDArray[np.int64],
    ends: NDArray[np.float64] | None,
    numbers: NDArray[np.float64],
    domain: Domain | None,
) -> Leaves:
    import pyarrow as pa

    if kind.listed:
        sizes = names.listed_under(declared.form, _by_level(declared, labels).tolist(), labels.to_pylist())
        return Leaves(np.array([len(declared.form.leaves), *sizes], np.int64), "listed")
    step = kind.grid(declared)
    if ends is not None and (step is not None or pa.types.is_date(values.type)):
        grid = 1.0 if step is None else float(step)
        low, high = _domain_ends(values, numbers, domain)
        first = np.maximum(ends[0, 1:], low)
        # half-open: a label that ends at or beyond the domain's last value holds it
        last = np.where(ends[0, 1:] == ends[1, 1:], ends[1, 1:], np.minimum(ends[1, 1:] - grid, high))
        inside = np.nan_to_num(np.floor((last - first) / grid + 0.5) + 1)
        whole = min(int(np.floor((high - low) / grid + 0.5)) + 1, _MOST_LEAVES)
        of = np.concatenate(([whole], np.clip(inside, 0, whole)))
        return Leaves(
            of.astype(np.int64), "days" if step is None else "grid", np.stack((np.r_[np.nan, first], np.r_[np.nan, last])), grid
        )
    seen = np.zeros(len(labels) + 1, np.int64)
    for row in covered:
        seen += np.bincount(row[1:], minlength=len(labels) + 1)
    seen[0] = len(values)
    return Leaves(seen, "seen")


def _domain_ends(values: Any, numbers: NDArray[np.float64], domain: Domain | None) -> tuple[float, float]:  # noqa: ANN401
    """Return the least and the greatest number of the declared range, else of the values."""
    import pyarrow as pa

    declared = (None, None) if domain is None else (domain.low, domain.high)
    seen = numbers[np.isfinite(numbers)]
    ends = []
    for written, own in zip(declared, (seen.min(), seen.max()) if len(seen) else (0.0, 0.0), strict=True):
        if written is None:
            ends.append(float(own))
        elif pa.types.is_date(values.type):
            ends.append(float(np.datetime64(written, "D").astype(np.int64)))
        else:
            ends.append(float(Decimal(written)))
    return ends[0], ends[1]
