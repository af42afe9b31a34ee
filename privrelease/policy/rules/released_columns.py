"""The columns of the file that a release publishes, with their types: what a check on it can look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.kind_statistics import STATISTICS_COLUMNS
from privrelease.policy.kind_table import figure_name
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.release_kind import kind_of

if TYPE_CHECKING:
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.kinds import Kinds, Release
    from privrelease.relational.schema import ColumnType

__all__ = ["STATISTICS_COLUMNS", "figure_name", "released_columns"]


def released_columns(release: Release, dataset: Dataset, kinds: Kinds = KINDS) -> dict[str, ColumnType]:
    """Return the columns of a release's file in their order: a person's, those of a table's cells, or those of statistics."""
    return kind_of(release, kinds).columns(release, dataset)
