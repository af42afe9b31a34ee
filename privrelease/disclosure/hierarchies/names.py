"""Labels of texts: by a tree that lists them, or by their first characters.

A tree is looked up among the distinct values, which Arrow holds as a dictionary. First characters are a closed form: they are Unicode characters and not
bytes, so that a letter with an accent that is one character stays whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privrelease.relational.hierarchies import Prefixes, Tree, Write

__all__ = ["looked_up", "prefixes", "read_as_others"]


def looked_up(form: Tree, level: int, write: Write, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the labels of an Arrow array of texts or whole numbers at a level; null for what the tree lacks.

    >>> import pyarrow as pa
    >>> from privrelease.relational.hierarchies import Tree
    >>> ages = Tree(("34", "45"), (("30-39", "40-49"), ("*", "*")))
    >>> looked_up(ages, 1, "label", pa.array([45, 99])).to_pylist()
    ['40-49', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    del write
    place = pc.index_in(values.cast(pa.string()), pa.array(form.leaves, pa.string()))
    return pa.array(form.levels[level - 1], pa.string()).take(place)


def prefixes(form: Prefixes, level: int, write: Write, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the labels of an Arrow array of texts at a level; null for one shorter than the longest prefix, and for an area that is not listed.

    >>> import pyarrow as pa
    >>> from privrelease.relational.hierarchies import Prefixes
    >>> prefixes(Prefixes((3, 2), "*"), 2, "label", pa.array(["02139", "0"])).to_pylist()
    ['02*', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values.cast(pa.string())
    longest, shortest = form.lengths[0], form.lengths[-1]
    # characters, not bytes
    covered = pc.greater_equal(pc.utf8_length(texts), longest)
    texts = pc.if_else(covered, texts, pa.scalar(None, pa.string()))
    if level > len(form.lengths):
        assert form.then is not None
        return looked_up(form.then, level - len(form.lengths), write, pc.utf8_slice_codeunits(texts, 0, shortest))
    labels = pc.binary_join_element_wise(pc.utf8_slice_codeunits(texts, 0, form.lengths[level - 1]), form.fill, "")
    if form.then is not None:  # what the tree lacks is covered at no level
        known = pc.is_in(pc.utf8_slice_codeunits(texts, 0, shortest), pa.array(form.then.leaves, pa.string()))
        labels = pc.if_else(known, labels, pa.scalar(None, pa.string()))
    if form.small is None:
        return labels
    area = pc.utf8_slice_codeunits(texts, 0, longest)
    small = pc.is_in(area, pa.array(sorted(form.small.small), pa.string()))
    other = pc.is_in(area, pa.array(sorted(form.small.others), pa.string()))
    return pc.if_else(small, form.small.label, pc.if_else(other, labels, pa.scalar(None, pa.string())))


def read_as_others(form: Prefixes, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Tell of an Arrow array of texts which of them, or of their prefixes, are a label of a tree over prefixes that other values are written as.

    >>> import pyarrow as pa
    >>> from privrelease.relational.hierarchies import Prefixes, Tree
    >>> form = Prefixes((3, 2), then=Tree(("31", "32"), (("320", "x"),)))
    >>> read_as_others(form, pa.array(["3100", "3200"])).to_pylist()
    [False, True]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values.cast(pa.string())
    found = pa.repeat(False, len(texts))
    if form.then is None:
        return found
    begins = [texts, *(pc.utf8_slice_codeunits(texts, 0, length) for length in form.lengths)]
    for level, names in enumerate(form.then.levels, 1):
        own, known = looked_up(form.then, level, "label", begins[-1]), pa.array(sorted(set(names)), pa.string())
        for begin in begins:
            found = pc.or_(found, pc.and_(pc.is_in(begin, known), pc.fill_null(pc.not_equal(begin, own), fill_value=True)))
    return found
