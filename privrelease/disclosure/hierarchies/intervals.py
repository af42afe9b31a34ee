"""Labels of numbers by intervals: a closed form, so that a column of any number of distinct values needs no list of them.

Whole numbers and numbers on a grid are computed as 64-bit integers, counted in units of the last decimal. Any other number is a double that
tells decimals of at most 15 digits apart; edges are rounded to doubles as the values were, which keeps their order.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.relational.hierarchies import number_text
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.relational.hierarchies import Coded, Intervals, RoundedTo, Write

__all__ = ["coded", "intervals", "rounded"]

#: Whole numbers beyond this have no label but that of an open end: their interval may end outside 64 bits.
_FAR = 2**62
#: Factors of a width beyond this are not distinguished as doubles.
_MOST, _NOWHERE = 2**52, -(2**60)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """``values``: int64 in units of 1 / ``scale``, or float64 where ``scale`` is None. ``kind``: the Arrow type that is given back.

    ``near``: where values are near enough to be computed with. Others can be compared with declared numbers alone: those outside 64 bits are held as the
    least or largest of these.
    """

    values: NDArray[Any]
    scale: int | None
    kind: Any
    near: NDArray[np.bool_]

    def at(self, number: Decimal) -> Any:  # noqa: ANN401  a number of the array's type
        """Return a declared number as the array holds them."""
        return float(number) if self.scale is None else int(number * self.scale)

    def array(self, numbers: NDArray[Any], known: NDArray[np.bool_]) -> Any:  # noqa: ANN401  Arrow has no types
        """Return numbers of the array's kind as Arrow; null where not known."""
        import pyarrow as pa

        if not pa.types.is_decimal(self.kind):
            return pa.array(numbers, mask=~known)
        words = np.column_stack((numbers, numbers >> 63))
        bits = pa.array(known).buffers()[1]
        kind = pa.decimal128(self.kind.precision, self.kind.scale)
        return pa.Array.from_buffers(kind, len(numbers), [bits, pa.py_buffer(words)])


def _numbers(values: Any) -> _Numbers:  # noqa: ANN401  Arrow has no types
    import pyarrow as pa

    if pa.types.is_floating(values.type):
        doubles = np.asarray(values, np.float64) + 0.0  # -0.0 and 0.0 are one value
        return _Numbers(doubles, None, values.type, np.isfinite(doubles))
    if pa.types.is_decimal(values.type):
        exact = values.cast(pa.decimal128(values.type.precision, values.type.scale))
        words = np.frombuffer(exact.buffers()[1], np.int64).reshape(-1, 2)[exact.offset : exact.offset + len(exact)]
        whole, far = words[:, 0].copy(), words[:, 1] != words[:, 0] >> 63
        whole[far] = np.where(words[far, 1] < 0, np.iinfo(np.int64).min, np.iinfo(np.int64).max)
        scale = 10**values.type.scale
    else:
        whole, far, scale = np.asarray(values.cast(pa.int64())), np.False_, 1
    return _Numbers(whole, scale, values.type, (whole > -_FAR) & (whole < _FAR) & ~far)


