"""From the keys of a hierarchy to its form, or everything that is wrong with it."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from privrelease.policy.hierarchies.files import Fault, listed_tree, parents_tree, small_areas
from privrelease.policy.text.messages import shown
from privrelease.relational.hierarchies import DATE_UNITS, Dates, Intervals, Prefixes, Tree, number_text
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from privrelease.policy.language.datasets import ColumnSpec
    from privrelease.policy.language.hierarchies import HierarchySpec
    from privrelease.policy.validation.paths import Roots
    from privrelease.relational.hierarchies import Form

__all__ = ["resolve", "step_of"]

_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.NUMBER})
_NAMES = frozenset({ColumnType.STRING, ColumnType.CATEGORY})
#: Of each form: the keys that go with it, and the types of column that it is for.
_FORMS: dict[str, tuple[frozenset[str], frozenset[ColumnType]]] = {
    "widths": (frozenset({"bottom", "top"}), _NUMBERS),
    "edges": (frozenset({"bottom", "top"}), _NUMBERS),
    "date": (frozenset(), frozenset({ColumnType.DATE, ColumnType.DATETIME})),
    "prefix": (frozenset({"fill", "small", "then"}), _NAMES),
    "csv": (frozenset({"delimiter", "heading"}), _NAMES | {ColumnType.INTEGER}),
    "parents": (frozenset({"delimiter", "heading"}), _NAMES | {ColumnType.INTEGER}),
}
_Resolved = tuple["Form | None", list[Fault]]
_DIGITS = 15


def step_of(spec: ColumnSpec) -> Decimal | None:
    """Return the step on which a column's numbers are exact; None where they are any numbers.

    Of whole numbers 1, of others their grid.
    """
    return Decimal(1) if spec.type is ColumnType.INTEGER else spec.grid


def resolve(spec: ColumnSpec, roots: Roots) -> _Resolved:
    """Return the form of a column's hierarchy, or all that is wrong with it; its files are read below ``roots``."""
    hierarchy = spec.hierarchy
    assert hierarchy is not None
    given = [name for name in _FORMS if getattr(hierarchy, name) is not None]
    if len(given) != 1:
        message = "a hierarchy needs one form" if not given else f"a hierarchy has one form, not {' and '.join(given)}"
        return None, [Fault("P565", message, tuple(given[1:2]), f"write one of {', '.join(_FORMS)}")]
    form = given[0]
    along, types = _FORMS[form]
    faults = [
        Fault("P565", f"{key} says nothing about {form}", (key,), "remove it")
        for key in ("bottom", "top", "fill", "small", "then", "delimiter", "heading")
        if key not in along and getattr(hierarchy, key) != type(hierarchy).model_fields[key].default
    ]
    if spec.type not in types:
        message = f"{form} is for columns of type {' or '.join(sorted(types))}, not {spec.type.value}"
        faults.append(Fault("P566", message, (form,), "write another form, or correct the type"))
    if faults:
        return None, faults
    found: _Resolved = _RESOLVERS[form](spec, hierarchy, roots)
    return found


def _intervals(spec: ColumnSpec, hierarchy: HierarchySpec, _roots: Roots) -> _Resolved:
    faults = [*_inexact(spec, hierarchy), *_unnested(hierarchy)]
    if not faults:
        faults = list(_outside(spec, hierarchy))
    levels: tuple[Any, ...] = hierarchy.widths if hierarchy.widths is not None else hierarchy.edges or ()
    return None if faults else Intervals(levels, hierarchy.bottom, hierarchy.top, step_of(spec)), faults


def _written_numbers(hierarchy: HierarchySpec) -> Iterator[tuple[Decimal, tuple[str | int, ...]]]:
    for number, width in enumerate(hierarchy.widths or ()):
        yield width, ("widths", number)
    for level, edges in enumerate(hierarchy.edges or ()):
        for number, edge in enumerate(edges):
            yield edge, ("edges", level, number)
    for key in ("bottom", "top"):
        if (end := getattr(hierarchy, key)) is not None:
            yield end, (key,)


def inexact(spec: ColumnSpec, number: Decimal) -> str | None:
    """Return why a column has no such number; None where it can have it."""
    step = step_of(spec)
    if step is not None and number % step:
        return "is not a whole number" if spec.type is ColumnType.INTEGER else f"is not on the grid {step}"
    if len(number.normalize().as_tuple().digits) > _DIGITS or abs(number) >= 10**_DIGITS * (step or 1):
        return f"has more than {_DIGITS} digits"
    return None


def _inexact(spec: ColumnSpec, hierarchy: HierarchySpec) -> Iterator[Fault]:
    for number, path in _written_numbers(hierarchy):
        if (why := inexact(spec, number)) is not None:
            yield Fault("P567", f"{shown(number)} {why}", path, "write a number that the column can hold")


