"""F counts the persons of a population, by hand and against a count person by person; what counts rows is found out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.population.class_sizes import population_counts, sizes_from_population, sizes_from_weights
from privrelease.disclosure.risk.journalist import journalist_risk
from privrelease.disclosure.risk.marketer import marketer_risk
from privrelease.disclosure.suppression.class_counting import PersonCrowd, PopulationCrowd, WeightCrowd
from privrelease.disclosure.suppression.partition import Parts


def table_of(rows):
    """The class table of (person, codes) or (person, codes, weight) rows, weights of a person once per class, by the smallest."""
    tuples = sorted({row[1] for row in rows})
    pairs = sorted({(tuples.index(codes), person) for person, codes, *_ in rows})
    least = {
        pair: min((row[2] for row in rows if (tuples.index(row[1]), row[0]) == pair and len(row) > 2), default=0)
        for pair in pairs
    }
    counts = [sum(at == number for at, _ in pairs) for number in range(len(tuples))]
    return ClassTable(
        tuple("abc"[: len(tuples[0])]),
        np.array(tuples, np.int32),
        np.array(counts),
        weights=np.array([sum(w for (at, _), w in least.items() if at == number) for number in range(len(tuples))], np.float64),
        pairs_class=np.array([at for at, _ in pairs], np.uint32),
        pairs_person=np.array([person for _, person in pairs], np.uint32),
        pair_weights=np.array([least[pair] for pair in pairs], np.float64),
    )


def shows(codes, row):
    """A row of the population has every value that is shown; where it has none itself, it has no value shown."""
    return all(not code or code == own for code, own in zip(codes, row, strict=True))


def by_persons(sample, rows):
    return [len({person for person, row in rows if shows(codes, row)}) for codes in sample.codes.tolist()]


def drawn(seed, persons=9, values=4):
    """Rows of persons who have one to four each, with missing cells."""
    draw = np.random.default_rng(seed)
    return [
        (person, tuple(draw.integers(0, values, 3).tolist()))
        for person in range(persons)
        for _ in range(int(draw.integers(1, 5)))
    ]


def alike(table):
    """The same table, in which every person stands for two."""
    return replace(table, alike=np.full(int(table.pairs_person.max()) + 1, 2), counts=table.counts * 2)


SEEDS = range(25)


def test_one_person_with_five_rows_is_one():
    sample = table_of([(0, (1, 1))])
    population = table_of([(0, (1, 1))] * 5 + [(1, (1, 2))])
    assert journalist_risk(sizes_from_population(sample, population)).highest == 1
    assert marketer_risk(sizes_from_population(sample, population)).average == 1


def test_one_person_in_five_matching_classes_is_one():
    sample, register = table_of([(0, (1, 0))]), [(0, (1, value)) for value in range(1, 6)]
    assert population_counts(sample, table_of(register)).tolist() == [1]
    assert population_counts(sample, table_of([*register, (1, (1, 2))])).tolist() == [2]
    risk = journalist_risk(sizes_from_population(sample, table_of(register), missing="wildcard", residual="class"))
    assert risk.highest == 1


def test_a_persons_rows_of_the_sample_are_no_crowd_for_one_another():
    """The missing cell matches the two other rows of the same person: one person, whatever the reading."""
    sample = table_of([(0, (1, 0)), (0, (1, 1)), (0, (1, 2))])
    for sizes in (
        sizes_from_population(sample, table_of([(0, (1, 1)), (0, (1, 2))]), missing="wildcard"),
        sizes_from_weights(replace(sample, weights=np.ones(3)), missing="wildcard"),
    ):
        assert journalist_risk(sizes).highest == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_the_population_is_counted_by_persons(seed):
    sample, rows = table_of(drawn(seed, 5)), drawn(1000 + seed)
    expected = by_persons(sample, rows)
    assert population_counts(sample, table_of(rows)).tolist() == expected
    assert population_counts(sample, alike(table_of(rows))).tolist() == [2 * size for size in expected]
    known = [(person, (row[2], row[0])) for person, row in rows]
    of_two = replace(sample, columns=("c", "a"), codes=np.ascontiguousarray(sample.codes[:, [2, 0]]))
    assert population_counts(sample, table_of(rows), ["c", "a"]).tolist() == by_persons(of_two, known)


@pytest.mark.parametrize("seed", SEEDS)
def test_suppression_aims_at_the_persons_of_the_population(seed):
    rows = drawn(1000 + seed)
    parts = Parts.untouched(table_of(drawn(seed, 5)))
    crowd = PopulationCrowd(table_of(rows), PersonCrowd(parts))
    members = np.arange(len(parts))
    found = crowd.in_population(members, members, parts.table.codes)
    assert found.tolist() == np.maximum(by_persons(parts.table, rows), crowd.in_file(members, members)).tolist()


def test_counting_rows_is_found_out():
    """The mutants of both sides that count rows, or add up the persons of matching classes, differ where persons have several rows."""
    wrong = 0
    for seed in SEEDS:
        sample, rows = table_of(drawn(seed, 5)), drawn(1000 + seed)
        mutant = replace(table_of(rows), pairs_class=None, pairs_person=None)
        members = np.arange(sample.n_classes)
        nothing = SimpleNamespace(in_file=lambda members, _: np.zeros(len(members), np.int64))
        ours = population_counts(sample, mutant)
        theirs = PopulationCrowd(mutant, nothing).in_population(members, members, sample.codes)
        assert ours.tolist() == theirs.tolist()
        assert np.all(ours >= by_persons(sample, rows))
        wrong += ours.tolist() != by_persons(sample, rows)
    assert wrong > len(SEEDS) // 2


def test_a_persons_weight_counts_once():
    rows = [(0, (1,), 1)] * 5 + [(1, (2,), 10), (1, (2,), 4), (2, (2,), 3)]
    assert table_of(rows).weights.tolist() == [1, 7]
    assert journalist_risk(sizes_from_weights(table_of(rows))).highest == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_suppression_adds_up_each_persons_smallest_weight(seed):
    """The classes of a group are merged: a person who is in several of them counts once."""
    draw = np.random.default_rng(seed)
    rows = [(person, codes, int(draw.integers(1, 9))) for person, codes in drawn(seed, 6, 3)]
    parts = Parts.untouched(table_of(rows))
    crowd = WeightCrowd(parts, PersonCrowd(parts))
    members, group = np.arange(len(parts)), draw.integers(0, 3, len(parts))
    found = crowd.in_population(members, group, parts.table.codes)
    for place, number in enumerate(group.tolist()):
        merged = {tuple(codes) for codes in parts.table.codes[group == number].tolist()}
        least: dict[int, int] = {}
        for person, codes, weight in rows:
            if codes in merged:
                least[person] = min(least.get(person, weight), weight)
        assert Fraction(int(found[place]), crowd.scale) == max(sum(least.values()), len(least))


def test_weights_of_pairs_are_needed_where_persons_are_counted():
    parts = Parts.untouched(replace(table_of([(0, (1,), 1)]), pair_weights=None))
    with pytest.raises(ValueError, match="weights of persons"):
        WeightCrowd(parts, PersonCrowd(parts))


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_over_matches_never_exceed_the_persons_who_match(seed):
    """Each person of weight w once: F of no class is above the sum over the distinct persons who match it."""
    draw = np.random.default_rng(seed)
    weight = draw.integers(1, 9, 6).tolist()
    rows = [(person, codes, weight[person]) for person, codes in drawn(seed, 6, 3)]
    table = table_of(rows)
    sizes = sizes_from_weights(table, missing="wildcard", residual="class")

    def matches(one, other):
        return all(a == b or 0 in {a, b} for a, b in zip(one, other, strict=True))

    sums = [
        sum(weight[who] for who in {person for person, row, _ in rows if matches(codes, row)}) for codes in table.codes.tolist()
    ]
    assert sizes.sizes[0] <= min(sums)
    assert sizes.sizes[-1] <= max(sums)
