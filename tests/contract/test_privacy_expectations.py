"""The figures of privacy in Great Expectations, in the audit's own way, and by a loop over rows: one answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import accumulate
from math import exp, log
from typing import Any

import duckdb
import numpy as np
import pytest

from privrelease.lean_imports import silence

LIMITS = ("0.05", "0.2", "0.34", "0.5", "1")
Row = tuple[str | None, str | None, int | None]


def rows_of(seed: int, size: int = 14) -> list[Row]:
    rng = np.random.default_rng(seed)

    def maybe(values: list[Any], gap: float) -> Any:
        return None if rng.random() < gap else values[int(rng.integers(len(values)))]

    return [(maybe(["F", "M"], 0.2), maybe(["n", "s"], 0.2), maybe([1, 2, 3], 0.1)) for _ in range(size)]


def released(rows: list[Row], seed: int) -> list[Row]:
    """Some cells and rows less than ``rows``."""
    rng = np.random.default_rng(seed)
    return [(None if rng.random() < 0.2 else sex, place, s) for sex, place, s in rows if rng.random() < 0.9]


class Brute:
    """Figures by loops, of rows (sex, place, s) of which an attacker knows sex and place."""

    def __init__(self, rows: list[Row], source: list[Row]) -> None:
        self.rows, self.source = rows, source
        self.classes: dict[tuple[str | None, str | None], list[int | None]] = defaultdict(list)
        for sex, place, s in rows:
            if (sex, place) != (None, None):
                self.classes[sex, place].append(s)
        self.sizes = [len(values) for values in self.classes.values()]
        self.known = [[value for value in values if value is not None] for values in self.classes.values()]

    def distinct(self) -> int:
        return min(len(set(values)) for values in self.known)

    def entropy(self) -> float:
        def one(values: list[int]) -> float:
            shares = [n / len(values) for n in Counter(values).values()]
            return exp(-sum(p * log(p) for p in shares)) if values else 0.0

        return min(one(values) for values in self.known)

    def recursive(self, c: int) -> int:
        def one(values: list[int]) -> int:
            f = sorted(Counter(values).values(), reverse=True)
            return max((place for place in range(1, len(f) + 1) if f[0] < c * sum(f[place - 1 :])), default=0)

        return min(one(values) for values in self.known)

    def closeness(self, distance: str) -> Fraction | None:
        everything = [value for values in self.known for value in values]
        values = sorted(set(everything))
        if any(not part for part in self.known):
            return None

        def shares(part: list[int]) -> list[Fraction]:
            return [Fraction(part.count(value), len(part)) for value in values]

        whole, worst = shares(everything), Fraction(0)
        for part in self.known:
            gaps = [a - b for a, b in zip(shares(part), whole, strict=True)]
            far = sum(map(abs, gaps)) / 2 if distance == "equal" else sum(map(abs, accumulate(gaps))) / max(len(values) - 1, 1)
            worst = max(worst, Fraction(far))
        return worst

    def marginal(self) -> Fraction:
        ours, theirs = (Counter((sex, s) for sex, _, s in rows) for rows in (self.rows, self.source))
        return (
            sum(abs(Fraction(ours[key], len(self.rows)) - Fraction(theirs[key], len(self.source))) for key in {*ours, *theirs})
            / 2
        )

    def shift(self, distance: str) -> Fraction:
        ours, theirs = ([s for _, _, s in rows if s is not None] for rows in (self.rows, self.source))
        gaps = [Fraction(ours.count(v), len(ours)) - Fraction(theirs.count(v), len(theirs)) for v in (1, 2, 3)]
        return sum(map(abs, gaps)) / 2 if distance == "equal" else max(map(abs, accumulate(gaps)))

    def lost(self) -> Fraction:
        held = [sum(cell is not None for row in rows for cell in row[:2]) for rows in (self.source, self.rows)]
        return Fraction(held[0] - held[1], 2 * len(self.source))


class Cursors:
    """As much of our connection as a batch needs."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def cursor(self) -> duckdb.DuckDBPyConnection:
        return self.connection.cursor()


