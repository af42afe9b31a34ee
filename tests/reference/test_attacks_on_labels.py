"""Attacks on Adult with labels: what an attacker finds who compares by containment, beside brute force and beside one who compares texts."""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from privrelease import api
from privrelease.audit.attacks import attempts

ROWS = 2_000
LEVELS = (1, 0, 1, 1, 3, 2, 2, 0, 1)
POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: adult
version: 1.0.0
title: Adult
datasets:
  adult:
    source: persons.csv
    unit: rows
    format: {{delimiter: ";"}}
    columns:
{columns}threats:
  T: {{dataset: adult, knows: [{names}], highest_risk: {risk}}}
  W: {{dataset: adult, knows: [age, marital-status, education], missing: wildcard, highest_risk: 1}}
attacks:
  sample: {sample}
  record_linkage: {{}}
  inference: {{target: [{target}]}}
  singling_out: {{combine: 3}}
releases:
  - id: rows
    kind: microdata
    from: adult
    protect: [T, W]
    transform:
{steps}      - {{suppress: cells}}
    output: out/rows.csv
"""


def read(path, delimiter=";"):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream, delimiter=delimiter))


@pytest.fixture(scope="module")
def attacked(shared, tmp_path_factory):
    """Classes of two at least, single cells suppressed."""
    return run(shared, tmp_path_factory.mktemp("labels"), "0.5")


@pytest.fixture(scope="module")
def unprotected(shared, tmp_path_factory):
    """Labels, and nothing suppressed."""
    return run(shared, tmp_path_factory.mktemp("plain"), "1")


def run(shared, folder, risk):
    """A run with its attacks, and what each of them saw: lots, targets, and the owner of every released row."""
    head, *rows = read(shared / "data" / "adult.csv")
    rows = rows[:ROWS]
    (folder / "persons.csv").write_text("\n".join(";".join(row) for row in [head, *rows]) + "\n", encoding="utf-8")
    labels = []
    for name in head:
        lines = read(shared / "data" / f"adult_hierarchy_{name}.csv")
        (folder / f"{name}.csv").write_text("\n".join(";".join(line) for line in lines) + "\n", encoding="utf-8")
        labels.append({line[0]: line for line in lines})
    columns = "".join(f"      {name}: {{role: quasi, type: category, hierarchy: {{csv: {name}.csv}}}}\n" for name in head)
    steps = "".join(
        f"      - {{generalise: [{', '.join(name for name, one in zip(head, LEVELS, strict=True) if one == level)}], level: {level}}}\n"
        for level in sorted(set(LEVELS) - {0})
    )
    path = folder / "policy.yaml"
    path.write_text(
        POLICY.format(columns=columns, names=", ".join(head), steps=steps, sample=ROWS, target="marital-status", risk=risk),
        encoding="utf-8",
    )
    seen = {}

    def spied(ground, one):
        draws = ground.draws.named(one.attack)
        ranks, places = ground.lot(draws.named("lot"))
        every = np.arange(ground.released.rows)
        seen["owner"] = ground.owners(every)
        seen["record"] = ground.engine.records_at(
            ground.released.records, ground.engine.rows_at(ground.released.records, every)
        )
        seen["row"] = ground.engine.rows_at(ground.released.records, every)
        seen["ranks"], seen["places"] = ranks, places
        seen["cells"] = {one.name: one.cells for one in ground.released.records.columns}
        seen["targets"] = ground.target_rows(ground.data, draws.named("targets"))
        return original(ground, one)

    def told(of):
        def tried(predicates, columns, *rest):
            seen.setdefault("predicates", []).append((predicates, [one.name for one in columns]))
            return of(predicates, columns, *rest)

        return tried

    original = attempts.TRIED["record_linkage"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIVRELEASE_DIGEST_KEY", "a made-up key of digests")
        patch.setitem(attempts.TRIED, "record_linkage", spied)
        for name in ("isolating", "isolated"):
            patch.setattr(attempts, name, told(getattr(attempts, name)))
        result = api.run(api.load(path))
    (one,) = result.releases
    assert one.became == "published", one.audit.findings
    head_out, *out = read(folder / "out" / "rows.csv", ",")
    assert head_out == head
    facts = {(fact.attack, fact.target): fact for fact in one.audit.attacks.attacks}
    return SimpleNamespace(head=head, rows=rows, labels=labels, out=out, seen=seen, facts=facts, audit=one.audit)


def distances(attacked, contains, without=None):
    """(targets, released rows): contradictions, and the part of one that orders equally many of them."""
    columns = len(attacked.head) - (without is not None)
    total = np.zeros((len(attacked.rows), len(attacked.out)))
    for place, level in enumerate(LEVELS):
        if attacked.head[place] == without:
            continue
        ladders = attacked.labels[place]
        values = sorted({row[place] for row in attacked.rows})
        cells = sorted({row[place] for row in attacked.out})
        tree = len(next(iter(ladders.values()))) - 1
        cost = np.zeros((len(values), len(cells)))
        for i, value in enumerate(values):
            for j, cell in enumerate(cells):
                if cell == "":
                    cost[i, j] = 1 / (columns + 1)
                elif contains:
                    over = [line for line in ladders.values() if line[level] == cell]
                    if any(line[0] == value for line in over):
                        continue
                    # the lowest level at which the value and the label are one
                    shared = [at for at in range(max(level, 1), tree + 1) if ladders[value][at] == over[0][at]]
                    far = min(shared, default=tree) / tree if level else 0.0
                    cost[i, j] = 1 + far / (columns + 1)
                elif value != cell:
                    cost[i, j] = 1.0
        ours = np.array([values.index(row[place]) for row in attacked.rows])
        theirs = np.array([cells.index(row[place]) for row in attacked.out])
        total += cost[ours][:, theirs]
    return total


def found_by(attacked, contains):
    """Persons whose own released row is taken by an attacker who takes, of the nearest rows, that of the lowest lot."""
    total = distances(attacked, contains)
    seen = attacked.seen
    rank_of_row = np.full(len(attacked.out), np.iinfo(np.int64).max)
    chosen_row = seen["row"][seen["places"]]
    rank_of_row[chosen_row] = seen["ranks"]
    owner = np.full(len(attacked.out), -1)
    owner[seen["row"]] = seen["owner"]
    found = set()
    for target in seen["targets"].tolist():
        near = np.flatnonzero(np.isclose(total[target], total[target].min(), atol=1e-5, rtol=0))
        taken = near[np.argmin(rank_of_row[near])]
        if owner[taken] == target:
            found.add(target)
    return found


def test_an_attacker_by_containment_finds_whom_brute_force_finds_and_one_by_text_fewer(attacked):
    main = attacked.facts["record_linkage", None].main
    by_containment, by_text = found_by(attacked, True), found_by(attacked, False)
    assert main.successes.value == len(by_containment)
    assert (len(by_containment), len(by_text)) == (478, 347)


def told_labels(attacked, further):
    """The same persons, of whom the attacker knows labels, so many levels above those that are released, instead of values."""
    levels = [min(level + further, len(next(iter(of.values()))) - 1) for level, of in zip(LEVELS, attacked.labels, strict=True)]
    rows = [[of[value][level] for value, of, level in zip(row, attacked.labels, levels, strict=True)] for row in attacked.rows]
    coarser = [{line[at]: line[up] for line in of.values()} for of, at, up in zip(attacked.labels, LEVELS, levels, strict=True)]
    out = [[of.get(cell, cell) for cell, of in zip(row, coarser, strict=True)] for row in attacked.out]
    ladders = [
        {line[level]: [line[level]] * (level + 1) + line[level + 1 :] for line in of.values()}
        for of, level in zip(attacked.labels, levels, strict=True)
    ]
    return SimpleNamespace(**{**vars(attacked), "rows": rows, "out": out, "labels": ladders}), levels


@pytest.mark.parametrize("further", [0, 1])
def test_an_attacker_who_is_told_labels_finds_no_more_than_one_who_is_told_values(attacked, further, monkeypatch):
    """Of the labels that are released the same persons, and of coarser ones fewer."""
    main = attacked.facts["record_linkage", None].main
    told, levels = told_labels(attacked, further)
    monkeypatch.setitem(globals(), "LEVELS", tuple(levels))
    found = found_by(told, True)
    assert len(found) <= main.successes.value
    assert (len(found) < main.successes.value) is bool(further)


def compatible(attacked, ours, theirs, columns):
    """(n, m): whether every cell of a row of ``ours`` has a value in common with that of one of ``theirs``; missing is any value."""
    found = np.ones((len(ours), len(theirs)), np.bool_)
    for place in columns:
        ladders = attacked.labels[place].values()

        def leaves(cell, ladders=ladders):
            return {line[0] for line in ladders if not cell or cell in line}

        sides = [sorted({row[place] for row in rows}) for rows in (ours, theirs)]
        both = np.array([[bool(leaves(one) & leaves(other)) for other in sides[1]] for one in sides[0]])
        at = [np.array([side.index(row[place]) for row in rows]) for side, rows in zip(sides, (ours, theirs), strict=True)]
        found &= both[at[0]][:, at[1]]
    return found


def test_risk_in_both_readings_is_that_of_brute_force_by_containment(attacked):
    threat = next(one for one in attacked.audit.threats if one.name == "T")
    lost = [not any(row) for row in attacked.out]
    rows = [row for row, gone in zip(attacked.out, lost, strict=True) if not gone]
    matches = compatible(attacked, rows, rows, range(9)).sum(axis=1)
    other = threat.after_other_reading
    assert other.reading == "wildcard"
    assert other.highest.value == pytest.approx(1 / matches.min())
    assert other.average.value == pytest.approx(np.mean(1 / matches))
    sizes = Counter(map(tuple, rows))
    assert threat.after.highest.value == pytest.approx(1 / min(sizes.values()))
    assert threat.after.average.value == pytest.approx(len(sizes) / len(rows))


def test_released_records_are_compared_with_true_values_by_containment(attacked):
    threat = next(one for one in attacked.audit.threats if one.name == "W")
    places = [attacked.head.index(name) for name in threat.columns]
    rows = [row for row in attacked.out if any(row[place] for place in places)]
    matches = compatible(attacked, attacked.rows, rows, places).sum(axis=1)
    matches = matches[matches > 0]
    assert threat.after.further["compatible_k"].value == matches.min()
    assert threat.after.further["compatible_average"].value == pytest.approx(np.mean(1 / matches))


def test_a_guessed_label_counts_where_it_holds_the_value(attacked):
    """Of the nearest rows with a label, the commonest one; of equally common ones that of most rows of the file, then the first."""
    fact = attacked.facts["inference", "marital-status"]
    place = attacked.head.index("marital-status")
    there = [number for number, row in enumerate(attacked.out) if row[place]]
    total = distances(attacked, contains=True, without="marital-status")[:, there]
    cells = [attacked.out[number][place] for number in there]
    names = sorted(set(cells))
    codes = np.array([names.index(cell) for cell in cells])
    frequency = np.bincount(codes, minlength=len(names))
    ladders, right, covered, blind = attacked.labels[place], 0, [], 0
    commonest = names[int(np.lexsort((np.arange(len(names)), -frequency))[0])]
    for number, row in enumerate(attacked.rows):
        near = np.isclose(total[number], total[number].min(), atol=1e-5, rtol=0)
        votes = np.bincount(codes[near], minlength=len(names))
        guess = names[int(np.lexsort((np.arange(len(names)), -frequency, -votes))[0])]
        true = ladders[row[place]][LEVELS[place]]
        blind += true == commonest
        if guess == true:
            right += 1
            covered.append(sum(line[LEVELS[place]] == guess for line in ladders.values()) / len(ladders))
    assert (fact.main.successes.value, fact.baseline.successes.value) == (right, blind)
    assert fact.covered.value == pytest.approx(np.mean(covered), abs=1e-6)
    assert right > blind


def test_a_predicate_of_labels_singles_out_whom_brute_force_finds(unprotected):
    """Each predicate by the persons whose values are under its labels; the attacker who looks for the labels' texts finds nobody by them."""
    level, places = dict(zip(unprotected.head, LEVELS, strict=True)), {name: at for at, name in enumerate(unprotected.head)}
    values = {name: sorted({row[at] for row in unprotected.rows}) for name, at in places.items()}

    @cache
    def under(at, up):
        """By label, which persons have a value under it."""
        labels = np.array([unprotected.labels[at][row[at]][up] for row in unprotected.rows])
        return {label: labels == label for label in set(labels.tolist())}

    nobody = np.zeros(len(unprotected.rows), np.bool_)
    counts = []
    for predicates, names in unprotected.seen["predicates"]:
        written = {name: unprotected.seen["cells"][name].to_pylist() if level[name] else values[name] for name in names}
        found, by_text = 0, 0
        for predicate in predicates:
            assert all(condition.operator == "=" for condition in predicate)
            wanted = [(names[one.column], written[names[one.column]][one.code - 1] if one.code else None) for one in predicate]
            labelled = [under(places[name], level[name]).get(label, nobody) for name, label in wanted]
            named = [under(places[name], 0).get(label, nobody) for name, label in wanted]
            found += np.logical_and.reduce([~nobody, *labelled]).sum() == 1
            by_text += np.logical_and.reduce([~nobody, *named]).sum() == 1
        counts.append((found, by_text))
    # one column and guessing, then three columns and guessing
    single, several = (unprotected.facts[name, None] for name in ("singling_out_univariate", "singling_out_multivariate"))
    assert [one for one, _ in counts] == [
        figure.successes.value for fact in (single, several) for figure in (fact.main, fact.baseline)
    ]
    assert counts[2][0] > counts[2][1]
