"""Labels beside the audit's question: what the one room makes stands by the word of the other, and nothing else does.

Neither knows the other; a third way of counting, in plain Python over exact numbers, decides where they could be wrong together.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import floor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.audit.microdata.generalised.judge import at_level, stands, under
from privrelease.disclosure.hierarchies.labels import ends, generalised, multiples
from privrelease.disclosure.hierarchies.names import read_as_others
from privrelease.relational.hierarchies import Coded, Dates, Generalised, Intervals, Prefixes, RoundedTo, SmallAreas, Tree
from tests.depth import depth

FEW = settings(max_examples=depth(40, 100))
STEPS = {"whole": Decimal(1), "grid": Decimal("0.25"), "double": None}
WRITES = st.sampled_from(["label", "low", "middle"])


def arrow(kind, units):
    """Whole numbers, quarters, or tenths as doubles, and the exact numbers."""
    if kind == "whole":
        return pa.array(units, pa.int64()), [Fraction(one) for one in units]
    if kind == "grid":
        return pa.array([Decimal(one) / 4 for one in units], pa.decimal128(18, 2)), [Fraction(one, 4) for one in units]
    return pa.array([one / 10 for one in units], pa.float64()), [Fraction(one, 10) for one in units]


def agree(declared, values, made):
    """What is made stands, at the planned level; of two rows exchanged, exactly those that hold the same stand; and each is found again."""
    known = np.asarray(made.is_valid())
    ours, theirs = values.filter(pa.array(known)), made.filter(pa.array(known))
    assert stands(declared, ours, theirs).to_pylist() == [True] * len(ours)
    assert at_level(declared, theirs).to_pylist() == [True] * len(ours)
    assert under(declared, values, theirs.unique()).to_pylist() == made.to_pylist()
    moved = theirs.take(pa.array(np.roll(np.arange(len(theirs)), 1)))
    if pa.types.is_string(made.type):
        same = [one == other for one, other in zip(moved.to_pylist(), theirs.to_pylist(), strict=True)]
        assert stands(declared, ours, moved).to_pylist() == same


def exact(text):
    return Fraction(Decimal(text))


@FEW
@given(
    kind=st.sampled_from([*STEPS]),
    width=st.sampled_from(["2", "5", "10"]),
    units=st.lists(st.integers(-500, 500), min_size=1, max_size=30),
    bottom=st.booleans(),
    top=st.booleans(),
    level=st.sampled_from([1, 2]),
    write=WRITES,
)
def test_intervals_by_width(kind, width, units, bottom, top, level, write):
    ends_ = Decimal(-7) if bottom else None, Decimal(23) if top else None
    form = Intervals((Decimal(width), Decimal(width) * 2), *ends_, STEPS[kind])
    declared = Generalised(form, level, write)
    values, numbers = arrow(kind, units)
    made = generalised(declared, values)
    agree(declared, values, made)
    wide = Fraction(Decimal(width)) * level
    for number, label in zip(numbers, made.to_pylist(), strict=True):
        if top and number >= 23:
            assert label == {"label": "23+", "low": 23, "middle": None}[write]
        elif bottom and number < -7:
            assert label == ("<-7" if write == "label" else None)
        else:
            low = floor(number / wide) * wide
            high = min(low + wide, Fraction(23)) if top else low + wide
            low = max(low, Fraction(-7)) if bottom else low
            if write == "label":
                assert [exact(part) for part in label[1:-1].split(", ")] == [low, high]
            elif write == "low":
                assert Fraction(Decimal(str(label))) == low
            else:
                step = STEPS[kind]
                middle = (
                    (low + high) / 2
                    if step is None
                    else floor((low + high - Fraction(step)) / 2 / Fraction(step)) * Fraction(step)
                )
                assert abs(Fraction(Decimal(str(label))) - middle) < Fraction(1, 10**9)


@FEW
@given(units=st.lists(st.integers(-300, 1300), min_size=1, max_size=30), level=st.sampled_from([1, 2]), open_=st.booleans())
def test_intervals_between_edges(units, level, open_):
    edges = tuple(tuple(map(Decimal, one)) for one in ((-20, 0, 10, 50, 100), (-20, 10, 100)))
    form = Intervals(edges, Decimal(-20) if open_ else None, Decimal(100) if open_ else None, Decimal(1))
    declared = Generalised(form, level)
    values, numbers = arrow("whole", [one // 10 for one in units])
    made = generalised(declared, values)
    agree(declared, values, made)
    for number, label in zip(numbers, made.to_pylist(), strict=True):
        inside = [
            (low, high) for low, high in zip(edges[level - 1], edges[level - 1][1:], strict=False) if low <= number < high
        ]
        outside = ("100+" if number >= 100 else "<-20") if open_ else None
        assert label == (f"[{inside[0][0]}, {inside[0][1]})" if inside else outside)


@FEW
@given(
    kind=st.sampled_from([*STEPS]),
    units=st.lists(st.integers(-500, 500), min_size=1, max_size=30),
    write=st.sampled_from(["label", "low"]),
)
def test_ends_that_are_drawn_together(kind, units, write):
    declared = Coded(Decimal(-5) if write == "label" else None, Decimal(20), write, STEPS[kind])
    values, numbers = arrow(kind, units)
    made = ends(declared, values)
    agree(declared, values, made)
    for number, label in zip(numbers, made.to_pylist(), strict=True):
        if number >= 20:
            assert label == ("20+" if write == "label" else 20)
        elif number < -5 and write == "label":
            assert label == "<-5"
        else:
            assert exact(str(label)) == number


@FEW
@given(
    kind=st.sampled_from(["whole", "grid"]),
    units=st.lists(st.integers(-500, 500), min_size=1, max_size=30),
    to=st.sampled_from([2, 3, 5, 10]),
)
def test_multiples_are_those_of_exact_rounding(kind, units, to):
    declared = RoundedTo(Decimal(to), STEPS[kind])
    values, numbers = arrow(kind, units)
    made = multiples(declared, values)
    agree(declared, values, made)
    assert [Fraction(one) for one in made.to_pylist()] == [round(one / to) * to for one in numbers]


FROM = datetime(1900, 1, 1)  # noqa: DTZ001  columns hold times without a zone
LABELS = {
    "hour": lambda at: f"{at:%Y-%m-%dT%H}",
    "day": lambda at: f"{at:%Y-%m-%d}",
    "week": lambda at: "{:04d}-W{:02d}".format(*at.isocalendar()),
    "month": lambda at: f"{at:%Y-%m}",
    "quarter": lambda at: f"{at.year}-Q{(at.month + 2) // 3}",
    "year": lambda at: f"{at.year}",
    "decade": lambda at: f"{at.year // 10}0s",
}


@FEW
@given(
    seconds=st.lists(st.integers(-(10**9), 6 * 10**9), min_size=1, max_size=30),
    units=st.sampled_from([("month", "quarter", "year", "decade"), ("week",), ("hour", "day", "week"), ("day", "decade")]),
    write=WRITES,
)
def test_periods_of_the_calendar(seconds, units, write):
    moments = [FROM + timedelta(seconds=one) for one in seconds]
    days = units[0] not in ("hour", "day")
    values = pa.array([one.date() for one in moments]) if days else pa.array(moments, pa.timestamp("us"))
    for level, unit in enumerate(units, 1):
        declared = Generalised(Dates(units), level, write)
        made = generalised(declared, values)
        agree(declared, values, made)
        if write == "label":
            assert made.to_pylist() == [LABELS[unit](one) for one in moments]
        else:
            found = [
                one if isinstance(one, datetime) else datetime.combine(one, datetime.min.time()) for one in made.to_pylist()
            ]
            assert [LABELS[unit](one) for one in found] == [LABELS[unit](one) for one in moments]


def test_the_middle_of_a_period_is_the_earlier_of_two_days():
    days = pa.array([date(2026, 2, 1), date(2026, 7, 31), date(2024, 5, 5), date(2026, 3, 1)])
    made = generalised(Generalised(Dates(("month", "year")), 1, "middle"), days).to_pylist()
    assert made == [
        date(2026, 2, 14),
        date(2026, 7, 16),
        date(2024, 5, 16),
        date(2026, 3, 16),
    ]  # of 28 days the 14th, of 31 the 16th
    made = generalised(Generalised(Dates(("month", "year")), 2, "middle"), days).to_pylist()
    assert made == [date(2026, 7, 2), date(2026, 7, 2), date(2024, 7, 1), date(2026, 7, 2)]


def test_years_that_have_no_label_have_none():
    days = pa.array(np.array(["0000-12-31", "0001-01-01", "0010-01-01", "9999-12-31", "10000-01-01"], "datetime64[D]"))
    for unit in ("month", "week", "decade"):
        made = generalised(Generalised(Dates((unit,)), 1), days)
        assert made.is_valid().to_pylist() == [False, unit != "decade", True, True, False], unit


CODES = st.lists(st.text("0123é", min_size=1, max_size=5), min_size=1, max_size=30)


@FEW
@given(codes=CODES, level=st.sampled_from([1, 2]), fill=st.sampled_from(["", "*", "00"]))
def test_first_characters(codes, level, fill):
    declared = Generalised(Prefixes((3, 2), fill), level)
    made = generalised(declared, pa.array(codes))
    agree(declared, pa.array(codes), made)
    assert made.to_pylist() == [one[: 4 - level] + fill if len(one) >= 3 else None for one in codes]


@FEW
@given(codes=CODES, level=st.sampled_from([1, 2]), small=st.sets(st.text("0123é", min_size=3, max_size=3), max_size=60))
def test_small_areas_are_one_at_every_level(codes, level, small):
    areas = sorted({one[:3] for one in codes if len(one) >= 3})
    others = frozenset(areas[1:]) - small
    declared = Generalised(Prefixes((3, 2), "*", SmallAreas(frozenset(small), others, "small")), level)
    made = generalised(declared, pa.array(codes))
    agree(declared, pa.array(codes), made)
    for code, label in zip(codes, made.to_pylist(), strict=True):
        if code[:3] in small:
            assert label == "small"
        else:
            assert label == (code[: 4 - level] + "*" if code[:3] in others else None)


@FEW
@given(codes=CODES, level=st.sampled_from([1, 2, 3]))
def test_a_tree_over_the_shortest_prefixes(codes, level):
    listed = sorted({one[:1] for one in codes} - {"3"}) or ["0"]
    tree = Tree(tuple(listed), (tuple("low" if one in "01" else "high" for one in listed),))
    declared = Generalised(Prefixes((2, 1), "", None, tree), level)
    made = generalised(declared, pa.array(codes))
    agree(declared, pa.array(codes), made)
    for code, label in zip(codes, made.to_pylist(), strict=True):
        covered = len(code) >= 2 and code[0] in listed
        assert label == ((code[:2], code[:1], "low" if code[0] in "01" else "high")[level - 1] if covered else None)


@pytest.mark.parametrize("values", [pa.array([34, 45, 99]), pa.array(["34", "45", "99"])])
def test_a_tree_that_lists_its_values(values):
    tree = Tree(("34", "45", "46"), (("30-39", "40-49", "40-49"), ("*", "*", "*")))
    for level, labels in ((1, ["30-39", "40-49", None]), (2, ["*", "*", None])):
        declared = Generalised(tree, level)
        made = generalised(declared, values)
        assert made.to_pylist() == labels
        agree(declared, values, made)


@pytest.mark.parametrize(
    ("label", "is_one", "is_planned"),
    [
        ("[20, 30)", True, True),
        ("[30, 40)", False, True),  # of another bin
        ("[20, 40)", True, False),  # of a coarser level
        ("29", True, False),  # the value itself
        ("[20, 29)", False, False),
        ("[20.0, 30)", False, False),  # not as labels are written
        ("[20,30)", False, False),
        ("[25, 35)", False, False),  # begins at no multiple
        ("[80, 100)", False, False),  # the top cuts it
        ("90+", False, True),
        ("20+", False, False),
        ("<30", False, False),
        ("*", False, False),
    ],
)
def test_a_label_is_asked_for_its_ends_and_for_its_level(label, is_one, is_planned):
    declared = Generalised(Intervals((Decimal(10), Decimal(20)), top=Decimal(90), step=Decimal(1)), 1)
    assert stands(declared, pa.array([29]), pa.array([label])).to_pylist() == [is_one]
    assert at_level(declared, pa.array([label])).to_pylist() == [is_planned]


@pytest.mark.parametrize(
    ("label", "is_one", "is_planned"),
    [
        ("2026-07", True, True),
        ("2026-08", False, True),
        ("2026-13", False, False),
        ("2026", True, False),
        ("2026-07-31", True, False),
        ("2026-Q3", False, False),  # of no level
        ("2026-7", False, False),
    ],
)
def test_a_period_is_asked_for_its_days_and_for_its_level(label, is_one, is_planned):
    declared = Generalised(Dates(("month", "year")), 1)
    assert stands(declared, pa.array([date(2026, 7, 31)]), pa.array([label])).to_pylist() == [is_one]
    assert at_level(declared, pa.array([label])).to_pylist() == [is_planned]


@pytest.mark.parametrize("write", ["label", "low", "middle"])
@pytest.mark.parametrize("unit", ["week", "month", "quarter", "year", "decade"])
def test_the_last_dates_of_the_calendar_and_the_first_have_labels_that_stand(unit, write):
    days = [date(9999, 12, 31), date(9990, 1, 1), date(9999, 12, 20), date(10, 1, 1), date(2020, 2, 29)]
    declared = Generalised(Dates((unit,)), 1, write)
    last = np.array(days, "datetime64[us]") + np.timedelta64(86_399_999_999, "us")
    for values in (pa.array(days), pa.array(last)):
        made = generalised(declared, values)
        assert made.null_count == 0
        agree(declared, values, made)
    if write == "label":
        names = {"week": "9999-W52", "month": "9999-12", "quarter": "9999-Q4", "year": "9999", "decade": "9990s"}
        assert generalised(declared, pa.array(days))[0].as_py() == names[unit]
        assert generalised(declared, pa.array([date(1, 1, 1)]))[0].as_py() == (
            None if unit == "decade" else {"week": "0001-W01", "month": "0001-01", "quarter": "0001-Q1", "year": "0001"}[unit]
        )


def test_numbers_that_stay_are_written_in_plain_digits():
    small = pa.array(
        [Decimal("1E-7"), Decimal("0E-7"), Decimal("-0.0000010"), Decimal("0.5"), Decimal(7)], pa.decimal128(18, 7)
    )
    declared = Coded(None, Decimal(2), "label", Decimal("1E-7"))
    made = ends(declared, small)
    assert made.to_pylist() == ["0.0000001", "0", "-0.000001", "0.5", "2+"]
    agree(declared, small, made)
    doubles = pa.array([1e-7, -1e22, -0.0, 0.5, 3.0])
    declared = Coded(None, Decimal(2))
    made = ends(declared, doubles)
    assert made.to_pylist() == ["0.0000001", "-10000000000000000000000", "0", "0.5", "2+"]
    agree(declared, doubles, made)


LARGEST = 2**63 - 1


@pytest.mark.parametrize(
    "values",
    [
        pa.array([LARGEST, -LARGEST - 1, 5, None], pa.int64()).drop_null(),
        pa.array([Decimal("9" * 17 + ".99"), Decimal("-" + "9" * 17 + ".99"), Decimal(5)], pa.decimal128(19, 2)),
        pa.array([1.7e308, -1.7e308, 5.0]),
    ],
    ids=["whole", "grid", "double"],
)
def test_open_ends_hold_the_largest_numbers_that_a_column_can_hold(values):
    step = None if pa.types.is_floating(values.type) else Decimal(1)
    for levels in ((Decimal(10),), ((Decimal(0), Decimal(10), Decimal(90)),)):
        declared = Generalised(Intervals(levels, Decimal(0), Decimal(90), step), 1, "label")
        made = generalised(declared, values)
        assert made.to_pylist() == ["90+", "<0", "[0, 10)"]
        agree(declared, values, made)
        low = generalised(Generalised(Intervals(levels, None, Decimal(90), step), 1, "low"), values)
        assert low[0].as_py() == 90
    declared = Coded(Decimal(0), Decimal(90), "label", step)
    assert ends(declared, values).to_pylist() == ["90+", "<0", "5"]
    agree(declared, values, ends(declared, values))


def test_texts_that_other_values_are_written_as_are_found_at_every_length_and_level():
    tree = Tree(("31", "32"), (("320", "310"), ("all", "3200")))
    form = Prefixes((3, 2), then=tree)
    values = pa.array(["3105", "3200", "3209", "3115", "9000", "31"])
    by_hand = []
    for value in values.to_pylist():
        texts = {value, value[:3], value[:2]}
        own = dict(zip(tree.leaves, zip(*tree.levels, strict=True), strict=True)).get(value[:2], (None, None))
        by_hand.append(any(texts & set(level) - {one} for level, one in zip(tree.levels, own, strict=True)))
    assert by_hand == [True, True, True, False, False, False]
    assert read_as_others(form, values).to_pylist() == by_hand
    assert read_as_others(Prefixes((3, 2)), values).to_pylist() == [False] * 6
