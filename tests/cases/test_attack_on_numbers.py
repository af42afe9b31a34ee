"""Case x05: an attack on a column of which cells are suppressed succeeds alike, however the column is typed."""

from __future__ import annotations

import csv
from datetime import date, timedelta

import pytest

CASE = "x05-attack-on-a-number-that-was-suppressed"


def attacks(case, policy):
    ran = case("run", policy)
    return ran, {one["attack"]: one for one in case.audit()["attacks"]["attacks"]}


def rewrite(case, change):
    """Write the input again with other incomes."""
    path = case.folder / "input.csv"
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    text = "".join(f"{row['pid']},{change(row['income'])},{row['diag']}\n" for row in rows)
    path.write_text("pid,income,diag\n" + text, encoding="utf-8")


def as_type(case, name):
    """A policy of the case with another type of `income`."""
    text = (case.expected.parent / "policy_integer.yaml").read_text(encoding="utf-8")
    path = case.folder / f"policy_{name}.yaml"
    path.write_text(text.replace("role: quasi, type: integer", f"role: quasi, type: {name}"), encoding="utf-8")
    return path.name


@pytest.mark.parametrize("policy", ["policy_integer.yaml", "policy_category.yaml"])
def test_every_guess_is_right_for_numbers_as_for_names(case, policy):
    ran, made = attacks(case, policy)
    assert ran.code == 1, ran.err
    assert (made["inference"]["main"]["successes"]["value"], made["inference"]["main"]["attempts"]["value"]) == (200, 200)
    assert "A404" in ran.err
    assert not (case.folder / "out" / "m.csv").exists()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("number", lambda income: f"{income}.5"),
        ("date", lambda income: str(date(2000, 1, 1) + timedelta(days=int(income)))),
    ],
)
def test_numbers_with_decimals_and_days_contradict_too(case, name, change):
    rewrite(case, change)
    _, by_type = attacks(case, as_type(case, name))
    _, by_name = attacks(case, "policy_category.yaml")
    for attack, found in by_name.items():
        assert by_type[attack]["main"] == found["main"], attack
    assert by_type["inference"]["main"]["successes"]["value"] == 200


def with_setting(case, setting):
    text = (case.expected.parent / "policy_integer.yaml").read_text(encoding="utf-8")
    (case.folder / "policy.yaml").write_text(text.replace("attacks:\n", f"attacks:\n  {setting}\n"), encoding="utf-8")
    return case("validate", "policy.yaml")


@pytest.mark.parametrize(
    ("setting", "code", "said"),
    [
        ("sample: 34", 2, "P543 34 attempts cannot show max_risk 0.1 of record_linkage"),
        ("sample: 1", 2, "the interval still reaches 0.7935"),
        ("sample: 35", 0, ""),
        ("confidence: 0.79", 2, "P542 confidence 0.79 is below 0.8"),
        ("confidence: 0.8", 0, ""),
    ],
)
def test_settings_under_which_a_pass_means_nothing_are_refused(case, setting, code, said):
    ran = with_setting(case, setting)
    assert ran.code == code, ran.err
    assert said in ran.out + ran.err
