"""Released names: the texts that each represents, as a tree lists them or by their first characters."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.audit.microdata.generalised.intervals import each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.relational.hierarchies import Generalised, Prefixes, Tree

__all__ = [
    "listed_under",
    "prefix_at_level",
    "prefix_stands",
    "prefix_steps",
    "prefix_under",
    "tree_at_level",
    "tree_stands",
    "tree_steps",
]
__all__ += ["tree_under"]


# -------------------------------------------------------------------------------------------------------------------------- trees


@cache
def _leaves_under(tree: Tree, level: int) -> dict[str, frozenset[str]]:
    """Return the values under each label of a level; of level 0 each value itself."""
    found: dict[str, set[str]] = {}
    for leaf, label in zip(tree.leaves, tree.levels[level - 1] if level else tree.leaves, strict=True):
        found.setdefault(label, set()).add(leaf)
    return {label: frozenset(leaves) for label, leaves in found.items()}


def _pairs_stand(tree: Tree, source: Any, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of pairs of a text and a label whether the text is listed under the label; each distinct pair is asked once."""
    ours, theirs = source.dictionary_encode(), released.dictionary_encode()
    values, labels = ours.dictionary.to_pylist(), theirs.dictionary.to_pylist()
    covers = [[_leaves_under(tree, level).get(label, frozenset()) for level in range(len(tree.levels) + 1)] for label in labels]
    pairs = np.asarray(ours.indices, np.int64) * max(1, len(labels)) + np.asarray(theirs.indices, np.int64)
    distinct, which = np.unique(pairs, return_inverse=True)
    answers = [
        any(values[pair // len(labels)] in leaves for leaves in covers[pair % len(labels)]) for pair in distinct.tolist()
    ]
    return np.array(answers, np.bool_)[which]


def tree_stands(declared: Generalised, source: Any, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of pairs whether the source's value is listed under the released label, of whatever level."""
    import pyarrow as pa

    form: Any = declared.form
    return _pairs_stand(form, source.cast(pa.string()), released)


def tree_has(declared: Generalised, source: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of values whether the tree lists them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    form: Any = declared.form
    return _true(pc.is_in(source.cast(pa.string()), pa.array(form.leaves, pa.string())))


def tree_at_level(declared: Generalised, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of released values whether they are labels of the planned level."""
    form: Any = declared.form
    return each(released, _leaves_under(form, declared.level).__contains__)


def _tree_under(tree: Tree, level: int, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    import pyarrow as pa
    import pyarrow.compute as pc

    covers = _leaves_under(tree, level)
    held = {leaf: place for place, label in enumerate(released.to_pylist()) for leaf in covers.get(label, ())}
    place = pc.index_in(source.cast(pa.string()), pa.array(held, pa.string()))
    return released.take(pa.array(list(held.values()), pa.int64()).take(place))


def tree_under(declared: Generalised, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the released label of the planned level that each value of the source is listed under; null where there is none."""
    form: Any = declared.form
    return _tree_under(form, declared.level, source, released)


def listed_under(tree: Tree, levels: Sequence[int], labels: Sequence[str]) -> list[int]:
    """Return how many listed values are under each label of a level; 0 where it is none (level -1)."""
    return [
        len(_leaves_under(tree, level).get(label, ())) if level >= 0 else 0 for level, label in zip(levels, labels, strict=True)
    ]


def tree_steps(tree: Tree, values: Any, levels: Any) -> list[Any]:  # noqa: ANN401  Arrow has no types
    """Return, for each level from the finest, the label that each value or label is under; null for a level below the label's own.

    ``levels``: the level that each is of, 0 for values.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values.cast(pa.string())
    leaf = np.full(len(texts), -1, np.int64)
    for level in range(len(tree.levels), -1, -1):  # any leaf under a label has its ancestors
        names = tree.levels[level - 1] if level else tree.leaves
        found = np.asarray(pc.index_in(texts, pa.array(names, pa.string())).fill_null(-1), np.int64)
        leaf = np.where(np.asarray(levels) == level, found, leaf)
    made = []
    for level, names in enumerate(tree.levels, 1):
        known = (leaf >= 0) & (np.asarray(levels) <= level)
        made.append(pa.array(names, pa.string()).take(pa.array(np.maximum(leaf, 0), mask=~known)))
    return made


# ----------------------------------------------------------------------------------------------------------------------- prefixes


def _true(values: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    return np.asarray(values.fill_null(False), np.bool_)


def _is_prefix(form: Prefixes, level: int, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of labels whether they are so many characters and the filling, of an area that is there and not small."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kept = form.lengths[level - 1]
    found = _true(pc.equal(pc.utf8_length(released), kept + len(form.fill))) & _true(pc.ends_with(released, form.fill))
    start = pc.utf8_slice_codeunits(released, 0, kept)
    if form.small is not None:
        areas = {area[:kept] for area in form.small.others}
        found &= _true(pc.is_in(start, pa.array(sorted(areas), pa.string())))
    if form.then is not None:
        known = pa.array(form.then.leaves, pa.string())
        found &= _true(pc.is_in(pc.utf8_slice_codeunits(released, 0, form.lengths[-1]), known))
    return found


def _long(form: Prefixes, source: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of texts whether they have the characters of the longest prefix."""
    import pyarrow.compute as pc

    return _true(pc.greater_equal(pc.utf8_length(source), form.lengths[0]))


def _begins(form: Prefixes, level: int, source: Any, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of pairs whether the text begins with the label's characters, and is of no small area unless the label says so."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kept = form.lengths[level - 1]
    long = _long(form, source)
    same = pc.equal(pc.utf8_slice_codeunits(source, 0, kept), pc.utf8_slice_codeunits(released, 0, kept))
    found = long & _true(same) & _is_prefix(form, level, released)
    if form.small is None:
        return found
    area = pc.utf8_slice_codeunits(source, 0, form.lengths[0])
    small = _true(pc.is_in(area, pa.array(sorted(form.small.small), pa.string())))
    together = _true(pc.equal(released, form.small.label))
    other = _true(pc.is_in(area, pa.array(sorted(form.small.others), pa.string())))
    return np.where(together, small & long, found & other)


def prefix_stands(declared: Generalised, source: Any, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of pairs whether the source's text begins as the released label says, at whatever level, or is the text itself."""
    import pyarrow.compute as pc

    form: Any = declared.form
    stands = _true(pc.equal(source, released))
    for level in range(1, len(form.lengths) + 1):
        stands |= _begins(form, level, source, released)
    if form.then is not None:
        stands |= _long(form, source) & _pairs_stand(form.then, pc.utf8_slice_codeunits(source, 0, form.lengths[-1]), released)
    return stands


def prefix_at_level(declared: Generalised, released: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of released values whether they are labels of the planned level."""
    import pyarrow.compute as pc

    form: Any = declared.form
    if not declared.level:  # what no level could have written
        levels = range(1, len(form.lengths) + (0 if form.then is None else len(form.then.levels)) + 1)
        known = [prefix_at_level(replace(declared, level=level), released) for level in levels]
        none: NDArray[np.bool_] = np.logical_not(np.any(known, axis=0))
        return none
    above = declared.level - len(form.lengths)
    if above > 0:
        return each(released, _leaves_under(form.then, above).__contains__)
    found = _is_prefix(form, declared.level, released)
    return found if form.small is None else found | _true(pc.equal(released, form.small.label))


def prefix_under(declared: Generalised, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the released label of the planned level that each text of the source is under; null where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    form: Any = declared.form
    if not len(released) or not declared.level:
        return released.take(pc.index_in(source, released))
    above = declared.level - len(form.lengths)
    if above > 0:
        found = _tree_under(form.then, above, pc.utf8_slice_codeunits(source, 0, form.lengths[-1]), released)
        return pc.if_else(pa.array(_long(form, source)), found, pa.scalar(None, released.type))
    kept = form.lengths[declared.level - 1]
    own = pa.array(_is_prefix(form, declared.level, released))
    starts = pc.if_else(own, pc.utf8_slice_codeunits(released, 0, kept), pa.scalar(None, pa.string()))
    begin = pc.utf8_slice_codeunits(source, 0, kept)
    candidate = released.take(pc.index_in(begin, starts, skip_nulls=True))
    if form.small is not None and form.small.label in released.to_pylist():
        area = pc.utf8_slice_codeunits(source, 0, form.lengths[0])
        small = pc.is_in(area, pa.array(sorted(form.small.small), pa.string()))
        candidate = pc.if_else(small, pa.scalar(form.small.label, released.type), candidate)
    known = np.asarray(candidate.is_valid())
    fits = np.zeros(len(source), np.bool_)
    mask = pa.array(known)
    fits[known] = _begins(form, declared.level, source.filter(mask), candidate.filter(mask))
    return pc.if_else(pa.array(fits), candidate, pa.scalar(None, released.type))


def prefix_steps(form: Prefixes, values: Any, levels: Any) -> list[Any]:  # noqa: ANN401  Arrow has no types
    """As :func:`tree_steps`: the first characters at each level, then the tree's. Areas of few persons are one group at every level."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, none = values.cast(pa.string()), pa.scalar(None, pa.string())
    own = np.asarray(levels)
    together = np.zeros(len(texts), np.bool_)
    if form.small is not None:
        areas = pc.utf8_slice_codeunits(texts, 0, form.lengths[0])
        few = _true(pc.is_in(areas, pa.array(sorted(form.small.small), pa.string())))
        together = np.where(own == 0, few, _true(pc.equal(texts, form.small.label)))
    starts = []
    for level, kept in enumerate(form.lengths, 1):
        # no text is empty, so that this is the beginning of none
        begin = pc.if_else(pa.array(together), pa.scalar("", pa.string()), pc.utf8_slice_codeunits(texts, 0, kept))
        starts.append(pc.if_else(pa.array(own <= level), begin, none))
    if form.then is None:
        return starts
    short = pc.if_else(pa.array(own <= len(form.lengths)), pc.utf8_slice_codeunits(texts, 0, form.lengths[-1]), texts)
    return [*starts, *tree_steps(form.then, short, np.maximum(own - len(form.lengths), 0))]


def prefix_has(declared: Generalised, source: Any) -> NDArray[np.bool_]:  # noqa: ANN401  Arrow has no types
    """Tell of texts whether they are long enough, of an area that is listed and of a prefix that the tree lists."""
    import pyarrow as pa
    import pyarrow.compute as pc

    form: Any = declared.form
    found: NDArray[np.bool_] = _long(form, source)
    if form.then is not None:
        found &= _true(pc.is_in(pc.utf8_slice_codeunits(source, 0, form.lengths[-1]), pa.array(form.then.leaves, pa.string())))
    if form.small is not None:
        areas = pa.array(sorted(form.small.small | form.small.others), pa.string())
        found &= _true(pc.is_in(pc.utf8_slice_codeunits(source, 0, form.lengths[0]), areas))
    return found
