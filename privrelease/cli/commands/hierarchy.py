"""``privrelease hierarchy``: the levels of a column's hierarchy, with the number of labels of each and, of the data, the smallest label.

Nothing is written, and no value and no label is printed: a label of few rows may name somebody.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from privrelease.cli.commands.plan import table
from privrelease.cli.exit import Ending
from privrelease.cli.progress import world_of
from privrelease.execute.microdata.hierarchy_levels import levels
from privrelease.pipeline.microdata import levels_of_data
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.execute.microdata.hierarchy_levels import HierarchyLevel
    from privrelease.pipeline.settings import Settings

__all__ = ["Asked", "hierarchy"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The column, its dataset (None: the one that has it), and whether the source is read."""

    column: str
    dataset: str | None = None
    data: bool = False


def hierarchy(policy: Path, settings: Settings, asked: Asked, console: Console) -> Ending:
    """Print the levels. Raises UsageError (C134), and InputError where the source is not as declared."""
    loaded, _ = settings.load(policy)
    for finding in loaded.warnings:
        console.log(str(finding))
    if asked.data:
        found = levels_of_data(loaded, asked.dataset, asked.column, world_of(settings, console))
    else:
        found = levels(loaded, asked.dataset, asked.column)
    if console.json:
        console.document([asdict(one) for one in found])
    else:
        table(_heads(asked), [_row(one, asked) for one in found], f"hierarchy of {asked.column}", console)
    return Ending(
        0, "the source was read, and nothing was written" if asked.data else "no row was read, and nothing was written"
    )


def _heads(asked: Asked) -> tuple[str, ...]:
    return ("level", "is", "labels", "rows of the smallest") if asked.data else ("level", "is", "labels")


def _row(one: HierarchyLevel, asked: Asked) -> tuple[str, ...]:
    """Return the cells of a level; a number that the policy does not say is not made up."""
    labels = "not declared" if one.labels is None else f"{one.labels:,}"
    smallest = "none" if one.smallest is None else f"{one.smallest:,}"
    return (str(one.level), one.name, labels, *((smallest,) if asked.data else ()))
