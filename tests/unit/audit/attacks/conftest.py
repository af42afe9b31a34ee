from __future__ import annotations

import numpy as np
import pytest

from privrelease.audit.attacks.records import Attribute
from privrelease.plan.model import MicrodataPlan, ReleasedColumn
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource


def attributes(**columns):
    """Attributes of made-up columns: numbers where all values are, names otherwise; None is missing. Several tables share a coding."""
    made = []
    for name, tables in columns.items():
        values = sorted({value for table in tables for value in table if value is not None})
        codes = {value: place for place, value in enumerate(values, start=1)} | {None: 0}
        numbers = None
        if values and not isinstance(values[0], str):
            numbers = np.array([np.nan, *values], np.float64)
        made.append([Attribute(name, np.array([codes[value] for value in table], np.uint16), numbers) for table in tables])
    return [list(sides) for sides in zip(*made, strict=True)]


@pytest.fixture
def made():
    return attributes


@pytest.fixture
def made_plan():
    columns = (Column("age", ColumnType.INTEGER, Role.QUASI),)
    source = TableSource("people", SourceKind.CSV, "/nowhere/people.csv", "people.csv", columns)
    return MicrodataPlan("extract", source, (ReleasedColumn("age", ColumnType.INTEGER, Role.QUASI),), (), ())
