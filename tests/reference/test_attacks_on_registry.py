"""Attacks on the made registry with intervals and names: beside an attacker of a few lines who matches by containment, and one who compares texts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from privrelease import api
from privrelease.audit.attacks import attempts
from privrelease.examples.registry import registry

ROWS = 1_200
POLICY = f"""apiVersion: privrelease/v1
kind: ReleasePolicy
id: registry
version: 1.0.0
title: Made registry
datasets:
  patients:
    source: patients.csv
    unit: {{column: patient_id, max_rows: 1}}
    columns:
      patient_id: {{role: direct, type: string}}
      age: {{role: quasi, type: integer, domain: [18, 85], hierarchy: {{widths: [10, 20], top: 80}}}}
      sex: {{role: quasi, type: category}}
      region: {{role: quasi, type: category, hierarchy: {{csv: regions.csv}}}}
      glucose: {{role: sensitive, type: number, domain: [50, 400], grid: 0.1, hierarchy: {{edges: [[50, 90, 110, 130, 150, 400.1]]}}}}
      diagnosis: {{role: sensitive, type: category}}
      treatment_months: {{role: sensitive, type: integer, domain: [0, 600], hierarchy: {{widths: [12]}}}}
threats:
  T: {{dataset: patients, knows: [age, sex, region], highest_risk: 0.1}}
attacks:
  sample: {ROWS}
  inference: {{target: [glucose, diagnosis], knows: [age, sex, region]}}
  singling_out: {{combine: 3}}
releases:
  - id: rows
    kind: microdata
    from: patients
    protect: [T]
    transform:
      - {{drop: [patient_id]}}
      - {{generalise: [age, region, glucose]}}
      - {{generalise: treatment_months, write: low}}
      - {{suppress: cells}}
    output: out/rows.csv
