"""Released intervals, ends and multiples: the numbers that each represents, read from what is released.

A released text is read back to its ends and asked which level could have it; no value of the source is needed for that. Whether a value of the
source lies between these ends is a comparison. Only distinct released values are looked at one by one, of which there are as many as labels.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from math import floor
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from privrelease.relational.hierarchies import number_text
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from privrelease.relational.hierarchies import Coded, Generalised, Intervals, RoundedTo

__all__ = [
    "Extent",
    "coded_as_they_are",
    "coded_at_level",
    "coded_stands",
    "coded_under",
    "extent_of",
    "inside",
    "interval_at_level",
    "interval_has",
    "interval_stands",
]
__all__ += [
    "coded_extent",
    "interval_under",
    "rounded_as_they_are",
    "rounded_at_level",
    "rounded_extent",
    "rounded_stands",
    "rounded_under",
]

_NUMBER = r"(-?[0-9]+(?:\.[0-9]+)?)"
_BETWEEN = re.compile(rf"\[{_NUMBER}, {_NUMBER}\)")
_FROM = re.compile(rf"{_NUMBER}\+")
_BELOW = re.compile(rf"<{_NUMBER}")
_ALONE = re.compile(_NUMBER)
_EXACT = Context(prec=38)


@dataclass(frozen=True, slots=True)
class Extent:
    """The numbers that a released value represents: from ``low`` (None: any) to below ``high`` (None: any), or ``low`` alone where ``single``."""

    low: Decimal | None
    high: Decimal | None
    single: bool = False


#: What a released value represents; None where it is not a value of the level.
Reading: TypeAlias = "Callable[[Any], Extent | None]"


def _number(text: str) -> Decimal | None:
    """Return the number that a label writes; None where it is not written as labels are."""
    number = Decimal(text)
    return number if number_text(number) == text else None


def _ends(label: str) -> Extent | None:
    """Return what a text says that it represents, by its own words alone."""
    if found := _BETWEEN.fullmatch(label):
        low, high = _number(found[1]), _number(found[2])
        return None if low is None or high is None or low >= high else Extent(low, high)
    if found := _FROM.fullmatch(label):
        low = _number(found[1])
        return None if low is None else Extent(low, None)
    if found := _BELOW.fullmatch(label):
        high = _number(found[1])
        return None if high is None else Extent(None, high)
    if _ALONE.fullmatch(label):
        low = _number(label)
        return None if low is None else Extent(low, None, single=True)
    return None


def _is_interval(form: Intervals, level: int, low: Decimal, high: Decimal) -> bool:
    """Tell whether an interval is one of a level: it begins and ends where the level may cut, and the level cuts nowhere within."""
    if (form.bottom is not None and low < form.bottom) or (form.top is not None and high > form.top):
        return False
    cut = form.levels[level - 1]
    if isinstance(cut, tuple):
        return low in cut and cut.index(low) + 1 < len(cut) and cut[cut.index(low) + 1] == high
    begins = low == form.bottom or low % cut == 0
    ends = high == form.top or high % cut == 0
    return begins and ends and (floor(low / cut) + 1) * cut >= high


def _label(form: Intervals, level: int, label: str) -> Extent | None:
    found = _ends(label)
    if found is None:
        return None
    if level == 0:
        return found if found.single else None
    if found.single:
        return None
    if found.low is None or found.high is None:
        return found if (found.low, found.high) in ((form.top, None), (None, form.bottom)) else None
    return found if _is_interval(form, level, found.low, found.high) else None


def _around(form: Intervals, level: int, number: Decimal) -> tuple[Decimal, Decimal] | None:
    """Return the ends of the level's interval with a number in it; None where there is none."""
    cut = form.levels[level - 1]
    if isinstance(cut, tuple):
        place = sum(edge <= number for edge in cut)
        if not 0 < place < len(cut):
            return None
        low, high = cut[place - 1], cut[place]
    else:
        low = floor(number / cut) * cut
        high = low + cut
    low = low if form.bottom is None else max(low, form.bottom)
    high = high if form.top is None else min(high, form.top)
    return (low, high) if low <= number < high else None


def _value(form: Intervals, level: int, write: str, value: Any) -> Extent | None:  # noqa: ANN401  a number of any kind
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if level == 0:
        return Extent(number, None, single=True)
    if write == "low" and number == form.top:
        return Extent(number, None)
    found = _around(form, level, number)
    if found is None:
        return None
    low, high = found
    if write == "low":
        return Extent(low, high) if number == low else None
    if form.step is None:
        return Extent(low, high) if float((low + high) / 2) == float(number) else None
    # as many values below as above, or one less below
    return Extent(low, high) if (high - form.step - number) - (number - low) in (0, form.step) else None


