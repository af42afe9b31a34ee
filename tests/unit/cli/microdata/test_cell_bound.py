"""The bound on suppressed cells from the command line: forecast and audit agree, by hand, and no recipient reads it."""

from __future__ import annotations

import json

import pytest

from tests.unit.cli.conftest import POLICY

#: Twelve clerks of two areas in sixes, and one smith of the west: lost with both cells, whatever is chosen.
CELLS = 2
AGES = POLICY.replace(
    "area: {role: quasi, type: category}", "area: {role: quasi, type: integer, domain: [0, 99], hierarchy: {widths: [10, 50]}}"
).replace("transform: [", "transform: [{generalise: area, level: 1}, ")


def audited(desk):
    (path,) = (desk.folder / ".privrelease" / "runs").glob("*/internal/audit.json")
    return json.loads(path.read_text(encoding="utf-8"))["utility"]


def forecast(desk):
    return desk("plan", "policy.yaml", "--data", "--format", "json").json["forecasts"][0]


def test_the_forecast_and_the_audit_state_the_same_bound(desk):
    assert forecast(desk)["bound"] == {"threat": "t", "cells": CELLS, "above": "0", "why_not": None}
    told = desk("plan", "policy.yaml", "--data").out
    assert "Threat t takes at least 2 cells, whichever are chosen: the cells lost are at most 0 % above the minimum." in told
    assert desk.run().code == 0
    bound = audited(desk)["bound"]
    assert (bound["threat"], bound["cells"]["exact"], bound["above"]["exact"], bound["why_not"]) == ("t", "2", "0", None)
    assert {bound["cells"]["visibility"], bound["above"]["visibility"]} == {"internal"}


def test_no_recipient_reads_the_bound(desk):
    assert desk.run().code == 0
    outside = [path.read_text(encoding="utf-8") for path in (desk.folder / "out").iterdir()]
    (inside,) = (desk.folder / ".privrelease" / "runs").glob("*/internal/report.html")
    assert "whichever are chosen" in inside.read_text(encoding="utf-8")
    assert len(outside) > 1
    assert not any("whichever are chosen" in text or '"bound"' in text for text in outside)


@pytest.mark.parametrize(("language", "words"), [("de", "liegen höchstens"), ("fr", "dépassent le minimum de")])
def test_the_report_states_it_in_its_language(desk, language, words):
    desk.policy(POLICY + f"report: {{language: {language}}}\n")
    assert desk.run().code == 0
    (inside,) = (desk.folder / ".privrelease" / "runs").glob("*/internal/report.html")
    assert words in inside.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("written", "instead", "why"),
    [
        ("{suppress: cells}", "{suppress: cells, weights: {area: 2}}", "weights"),
        ("highest_risk: 0.2", "missing: wildcard, highest_risk: 0.2", "model"),
        ("highest_risk: 0.2", "average_risk: 0.2", "model"),
    ],
)
def test_where_no_bound_is_known_the_reason_is_given(desk, written, instead, why):
    desk.policy(POLICY.replace(written, instead))
    assert forecast(desk)["bound"] == {"threat": None, "cells": None, "above": None, "why_not": why}
    assert "No bound on the fewest cells is known: " in desk("plan", "policy.yaml", "--data").out
    assert desk.run().code == 0
    assert audited(desk)["bound"] == {"threat": None, "cells": None, "above": None, "why_not": why}


def test_rows_of_a_person_that_stay_linkable_have_no_bound(desk, monkeypatch):
    monkeypatch.setenv("MADE_KEY", "0123456789abcdef0123456789abcdef")
    steps = "transform: [{pseudonymise: [id], key: MADE_KEY}, {suppress: cells}]"
    desk.policy(POLICY.replace("max_rows: 1", "max_rows: 2").replace("transform: [{suppress: cells}]", steps))
    desk.data("id,area,job,pay\n" + "".join(f"{n // 2},north,clerk,{n}\n" for n in range(20)))
    assert forecast(desk)["bound"]["why_not"] == "linkable"


def test_without_a_suppress_step_nothing_is_said(desk):
    desk.policy(POLICY.replace("    transform: [{suppress: cells}]\n", ""))
    assert "bound" not in forecast(desk)


def test_the_audit_finds_the_bound_of_labels_that_the_solver_had(desk):
    # By tens: 6 clerks of 10-19 and 6 of 20-29, as released. 33 and 45 are lost, and their labels are in no file: 2 cells each. By years every record would lose one.
    desk.policy(AGES)
    ages = [10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 33, 45]
    desk.data(
        "id,area,job,pay\n" + "".join(f"{n},{age},{'smith' if age > 30 else 'clerk'},{100 + n}\n" for n, age in enumerate(ages))
    )
    known = forecast(desk)
    assert (known["bound"]["cells"], known["cells_lost"]) == (4, 4)
    assert desk.run().code == 0
    assert audited(desk)["bound"]["cells"]["value"] == 4
