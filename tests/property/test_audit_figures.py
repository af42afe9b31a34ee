"""What an audit says of a random release equals what counting by hand says, row by row in plain Python."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.audit.document.model import Outcome
from privrelease.audit.microdata.audit import audit_microdata
from privrelease.audit.microdata.target import AuditTarget
from privrelease.disclosure.classes.person_matches import MOST_TUPLES
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.engine.duckdb import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings, OutputColumn, OutputTable
from privrelease.plan.model import MicrodataPlan, Plan, ReleasedColumn, SubsetLimit, SuppressStep, ThreatPlan, UnitPlan
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.relational.treatments import CellRelation, Pseudonym
from tests.contract.engine.treatments import row_by_row
from tests.depth import depth

COLUMNS = ("a", "b", "c")
NUMBER = count()


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    with DuckDBEngine(EngineSettings(readable=(folder,), writable=(folder,), threads=1)) as one:
        yield one, folder


@st.composite
def tables(draw):
    """(person, three cells, mask of three, dropped) per row."""
    cell = st.sampled_from([None, "x", "y", "z"])
    rows = draw(
        st.lists(st.tuples(st.integers(0, 4), cell, cell, cell, st.integers(0, 7), st.integers(0, 9)), min_size=1, max_size=14)
    )
    return [(f"p{person}", cells, mask, dropped == 0) for person, *cells, mask, dropped in rows]


@st.composite
def threats(draw):
    columns = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True))
    share = st.fractions(min_value=Fraction(1, 10), max_value=1, max_denominator=10)
    at_risk = st.none() | st.builds(RecordsAtRisk, share, share)
    limits = Thresholds(draw(st.none() | share), draw(st.none() | share), draw(at_risk))
    subsets = draw(st.none() | st.builds(SubsetLimit, st.integers(1, 3), st.integers(1, 3)))
    missing = draw(st.sampled_from(["category", "wildcard"]))
    return ThreatPlan("t", tuple(columns), limits, missing=missing, subsets=subsets, knows_rows=draw(st.booleans()))


def released_by(engine, folder, rows, threat, *, unit, linkable, suppress):
    """Write a source, release it with the given masks through the engine, and audit it."""
    name = f"{next(NUMBER)}"
    text = "u,a,b,c\n" + "".join(f"{person},{','.join(cell or '' for cell in cells)}\n" for person, cells, _, _ in rows)
    (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    category = ColumnType.CATEGORY
    columns = (Column("u", ColumnType.STRING, Role.DIRECT), *(Column(column, category, Role.QUASI) for column in COLUMNS))
    source = TableSource("d", SourceKind.CSV, str(folder / f"{name}.csv"), f"{name}.csv", columns)
    tokens = (ReleasedColumn("u", ColumnType.STRING, Role.DIRECT, Pseudonym("KEY")),) if linkable else ()
    leaving = (*tokens, *(ReleasedColumn(column, category, Role.QUASI) for column in COLUMNS))
    sink = Sink(SinkKind.PARQUET, folder / f"{name}.parquet", f"{name}.parquet")
    plan = MicrodataPlan(
        "r", source, leaving, (threat, ThreatPlan("rest", COLUMNS, Thresholds())), (sink,),
        unit=UnitPlan("u") if unit else None, suppress=SuppressStep() if suppress else None,
    )  # fmt: skip
    staged = engine.stage(source)
    row_map = folder / f"{name}.map"
    masks = np.array([[mask if suppress else 0] for _, _, mask, _ in rows], np.uint64)
    dropped = np.array([gone and suppress for _, _, _, gone in rows])
    output = tuple(
        OutputColumn(column.name, column.type, b"k" * 16 if column.treatment.relation is CellRelation.KEYED_TOKEN else None)
        for column in leaving
    )
    engine.write(staged, OutputTable(output, row_by_row(engine, staged, COLUMNS, masks, dropped), (sink,), row_map))
    target = AuditTarget((sink,), row_map, staged, run="r1")
    policy = Plan("p", "1", folder / "p.yaml", "0" * 64, "P", (plan,))
    return audit_microdata(plan, policy, target, engine=engine, audited_at="t", versions={})


def by_hand(rows, *, suppress):
    """(person, released cells) of every row that leaves."""
    return [
        (person, tuple(None if suppress and mask >> bit & 1 else cell for bit, cell in enumerate(cells)))
        for person, cells, mask, gone in rows
        if not (gone and suppress)
    ]


def known(rows, columns):
    places = [COLUMNS.index(column) for column in columns]
    return [(person, tuple(cells[place] for place in places)) for person, cells in rows]


def category_sizes(rows):
    """Size of its class for each record that counts."""
    sizes = Counter(cells for _, cells in rows)
    return [sizes[cells] for _, cells in rows]


def person_sizes(rows):
    """Distinct persons of its class for each (person, class)."""
    pairs = set(rows)
    sizes = Counter(cells for _, cells in pairs)
    return [sizes[cells] for _, cells in pairs]


def set_sizes(rows, lost, *, multiset):
    """Persons with the same set of rows for each person of whom something is left."""
    of_person = {}
    for person, cells in rows:
        of_person.setdefault(person, Counter())[cells] += 1
    kept = {
        person: frozenset(held.items()) if multiset else frozenset(held)
        for person, held in of_person.items()
        if not all(lost(cells) for cells in held)
    }
    sizes = Counter(kept.values())
    return [sizes[held] for held in kept.values()]


def matches(one, other):
    return all(x == y or x is None or y is None for x, y in zip(one, other, strict=True))


def wildcard_sizes(rows):
    return [sum(matches(cells, other) for _, other in rows) for _, cells in rows]


def wildcard_person_sizes(rows):
    pairs = set(rows)
    return [len({person for person, other in pairs if matches(cells, other)}) for _, cells in pairs]


def expected(rows, threat, *, unit, linkable, suppress, reading):
    """Sizes by record (person) that counts."""

    def lost(cells):
        return suppress and all(cell is None for cell in cells)

    repeated = unit and max(Counter(person for person, _ in rows[1]).values()) > 1
    chosen = known(rows[0], threat.columns)
    if repeated and linkable:
        return set_sizes(chosen, lost, multiset=threat.knows_rows)
    kept = [row for row in chosen if not lost(row[1])]
    if repeated:
        return person_sizes(kept) if reading == "category" else wildcard_person_sizes(kept)
    return category_sizes(kept) if reading == "category" else wildcard_sizes(kept)


def at_most_risk(rows, threat, *, unit, linkable, suppress, reading):
    """Sizes by whom average and share are of: each person once, at the smallest of its classes, where rows of one are in several."""
    sizes = expected(rows, threat, unit=unit, linkable=linkable, suppress=suppress, reading=reading)
    repeated = unit and max(Counter(person for person, _ in rows[1]).values()) > 1
    if not repeated or linkable:
        return sizes
    pairs = {row for row in known(rows[0], threat.columns) if not (suppress and all(cell is None for cell in row[1]))}
    smallest = {}
    for (person, _), size in zip(pairs, _sizes_of(pairs, reading), strict=True):
        smallest[person] = min(size, smallest.get(person, size))
    return list(smallest.values())


def _sizes_of(pairs, reading):
    if reading == "wildcard":
        return [len({person for person, other in pairs if matches(cells, other)}) for _, cells in pairs]
    sizes = Counter(cells for _, cells in pairs)
    return [sizes[cells] for _, cells in pairs]


def most_tuples(rows):
    return max(Counter(person for person, _ in set(rows)).values(), default=0)


def exact(figure):
    return None if figure.exact is None else Fraction(figure.exact)


EXAMPLES = depth(7, 80)


def test_audited_risk_is_what_counting_by_hand_says(engine):
    @settings(max_examples=EXAMPLES)
    @given(tables(), threats(), st.booleans(), st.booleans(), st.booleans())
    def check(rows, threat, unit, linkable, suppress):
        judge_risk(engine, rows, threat, unit=unit, linkable=linkable, suppress=suppress)

    check()


def judge_risk(engine, rows, threat, *, unit, linkable, suppress):
    result = released_by(*engine, rows, threat, unit=unit, linkable=linkable, suppress=suppress)
    out, source = by_hand(rows, suppress=suppress), [(person, tuple(cells)) for person, cells, _, _ in rows]
    found = result.threats[0]
    other = "wildcard" if threat.missing == "category" else "category"
    for facts, reading in ((found.after, threat.missing), (found.after_other_reading, other)):
        sizes = expected((out, source), threat, unit=unit, linkable=linkable, suppress=suppress, reading=reading)
        assert facts.reading == reading
        if facts.counted == "persons" and reading == "wildcard" and most_tuples(known(out, threat.columns)) > MOST_TUPLES:
            # of such a person some rows are not matched: sizes are then smaller than they are, never larger
            assert facts.k.value is None or facts.k.value <= min(sizes)
            continue
        assert facts.k.value == (min(sizes) if sizes else None)
        assert facts.records.value == len(sizes)
        assert facts.uniques.value == sizes.count(1)
        own = at_most_risk((out, source), threat, unit=unit, linkable=linkable, suppress=suppress, reading=reading)
        assert exact(facts.average) == (sum(Fraction(1, size) for size in own) / len(own) if own else None)
        if reading == threat.missing:
            assert found.holds == holds(own, threat.thresholds, found)
    if found.holds and threat.thresholds.highest is not None:
        assert found.after.k.value * threat.thresholds.highest >= 1


def holds(sizes, limits, found):
    """Whether every threshold is met, none of them through a float; combinations are judged by their own test."""
    if not sizes:
        return False
    met = [verdict.holds for verdict in found.verdicts if verdict.measure == "subsets"]
    if limits.highest is not None:
        met.append(Fraction(1, min(sizes)) <= limits.highest)
    if limits.average is not None:
        met.append(sum(Fraction(1, size) for size in sizes) / len(sizes) <= limits.average)
    if limits.at_risk is not None:
        above = sum(Fraction(1, size) > limits.at_risk.above for size in sizes)
        met.append(Fraction(above, len(sizes)) <= limits.at_risk.share)
    return all(met)


def test_every_combination_is_what_counting_by_hand_says(engine):
    @settings(max_examples=EXAMPLES)
    @given(tables(), threats(), st.integers(1, 3), st.integers(1, 4), st.booleans())
    def check(rows, threat, up_to, k, suppress):
        threat = replace(threat, subsets=SubsetLimit(up_to, k))
        found = released_by(*engine, rows, threat, unit=False, linkable=False, suppress=suppress).threats[0]
        out = by_hand(rows, suppress=suppress)
        for size, looked, smallest, below in found.subsets.by_size:
            every = list(combinations(sorted(threat.columns), size))
            chosen = [[row for row in known(out, columns) if not (suppress and not any(row[1]))] for columns in every]
            sizes = [category_sizes(kept) for kept in chosen]
            assert looked == len(every)
            assert smallest == min((min(one) for one in sizes if one), default=0)
            assert below == sum(bool(one) and min(one) < k for one in sizes)

    check()


def test_cells_lost_are_what_counting_by_hand_says_and_no_cell_is_called_changed(engine):
    @settings(max_examples=EXAMPLES)
    @given(tables(), threats(), st.booleans())
    def check(rows, threat, linkable):
        result = released_by(*engine, rows, threat, unit=False, linkable=linkable, suppress=True)
        for place, loss in enumerate(result.utility.columns):
            assert loss.suppressed.value == sum(
                cells[place] is not None and mask >> place & 1 and not gone for _, cells, mask, gone in rows
            )
            assert loss.in_dropped_rows.value == sum(cells[place] is not None and gone for _, cells, _, gone in rows)
        outcomes = {check.id: check.outcome for check in result.checks}
        for check in ("AUDIT-ROWMAP", "AUDIT-CHANGED", "AUDIT-INVENTED", "AUDIT-NULLED", "AUDIT-ORDER", "AUDIT-TYPES"):
            assert outcomes[check] is Outcome.PASS

    check()


def test_no_release_that_holds_lost_fewer_cells_than_the_bound(engine):
    @settings(max_examples=EXAMPLES)
    @given(tables(), st.sampled_from([2, 3]), st.booleans(), st.booleans())
    def check(rows, k, unit, linkable):
        threat = ThreatPlan("t", COLUMNS[:2], Thresholds(Fraction(1, k)))
        result = released_by(*engine, rows, threat, unit=unit, linkable=linkable, suppress=True)
        bound = result.utility.bound
        if bound.cells is None:
            assert bound.why_not == "linkable"
        elif result.threats[0].holds or result.data.released_rows.value == 0:
            assert bound.cells.value <= result.utility.cells_lost.value
            assert bound.above.value is not None or bound.cells.value == 0

    check()
