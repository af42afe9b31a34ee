"""The levels of a column's hierarchy: how many labels each has, and how many rows its smallest label has. No cell, and no label, is told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from privrelease.errors import UsageError
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.engine.protocol.base import Engine, Staged
    from privrelease.policy.language.datasets import ColumnSpec
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.relational.hierarchies import Form
    from privrelease.relational.schema import TableSource

__all__ = ["HierarchyLevel", "column_source", "levels", "levels_of_data"]


@dataclass(frozen=True, slots=True)
class HierarchyLevel:
    """A level: its number, 0 for values as they are, and what it is called.

    ``labels``: how many there are by the policy alone, or in the data; None: the policy does not say. ``smallest``: rows of the label with the fewest.
    """

    level: int
    name: str
    labels: int | None
    smallest: int | None = None


def _form(loaded: LoadedPolicy, dataset: str | None, column: str) -> tuple[str, ColumnSpec, Form]:
    """Return the dataset, the column and its hierarchy. Raises UsageError C134 where there is none, or several."""
    from privrelease.policy.hierarchies.forms import resolve

    named = {
        (name, one): spec
        for name, found in loaded.policy.datasets.items()
        for one, spec in found.columns.items()
        if spec.hierarchy is not None and (dataset is None or name == dataset)
    }
    found = [key for key in named if key[1] == column]
    if len(found) != 1:
        known = ", ".join(f"{one} of {name}" for name, one in named) or "no column"
        message = f"{'several datasets have' if found else 'there is no'} column {column} with a hierarchy"
        raise UsageError(code="C134", message=message, hint=f"name the dataset with --dataset; with a hierarchy: {known}")
    form, _ = resolve(named[found[0]], loaded.roots)
    assert form is not None  # a policy with faults is not loaded
    return found[0][0], named[found[0]], form


def levels(loaded: LoadedPolicy, dataset: str | None, column: str) -> tuple[HierarchyLevel, ...]:
    """Return the levels of a column's hierarchy, by the policy alone: it is told how many labels a list or a domain has.

    Raises UsageError C134.
    """
    from privrelease.policy.hierarchies.levels import label_counts, level_names

    _, spec, form = _form(loaded, dataset, column)
    named = ("as it is", *level_names(form))
    return tuple(HierarchyLevel(*one) for one in zip(range(len(named)), named, label_counts(spec, form), strict=True))


def levels_of_data(loaded: LoadedPolicy, dataset: str | None, column: str, engine: Engine) -> tuple[HierarchyLevel, ...]:
    """Return the levels with the labels that the source has, and the rows of the smallest of each.

    Raises UsageError C134, and InputError where the source is not as declared or has a value without a label.
    """
    _, _, form = _form(loaded, dataset, column)
    return tuple(_measured(engine, engine.stage(column_source(loaded, dataset, column)), form))


def column_source(loaded: LoadedPolicy, dataset: str | None, column: str) -> TableSource:
    """Return where a column with a hierarchy is read, alone. Raises UsageError C134."""
    from privrelease.plan.sources import release_source

    source = release_source(loaded, _form(loaded, dataset, column)[0])
    others = tuple(one for one in source.columns if one.name != column)
    return replace(source, columns=(source.column(column),), unread=others)


def _measured(engine: Engine, staged: Staged, form: Form) -> Iterator[HierarchyLevel]:
    from functools import partial

    from privrelease.disclosure.hierarchies.labels import generalised, recoding_of
    from privrelease.engine.protocol.base import Recode
    from privrelease.policy.hierarchies.levels import level_names
    from privrelease.relational.hierarchies import Generalised
    from privrelease.relational.schema import ColumnType

    (column,) = staged.columns
    for level, name in enumerate(("as it is", *level_names(form))):
        of = staged
        if level:
            labelled, declared = replace(column, type=ColumnType.CATEGORY, domain=None), Generalised(form, level)
            of = engine.recode(staged, (Recode(labelled, partial(generalised, declared), recoding_of(declared)),))
        (sizes,) = engine.value_sizes(of, (column.name,))
        smallest = int(sizes.sizes[0]) if len(sizes.sizes) else None
        yield HierarchyLevel(level, name, int(sizes.classes.sum()), smallest)
