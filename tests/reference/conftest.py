from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.grouping import group_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray


def codes_of(rows: list[dict[str, str]], keys: list[str]) -> NDArray[np.int32]:
    """Codes (n, q) of the named columns, 0 for an empty cell."""
    columns = []
    for key in keys:
        cells = np.array([row[key] for row in rows])
        values, codes = np.unique(cells, return_inverse=True)
        columns.append(codes + (1 if values[0] else 0))
    return np.ascontiguousarray(np.stack(columns, axis=1), np.int32)


def table_from(
    codes: NDArray[np.int32], names: list[str], weights: NDArray[np.float64] | None = None
) -> tuple[ClassTable, NDArray[np.intp]]:
    """The class table of coded rows, and the class of each row."""
    grouping = group_rows(codes)
    sums = None if weights is None else np.bincount(grouping.group, weights=weights)
    counts = grouping.sums(np.ones(len(codes), np.int64))
    return ClassTable(tuple(names), codes[grouping.first], counts, sums), grouping.group


@pytest.fixture(scope="session")
def sdcmicro(shared: Path) -> Callable[[str], list[dict[str, str]]]:
    """Rows of a file of sdcMicro's reference figures, or of its data (`data/…`)."""

    def read(name: str) -> list[dict[str, str]]:
        with (shared / "reference" / "sdcmicro" / f"{name}.csv").open(newline="") as stream:
            return list(csv.DictReader(stream))

    return read


@pytest.fixture(scope="session")
def coded() -> Callable[[list[dict[str, str]], list[str]], NDArray[np.int32]]:
    return codes_of


@pytest.fixture(scope="session")
def tabled() -> Callable[..., tuple[ClassTable, NDArray[np.intp]]]:
    return table_from


@pytest.fixture(scope="session")
def adult(shared: Path) -> ClassTable:
    """The class table of Adult over its nine quasi-identifiers, in header order."""
    with (shared / "data" / "adult.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    names = list(rows[0])
    return table_from(codes_of(rows, names), names)[0]
