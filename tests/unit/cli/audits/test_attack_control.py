"""A control that overlaps the data, or is too small: its attacks pass nothing, through the command line."""

from __future__ import annotations

import json
import random

import pytest

from tests.unit.cli.conftest import POLICY

POLICY = POLICY.replace("highest_risk: 0.2", "highest_risk: 1")
ATTACKS = "attacks: {control: control.csv, inference: {target: pay, max_risk: 1}}\n"


def person(number, source):
    return f"{source.choice('nesw')},{source.choice(['clerk', 'smith', 'nurse'])},{source.randrange(10_000)}"


def persons(number, seed, first=0):
    source = random.Random(seed)
    return [f"{first + n},{person(n, source)}" for n in range(number)]


@pytest.fixture
def held_against(desk):
    """Run a policy on 200 persons with this control; give the exit code and the findings by code, and the attack."""

    def run(control, *, unit=True, attacks=ATTACKS, data=None):
        text = POLICY if unit else POLICY.replace("unit: {column: id, max_rows: 1}", "unit: rows")
        desk.data("id,area,job,pay\n" + "".join(row + "\n" for row in data or DATA))
        (desk.folder / "control.csv").write_text("id,area,job,pay\n" + "".join(row + "\n" for row in control), encoding="utf-8")
        desk.policy(text + attacks)
        said = desk.run()
        (path,) = desk.folder.glob(".privrelease/*/*/internal/audit.json")
        audit = json.loads(path.read_bytes())
        found = {one["code"]: one["message"] for one in audit["findings"]}
        return said, found, audit["attacks"]["attacks"][0]

    return run


DATA = persons(200, 1)


def renamed(rows):
    """The same rows under other names: only their content says where they are from."""
    return [f"x{row}" for row in rows]


@pytest.mark.parametrize("unit", [True, False])
def test_an_independent_control_passes(held_against, unit):
    said, found, attack = held_against(persons(200, 2, 1000), unit=unit)
    assert said.code == 0, said.err
    assert not {"A306", "A307", "A407"} & set(found)
    assert attack["outcome"] == "pass"


@pytest.mark.parametrize(("rows", "equal"), [(DATA, 200), (DATA[:100], 100), (DATA[:60] + persons(140, 3, 1000), 60)])
@pytest.mark.parametrize("unit", [True, False])
def test_a_control_from_the_data_passes_nothing(held_against, rows, equal, unit):
    said, found, attack = held_against(renamed(rows), unit=unit)
    assert said.code == 1
    assert f"{equal} of {len(rows)} rows of the control equal rows of the data in the 3 columns of the attacks" in found["A306"]
    assert attack["outcome"] == "not_evaluated"


@pytest.mark.parametrize("unit", [True, False])
def test_the_data_with_one_column_jittered_passes_nothing(held_against, unit):
    jittered = [f"{row.rpartition(',')[0]},{int(row.rpartition(',')[2]) + 1 + n % 7}" for n, row in enumerate(renamed(DATA))]
    said, found, attack = held_against(jittered, unit=unit)
    assert said.code == 1
    told = "200 of 200 rows of the control equal rows of the data in the 2 columns of the attacks other than pay"
    assert told in found["A306"]
    assert attack["outcome"] == "not_evaluated"


def test_the_data_itself_as_control_passes_nothing(held_against):
    said, found, attack = held_against(DATA)
    assert said.code == 1
    assert {"A306", "A407"} <= set(found)
    assert attack["outcome"] == "not_evaluated"


@pytest.mark.parametrize(("number", "code"), [(99, 1), (100, 0)])
def test_a_control_below_the_stated_size_passes_nothing(held_against, number, code):
    said, found, attack = held_against(persons(number, 4, 1000))
    assert said.code == code, said.err
    assert ("A307" in found) == bool(code)
    assert attack["outcome"] == ("not_evaluated" if code else "pass")
    if code:
        assert "the control has 99 persons, and at least 100 are needed" in found["A307"]


def test_fewer_persons_do_where_the_data_has_fewer(held_against):
    said, found, _ = held_against(persons(50, 4, 1000), data=DATA[:50])
    assert said.code == 0, said.err
    assert "A307" not in found


def test_a_limit_that_needs_no_control_is_judged_without_it(held_against):
    attacks = "attacks: {control: control.csv, record_linkage: {max_risk: 1}}\n"
    said, found, attack = held_against(persons(20, 5, 1000), attacks=attacks)
    assert said.code == 0, said.err
    assert "A307" not in found
    assert attack["outcome"] == "pass"


@pytest.mark.parametrize(("number", "code"), [(34, 5), (35, 0)])
def test_data_with_fewer_persons_than_the_limit_needs_is_left_to_a_person(held_against, number, code):
    """The sample of 1,000 would do, and the data has fewer: 34 attempts reach 3.8415 / 37.8415 at best."""
    attacks = "attacks: {control: control.csv, membership: {}, inference: {target: pay, max_risk: 0.1}}\n"
    said, found, attack = held_against(persons(100, 6, 1000), data=rarely_guessed(number), attacks=attacks)
    assert said.code == code, said.err
    assert attack["outcome"] == ("not_evaluated" if code else "warn")  # one of 35 is right
    if code:
        assert "the smallest upper end that 34 attempts can reach is 10.2 %, and 35 are needed" in found["A404"]


def rarely_guessed(number):
    """Persons of one class with a pay each: a guess by area and job takes the lowest pay, which one person has."""
    return [f"{n},n,clerk,{100 + n}" for n in range(number)]


def test_a_control_that_is_not_there_is_told_at_its_own_key(desk):
    desk.data("id,area,job,pay\n" + "".join(row + "\n" for row in DATA))
    desk.policy(POLICY + ATTACKS)
    said = desk.run()
    assert said.code == 3
    line = (POLICY + ATTACKS).count("\n", 0, (POLICY + ATTACKS).index("control:")) + 1
    assert f"policy.yaml:{line}:" in said.err
    assert "D101 the file control.csv does not exist\nhint: check the path in `control`" in said.err
