"""Share and average of persons who are in several classes, against a count by hand and by brute force."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.person_matches import person_match_sizes
from privrelease.disclosure.classes.persons import person_class_sizes
from privrelease.disclosure.population.class_sizes import sizes_from_population
from privrelease.disclosure.risk.journalist import journalist_risk
from privrelease.disclosure.risk.marketer import marketer_risk
from privrelease.disclosure.risk.prosecutor import prosecutor_risk


def table_of(pairs: set[tuple[int, int]]) -> ClassTable:
    """A table of one column whose classes hold the persons of (person, code) pairs; code 0 is missing."""
    codes = sorted({code for _, code in pairs})
    ordered = sorted((codes.index(code), person) for person, code in pairs)
    classes, persons = (np.array(side, np.uint32) for side in zip(*ordered, strict=True))
    counts = np.bincount(classes, minlength=len(codes)).astype(np.int64)
    return ClassTable(("a",), np.array(codes, np.int32)[:, None], counts, pairs_class=classes, pairs_person=persons)


def test_by_hand():
    # persons 0 and 1 share class 1; 0 is alone in class 2: risks 1 and 1/2
    risk = prosecutor_risk(person_class_sizes(table_of({(0, 1), (1, 1), (0, 2)})), above=Fraction(1, 2))
    assert (risk.records_at_risk, risk.share_at_risk, risk.average) == (1, Fraction(1, 2), Fraction(3, 4))
    assert risk.highest == 1


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("residual", ["lost", "class"])
def test_by_brute_force(seed, residual):
    draw = np.random.default_rng(seed)
    pairs = {(int(draw.integers(8)), int(draw.integers(5))) for _ in range(int(draw.integers(4, 25)))}
    table = table_of(pairs)
    known = {pair for pair in pairs if residual == "class" or pair[1]}
    for sizes, alike in (
        (person_class_sizes(table, residual=residual), lambda one, other: one == other),
        (person_match_sizes(table, residual=residual), lambda one, other: one == other or 0 in {one, other}),
    ):
        least: dict[int, int] = {}
        for person, code in known:
            size = len({other for other, its in known if alike(code, its)})
            least[person] = min(least.get(person, size), size)
        risk = prosecutor_risk(sizes, above=Fraction(1, 3))
        assert risk.share_at_risk == Fraction(sum(size < 3 for size in least.values()), len(least))
        exact = sum((Fraction(1, size) for size in least.values()), Fraction(0)) / len(least)
        assert risk.average is not None
        assert 0 <= risk.average - exact < Fraction(1, 10**38)


@pytest.mark.parametrize("seed", range(20))
def test_in_a_population_too_a_person_is_as_much_at_risk_as_in_the_smallest_class(seed):
    draw = np.random.default_rng(seed)
    pairs = {(int(draw.integers(6)), int(draw.integers(1, 5))) for _ in range(int(draw.integers(4, 20)))}
    amounts = {code: int(draw.integers(1, 9)) for code in range(1, 5)}
    population = ClassTable(("a",), np.array([[1], [2], [3], [4]], np.int32), np.array(list(amounts.values()), np.int64))
    sizes = sizes_from_population(table_of(pairs), population)
    least: dict[int, int] = {}
    for person, code in pairs:
        size = max(amounts[code], len({other for other, its in pairs if its == code}))
        least[person] = min(least.get(person, size), size)
    risk = journalist_risk(sizes, above=Fraction(1, 4))
    assert risk.share_at_risk == Fraction(sum(size < 4 for size in least.values()), len(least))
    exact = sum((Fraction(1, size) for size in least.values()), Fraction(0)) / len(least)
    assert abs(marketer_risk(sizes).average - exact) < Fraction(1, 10**38)
    assert risk.average >= exact
