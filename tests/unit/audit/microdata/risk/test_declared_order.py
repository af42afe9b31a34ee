"""The declared order of a column: codes of the engine against a count over the rows in plain Python."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from privrelease.audit.microdata.risk.declared_order import ComparedBy, compared_by, positions
from privrelease.audit.microdata.risk.diversity import sensitive_counts
from privrelease.disclosure.risk.t_closeness import t_closeness
from privrelease.engine.duckdb import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.plan.model import CheckPlan, ReleasedColumn
from privrelease.relational.hierarchies import Generalised, Intervals
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource
from privrelease.relational.treatments import Recoded

WORDS = ("mild", "Severe", "äußerst", "none", "é", "Z", "zz")


def by_hand(rows, order):
    """The largest earth mover's distance of a class over the ranks of the values that occur."""
    seen = [value for value in order if any(held == value for _, held in rows)]
    if len(seen) < 2:
        return Fraction(0)

    def shares(some):
        return [Fraction(sum(held == value for _, held in some), len(some)) for value in seen]

    everything, worst = shares(rows), Fraction(0)
    for one in {group for group, _ in rows}:
        reached, total = Fraction(0), Fraction(0)
        for ours, theirs in zip(shares([row for row in rows if row[0] == one]), everything, strict=True):
            reached += ours - theirs
            total += abs(reached)
        worst = max(worst, total / (len(seen) - 1))
    return worst


@pytest.fixture
def measured(tmp_path):
    """Measure rows of (class, value) from a file, by an order of the values."""

    def measure(rows, order):
        path = tmp_path / "rows.csv"
        path.write_text("g,v\n" + "".join(f"{group},{value}\n" for group, value in rows), encoding="utf-8")
        columns = tuple(Column(name, ColumnType.CATEGORY, Role.QUASI) for name in ("g", "v"))
        with DuckDBEngine(EngineSettings(readable=(tmp_path,), writable=(tmp_path,), threads=1)) as engine:
            staged = engine.stage(TableSource("d", SourceKind.CSV, str(path), "rows.csv", columns))
            table = engine.class_table(staged, ["g", "v"])
            places = positions(engine, staged, table, "v", order)
            if places is None:
                return None
            return t_closeness(sensitive_counts(table, ["g"], "v", lost=False, places=places), "ordered").largest

    return measure


def test_every_order_of_four_values_gives_the_figure_by_hand(measured):
    rows = [("a", "none"), ("a", "none"), ("a", "mild"), ("b", "mild"), ("b", "Severe"), ("b", "é"), ("c", "none")]
    figures = {order: measured(rows, order) for order in permutations(("none", "mild", "Severe", "é"))}
    assert figures == {order: by_hand(rows, order) for order in figures}
    assert len(set(figures.values())) > 1


@pytest.mark.parametrize("seed", range(12))
def test_drawn_rows_give_the_figure_by_hand(measured, seed):
    random = Random(seed)
    rows = [(random.choice("abc"), random.choice(WORDS[: random.randint(2, 7)])) for _ in range(random.randint(2, 40))]
    order = tuple(random.sample(WORDS, len(WORDS)))
    assert measured(rows, order) == by_hand(rows, order)


def test_a_value_that_is_not_declared_has_no_place(measured):
    assert measured([("a", "none"), ("b", "mild")], ("none", "Severe")) is None


def test_a_table_of_another_coding_is_not_put_in_order(tmp_path):
    from privrelease.disclosure.classes.equivalence_classes import ClassTable

    class Counted:
        def text_counts(self, of, column, values):
            return (3, 1), 4

    table = ClassTable(("v",), np.array([[1], [2]], np.int32), np.array([3, 1]))
    assert positions(Counted(), None, table, "v", ("b", "a")) is None  # a has code 1 and one row, the table gives it three
    assert positions(Counted(), None, table, "v", ("a", "b")).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("write", "named", "expected"),
    [
        ("label", None, ComparedBy("equal")),
        ("label", "equal", ComparedBy("equal")),
        ("label", "ordered", ComparedBy("ordered", measurable=False)),  # "[100, 110)" comes before "[20, 30)" in the alphabet
        ("low", None, ComparedBy("ordered")),
        ("low", "ordered", ComparedBy("ordered")),
    ],
)
def test_labels_of_numbers_are_compared_by_equality_alone(write, named, expected):
    declared = Column("pay", ColumnType.INTEGER, Role.SENSITIVE)
    treatment = Recoded(Generalised(Intervals((Decimal(10),)), 1, write))
    released = ReleasedColumn("pay", treatment.released_type(declared.type), Role.SENSITIVE, treatment)
    source = TableSource("d", SourceKind.CSV, "a", "a", (declared,))
    evidence = SimpleNamespace(plan=SimpleNamespace(source=source, columns=(released,)))
    check = CheckPlan("C", "t_closeness", options=() if named is None else (("distance", named),))
    assert compared_by(evidence, check, "pay") == expected
