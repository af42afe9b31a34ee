"""Releases of rows about persons, as a kind: rules, what is released, and how two of them are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from privrelease.policy.language.releases import STEPS, DropStep, MicrodataRelease, PseudonymiseStep, SuppressCells
from privrelease.policy.release_kind import FileOrder, ReleaseKind, values_of
from privrelease.policy.rules.approvals import frontier_rules
from privrelease.policy.rules.recipients import recipient_rules, rows_and_table_rules
from privrelease.policy.rules.releases import release_rules
from privrelease.policy.rules.rule_context import leaving
from privrelease.relational.treatments import AS_IS, Pseudonym

if TYPE_CHECKING:
    from privrelease.policy.language.datasets import Dataset
    from privrelease.relational.schema import ColumnType

__all__ = ["MICRODATA"]

_Path = tuple[str | int, ...]


def _columns(release: MicrodataRelease, dataset: Dataset) -> dict[str, ColumnType]:
    out = leaving(release, dataset)
    tokens = {name: Pseudonym(key) for name, key in out.pseudonyms.items()}
    return {name: tokens.get(name, AS_IS).released_type(dataset.columns[name].type) for name in out.columns}


def _compared(release: MicrodataRelease, values: dict[str, object]) -> dict[str, object]:
    """Steps by their names, and columns of steps of one name together: where they are written changes nothing."""
    found = {key: value for key, value in values.items() if key != "transform"}
    found["drop"] = tuple(name for step in release.transform if isinstance(step, DropStep) for name in step.drop)
    steps = [step for step in release.transform if isinstance(step, PseudonymiseStep)]
    found["pseudonymise"] = {name: step.key for step in steps for name in step.pseudonymise}
    for step in release.transform:
        if isinstance(step, SuppressCells):
            found["suppress"] = values_of(step)
    return found


def _place(release: MicrodataRelease, below: tuple[str, ...]) -> _Path:
    """Names of a step lead to the step: the one that lists the column, else the first of that name."""
    model = dict(STEPS).get(below[0])
    if model is None:
        return below
    steps = [(index, getattr(step, below[0])) for index, step in enumerate(release.transform) if isinstance(step, model)]
    named = below[1] if below[0] == "pseudonymise" and len(below) > 1 else None
    step = next((index for index, listed in steps if named is None or named in listed), steps[0][0] if steps else None)
    if step is None:
        return ("transform",)
    inside = below[1:] if below[0] == "suppress" else below[:1]
    return ("transform", step, *(inside or below[:1]))


def _entry(release: MicrodataRelease, below: tuple[str, ...], item: object) -> _Path | None:
    """The path of a column in the step that drops it; there may be several such steps."""
    if below != ("drop",):
        return None
    column = cast("str", item)
    return next(
        ("transform", index, "drop", step.drop.index(column))
        for index, step in enumerate(release.transform)
        if isinstance(step, DropStep) and column in step.drop
    )


def _orders(release: MicrodataRelease, dataset: Dataset | None) -> tuple[FileOrder, ...]:
    """Columns are released as the dataset declares them where none is selected."""
    if release.columns is not None or dataset is None:
        return ()
    words = f", and leave so in {release.id}"
    return (FileOrder("columns", ("datasets", release.from_, "columns"), leaving(release, dataset).columns, words),)


MICRODATA = ReleaseKind(
    name="microdata",
    model=MicrodataRelease,
    rules=(release_rules, frontier_rules, recipient_rules, rows_and_table_rules),
    columns=_columns,
    source_checks="decides",
    steps=STEPS,
    rows=leaving,
    protected=lambda release: release.protect,
    compared=_compared,
    place=_place,
    entry=_entry,
    orders=_orders,
)
