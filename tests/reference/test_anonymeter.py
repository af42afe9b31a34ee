"""The same attacks by Anonymeter 1.1 on the same tables.

Anonymeter cannot be installed beside what we need. `make test-oracle` gives it an environment of its own (constraints/oracle.txt), in which
ci/oracle/anonymeter_figures.py computes its figures anew; they are recorded in anonymeter.json (PRIVRELEASE_RECORD=1 make test-oracle writes it),
so that the comparison is always made.
Tables have a continuous column wherever nearest records are looked for: none are tied, and both take the same one.
"""

from __future__ import annotations

import json
import os
import subprocess
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from privrelease.audit.attacks.inference import InferenceAttack
from privrelease.audit.attacks.linkability import linked
from privrelease.audit.attacks.rates import Rate, residual_risk, wilson, wilson_centre
from privrelease.audit.attacks.records import Attribute
from privrelease.audit.attacks.sampling import Draws
from privrelease.audit.attacks.singling_out import isolated, multivariate, univariate

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).with_name("anonymeter.json")
PERSONS = 240
NAMES = ("x", "y", "n", "pay", "a", "b")
NINETY_FIVE = Fraction("0.95")


def person(random: Random) -> tuple[float, float, int, float, str, str]:
    x = round(random.random() * 10, 6)
    y = round(x / 2 + random.random() * 5, 6)
    return (
        x,
        y,
        int(random.random() * 60),
        round(20 + 8 * y + 9 * random.random(), 6),
        random.choice("pqrst"),
        random.choice("uvw"),
    )


def blurred(one: tuple[float, float, int, float, str, str], random: Random) -> tuple[float, float, int, float, str, str]:
    x, y, n, pay, a, b = one
    return (
        round(x + random.random() * 0.06, 6),
        round(y + random.random() * 0.06, 6),
        n if random.random() < 0.7 else int(random.random() * 60),
        round(pay * (1 + 0.04 * random.random()), 6),
        a if random.random() < 0.9 else random.choice("pqrst"),
        b if random.random() < 0.9 else random.choice("uvw"),
    )


@pytest.fixture(scope="module")
def tables():
    """Persons, a blurred copy of them, and other persons."""
    random = Random(20260101)  # a fixed seed: both tools get the same made-up tables
    people = [person(random) for _ in range(PERSONS)]
    return {"ori": people, "syn": [blurred(one, random) for one in people], "control": [person(random) for _ in range(PERSONS)]}


@pytest.fixture(scope="module")
def coded(tables):
    """The columns of each table, in one coding."""
    made = {name: {} for name in tables}
    for place, name in enumerate(NAMES):
        values = sorted({row[place] for rows in tables.values() for row in rows})
        codes = {value: code for code, value in enumerate(values, start=1)}
        numbers = None if isinstance(values[0], str) else np.array([np.nan, *values], np.float64)
        for table, rows in tables.items():
            made[table][name] = Attribute(name, np.array([codes[row[place]] for row in rows]), numbers)
    return made


def of(table, names):
    return [table[name] for name in names]


@pytest.fixture(scope="module")
def predicates(coded):
    return multivariate(of(coded["syn"], NAMES), 3, Draws(5), 150)


def both(attack, coded):
    return [attack(coded[name]).successes for name in ("ori", "control")]


def guessed(coded, target, tolerance):
    guesser = InferenceAttack(of(coded["syn"], ("x", "y", "a")), coded["syn"][target], tolerance)
    return both(lambda table: guesser.rate(of(table, ("x", "y", "a")), table[target]), coded)


@pytest.fixture(scope="module")
def ours(coded, predicates):
    """Successes on the persons and on the others, of each attack."""
    syn, known, other = coded["syn"], ("x", "a"), ("y", "b")
    ranks = np.arange(PERSONS)
    link = both(lambda table: linked(of(table, known), of(table, other), of(syn, (*known, *other)), ranks), coded)
    alone = univariate(of(syn, NAMES), Draws(1), 100_000)
    return {
        "linkability": link,
        "inference_of_a_name": guessed(coded, "b", 0.0),
        "inference_of_a_number": guessed(coded, "pay", 0.05),
        "singling_out_univariate": both(lambda table: isolated(alone, of(table, NAMES)), coded),
        "singling_out_multivariate": both(lambda table: isolated(predicates, of(table, NAMES)), coded),
    }


@pytest.fixture(scope="module")
def recorded():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


ATTACKS = (
    "linkability",
    "inference_of_a_name",
    "inference_of_a_number",
    "singling_out_univariate",
    "singling_out_multivariate",
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_each_attack_succeeds_as_often_as_anonymeters(ours, recorded, attack):
    assert ours[attack] == recorded[attack]
    assert recorded[attack][0] > recorded[attack][1] or attack == "inference_of_a_number"


def test_anonymeters_rates_are_the_centres_of_our_intervals(recorded):
    theirs = recorded["rates"]
    for side, successes in zip(("main", "control"), recorded["linkability"], strict=True):
        interval = wilson(successes, PERSONS, NINETY_FIVE)
        assert wilson_centre(successes, PERSONS, NINETY_FIVE) == pytest.approx(theirs[side], abs=1e-12)
        assert interval.low == pytest.approx(theirs[side] - theirs[f"{side}_half"], abs=1e-9)
        assert interval.high == pytest.approx(theirs[side] + theirs[f"{side}_half"], abs=1e-9)
    # its risk is made of centres, ours of rates: close, and not the same
    risk = residual_risk(*(Rate(count, PERSONS) for count in recorded["linkability"]), NINETY_FIVE)
    assert float(risk.value) == pytest.approx(theirs["risk"], abs=0.02)
    assert float(risk.value) != pytest.approx(theirs["risk"], abs=1e-4)


def oracle() -> Path:
    named = os.environ.get("PRIVRELEASE_ORACLE")
    python = Path(named) if named else ROOT / ".oracle" / "bin" / "python"
    if not python.is_file():
        pytest.skip("Anonymeter has no environment here: make test-oracle")
    return python


def test_anonymeter_still_gives_what_is_recorded(tables, coded, predicates, recorded, tmp_path):
    python = oracle()
    for name, rows in tables.items():
        text = "\n".join([",".join(NAMES), *(",".join(map(str, row)) for row in rows), ""])
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")

    def value(condition):
        return tables_value(coded, tables, condition)

    written = [[[NAMES[one.column], one.operator, value(one)] for one in predicate] for predicate in predicates]
    (tmp_path / "predicates.json").write_text(json.dumps(written), encoding="utf-8")
    script = ROOT / "ci" / "oracle" / "anonymeter_figures.py"
    done = subprocess.run([python, script, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    if os.environ.get("PRIVRELEASE_RECORD"):
        RECORDED.write_text(done.stdout, encoding="utf-8")
        pytest.skip("recorded anew: look at the diff")
    rates = found.pop("rates")
    assert rates == pytest.approx(recorded["rates"], abs=1e-12)
    assert found == {name: recorded[name] for name in ATTACKS}


def tables_value(coded, tables, condition):
    """The value of a condition's code, as the tables hold it."""
    place, name = condition.column, NAMES[condition.column]
    for table, rows in tables.items():
        at = np.flatnonzero(coded[table][name].codes == condition.code)
        if len(at):
            return rows[int(at[0])][place]
    raise AssertionError(condition)
