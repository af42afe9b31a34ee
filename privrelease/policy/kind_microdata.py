"""Releases of rows about persons, as a kind: rules, what is released, and how two of them are compared."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from privrelease.policy.language.releases import STEPS, microdata_model
from privrelease.policy.release_kind import FileOrder, ReleaseKind, values_of
from privrelease.policy.rules.approvals import frontier_rules
from privrelease.policy.rules.recipients import recipient_rules, rows_and_table_rules
from privrelease.policy.rules.releases import release_rules
from privrelease.policy.rules.rule_context import leaving
from privrelease.policy.rules.steps import step_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.releases import MicrodataRelease, Steps
    from privrelease.relational.schema import ColumnType

__all__ = ["MICRODATA", "microdata_kind"]

_Path = tuple[str | int, ...]


def _columns(release: MicrodataRelease, dataset: Dataset) -> dict[str, ColumnType]:
    out = leaving(release, dataset)
    return {name: out.treatment(name).released_type(dataset.columns[name].type) for name in out.columns}


def _compared(steps: Steps) -> Callable[[MicrodataRelease, dict[str, object]], dict[str, object]]:
    """Steps by their names, and columns of steps of one name together: where they are written changes nothing."""

    def compared(release: MicrodataRelease, values: dict[str, object]) -> dict[str, object]:
        found = {key: value for key, value in values.items() if key != "transform"}
        for step in steps:
            together = step.compared([one for one in release.transform if one.named == step.named])
            if together is not None:
                found[step.named] = values_of(together)
        return found

    return compared


def _place(steps: Steps) -> Callable[[MicrodataRelease, tuple[str, ...]], _Path]:
    """Names of a step lead to the step: the one that lists the column, else the first of that name."""

    def place(release: MicrodataRelease, below: tuple[str, ...]) -> _Path:
        step = next((one for one in steps if one.named == below[0]), None)
        if step is None:
            return below
        found = [(index, one.listed()) for index, one in enumerate(release.transform) if one.named == step.named]
        named = below[1] if len(below) > 1 else None
        at = next((index for index, listed in found if named in listed), found[0][0] if found else None)
        return ("transform",) if at is None else ("transform", at, *step.within(below))

    return place


def _entry(release: MicrodataRelease, below: tuple[str, ...], item: object) -> _Path | None:
    """The path of a column in the step that lists it, of which there may be several of one name; of the value that a column has by such a step."""
    for index, step in enumerate(release.transform):
        if step.named == below[0] and len(below) == 1 and item in step.listed():
            return ("transform", index, step.named, step.listed().index(str(item)))
        if step.named == below[0] and len(below) > 1 and step.valued is not None and below[1] in step.listed():
            return ("transform", index, step.valued)
    return None


def _orders(release: MicrodataRelease, dataset: Dataset | None) -> tuple[FileOrder, ...]:
    """Columns are released as the dataset declares them where none is selected."""
    if release.columns is not None or dataset is None:
        return ()
    words = f", and leave so in {release.id}"
    return (FileOrder("columns", ("datasets", release.from_, "columns"), leaving(release, dataset).columns, words),)


@cache
def microdata_kind(steps: Steps = STEPS) -> ReleaseKind[MicrodataRelease]:
    """Return the kind of releases of rows that may have these transform steps."""
    return ReleaseKind(
        name="microdata",
        model=microdata_model(steps),
        rules=(release_rules, step_rules, frontier_rules, recipient_rules, rows_and_table_rules),
        columns=_columns,
        source_checks="decides",
        steps=tuple((step.named, step) for step in steps),
        rows=leaving,
        protected=lambda release: release.protect,
        compared=_compared(steps),
        place=_place(steps),
        entry=_entry,
        orders=_orders,
    )


MICRODATA = microdata_kind()
