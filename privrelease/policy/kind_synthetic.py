"""Synthetic releases, as a kind: rules, and the columns of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.language.synthetic import SyntheticRelease
from privrelease.policy.release_kind import ReleaseKind
from privrelease.policy.rules.synthetic import synthetic_rules
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from privrelease.policy.language.datasets import Dataset

__all__ = ["SYNTHETIC"]


def _columns(release: SyntheticRelease, dataset: Dataset) -> dict[str, ColumnType]:
    """Types of the source; what is made up after a pattern is text."""
    return {
        name: ColumnType.STRING if name in release.make else dataset.columns[name].type
        for name in release.columns
        if name in dataset.columns
    }


SYNTHETIC = ReleaseKind(
    name="synthetic",
    model=SyntheticRelease,
    rules=(synthetic_rules,),
    columns=_columns,
    source_checks="inform",
    budget=lambda release: release.budget,
)
