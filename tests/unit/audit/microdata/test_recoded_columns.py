"""Recoded columns in the audit: pairs are judged by the question of the step, and rows are counted by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from privrelease.audit.microdata.recoding import recoded_changes, recoded_columns
from privrelease.engine.protocol.audit import ValuePairs
from privrelease.engine.protocol.base import ColumnChange
from privrelease.errors import InternalError
from privrelease.execute.microdata.recoding import recoded
from privrelease.plan.model import MicrodataPlan, ReleasedColumn
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource
from privrelease.relational.treatments import Recoded


@dataclass(frozen=True)
class Halves:
    def released_type(self, source):
        return source


@dataclass(frozen=True)
class Thirds(Halves):
    """Of another class, so that what verifies the one does not verify the other."""


AGE = ReleasedColumn("age", ColumnType.INTEGER, Role.QUASI, Recoded(Halves()))
COLUMNS = (ReleasedColumn("sex", ColumnType.CATEGORY, Role.QUASI), AGE)


class Pairs:
    """An engine that yields given pairs."""

    def __init__(self, *blocks):
        self.blocks = [
            ValuePairs("age", pa.array(a, pa.int64()), pa.array(b, pa.int64()), np.array(n, np.int64)) for a, b, n in blocks
        ]

    def value_pairs(self, source, released, row_map, columns):
        assert columns == ("age",)
        yield from self.blocks


def halved(_, source, released):
    return pc.equal(pc.divide(source, 2), released)


def changes(engine, verifiers=((Halves, halved),)):
    return recoded_changes(COLUMNS, None, None, Path("map"), engine, verifiers)


def test_rows_are_counted_by_what_became_of_their_cells():
    engine = Pairs(([4, 5, 6, None], [2, 2, 2, None], [10, 1, 3, 7]), ([8, None], [None, 5], [20, 100]))
    assert recoded_columns(COLUMNS) == ("age",)
    # 4 and 5 are halved to 2; 6 is not; 7 rows are missing on both sides; 20 became missing; 100 were made up
    assert changes(engine) == (ColumnChange("age", equal=10 + 1 + 7, nulled=20, changed=3, invented=100),)


def test_a_pair_of_which_nothing_is_told_does_not_stand():
    assert changes(Pairs(([4], [2], [9])), ((Halves, lambda *_: pa.array([None], pa.bool_())),))[0].changed == 9


def test_no_pairs_are_no_changes():
    assert changes(Pairs()) == (ColumnChange("age", 0, 0, 0, 0),)


@pytest.mark.parametrize("verifiers", [(), ((Thirds, halved),)])
def test_a_column_that_nothing_verifies_is_a_fault_of_ours(verifiers):
    with pytest.raises(InternalError, match="age") as caught:
        changes(Pairs(), verifiers)
    assert caught.value.code == "R197"


@pytest.mark.parametrize("makers", [(), ((Thirds, lambda _, values: values),)])
def test_a_column_that_nothing_makes_is_a_fault_of_ours(makers):
    source = TableSource("d", SourceKind.CSV, "a", "a", (Column("age", ColumnType.INTEGER, Role.QUASI),))
    plan = MicrodataPlan("r", source, (AGE,), (), ())
    with pytest.raises(InternalError, match="age") as caught:
        recoded(plan, None, None, makers)
    assert caught.value.code == "R196"


def test_a_source_of_which_no_column_is_recoded_is_left_as_it_is():
    staged = object()
    assert recoded(MicrodataPlan("r", None, COLUMNS[:1], (), ()), staged, None) is staged
