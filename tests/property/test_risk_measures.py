"""Fast code against brute force, and what must hold for any table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.grouping import group_rows, packed_words, row_order
from privrelease.disclosure.classes.person_matches import MOST_TUPLES, person_match_sizes
from privrelease.disclosure.classes.persons import linkable_class_sizes, person_class_sizes
from privrelease.disclosure.classes.subsets import smallest_classes
from privrelease.disclosure.classes.wildcard import compatible_counts, match_counts, match_sums
from privrelease.disclosure.population.class_sizes import population_counts
from privrelease.disclosure.risk.individual import individual_risk
from privrelease.disclosure.risk.journalist import PopulationSizes, journalist_risk
from privrelease.disclosure.risk.l_diversity import distinct_l, entropy_l, is_diverse, recursive_l
from privrelease.disclosure.risk.marketer import marketer_risk
from privrelease.disclosure.risk.prosecutor import prosecutor_risk
from privrelease.disclosure.risk.ratios import sum_of_ratios
from privrelease.disclosure.risk.sensitive import SensitiveCounts
from privrelease.disclosure.risk.t_closeness import t_closeness
from tests.depth import depth

FEW = settings(max_examples=depth(20, 60), deadline=None)


@st.composite
def coded_rows(draw, most_rows=40, most_columns=5, most_values=4):
    """Codes (n, q), 0 = missing; some columns much wider than the table is long."""
    columns = draw(st.integers(1, most_columns))
    row = st.lists(st.integers(0, most_values), min_size=columns, max_size=columns)
    codes = np.array(draw(st.lists(row, min_size=1, max_size=most_rows)), np.int32)
    spread = np.array(draw(st.lists(st.sampled_from([1, 1, 1, 70_000]), min_size=columns, max_size=columns)), np.int32)
    return codes * spread


@st.composite
def with_persons(draw):
    codes = draw(coded_rows(most_rows=20, most_columns=3, most_values=2))
    people = draw(st.lists(st.integers(0, 7), min_size=len(codes), max_size=len(codes)))
    return codes, people


def table_from(codes, persons=None, weights=None):
    grouping = group_rows(codes)
    pairs_class = pairs_person = None
    if persons is not None:
        pairs = sorted({(int(c), p) for c, p in zip(grouping.group, persons, strict=True)})
        pairs_class, pairs_person = np.array([c for c, _ in pairs], np.uint32), np.array([p for _, p in pairs], np.uint32)
    names = tuple(f"c{j}" for j in range(codes.shape[1]))
    counts = grouping.sums(np.ones(len(codes), np.int64))
    return ClassTable(names, codes[grouping.first], counts, weights, pairs_class, pairs_person), grouping.group


def match(x, y):
    return all(a == b or not a or not b for a, b in zip(x, y, strict=True))


def has_value(row):
    return any(row)


@given(coded_rows())
@FEW
def test_class_sizes_are_those_of_a_counter(codes):
    table, _ = table_from(codes)
    rows = [tuple(row) for row in codes.tolist()]
    counter = Counter(row for row in rows if has_value(row))
    sizes = ClassSizes.from_table(table)
    assert np.repeat(sizes.sizes, sizes.classes).tolist() == sorted(counter.values())
    assert sizes.residual == sum(not has_value(row) for row in rows)
    assert ClassSizes.from_arrays(sizes.sizes, sizes.classes).records.tolist() == sizes.records.tolist()


@given(coded_rows(most_columns=8))
@FEW
def test_packed_words_sort_like_the_rows(codes):
    wide = np.concatenate([codes, codes[:, ::-1]] * 3, axis=1)
    order = row_order(packed_words(wide))
    assert wide[order].tolist() == sorted(wide.tolist())


@given(coded_rows())
@FEW
def test_wildcard_counts_are_those_of_all_pairs(codes):
    table, of_row = table_from(codes)
    rows = codes.tolist()
    for residual, seen in (("class", lambda _: True), ("lost", has_value)):
        expected = [sum(match(x, y) for y in rows if seen(y)) if seen(x) else 0 for x in rows]
        assert match_counts(table, residual=residual)[of_row].tolist() == expected


@given(coded_rows(most_rows=120, most_columns=6, most_values=3))
@settings(max_examples=depth(15, 40), deadline=None)
def test_wildcard_sums_of_larger_tables_are_those_of_all_pairs(codes):
    values = np.arange(1, len(codes) + 1)
    rows = codes.tolist()
    expected = [sum(v for y, v in zip(rows, values.tolist(), strict=True) if match(x, y)) for x in rows]
    assert match_sums(codes, values).tolist() == expected
    assert np.allclose(match_sums(codes, values / 4), np.array(expected) / 4, rtol=1e-12)


@given(coded_rows(), st.data())
@FEW
def test_compatible_counts_are_those_of_all_pairs(codes, data):
    released = codes.copy()
    mask = data.draw(st.lists(st.booleans(), min_size=codes.size, max_size=codes.size))
    released[np.array(mask).reshape(codes.shape)] = 0
    source, of_source = table_from(codes)
    after, _ = table_from(released)
    expected = [sum(match(x, y) for y in released.tolist() if has_value(y)) for x in codes.tolist()]
    found = compatible_counts(source, after)[of_source].tolist()
    assert found == expected
    for i, row in enumerate(released.tolist()):
        assert found[i] >= 1 or not has_value(row)


@given(coded_rows(most_rows=15), coded_rows(most_rows=15))
@FEW
def test_population_counts_are_those_that_have_every_value_shown(sample, population):
    q = min(sample.shape[1], population.shape[1])
    ours, theirs = table_from(sample[:, :q].copy()), table_from(population[:, :q].copy())
    expected = [
        sum(all(not a or a == b for a, b in zip(x, y, strict=True)) for y in population[:, :q].tolist())
        for x in sample[:, :q].tolist()
    ]
    assert population_counts(ours[0], theirs[0])[ours[1]].tolist() == expected


@given(with_persons())
@FEW
def test_person_classes_are_those_of_sets(rows):
    codes, people = rows
    table, of_row = table_from(codes, people)
    holders: dict[tuple[int, ...], set[int]] = {}
    for row, person in zip(codes.tolist(), people, strict=True):
        holders.setdefault(tuple(row), set()).add(person)
    sizes = person_class_sizes(table)
    assert np.repeat(sizes.sizes, sizes.classes).tolist() == sorted(len(who) for row, who in holders.items() if has_value(row))
    pair_rows = Counter(zip(of_row.tolist(), people, strict=True))
    ordered = np.array([pair_rows[int(c), int(p)] for c, p in zip(table.pairs_class, table.pairs_person, strict=True)])
    for reading, kind in (("set", frozenset), ("multiset", lambda items: tuple(sorted(items)))):
        seen = {p: kind([tuple(r) for r, q in zip(codes.tolist(), people, strict=True) if q == p]) for p in set(people)}
        counter = Counter(value for value in seen.values() if any(has_value(row) for row in value))
        found = linkable_class_sizes(table, reading=reading, pair_rows=ordered)
        assert np.repeat(found.sizes, found.classes).tolist() == sorted(counter.values())
        assert found.residual == sum(not any(has_value(row) for row in value) for value in seen.values())


@given(with_persons(), st.booleans())
@FEW
def test_persons_with_the_same_rows_may_be_counted_together(rows, several):
    """The first two persons once more, each under as many new numbers: one by one, or as one number that stands for them all."""
    codes, people = rows
    copies = dict.fromkeys(sorted(set(people))[:2], 3 if several else 2)
    more = [
        (row, 100 * copy + person) for row, person in zip(codes, people, strict=True) for copy in range(copies.get(person, 1))
    ]
    whole, of_row = table_from(np.array([row for row, _ in more]), [person for _, person in more])
    rows_of = Counter(zip(of_row.tolist(), (person for _, person in more), strict=True))
    kept = whole.pairs_person < 100
    alike = np.ones(100, np.int64)
    for person, times in copies.items():
        alike[person] = times
    together = replace(whole, pairs_class=whole.pairs_class[kept], pairs_person=whole.pairs_person[kept], alike=alike)

    def figures(table):
        pair_rows = np.array([rows_of[int(c), int(p)] for c, p in zip(table.pairs_class, table.pairs_person, strict=True)])
        yield person_class_sizes(table)
        yield person_match_sizes(table)
        for reading in ("set", "multiset"):
            yield linkable_class_sizes(table, [0], reading=reading, pair_rows=pair_rows)

    for ours, theirs in zip(figures(whole), figures(together), strict=True):
        for one, other in ((ours, theirs), (ours.least, theirs.least)):
            assert (one is None) == (other is None)
            if one is not None:
                assert one.sizes.tolist() == other.sizes.tolist()
                assert one.records.tolist() == other.records.tolist()
                assert one.residual == other.residual


@given(with_persons())
@FEW
def test_persons_matched_are_those_with_a_matching_row(rows):
    codes, people = rows
    table, _ = table_from(codes, people)
    held = {p: {tuple(r) for r, q in zip(codes.tolist(), people, strict=True) if q == p and has_value(r)} for p in set(people)}
    pairs = {(row, p) for p, tuples in held.items() for row in tuples}
    expected = sorted(sum(any(match(row, y) for y in tuples) for tuples in held.values()) for row, _ in pairs)
    sizes = person_match_sizes(table)
    found = np.repeat(sizes.sizes, sizes.records).tolist()
    if max(len(tuples) for tuples in held.values()) <= MOST_TUPLES:
        assert found == expected
    else:
        assert len(found) == len(expected)
        assert all(a <= b for a, b in zip(found, expected, strict=True))


@given(coded_rows(), st.integers(0, 4))
@FEW
def test_knowing_less_is_never_riskier(codes, dropped):
    table, _ = table_from(codes)
    fewer = [j for j in range(codes.shape[1]) if j != dropped % codes.shape[1]]
    if not fewer:
        return
    above = Fraction("0.3")
    for residual in ("class",):
        fine = ClassSizes.from_table(table, residual=residual)
        coarse = ClassSizes.from_table(table, fewer, residual=residual)
        before, after = prosecutor_risk(fine, above=above), prosecutor_risk(coarse, above=above)
        assert after.highest <= before.highest
        assert after.average <= before.average
        assert after.records_at_risk <= before.records_at_risk
        assert np.all(match_counts(table, fewer, residual=residual) >= match_counts(table, residual=residual))


@given(coded_rows(), st.integers(2, 4))
@FEW
def test_coarser_values_are_never_riskier(codes, width):
    coarse = np.where(codes == 0, 0, (codes - 1) // width + 1).astype(np.int32)
    fine, coarser = (prosecutor_risk(ClassSizes.from_table(table_from(c)[0])) for c in (codes, coarse))
    if fine.n_records:
        assert coarser.highest <= fine.highest
        assert coarser.average <= fine.average


@given(coded_rows(), st.data())
@FEW
def test_every_measure_lies_between_one_over_n_and_one(codes, data):
    table, _ = table_from(codes)
    sizes = ClassSizes.from_table(table, residual="class")
    extra = np.array(data.draw(st.lists(st.integers(0, 50), min_size=table.n_classes, max_size=table.n_classes)))
    population = PopulationSizes.of(table.counts, table.counts + extra)
    prosecutor, journalist, marketer = prosecutor_risk(sizes), journalist_risk(population), marketer_risk(population)
    assert Fraction(1, sizes.n_records) <= prosecutor.average <= prosecutor.highest <= 1
    assert marketer.average <= journalist.average <= prosecutor.average
    assert journalist.highest <= prosecutor.highest


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 10**6)), max_size=30))
@FEW
def test_sums_of_ratios_are_exact(pairs):
    found = sum_of_ratios([a for a, _ in pairs], [b for _, b in pairs])
    exact = sum((Fraction(a, b) for a, b in pairs), Fraction(0))
    assert found.value == exact or (found.rounded_up and exact < found.value <= exact + Fraction(30, 10**40))


def test_a_sum_too_long_to_print_is_rounded_up_and_says_so():
    denominators = list(range(1, 5000))
    found = sum_of_ratios([1] * len(denominators), denominators)
    assert found.rounded_up
    assert 0 < found.value - sum(1 / Fraction(d) for d in range(1, 300)) < 3
    assert abs(float(found.value) - sum(1 / d for d in denominators)) < 1e-12
    assert found.value.denominator <= 10**40


@given(coded_rows(most_columns=4), st.integers(1, 4), st.integers(1, 5))
@FEW
def test_subset_reports_are_those_of_counters(codes, up_to, k):
    table, _ = table_from(codes)
    report = smallest_classes(table, up_to, k)
    q = codes.shape[1]
    expected = []
    for size in range(1, min(up_to, q) + 1):
        for chosen in combinations(range(q), size):
            counter = Counter(tuple(row[j] for j in chosen) for row in codes.tolist())
            kept = [n for row, n in counter.items() if has_value(row)]
            expected.append((tuple(f"c{j}" for j in chosen), min(kept, default=None), sum(n < k for n in kept)))
    assert [(found.columns, found.smallest, found.classes_below) for found in report.combinations] == expected
    assert len(expected) + report.not_looked_at == 2**q - 1


@given(st.lists(st.tuples(st.integers(1, 60), st.floats(0, 1e7)), min_size=1, max_size=20))
@FEW
def test_individual_risk_is_between_one_over_population_and_one_over_sample(pairs):
    f, extra = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    for method in ("exact", "approximate"):
        risk = individual_risk(f, f + extra, method)
        assert np.all(risk <= 1 / f * (1 + 1e-12))
        assert np.all(risk >= 1 / (f + extra) * (1 - 1e-12))
    assert np.all(individual_risk(f, f + 2 * extra) <= individual_risk(f, f + extra) * (1 + 1e-12))


@st.composite
def sensitive(draw):
    groups = draw(st.integers(1, 4))
    triples = draw(
        st.lists(st.tuples(st.integers(0, groups - 1), st.integers(0, 5), st.integers(1, 6)), min_size=1, max_size=25)
    )
    return SensitiveCounts.of(*(np.array(column) for column in zip(*triples, strict=True)), n_classes=groups), triples


@given(sensitive(), st.sampled_from(["known", "value"]), st.fractions(Fraction(1, 4), Fraction(4), max_denominator=8))
@FEW
def test_diversity_is_that_of_its_definition(made, missing, c):
    counts, triples = made
    for group in range(counts.n_classes):
        values = Counter()
        for g, v, n in triples:
            if g == group and (v or missing == "value"):
                values[v] += n
        ordered = sorted(values.values(), reverse=True)
        total = sum(ordered)
        assert distinct_l(counts, missing)[group] == len(ordered)
        entropy = np.exp(-sum(n / total * np.log(n / total) for n in ordered)) if ordered else 0
        assert abs(entropy_l(counts, missing)[group] - entropy) < 1e-9
        recursive = max((r for r in range(1, len(ordered) + 1) if ordered[0] < c * sum(ordered[r - 1 :])), default=0)
        assert recursive_l(counts, c, missing)[group] == recursive
        assert is_diverse(counts, Fraction(len(ordered) or 1), "entropy", missing=missing)[group] == (len(set(ordered)) == 1)


@given(sensitive(), st.sampled_from(["known", "value"]))
@FEW
def test_closeness_is_that_of_its_definition(made, missing):
    counts, triples = made
    seen = [(g, v, n) for g, v, n in triples if v or missing == "value"]
    domain = sorted({v for _, v, _ in seen})
    overall = [Fraction(sum(n for _, v, n in seen if v == value), sum(n for *_, n in seen)) for value in domain]
    for distance in ("equal", "ordered"):
        found = t_closeness(counts, distance, missing)
        for group in range(counts.n_classes):
            total = sum(n for g, _, n in seen if g == group)
            if not total:
                assert np.isnan(found.distances[group])
                continue
            share = [Fraction(sum(n for g, v, n in seen if g == group and v == value), total) for value in domain]
            gaps = [p - q for p, q in zip(share, overall, strict=True)]
            if distance == "equal":
                expected = sum(abs(gap) for gap in gaps) / 2
            else:
                expected = sum(abs(sum(gaps[: i + 1])) for i in range(len(gaps))) / max(len(gaps) - 1, 1)
            assert Fraction(int(found.numerators[group]), int(found.denominators[group])) == expected


@pytest.mark.parametrize("most", [2, 1 << 30, (1 << 52) - 1, 1 << 52, 1 << 53, (1 << 63) - 1])
def test_rows_are_ordered_stably_whether_or_not_their_number_fits_into_the_word(most):
    words = np.random.default_rng(1).choice([0, most // 2, most - 1], 1_000)
    assert row_order(words[None]).tolist() == sorted(range(1_000), key=words.tolist().__getitem__)