"""
HALF = {"north": "upper", "east": "upper", "south": "lower", "west": "lower"}
NAMES = ("age", "sex", "region", "glucose", "diagnosis", "treatment_months")
KNOWN = ("age", "sex", "region")
TEXTS = {"sex", "region", "diagnosis"}


def extent(name, cell):
    """The first number that a label holds, and the one that it ends before."""
    if name == "treatment_months":
        return float(cell), float(cell) + 12
    if cell.endswith("+"):
        return float(cell[:-1]), np.inf
    low, high = map(float, cell.strip("[)").split(", "))
    return low, high


def holds(name, cell, value):
    """Whether a released cell may stand for a true value; a missing one is asked of elsewhere."""
    if name in {"sex", "diagnosis"}:
        return cell == value
    if name == "region":
        return cell == HALF[value]
    low, high = extent(name, cell)
    return low <= float(value) < high


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    return attacked_in(tmp_path_factory.mktemp("registry"), ROWS)


def attacked_in(folder, number):
    """Release and attack some rows of the registry."""
    seen = {"predicates": []}
    found = registry(number)
    rows = [dict(zip(found, map(str, cells), strict=True)) for cells in zip(*found.values(), strict=True)]
    lines = [",".join(("patient_id", *NAMES)), *(",".join(row[name] for name in ("patient_id", *NAMES)) for row in rows)]
    (folder / "patients.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "regions.csv").write_text("".join(f"{one};{half};*\n" for one, half in HALF.items()), encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")

    def told(of):
        def tried(predicates, columns, *rest):
            seen["predicates"].append((predicates, [one.name for one in columns]))
            return of(predicates, columns, *rest)

        return tried

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIVRELEASE_DIGEST_KEY", "a made-up key of digests")
        for name in ("isolating", "isolated"):
            patch.setattr(attempts, name, told(getattr(attempts, name)))
        (one,) = api.run(api.load(folder / "policy.yaml")).releases
    assert one.became == "published", one.audit.findings
    head, *lines = (folder / "out" / "rows.csv").read_text(encoding="utf-8").splitlines()
    assert head == ",".join(NAMES)
    csv_rows = [dict(zip(NAMES, cells(line), strict=True)) for line in lines]
    facts = {(fact.attack, fact.target): fact for fact in one.audit.attacks.attacks}
    return SimpleNamespace(rows=rows, out=csv_rows, facts=facts, seen=seen["predicates"])


def cells(line):
    """Labels of intervals hold a comma and are quoted."""
    parts, quoted = [""], False
    for letter in line:
        if letter == '"':
            quoted = not quoted
        elif letter == "," and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def contradictions(attacked, contains):
    """(targets, released rows): what contradicts, with what orders equally many: missing cells, and how far a number or a name is."""
    total, soft = np.zeros((len(attacked.rows), len(attacked.out))), 1 / (len(KNOWN) + 1)
    for name in KNOWN:
        labels = sorted({row[name] for row in attacked.out})
        ages = [float(row["age"]) for row in attacked.rows]
        ends = [end for cell in labels if name == "age" and cell for end in extent(name, cell) if np.isfinite(end)]
        wide = max([*ends, *ages]) - min([*ends, *ages]) if ends else 0.0

        def cost(value, cell, name=name, wide=wide):
            if cell == "":
                return soft
            if holds(name, cell, value) if contains else value == cell:
                return 0.0
            if not contains or name == "sex":
                return 1.0
            if name == "region":
                return 1 + soft  # the lowest ancestor of both is the root
            low, high = extent(name, cell)
            return 1 + soft * max(low - float(value), float(value) - high, 0.0) / wide

        values = sorted({row[name] for row in attacked.rows})
        table = np.array([[cost(value, cell) for cell in labels] for value in values])
        ours = np.array([values.index(row[name]) for row in attacked.rows])
        total += table[ours][:, [labels.index(row[name]) for row in attacked.out]]
    return total


def guessed(attacked, target, contains):
    """Of the nearest rows with a value, the commonest; of equally common ones that of most rows of the file, then the first in order."""
    there = [place for place, row in enumerate(attacked.out) if row[target]]
    order = (lambda cell: extent(target, cell)) if target == "glucose" else str
    names = sorted({attacked.out[place][target] for place in there}, key=order)
    codes = np.array([names.index(attacked.out[place][target]) for place in there])
    frequency = np.bincount(codes, minlength=len(names))
    total = contradictions(attacked, contains)[:, there]
    found = []
    for costs in total:
        votes = np.bincount(codes[np.isclose(costs, costs.min(), atol=1e-5, rtol=0)], minlength=len(names))
        found.append(names[int(np.lexsort((np.arange(len(names)), -frequency, -votes))[0])])
    return found, names[int(np.argmax(frequency))]


@pytest.mark.parametrize("target", ["glucose", "diagnosis"])
def test_inference_guesses_right_whom_brute_force_does(attacked, target):
    fact = attacked.facts["inference", target]
    guesses, commonest = guessed(attacked, target, contains=True)
    right = [holds(target, guess, row[target]) for guess, row in zip(guesses, attacked.rows, strict=True)]
    blind = sum(holds(target, commonest, row[target]) for row in attacked.rows)
    assert (fact.main.successes.value, fact.main.attempts.value) == (sum(right), len(attacked.rows))
    assert fact.baseline.successes.value == blind
    if target == "glucose":
        # 50 to 400 in tenths; the last interval ends behind the domain
        wide = [(min(high, 400.1) - low) * 10 / 3501 for low, high in (extent(target, guess) for guess in guesses)]
        assert fact.covered.value == pytest.approx(np.mean(np.array(wide)[right]), abs=1e-6)
    else:
        assert fact.covered is None


def test_of_a_guess_by_texts_other_persons_are_right(attacked):
    """Sex alone is equal as a text: who compares texts knows nothing of age and region, and guesses as of everybody of one sex."""
    guesses, _ = guessed(attacked, "glucose", contains=False)
    by_sex = {row["sex"]: guess for guess, row in zip(guesses, attacked.rows, strict=True)}
    assert all(by_sex[row["sex"]] == guess for guess, row in zip(guesses, attacked.rows, strict=True))
    right, more = (
        sum(holds("glucose", guess, row["glucose"]) for guess, row in zip(some, attacked.rows, strict=True))
        for some in (guesses, guessed(attacked, "glucose", contains=True)[0])
    )
    assert right < more


def met(name, operator, cell, value):
    if operator == "=" or name in TEXTS:
        return holds(name, cell, value)
    low, high = extent(name, cell)
    return float(value) < high if operator == "<=" else float(value) >= low


def test_a_predicate_singles_out_whom_brute_force_finds(attacked):
    written = {
        name: sorted(
            {row[name] for row in attacked.out} - {""}, key=str if name in TEXTS else lambda one, of=name: extent(of, one)
        )
        for name in NAMES
    }
    counts, operators = [], set()
    for predicates, names in attacked.seen:
        found = by_text = 0
        for predicate in predicates:
            wanted = [(names[one.column], one.operator, written[names[one.column]][one.code - 1]) for one in predicate]
            operators |= {one.operator for one in predicate}
            found += sum(all(met(name, how, cell, row[name]) for name, how, cell in wanted) for row in attacked.rows) == 1
            by_text += sum(all(row[name] == cell for name, _, cell in wanted) for row in attacked.rows) == 1
        counts.append((found, by_text))
    single, several = (attacked.facts[name, None] for name in ("singling_out_univariate", "singling_out_multivariate"))
    assert operators == {"=", "<=", ">="}
    assert [one for one, _ in counts] == [
        figure.successes.value for fact in (single, several) for figure in (fact.main, fact.baseline)
    ]
    assert counts[2][0] > counts[2][1]