def extent_of(declared: Generalised, level: int) -> Reading:
    """Return what reads released values of a level."""
    form: Any = declared.form
    if declared.write == "label":
        return lambda value: _label(form, level, str(value))
    return lambda value: _value(form, level, declared.write, value)


# --------------------------------------------------------------------------------------------------------------- arrays of values


def _arrow(numbers: Sequence[Decimal | None], kind: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return declared numbers as an Arrow array that values of a column can be compared with, exactly."""
    import pyarrow as pa

    if pa.types.is_floating(kind):
        return pa.array([None if one is None else float(one) for one in numbers], pa.float64())
    scale = max([kind.scale if pa.types.is_decimal(kind) else 0, *(_decimals(one) for one in numbers if one is not None)])
    exact = [None if one is None else one.quantize(Decimal(1).scaleb(-scale), context=_EXACT) for one in numbers]
    return pa.array(exact, pa.decimal128(38, scale))


def _decimals(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _comparable(values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    import pyarrow as pa

    return values.cast(pa.decimal128(19, 0)) if pa.types.is_integer(values.type) else values


def inside(source: Any, released: Any, read: Reading) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of each pair whether the value of the source is one of those that the released one represents."""
    import pyarrow.compute as pc

    coded = released.dictionary_encode()
    extents = [read(value) for value in coded.dictionary.to_pylist()]
    index, values = coded.indices, _comparable(source)
    low = _arrow([None if one is None else one.low for one in extents], source.type)
    high = _arrow([None if one is None else one.high for one in extents], source.type)
    from_low = np.asarray(pc.fill_null(pc.greater_equal(values, low.take(index)), fill_value=True))
    to_high = np.asarray(pc.fill_null(pc.less(values, high.take(index)), fill_value=True))
    same = np.asarray(pc.fill_null(pc.equal(values, low.take(index)), fill_value=False))
    place = np.asarray(index)
    single = np.array([one is not None and one.single for one in extents], np.bool_)[place]
    known = np.array([one is not None for one in extents], np.bool_)[place]
    holds: NDArray[np.bool_] = known & np.where(single, same, from_low & to_high)
    return holds


def each(released: Any, holds: Callable[[Any], bool]) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Ask of each distinct released value; return the answer for every one."""
    coded = released.dictionary_encode()
    answers: NDArray[np.bool_] = np.array([holds(value) for value in coded.dictionary.to_pylist()], np.bool_)[
        np.asarray(coded.indices)
    ]
    return answers


def _under(source: Any, released: Any, read: Reading) -> Any:  # noqa: ANN401  Arrow has no types
    """Return for each value of the source the one of the distinct ``released`` values whose extent it lies in; null where it lies in none.

    Extents of one level have nothing in common, so that the candidate is the one that begins last at or before the value.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found = [(place, extent) for place, value in enumerate(released.to_pylist()) if (extent := read(value)) is not None]
    found.sort(key=lambda one: (one[1].low is not None, one[1].low if one[1].low is not None else Decimal(0)))
    if not found:
        return pa.nulls(len(source), released.type)
    values = _comparable(source)
    lows = _arrow([extent.low for _, extent in found if extent.low is not None], source.type)
    lowest = len(found) - len(lows)
    # both in one sorted array: a value's place among the lows
    order = np.asarray(pc.sort_indices(pa.chunked_array([lows.cast(values.type, safe=False), values]))) if len(lows) else None
    if order is None:
        place = np.full(len(source), lowest - 1)
    else:
        is_low = order < len(lows)
        before = np.cumsum(is_low)
        place = np.empty(len(source), np.int64)
        place[order[~is_low] - len(lows)] = before[~is_low] - 1 + lowest
    candidate = pa.array([one for one, _ in found], pa.int64()).take(pa.array(np.maximum(place, 0)))
    taken = released.take(candidate)
    fits = inside(source, taken, read) & (place >= 0)
    return pc.if_else(pa.array(fits), taken, pa.nulls(len(source), released.type))


# --------------------------------------------------------------------------------------------------------------- what steps declare


def interval_has(declared: Generalised, source: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of values whether some interval of the level holds them: between the outer edges, or beyond an end that is open."""
    import pyarrow as pa

    form: Any = declared.form
    cut = form.levels[declared.level - 1]
    bounds = (None, None) if not isinstance(cut, tuple) else (cut[0], cut[-1])
    low, high = (None if end is not None else bound for end, bound in zip((form.bottom, form.top), bounds, strict=True))
    extent = Extent(low, high)
    return inside(source, pa.array(np.zeros(len(source), np.int64)), lambda _: extent)


def interval_stands(declared: Generalised, source: Any, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of pairs whether the source's value lies in the released interval, of whatever level."""
    form: Any = declared.form
    stands = np.zeros(len(released), np.bool_)
    for level in range(len(form.levels) + 1):
        stands |= inside(source, released, extent_of(declared, level))
    return stands


def interval_at_level(declared: Generalised, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of released values whether they are intervals of the planned level."""
    read = extent_of(declared, declared.level)
    return each(released, lambda value: read(value) is not None)


def interval_under(declared: Generalised, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the released interval of the planned level that each value of the source lies in; null where there is none."""
    return _under(source, released, extent_of(declared, declared.level))


def _coded(declared: Coded, value: Any, *, whatever: bool) -> Extent | None:  # noqa: ANN401  text or number
    """Read a value of a column whose ends are drawn together; ``whatever``: also one that should have been drawn together."""
    if declared.write == "label":
        found = _ends(str(value))
    else:
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        found = Extent(number, None, single=number != declared.top)
        if whatever and not found.single:
            return found
    if found is None or not (found.single or (found.low, found.high) in ((declared.top, None), (None, declared.bottom))):
        return None
    if found.single and not whatever:
        assert found.low is not None
        above = declared.top is not None and found.low >= declared.top
        below = declared.bottom is not None and found.low < declared.bottom
        return None if above or below else found
    return found


def coded_stands(declared: Coded, source: Any, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of pairs whether the released value is the source's, or the end that the source's lies beyond."""
    return inside(source, released, lambda value: _coded(declared, value, whatever=True))


def coded_at_level(declared: Coded, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of released values whether none lies beyond the ends."""
    return each(released, lambda value: _coded(declared, value, whatever=False) is not None)


def coded_under(declared: Coded, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the released value that represents each value of the source; null where there is none."""
    return _under(source, released, lambda value: _coded(declared, value, whatever=False))


def coded_as_they_are(declared: Coded, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the released value, one beyond the ends included, that represents each value of the source; null where there is none."""
    return _under(source, released, lambda value: coded_extent(declared, value))


def coded_extent(declared: Coded, value: Any) -> Extent | None:  # noqa: ANN401  text or number
    """Return the numbers that a released value represents, also where it should have been drawn together."""
    return _coded(declared, value, whatever=True)


def _nearest(declared: RoundedTo, value: Any) -> Extent | None:  # noqa: ANN401  a number of any kind
    """Read a multiple: from half a step below it to half a step above, both ends with it where its factor is even."""
    number = Decimal(value)
    if number % declared.to:
        return None
    even = (number / declared.to) % 2 == 0
    # on a grid "more than" is "at least one grid step more"
    half = declared.to / 2
    low, high = floor((number - half) / declared.step) * declared.step, floor((number + half) / declared.step) * declared.step
    low = low if low == number - half and even else low + declared.step
    on_half = high == number + half
    return Extent(low, high if on_half and not even else high + declared.step)


def rounded_stands(declared: RoundedTo, source: Any, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of pairs whether the released value is the source's or the multiple nearest to it."""
    alone = inside(source, released, lambda value: Extent(Decimal(value), None, single=True))
    return np.logical_or(alone, inside(source, released, lambda value: _nearest(declared, value)))


def rounded_at_level(declared: RoundedTo, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of released values whether they are multiples."""
    return each(released, lambda value: _nearest(declared, value) is not None)


def rounded_under(declared: RoundedTo, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the released multiple that represents each value of the source; null where there is none."""
    return _under(source, released, lambda value: _nearest(declared, value))


def rounded_as_they_are(declared: RoundedTo, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the released number that each value of the source is; null where there is none."""
    del declared
    return _under(source, released, lambda value: Extent(Decimal(value), None, single=True))


def rounded_extent(declared: RoundedTo, value: Any) -> Extent | None:  # noqa: ANN401  a number of any kind
    """Return the numbers that a multiple represents; a number that is no multiple represents itself."""
    return _nearest(declared, value) or Extent(Decimal(value), None, single=True)