def _unnested(hierarchy: HierarchySpec) -> Iterator[Fault]:
    for number, (finer, wider) in enumerate(pairwise(hierarchy.widths or ()), 1):
        if wider <= finer or wider % finer:
            message = f"width {number_text(wider)} is not a multiple of the {number_text(finer)} before it: their intervals do not nest"
            yield Fault("P567", message, ("widths", number), "write widths of which each divides the next, such as [5, 10, 20]")
    for level, edges in enumerate(hierarchy.edges or ()):
        for number, (low, high) in enumerate(pairwise(edges), 1):
            if high <= low:
                yield Fault("P567", "edges do not ascend", ("edges", level, number), "write them in ascending order")
    for level, (inner, outer) in enumerate(pairwise(hierarchy.edges or ()), 1):
        if not set(outer) < set(inner) or (inner[0], inner[-1]) != (outer[0], outer[-1]):
            message = f"edges of level {level + 1} are not some of level {level} with both of its ends: they do not nest"
            yield Fault("P567", message, ("edges", level), "leave out inner edges of the level before")
    yield from _ends_apart(hierarchy)


def _ends_apart(hierarchy: HierarchySpec) -> Iterator[Fault]:
    """Yield ends in the wrong order, and edges that end elsewhere."""
    bottom, top = hierarchy.bottom, hierarchy.top
    if bottom is not None and top is not None and bottom >= top:
        yield Fault("P568", "top is not above bottom", ("top",), "write a larger one")
    for level, edges in enumerate(hierarchy.edges or ()):
        for end, edge, key, place in ((bottom, edges[0], "bottom", 0), (top, edges[-1], "top", len(edges) - 1)):
            if end is not None and end != edge:
                message = (
                    f"{key} is {number_text(end)}, and the edges {'begin' if key == 'bottom' else 'end'} at {number_text(edge)}"
                )
                yield Fault("P568", message, ("edges", level, place), f"write {number_text(end)} there")


def _outside(spec: ColumnSpec, hierarchy: HierarchySpec) -> Iterator[Fault]:
    """Yield ends and edges outside a declared range, and a range of which some part has no label."""
    if spec.domain is None or spec.domain.range is None:
        return
    try:
        low, high = (Decimal(text) for text in spec.domain.range)
    except ArithmeticError:
        return  # that is a fault of the domain
    for key, end in (("bottom", hierarchy.bottom), ("top", hierarchy.top)):
        if end is not None and not low < end <= high:
            message = f"{key} {number_text(end)} is outside the domain [{number_text(low)}, {number_text(high)}]"
            yield Fault("P568", message, (key,), "write a number within the domain")
    last = high + (step_of(spec) or 0)
    for level, edges in enumerate(hierarchy.edges or ()):
        for number, edge in enumerate(edges):
            if not low <= edge <= last:
                message = f"edge {number_text(edge)} is outside the domain [{number_text(low)}, {number_text(high)}]"
                yield Fault("P568", message, ("edges", level, number), "write an edge within the domain")
        if hierarchy.bottom is None and edges[0] > low:
            message = f"edges begin at {number_text(edges[0])}, and the domain at {number_text(low)}"
            yield Fault("P568", message, ("edges", level, 0), f"begin at {number_text(low)}, or write `bottom`")
        if hierarchy.top is None and edges[-1] <= high:
            message = f"edges end below {number_text(edges[-1])}, and the domain holds {number_text(high)}"
            yield Fault("P568", message, ("edges", level, len(edges) - 1), "write a larger edge, or `top`")


def _dates(spec: ColumnSpec, hierarchy: HierarchySpec, _roots: Roots) -> _Resolved:
    levels: tuple[Any, ...] = hierarchy.date or ()
    finest = DATE_UNITS.index("week") if spec.type is ColumnType.DATE else 0
    faults = [
        Fault(
            "P569",
            f"{unit} is not coarser than a day, which the column holds",
            ("date", number),
            "write week, month or a coarser one",
        )
        for number, unit in enumerate(levels)
        if DATE_UNITS.index(unit) < finest
    ]
    for number, (finer, wider) in enumerate(pairwise(levels), 1):
        if finer == "week":
            message = f"weeks do not nest in {wider}s: a week lies in two of them"
            faults.append(Fault("P569", message, ("date", number), "write week last, or a hierarchy without it"))
        elif DATE_UNITS.index(wider) <= DATE_UNITS.index(finer):
            faults.append(Fault("P569", f"{wider} is not coarser than {finer}", ("date", number), "begin with the finest unit"))
    return None if faults else Dates(levels), faults


