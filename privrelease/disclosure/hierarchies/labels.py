"""Released values of columns that are written coarser, by what is declared of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privrelease.disclosure.hierarchies.dates import periods
from privrelease.disclosure.hierarchies.intervals import coded, intervals, rounded
from privrelease.disclosure.hierarchies.names import looked_up, prefixes
from privrelease.relational.hierarchies import Coded, Dates, Generalised, Intervals, Prefixes, RoundedTo, Tree
from privrelease.relational.recoding import DatePart, Ends, Interval, Lookup, Multiple, Prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.relational.recoding import Recoding

__all__ = ["ends", "generalised", "multiples", "recoding_of"]

#: What makes labels, by the class of the form: from the form, the level, what is written, and the values.
_FORMS: dict[type[Any], Callable[..., Any]] = {Intervals: intervals, Dates: periods, Prefixes: prefixes, Tree: looked_up}


def generalised(declared: Generalised, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return what is released for each of an Arrow array of values, none missing; null where the hierarchy has no label for one.

    >>> import pyarrow as pa
    >>> from privrelease.relational.hierarchies import Generalised
    >>> generalised(Generalised(Prefixes((3,)), 1), pa.array(["02139"])).to_pylist()
    ['021']
    """
    return _FORMS[type(declared.form)](declared.form, declared.level, declared.write, values)


def ends(declared: Coded, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return numbers whose ends are drawn together.

    >>> from decimal import Decimal
    >>> import pyarrow as pa
    >>> ends(Coded(None, Decimal(90), "low"), pa.array([89, 104])).to_pylist()
    [89, 90]
    """
    return coded(declared, values)


def multiples(declared: RoundedTo, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return numbers rounded to multiples.

    >>> from decimal import Decimal
    >>> import pyarrow as pa
    >>> multiples(RoundedTo(Decimal(5), Decimal(1)), pa.array([61, 63])).to_pylist()
    [60, 65]
    """
    return rounded(declared, values)


def recoding_of(declared: Generalised | Coded | RoundedTo) -> Recoding:
    """Return how values that are written alike are drawn together; of a tree the list of its labels.

    What is released for the representative of a value is what is released for the value.

    >>> from decimal import Decimal
    >>> recoding_of(Generalised(Dates(("month", "year")), 2))
    DatePart(unit='year')
    >>> recoding_of(RoundedTo(Decimal(5), Decimal(1)))
    Multiple(to=Decimal('5'))
    """
    if isinstance(declared, Coded):
        return Ends(declared.bottom, declared.top)
    if isinstance(declared, RoundedTo):
        return Multiple(declared.to)
    level = declared.level - 1
    match declared.form:
        case Intervals(levels, bottom, top):
            return Interval(levels[level], Ends(bottom, top))
        case Dates(units):
            return DatePart(units[level])
        case Tree(leaves, names):
            return Lookup(leaves, names[level])
        case Prefixes(lengths, then=then):
            # labels of the tree, which no value may be: such a value is found among representatives, too (names.read_as_others)
            named = () if then is None else (name for names in then.levels for name in names)
            return Prefix(lengths[0], frozenset(named))
