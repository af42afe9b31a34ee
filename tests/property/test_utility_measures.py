"""Measures of utility of a random release, written and audited by the engine, equal what counting cells in plain Python says."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import count
from math import log2, sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privrelease.audit.microdata.measurements import gather
from privrelease.audit.microdata.target import AuditTarget
from privrelease.audit.microdata.utility.measures import utility_measures
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.duckdb import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings, OutputColumn, OutputTable
from privrelease.plan.model import MicrodataPlan, Plan, ReleasedColumn, SuppressStep, ThreatPlan
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from tests.contract.engine.treatments import row_by_row
from tests.depth import depth

NUMBER = count()
TYPES = {"a": ColumnType.CATEGORY, "x": ColumnType.INTEGER, "y": ColumnType.NUMBER}
ROLES = {"a": Role.QUASI, "x": Role.QUASI, "y": Role.SENSITIVE}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("utility")
    with DuckDBEngine(EngineSettings(readable=(folder,), writable=(folder,), threads=1)) as one:
        yield one, folder


rows = st.lists(
    st.tuples(
        st.sampled_from([None, "p", "q", "r"]),
        st.none() | st.integers(-3, 3),
        st.none() | st.sampled_from([-0.5, 0.25, 1.0, 8.0]),
        st.integers(0, 3),  # which of a and x are masked
        st.integers(0, 4),  # 0: the row is dropped
    ),
    min_size=1,
    max_size=15,
)


def released(engine, folder, drawn):
    name = f"{next(NUMBER)}"
    lines = [",".join("" if cell is None else str(cell) for cell in row[:3]) for row in drawn]
    (folder / f"{name}.csv").write_text("a,x,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    columns = tuple(Column(column, TYPES[column], ROLES[column]) for column in TYPES)
    source = TableSource("d", SourceKind.CSV, str(folder / f"{name}.csv"), f"{name}.csv", columns)
    sink = Sink(SinkKind.PARQUET, folder / f"{name}.parquet", f"{name}.parquet")
    leaving = tuple(ReleasedColumn(column, TYPES[column], ROLES[column]) for column in TYPES)
    plan = MicrodataPlan("r", source, leaving, (ThreatPlan("t", ("a", "x"), Thresholds()),), (sink,), suppress=SuppressStep())
    staged = engine.stage(source)
    masks = np.array([[row[3]] for row in drawn], np.uint64)
    dropped = np.array([row[4] == 0 for row in drawn])
    row_map = folder / f"{name}.map"
    output = tuple(OutputColumn(column.name, column.type) for column in leaving)
    engine.write(staged, OutputTable(output, row_by_row(engine, staged, ("a", "x"), masks, dropped), (sink,), row_map))
    target = AuditTarget((sink,), row_map, staged, run="r1")
    return utility_measures(gather(plan, target, engine), Plan("p", "1", folder / "p.yaml", "0" * 64, "P", (plan,)), engine)


def by_hand(drawn):
    """Columns before and after, cell by cell; None where missing, and what was lost of each."""
    before = {name: [row[place] for row in drawn] for place, name in enumerate(TYPES)}
    after = {
        name: [None if row[3] >> place & 1 and place < 2 else row[place] for row in drawn if row[4]]
        for place, name in enumerate(TYPES)
    }
    return before, after


def known(cells):
    return [cell for cell in cells if cell is not None]


@settings(max_examples=depth(12, 40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows)
def test_every_figure_is_that_of_counting_cells(engine, drawn):
    found = released(*engine, drawn)
    before, after = by_hand(drawn)
    lost = {name: Counter(known(before[name])) - Counter(known(after[name])) for name in ("a", "x")}
    cells = sum(len(known(before[name])) for name in lost)
    gone = sum(sum(counter.values()) for counter in lost.values())
    assert found.cells_lost.exact.exact == (str(Fraction(gone, cells)) if cells else None)
    assert Fraction(found.rows_lost.exact.exact) == Fraction(len(drawn) - len(after["a"]), len(drawn))

    most = whole = among = 0.0
    loss, total = Fraction(0), 0
    for name, counter in lost.items():
        values = Counter(known(before[name]))
        n, s = values.total(), counter.total()
        most += sum(-log2(values[cell] / n) for cell in known(before[name]))
        whole += sum(-log2(values[cell] / n) for cell in counter.elements())
        among += sum(-log2(counter[cell] / s) for cell in counter.elements())
        total += n
        loss += s if len(values) > 1 else 0
    for figure, bits in ((found.entropy_whole_file, whole), (found.entropy_suppressed, among)):
        assert figure.exact.value == (pytest.approx(1 - bits / most, abs=1e-8) if most else None)
    assert found.granularity.exact.exact == (str(1 - loss / total) if total else None)

    shifts = {one.column: one for one in found.numbers.columns}
    for name in ("x", "y"):
        first, second = known(before[name]), known(after[name])
        if name in found.numbers.untouched:
            assert sorted(first) == sorted(second)
            continue
        spread = stdev(first) if len(first) > 1 else 0
        shift = shifts[name].mean.exact.value
        if not spread or not second:
            assert shift is None
            continue
        assert shift == pytest.approx((mean(second) - mean(first)) / spread, abs=1e-7)
        for at, p in zip(shifts[name].quantiles, (5, 25, 50, 75, 95), strict=True):
            ranked = [sorted(side)[max(1, -(-p * len(side) // 100)) - 1] for side in (first, second)]
            assert at.shift.exact.value == pytest.approx((ranked[1] - ranked[0]) / spread, abs=1e-7)
        assert shifts[name].il1s.exact.value == 0


def test_changed_numbers_have_the_il1s_of_their_distances(engine):
    import pyarrow as pa
    import pyarrow.parquet as pq

    one, folder = engine
    drawn = [("p", n, float(n), 0, 1) for n in (1, 2, 3, 4)]
    (folder / "changed.csv").write_text("a,x,y\n" + "".join(f"{a},{x},{y}\n" for a, x, y, _, _ in drawn), encoding="utf-8")
    columns = tuple(Column(column, TYPES[column], ROLES[column]) for column in TYPES)
    source = TableSource("d", SourceKind.CSV, str(folder / "changed.csv"), "changed.csv", columns)
    sink = Sink(SinkKind.PARQUET, folder / "changed.parquet", "changed.parquet")
    pq.write_table(pa.table({"a": ["p"] * 4, "x": [1, 2, 3, 4], "y": [1.5, 2.0, 1.0, None]}), sink.path)
    pq.write_table(pa.table({"source_row": [0, 1, 2, 3], "output_row": [0, 1, 2, 3]}), folder / "changed.map")
    leaving = tuple(ReleasedColumn(column, TYPES[column], ROLES[column]) for column in TYPES)
    plan = MicrodataPlan("r", source, leaving, (ThreatPlan("t", ("a", "x"), Thresholds()),), (sink,))
    target = AuditTarget((sink,), folder / "changed.map", None, run="r1")
    found = utility_measures(gather(plan, target, one), Plan("p", "1", folder / "p.yaml", "0" * 64, "P", (plan,)), one)
    (shift,) = found.numbers.columns
    unit = sqrt(2) * stdev([1, 2, 3, 4])
    assert (shift.column, found.numbers.untouched) == ("y", ("x",))
    assert shift.il1s.exact.value == pytest.approx(2.5 / unit, abs=1e-8)
    assert found.numbers.il1s.exact.value == pytest.approx(2.5 / unit / 3, abs=1e-8)
