"""The population's persons on the command line: the one person of a value is not hidden by five rows of their own."""

from __future__ import annotations

from fractions import Fraction

import pytest

CASE = "k15-journalist-with-weights-in-forecast-and-audit"  # for its folder; every file is written here
PERSON = "    unit: {column: m, max_rows: 5}\n"
KNOWN = """      x: {role: quasi, type: category, domain: [A, B]}
      y: {role: quasi, type: category, domain: [p, q, r, s, t]}
"""
DATASET = "    source: {}\n{}    columns:\n      m: {{role: direct, type: string}}\n{}"
WEIGHT = "      w: {role: insensitive, type: integer, domain: [1, 100]}\n"
OTHERS = [("B", "pqrst"[number % 5]) for number in range(80)]


def written(case, sample, register, *, weight=False, unit=PERSON, transform=""):
    """The one person of A, with the rows named, and eighty others of B; half of them are in the data."""
    head, ones = ("m,x,y,w", ",1") if weight else ("m,x,y", "")
    others = [f"m{number},{x},{y}" for number, (x, y) in enumerate(OTHERS)]
    rows = [f"rare,{row}{ones}" for row in sample] + [row + (",10" if weight else "") for row in others[:40]]
    (case.folder / "a.csv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    (case.folder / "pop.csv").write_text(
        "\n".join(["m,x,y", *(f"rare,{row}" for row in register), *others, ""]), encoding="utf-8"
    )
    case.policy(
        "datasets:\n  a:\n"
        + DATASET.format("a.csv", PERSON, KNOWN + (WEIGHT if weight else ""))
        + "  pop:\n"
        + DATASET.format("pop.csv", unit, KNOWN)
        + "threats:\n  jou: {dataset: a, knows: [x, y], attacker: journalist, population: "
        + ("{weight: w}" if weight else "{table: pop}")
        + ", highest_risk: 0.2}\nreleases:\n  - {id: r, kind: microdata, from: a, protect: [jou], columns: [x, y], "
        + transform
        + "output: out/r.csv}\n"
    )


CASES = {
    "five equal rows of one person": (["A,p"], [f"A,{y}" for y in "ppppp"], {}),
    "five rows that match a missing cell": (["A,"], [f"A,{y}" for y in "pqrst"], {}),
    "five rows of weight 1": (["A,p"] * 5, ["A,p"], {"weight": True}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_one_person_of_a_value_is_not_hidden_by_their_own_rows(case, name):
    sample, register, more = CASES[name]
    written(case, sample, register, **more)
    ran = case("run", "policy.yaml")
    assert ran.code == 1, ran.err
    assert case.threat("jou")["after"]["highest"]["exact"] == "1"
    assert " A101 " in ran.err


@pytest.mark.parametrize("name", CASES)
def test_suppression_aims_at_persons_and_passes(case, name):
    sample, register, more = CASES[name]
    written(case, sample, register, transform="transform: [{suppress: cells}], ", **more)
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert Fraction(case.threat("jou")["after"]["highest"]["exact"]) <= Fraction(1, 5)
    assert "A" not in {line.split(",")[0] for line in (case.folder / "out" / "r.csv").read_text(encoding="utf-8").splitlines()}


def test_rows_of_a_population_without_a_unit_are_persons(case):
    written(case, ["A,p"], ["A,p"] * 5, unit="")
    assert case("run", "policy.yaml").code == 0
    assert case.threat("jou")["after"]["highest"]["exact"] == "1/5"


def test_a_row_of_the_population_without_its_person_is_refused(case):
    written(case, ["A,p"], ["A,p"])
    with (case.folder / "pop.csv").open("a", encoding="utf-8") as file:
        file.write(",B,p\n")
    ran = case("run", "policy.yaml")
    assert (ran.code, " D601 " in ran.err) == (3, True), ran.err