def asked(brute: Brute) -> list[tuple[str, dict[str, Any], bool]]:
    """Expectations around each figure, and whether each holds."""
    known = {"columns": ["sex", "place"]}
    cases: list[tuple[str, dict[str, Any], bool]] = []
    k = min(brute.sizes)
    cases += [("ExpectTableToBeKAnonymous", known | {"k": least}, k >= least) for least in (k, k + 1)]
    highest, average = Fraction(1, k), Fraction(len(brute.sizes), sum(brute.sizes))
    for most in LIMITS:
        cases.append(("ExpectTableHighestRiskToBeAtMost", known | {"most": float(most)}, highest <= Fraction(most)))
        cases.append(("ExpectTableAverageRiskToBeAtMost", known | {"most": float(most)}, average <= Fraction(most)))
    sensitive = known | {"sensitive": "s"}
    for least in (1, 2, 3):
        cases.append(("ExpectTableToBeLDiverse", sensitive | {"least": least}, brute.distinct() >= least))
        cases.append(
            ("ExpectTableToBeLDiverse", sensitive | {"least": least, "kind": "recursive", "c": 2}, brute.recursive(2) >= least)
        )
    for least in (1.0, 1.5, 2.5):
        cases.append(
            ("ExpectTableToBeLDiverse", sensitive | {"least": least, "kind": "entropy"}, brute.entropy() >= least - 1e-12)
        )
    for distance in ("equal", "ordered"):
        far = brute.closeness(distance)
        for most in LIMITS:
            holds = far is not None and far <= Fraction(most)
            cases.append(("ExpectTableToBeTClose", sensitive | {"most": float(most), "distance": distance}, holds))
            shift = {"columns": ["s"], "reference": "source", "most": float(most), "distance": distance}
            cases.append(("ExpectColumnDistributionShiftToBeAtMost", shift, brute.shift(distance) <= Fraction(most)))
    gone = Fraction(len(brute.source) - len(brute.rows), len(brute.source))
    for most in LIMITS:
        against = {"reference": "source", "most": float(most)}
        cases.append(("ExpectTableRowLossToBeAtMost", against, gone <= Fraction(most)))
        cases.append(("ExpectTableSuppressedCellsToBeAtMost", against | known, brute.lost() <= Fraction(most)))
        cases.append(
            ("ExpectTableMarginalErrorToBeAtMost", against | {"columns": ["sex", "s"]}, brute.marginal() <= Fraction(most))
        )
    return cases


@pytest.mark.parametrize("seed", [1, 2])
def test_each_expectation_holds_exactly_where_the_figure_by_a_loop_is_within_its_limit(seed):
    with silence():
        from privrelease.engine import privacy_expectations
        from privrelease.engine.duckdb.auditing.great_expectations_source import batch_of

        source = rows_of(seed)
        rows = released(source, seed)
        connection = duckdb.connect()
        for name, content in (("source", source), ("released", rows)):
            connection.execute(f"CREATE TABLE {name} (sex VARCHAR, place VARCHAR, s INTEGER)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", content)
        cases = asked(Brute(rows, source))
        with batch_of(Cursors(connection), "released") as batch:
            said = [bool(batch.validate(getattr(privacy_expectations, name)(**given)).success) for name, given, _ in cases]
    assert [case for case, one in zip(cases, said, strict=True) if one is not case[2]] == []
    assert {name for name, _, _ in cases} == {kind.__name__ for kind in privacy_expectations.EXPECTATIONS}
    assert {True, False} == set(said)


def test_a_table_without_rows_meets_none_of_them():
    with silence():
        from privrelease.engine import privacy_expectations
        from privrelease.engine.duckdb.auditing.great_expectations_source import batch_of

        connection = duckdb.connect()
        for name in ("source", "released"):
            connection.execute(f"CREATE TABLE {name} (sex VARCHAR, place VARCHAR, s INTEGER)")
        cases = asked(Brute([("F", "n", 1)], [("F", "n", 1)]))
        with batch_of(Cursors(connection), "released") as batch:
            said = {name: batch.validate(getattr(privacy_expectations, name)(**given)).success for name, given, _ in cases}
    assert set(said.values()) == {False}
