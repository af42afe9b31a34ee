from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def build(
    rows: Sequence[Sequence[object]],
    columns: Sequence[str] | None = None,
    *,
    weights: Sequence[float] | None = None,
    persons: Sequence[object] | None = None,
) -> ClassTable:
    """The class table of some rows; None is missing."""
    names = tuple(columns or "abcdefghijklmnopqrstuvwxyz"[: len(rows[0]) if rows else 1])
    codes = np.zeros((len(rows), len(names)), np.int32)
    for j in range(len(names)):
        values = sorted({row[j] for row in rows if row[j] is not None})
        codes[:, j] = [0 if row[j] is None else values.index(row[j]) + 1 for row in rows]
    distinct, where = np.unique(codes, axis=0, return_inverse=True)
    where = where.reshape(-1)
    counts = np.bincount(where, minlength=len(distinct))
    sums = None if weights is None else np.bincount(where, weights=weights, minlength=len(distinct))
    pairs_class = pairs_person = None
    if persons is not None:
        who = sorted(set(persons), key=str)
        pairs = sorted({(int(c), who.index(p)) for c, p in zip(where, persons, strict=True)})
        pairs_class, pairs_person = (np.array(column, np.uint32) for column in zip(*pairs, strict=True))
    return ClassTable(names, np.ascontiguousarray(distinct, np.int32), counts.astype(np.int64), sums, pairs_class, pairs_person)


@pytest.fixture(scope="session")
def table_of() -> Callable[..., ClassTable]:
    return build


@pytest.fixture(scope="session")
def case(shared):
    """The rows of a case's file as a list of dicts; an empty cell is None."""

    def read(folder: str, file: str = "input.csv", mark: str = "") -> list[dict[str, str | None]]:
        (path,) = (shared / "cases").glob(f"{folder}-*/{file}")
        with path.open(newline="") as stream:
            return [{key: None if cell in {"", mark} else cell for key, cell in row.items()} for row in csv.DictReader(stream)]

    return read