def _multiple(width: Decimal, factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the doubles nearest to multiples of a decimal."""
    exact = Fraction(width)
    return factor * exact.numerator / exact.denominator


def _places(numbers: _Numbers, level: Decimal | tuple[Decimal, ...]) -> NDArray[np.int64]:
    """Return the number of the interval that each value lies in: that of its multiple, or of its edge (-1, and the last: outside)."""
    if isinstance(level, tuple):
        return (
            np.searchsorted(np.array([numbers.at(edge) for edge in level]), numbers.values, side="right").astype(np.int64) - 1
        )
    if numbers.scale is not None:
        return np.where(numbers.near, numbers.values, 0) // numbers.at(level)  # type: ignore[no-any-return]  # numpy's
    inside = np.where(numbers.near, numbers.values, 0.0)
    with np.errstate(over="ignore"):  # a factor that is too large is told below
        factor = np.floor(inside / float(level))
        factor -= inside < _multiple(level, factor)
        factor += inside >= _multiple(level, factor + 1)
    return np.where(np.abs(factor) < _MOST, factor, _NOWHERE).astype(np.int64)


def intervals(form: Intervals, level: int, write: Write, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the labels of an Arrow array of numbers at a level; null where a value lies in no interval.

    >>> from decimal import Decimal
    >>> import pyarrow as pa
    >>> from privrelease.relational.hierarchies import Intervals
    >>> tens = Intervals((Decimal(10),), top=Decimal(90), step=Decimal(1))
    >>> intervals(tens, 1, "label", pa.array([29, 30, 88, 90, 104])).to_pylist()
    ['[20, 30)', '[30, 40)', '[80, 90)', '90+', '90+']
    >>> intervals(tens, 1, "middle", pa.array([29, 88])).to_pylist()
    [24, 84]
    """
    import pyarrow as pa

    numbers, declared = _numbers(values), form.levels[level - 1]
    places = _places(numbers, declared)
    known = numbers.near & (places != _NOWHERE)
    above = np.zeros(len(places), np.bool_) if form.top is None else numbers.values >= numbers.at(form.top)
    below = np.zeros(len(places), np.bool_) if form.bottom is None else numbers.values < numbers.at(form.bottom)
    if isinstance(declared, tuple):
        known &= (places >= 0) & (places < len(declared) - 1)
    known |= (above | below) & np.isfinite(numbers.values)
    inside = known & ~above & ~below
    found, which = np.unique(places[inside], return_inverse=True) if len(places) < 2**12 else _distinct(places[inside])
    ends = [_ends(form, declared, int(place)) for place in found]
    if write != "label":
        chosen = [low if write == "low" else _middle(low, high, form.step) for low, high in ends]
        if form.top is not None and write == "low":
            chosen.append(form.top)
        low = np.array([numbers.at(one) for one in chosen], numbers.values.dtype)
        made = np.zeros(len(places), numbers.values.dtype)
        made[inside] = low[which]
        if form.top is not None and write == "low":
            made[known & above] = low[-1]
            inside = known & ~below
        return numbers.array(made, inside)
    names = [f"[{number_text(low)}, {number_text(high)})" for low, high in ends]
    names += [] if form.top is None else [f"{number_text(form.top)}+"]
    names += [] if form.bottom is None else [f"<{number_text(form.bottom)}"]
    index = np.zeros(len(places), np.int64)
    index[inside] = which
    index[known & above] = len(ends)
    index[known & below] = len(names) - 1
    return pa.array(names, pa.string()).take(pa.array(index, mask=~known))


def _distinct(places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """As ``numpy.unique`` with the inverse, in no order; without a sort."""
    import pyarrow as pa

    coded = pa.array(places).dictionary_encode()
    return np.asarray(coded.dictionary), np.asarray(coded.indices, np.int64)


def _ends(form: Intervals, level: Decimal | tuple[Decimal, ...], place: int) -> tuple[Decimal, Decimal]:
    low, high = (level[place], level[place + 1]) if isinstance(level, tuple) else (level * place, level * (place + 1))
    return (
        low if form.bottom is None else max(low, form.bottom),
        high if form.top is None else min(high, form.top),
    )


def _middle(low: Decimal, high: Decimal, step: Decimal | None) -> Decimal:
    """The middle of an interval; that of the values in it, rounded down, where they lie on a grid."""
    return (low + high) / 2 if step is None else floor((low + high - step) / 2 / step) * step


def coded(declared: Coded, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return an Arrow array of numbers whose ends are drawn together; null where a number is too large to be computed with.

    >>> from decimal import Decimal
    >>> import pyarrow as pa
    >>> from privrelease.relational.hierarchies import Coded
    >>> coded(Coded(None, Decimal(90)), pa.array([89, 90, 104])).to_pylist()
    ['89', '90+', '90+']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = _numbers(values)
    none = np.zeros(len(numbers.values), np.bool_)
    above = none if declared.top is None else numbers.values >= numbers.at(declared.top)
    below = none if declared.bottom is None else numbers.values < numbers.at(declared.bottom)
    if declared.write != "label":
        top = numbers.values if declared.top is None else np.minimum(numbers.values, numbers.at(declared.top))
        return numbers.array(top, (numbers.near | above & np.isfinite(numbers.values)) & ~below)
    texts = pc.cast(numbers.array(numbers.values, numbers.near), pa.string())
    apart = pc.match_substring_regex(texts, "[eE]")  # very small or large ones, which Arrow writes by their exponent
    if pa.types.is_decimal(numbers.kind) and numbers.kind.scale:
        texts = pc.if_else(apart, texts, pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), "."))
    if apart.true_count:
        plain = [number_text(Decimal(one)) for one in texts.filter(apart).to_pylist()]
        texts = pc.replace_with_mask(texts, pc.fill_null(apart, fill_value=False), pa.array(plain))
    for end, where, name in ((declared.top, above, "{}+"), (declared.bottom, below, "<{}")):
        if end is not None:
            texts = pc.if_else(pa.array(where), pa.scalar(name.format(number_text(end))), texts)
    return texts


def rounded(declared: RoundedTo, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return an Arrow array of whole numbers or numbers on a grid rounded to multiples; null where one is too large to be computed with.

    >>> from decimal import Decimal
    >>> import pyarrow as pa
    >>> from privrelease.relational.hierarchies import RoundedTo
    >>> rounded(RoundedTo(Decimal(10), Decimal(1)), pa.array([14, 15, 25, -5])).to_pylist()
    [10, 20, 20, 0]
    """
    numbers = _numbers(values)
    to = numbers.at(declared.to)
    factor, rest = np.divmod(np.where(numbers.near, numbers.values, 0), to)
    factor += (2 * rest > to) | ((2 * rest == to) & (factor % 2 != 0))
    return numbers.array(factor * to, numbers.near & (np.abs(factor * to) < _FAR))