def _prefixes(spec: ColumnSpec, hierarchy: HierarchySpec, roots: Roots) -> _Resolved:
    lengths, fill = hierarchy.prefix or (), hierarchy.fill or ""
    faults = [
        Fault("P570", f"a prefix of {shorter} characters is not shorter than the one before", ("prefix", number), "write fewer")
        for number, (longer, shorter) in enumerate(pairwise(lengths), 1)
        if shorter >= longer
    ]
    values = () if spec.domain is None else spec.domain.values or ()
    short = sum(len(value) < lengths[0] for value in values)
    if short:
        message = f"{short} of the values of the domain {'is' if short == 1 else 'are'} shorter than the prefix of {lengths[0]} characters"
        faults.append(Fault("P570", message, ("prefix", 0), "write a shorter prefix, or list labels in a file (`csv`)"))
    small = then = None
    if hierarchy.then is not None and (hierarchy.fill is not None or hierarchy.small is not None):
        key = "fill" if hierarchy.fill is not None else "small"
        faults.append(Fault("P565", f"{key} says nothing about prefixes with levels of a file above them", (key,), "remove it"))
    elif hierarchy.then is not None and not faults:
        more = hierarchy.then
        then, faults = parents_tree(more.parents, roots, more.delimiter, ("then", "parents"), heading=more.heading)
        wrong = 0 if then is None else sum(len(leaf) != lengths[-1] for leaf in then.leaves)
        if wrong:
            message = f"{wrong} of the values of {more.parents} do not have the {lengths[-1]} characters of the last prefix"
            faults.append(Fault("P570", message, ("then", "parents"), "list parents of prefixes"))
        if then is not None and values and not faults:
            faults += _uncovered({value[: lengths[-1]] for value in values}, then, ("then", "parents"), more.parents)
            faults += _of_others(values, lengths, then, more.parents)
    elif hierarchy.small is not None and not faults:
        one = hierarchy.small
        small, faults = small_areas(one.file, roots, one.above, one.label, lengths, fill)
    return None if faults else Prefixes(lengths, fill, small, then), faults


def _tree(spec: ColumnSpec, hierarchy: HierarchySpec, roots: Roots) -> _Resolved:
    key = "csv" if hierarchy.csv is not None else "parents"
    written = str(getattr(hierarchy, key))
    if len(hierarchy.delimiter) != 1:
        return None, [Fault("P565", "delimiter must be one character", ("delimiter",), 'write ";" or ","')]
    if key == "csv":
        tree, faults = listed_tree(written, roots, hierarchy.delimiter, heading=hierarchy.heading)
    else:
        tree, faults = parents_tree(written, roots, hierarchy.delimiter, ("parents",), heading=hierarchy.heading)
    if tree is not None and spec.type is ColumnType.INTEGER and any(not _is_whole(leaf) for leaf in tree.leaves):
        message = f"{written} lists a value that is not a whole number as it is written here"
        faults.append(Fault("P566", message, (key,), "write 7, not 07 or 7.0"))
    if tree is not None and spec.domain is not None and spec.domain.values is not None and not faults:
        faults += _uncovered(set(spec.domain.values), tree, (key,), written)
    return None if faults else tree, faults


def _of_others(values: tuple[str, ...], lengths: tuple[int, ...], tree: Tree, written: str) -> Iterator[Fault]:
    """Yield labels of a tree over prefixes that are a value of the domain, or its prefix, under another label."""
    place = {leaf: at for at, leaf in enumerate(tree.leaves)}
    found = set()
    for labels in tree.levels:
        known = set(labels)
        for value in values:
            at = place.get(value[: lengths[-1]])
            texts = {value, *(value[:length] for length in lengths)} & known
            found |= texts if at is None else texts - {labels[at]}
    if found:
        message = f"{len(found)} of the labels of {written} {'is a value or prefix' if len(found) == 1 else 'are values or prefixes'} of other values of the domain"
        yield Fault("P573", message, ("then", "parents"), "give labels names that no value or prefix has")


def _uncovered(values: set[str], tree: Tree, key: tuple[str, ...], written: str) -> Iterator[Fault]:
    lacking = len(values - set(tree.leaves))
    if lacking:
        message = f"{written} lacks {lacking} of the {len(values)} values of the domain"
        yield Fault("P579", message, key, "list every value of the domain")


def _is_whole(text: str) -> bool:
    try:
        return str(int(text)) == text
    except ValueError:
        return False


_RESOLVERS: dict[str, Callable[[ColumnSpec, HierarchySpec, Roots], _Resolved]] = {
    "widths": _intervals,
    "edges": _intervals,
    "date": _dates,
    "prefix": _prefixes,
    "csv": _tree,
    "parents": _tree,
}
