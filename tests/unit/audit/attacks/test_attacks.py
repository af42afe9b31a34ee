"""Each attack on tables small enough to be worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.audit.attacks import sampling
from privrelease.audit.attacks.closest_record import closest
from privrelease.audit.attacks.inference import InferenceAttack
from privrelease.audit.attacks.linkability import linked
from privrelease.audit.attacks.membership import halves, member_rates, threshold
from privrelease.audit.attacks.rates import Rate
from privrelease.audit.attacks.record_linkage import guess_rate, links
from privrelease.audit.attacks.sampling import Draws, drawn_rows, one_row_each
from privrelease.audit.attacks.singling_out import (
    Condition,
    isolated,
    multivariate,
    random_predicates,
    scaled_control,
    univariate,
)

AGES = [30, 30, 40, 50, 60, 60]
SEXES = ["F", "M", "F", "F", "M", "M"]


# ----------------------------------------------------------------------------------------------------------------- singling out


def test_values_that_occur_once_and_the_extremes_single_out(made):
    (rows,) = made(age=[AGES], sex=[["F", "M", "M", "M", "M", "M"]])
    found = univariate(rows, Draws(1), 9)
    # ages 40 and 50 and the one F; the lowest and highest ages occur twice
    assert set(found) == {(Condition(0, "=", 2),), (Condition(0, "=", 3),), (Condition(1, "=", 1),)}
    assert isolated(found, rows) == Rate(3, 3)


def test_an_extreme_that_occurs_once_is_told_as_a_value_and_as_an_end(made):
    (rows,) = made(age=[[30, 40, 40]])
    assert set(univariate(rows, Draws(1), 9)) == {(Condition(0, "=", 1),), (Condition(0, "<=", 1),)}


def test_a_single_missing_cell_of_a_column_singles_out(made):
    """As in Anonymeter, which asks whether a column is missing where exactly one cell is."""
    rows, data = made(
        age=[[30, 30, None], [30, 30, 50]], sex=[[None, None, "F"], [None, None, "F"]], job=[["a", "a", None], ["a", "a", None]]
    )
    found = univariate(rows, Draws(1), 9)
    assert set(found) == {(Condition(0, "=", 0),), (Condition(1, "=", 1),), (Condition(2, "=", 0),)}
    assert isolated(found, data) == Rate(2, 3)  # the age is missing in the file alone: suppressed


def test_missing_cells_are_no_condition_among_several(made):
    (rows,) = made(age=[[30, 30, None]], sex=[[None, "F", "F"]])
    assert all(condition.code for predicate in multivariate(rows, 1, Draws(1), 50) for condition in predicate)


def test_at_most_the_sample_is_tried(made):
    (rows,) = made(age=[list(range(20))])
    assert len(univariate(rows, Draws(1), 5)) == 5


def test_predicates_on_several_columns_match_one_record_of_the_file_each(made):
    (rows,) = made(age=[AGES], sex=[SEXES])
    found = multivariate(rows, 2, Draws(3), 50)
    # by hand: F up to 30 (row 0), M up to 30 (row 1), F from 50 (row 3); the median is 45, so ages above are met by ">="
    assert set(found) == {
        (Condition(0, "<=", 1), Condition(1, "=", 1)),
        (Condition(0, "<=", 1), Condition(1, "=", 2)),
        (Condition(0, ">=", 3), Condition(1, "=", 1)),
    }
    assert isolated(found, rows) == Rate(3, 3)


def test_a_file_of_twins_singles_nobody_out(made):
    (rows,) = made(age=[[30, 30, 40, 40]], sex=[["F", "F", "M", "M"]])
    assert multivariate(rows, 2, Draws(1), 50) == ()
    assert univariate(rows, Draws(1), 50) == ()


def test_fewer_columns_than_are_combined_give_no_predicate(made):
    (rows,) = made(age=[AGES])
    assert multivariate(rows, 2, Draws(1), 50) == ()


def test_rows_of_one_person_are_one(made):
    (rows,) = made(sex=[["F", "F", "M"]])
    predicates = [(Condition(0, "=", 1),), (Condition(0, "=", 2),)]
    assert isolated(predicates, rows) == Rate(1, 2)
    assert isolated(predicates, rows, None, np.array([[8, 8, 9]] * 2)) == Rate(2, 2)


def test_guessed_predicates_have_the_shape_asked_for_and_repeat(made):
    (rows,) = made(age=[AGES], sex=[SEXES], region=[[None] * 6])
    found = random_predicates(rows, 2, Draws(5), 40)
    assert found == random_predicates(rows, 2, Draws(5), 40)
    assert {tuple(condition.column for condition in predicate) for predicate in found} == {(0, 1)}
    assert all(condition.operator == "=" for predicate in found for condition in predicate if condition.column == 1)
    assert len({predicate[0].operator for predicate in found}) == 3


def test_a_control_of_the_same_size_is_not_scaled(made):
    (rows,) = made(age=[AGES])
    assert scaled_control([(Condition(0, "=", 2),)], rows, Rate(1, 1), 6) == Rate(1, 1)


def test_rare_predicates_succeed_more_often_among_more_persons():
    # predicates of weight 1/2000 each: among m persons n w (1 - w)^(n - 1) of them isolate
    rng = np.random.default_rng(11)
    from privrelease.audit.attacks.records import Attribute

    codes = rng.integers(1, 2001, 1000)
    predicates = [(Condition(0, "=", code),) for code in range(1, 2001)]
    control = [Attribute("a", codes.astype(np.uint16))]
    rate = isolated(predicates, control)
    scaled = scaled_control(predicates, control, rate, 2000)
    expected = 2000 * 2000 / 2000 * (1 - 1 / 2000) ** 1999  # about 736 of 2000
    assert rate.successes < scaled.successes
    assert abs(scaled.successes - expected) < 0.12 * expected


# ---------------------------------------------------------------------------------------------------------------------- linking


def test_two_lists_are_linked_where_both_halves_meet(made):
    file, people = made(age=[[30, 40, 50, 60], [30, 40, 50, 60]], sex=[["F", "F", "M", "M"], ["F", "M", "M", "F"]])
    # ages lead to rows 0, 1, 2, 3; sexes to the first F (0) or the first M (2) of the lot
    assert linked(people[:1], people[1:], file, np.arange(4)) == Rate(2, 4)
    # with the lot the other way round F leads to row 1 and M to row 3, where no age of theirs leads
    assert linked(people[:1], people[1:], file, np.arange(4)[::-1].copy()) == Rate(0, 4)


def test_a_record_is_found_where_it_is_the_persons_own(made):
    file, people = made(sex=[["F", None, "M", "M"], ["F", "M", "M", "F"]], age=[[30, 40, 58, 60], [30, 40, 58, 61]])
    # 0 and 2 equal theirs; 1 is nearest to its own with one cell suppressed (1/3); 3, F of 61, is led to F of 30 (31/31) before M of 60 (1 + 1/31)
    assert links(people, np.array([1, 2, 3, 4]), file, np.array([1, 2, 3, 4]).__getitem__, np.arange(4)) == Rate(3, 4)
    # the same records, where the third is another person's
    assert links(people, np.array([1, 2, 3, 4]), file, np.array([1, 2, 9, 4]).__getitem__, np.arange(4)) == Rate(2, 4)


def test_guessing_finds_one_of_n_records():
    assert guess_rate(8).value == Fraction(1, 8)
    assert guess_rate(0).value is None


# -------------------------------------------------------------------------------------------------------------------- inference


def test_most_of_the_nearest_records_tell_the_value(made):
    known, secret = made(zip=[["a", "a", "a", "b", "b", "c"]], ill=[["y", "y", "n", "n", "n", None]])[0]
    guesser = InferenceAttack([known], secret, 0)
    (people,) = made(zip=[["a", "b", "c"]])
    assert guesser.guesses(people).tolist()[:2] == [2, 1]  # codes ascend: n is 1, y is 2
    # c has no value in the file: a, b (all five) are equally far, and n is the more frequent
    assert guesser.guesses(people).tolist()[2] == 1
    assert guesser.rate([known], secret) == Rate(4, 5)
    assert guesser.blind(secret) == Rate(3, 5)


def test_of_equally_many_the_more_frequent_value_is_guessed(made):
    known, secret = made(zip=[["a", "a", "b", "b", "b"]], ill=[["x", "y", "y", "y", "x"]])[0]
    (people,) = made(zip=[["a"]])
    assert InferenceAttack([known], secret, 0).guesses(people).tolist() == [2]


def test_a_number_near_the_guess_is_guessed(made):
    file, others = made(zip=[["a", "b"], ["a", "b"]], pay=[[100, 200], [104, 211]])
    assert InferenceAttack(file[:1], file[1], 0.05).rate(others[:1], others[1]) == Rate(1, 2)
    assert InferenceAttack(file[:1], file[1], 0.0).rate(others[:1], others[1]) == Rate(0, 2)
    assert InferenceAttack(file[:1], file[1], 0.06).rate(others[:1], others[1]) == Rate(2, 2)


def test_a_file_without_a_value_guesses_nothing(made):
    file, others = made(zip=[["a"], ["a"]], ill=[[None], ["y"]])
    guesser = InferenceAttack(file[:1], file[1], 0)
    assert guesser.rate(others[:1], others[1]) == Rate(0, 1)
    assert guesser.blind(others[1]) == Rate(0, 1)


# ------------------------------------------------------------------------------------------------------------------- membership


def test_the_threshold_tells_members_best_apart():
    assert threshold(np.array([0, 1, 1, 5]), np.array([1, 3, 4, 6])) == 1  # 3/4 less 1/4
    assert threshold(np.array([2, 2]), np.array([2, 2])) == -1
    assert threshold(np.zeros(0, np.int64), np.array([1])) == -1


def test_an_overfitted_copy_gives_members_away_and_an_independent_draw_does_not():
    copy, far = np.zeros(40, np.int64), np.full(40, 7, np.int64)
    assert member_rates(copy, far) == (Rate(20, 20), Rate(0, 20))
    assert member_rates(far, far) == (Rate(0, 20), Rate(0, 20))


def test_what_was_learnt_on_is_not_tried_on():
    members, others = np.array([0, 0, 9, 9]), np.array([9, 9, 0, 0])
    assert member_rates(members, others) == (Rate(0, 2), Rate(2, 2))
    assert halves(1) == (slice(0, 0, None), slice(0, 1, None))


# -------------------------------------------------------------------------------------------------------------- distance, draws


def test_missing_is_a_value_when_distances_are_shown(made):
    rows, real = made(a=[[None, 2], [None, 1]], b=[["x", "y"], ["x", "x"]])
    apart, found = closest(rows, real)
    assert apart.tolist() == [0, 1]
    assert found.tolist() == [0, 0]


def test_a_difference_may_exceed_the_range_of_the_data(made):
    rows, real = made(a=[[50], [10, 20]])
    assert closest(rows, real)[0].tolist() == [3]


def test_nothing_real_has_no_distance(made):
    rows, real = made(a=[[1], []])
    assert np.isnan(closest(rows, real)[0]).all()


def test_draws_are_fixed_by_public_texts_and_by_no_library():
    assert Draws.of("policy", "file").words(3).tolist() == Draws.of("policy", "file").words(3).tolist()
    assert Draws(0).words(3).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]  # SplitMix64 of seed 0
    assert sorted(Draws(9).order(100).tolist()) == list(range(100))
    assert Draws(9).named("a") != Draws(9).named("b")


def test_a_person_is_attacked_once():
    chosen = one_row_each(np.array([3, 0, 1, 2]), np.array([6, 5, 5, 6]), 9)
    assert chosen.tolist() == [3, 0]


@pytest.mark.parametrize("bound", [1, 7, 1000])
def test_numbers_below_a_bound_are_spread_over_it(bound):
    found = Draws(3).below(20_000, bound)
    assert found.min() >= 0
    assert found.max() < bound
    counts = np.bincount(found, minlength=bound)
    mean = 20_000 / bound
    assert ((counts - mean) ** 2 / mean).sum() < bound + 6 * (2 * bound) ** 0.5 + 1  # chi-square, six deviations


@pytest.mark.parametrize("size", [0, 1, 6, 50, 70])
def test_an_order_drawn_in_pieces_is_the_order(size, monkeypatch):
    monkeypatch.setattr(sampling, "_BLOCK", 7)
    monkeypatch.setattr(sampling, "_HELD", 5)
    draws = Draws(11)
    order = draws.order(50)
    pieces = list(draws.in_order(50))
    assert len(pieces) == 10
    assert np.concatenate(pieces).tolist() == order.tolist()
    assert draws.sample(50, size).tolist() == order[:size].tolist()
    counts = np.array([1, 9, 20, 3, 17])
    lots, places = draws.least(counts)
    runs = np.split(order, np.cumsum(counts)[:-1])
    assert lots.tolist() == [run.min() for run in runs]
    assert order[places].tolist() == lots.tolist()


@pytest.mark.parametrize("size", [1, 5, 30])
def test_a_row_of_each_person_is_drawn_however_many_rows_must_be_looked_at(size):
    draws, persons = Draws(2), np.arange(200) % 13
    asked = []

    def person(rows):
        asked.append(len(rows))
        return persons[rows]

    order = draws.order(200)
    chosen = drawn_rows(draws, 200, size, person)
    assert chosen.tolist() == one_row_each(order, persons[order], size).tolist()
    assert len(chosen) == min(size, 13)
    assert asked == sorted(asked)


def test_records_that_are_counted_single_out_as_their_rows_do(made):
    """Each distinct record once, with its rows, instead of every row."""
    ages, sexes = [30, 30, 30, 40, 50, 60, 60, None], ["F", "F", "M", "F", "F", "M", "M", "M"]
    rows, records = made(age=[ages, [30, 30, 40, 50, 60, None]], sex=[sexes, ["F", "M", "F", "F", "M", "M"]])
    counts = np.array([2, 1, 1, 1, 2, 1])
    for combine in (1, 2):
        tried = multivariate(rows, combine, Draws(3), 50)
        assert multivariate(records, combine, Draws(3), 50, counts) == tried
        guessed = random_predicates(rows, combine, Draws(4), 30)
        assert random_predicates(records, combine, Draws(4), 30) == guessed
        for predicates in (tried, guessed):
            rate = isolated(predicates, rows)
            assert isolated(predicates, records, counts) == rate
            assert scaled_control(predicates, records, rate, 50, counts) == scaled_control(predicates, rows, rate, 50)
    assert univariate(records, Draws(1), 9, counts) == univariate(rows, Draws(1), 9)
    attack = InferenceAttack(rows[:1], rows[1], 0)
    counted = InferenceAttack(records[:1], records[1], 0, counts)
    assert counted.guesses(rows[:1]).tolist() == attack.guesses(rows[:1]).tolist()
    assert counted.blind(rows[1]) == attack.blind(rows[1])
