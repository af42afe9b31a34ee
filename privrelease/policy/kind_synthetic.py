"""Synthetic releases, as a kind: rules, and the columns of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.language.synthetic import METHODS, SyntheticRelease
from privrelease.policy.release_kind import ReleaseKind
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["SYNTHETIC", "synthetic_rules"]


def _columns(release: SyntheticRelease, dataset: Dataset) -> dict[str, ColumnType]:
    """Types of the source; what is made up after a pattern is text."""
    return {
        name: ColumnType.STRING if name in release.make else dataset.columns[name].type
        for name in release.columns
        if name in dataset.columns
    }


def _comparable(release: SyntheticRelease, dataset: Dataset) -> tuple[str, ...]:
    """The modelled columns, in the order of the output."""
    return tuple(name for name in release.columns if name in dataset.columns and name not in release.make)


def synthetic_rules(reading: RuleContext, releases: Sequence[tuple[int, SyntheticRelease]]) -> Iterator[Finding]:
    """Yield what is wrong with synthetic releases."""
    if not releases:  # what budgets are composed with is not loaded for policies without one
        return
    from privrelease.policy.synthetic.noisy_rows import noisy_rows, stated_rows
    from privrelease.policy.synthetic.resolve import resolve

    for number, release in releases:
        dataset = reading.policy.datasets.get(release.from_)
        if dataset is None or any(item[:2] == ("columns", release.from_) for item in reading.broken):
            continue
        found, faults = resolve(release, release.from_, dataset)
        for fault in (*faults, *noisy_rows(release, found, stated_rows(reading, release.from_))):
            if fault.code in {"P302", "DP113"}:  # reported where the name, or the domain, stands
                continue
            path = fault.path if fault.whole else ("releases", number, *fault.path)
            told = reading.warning if fault.warn else reading.error
            yield told(fault.code, fault.message, *path, hint=fault.hint, key=fault.key)
    for method in METHODS:
        own = [one for one in releases if one[1].method == method.name]
        for rule in method.rules:
            yield from rule(reading, own)


SYNTHETIC = ReleaseKind(
    name="synthetic",
    model=SyntheticRelease,
    rules=(synthetic_rules,),
    columns=_columns,
    source_checks="inform",
    comparable=_comparable,
    measures=("marginal_error",),
    budget=lambda release: release.budget,
)
