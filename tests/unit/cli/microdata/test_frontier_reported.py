"""The key `frontier`: a run forecasts other thresholds, the internal report shows them beside what the audit found, recipients get none."""

from __future__ import annotations

import json
from html import unescape

import pytest

from privrelease.execute.microdata import run as microdata
from tests.unit.cli.conftest import POLICY

ASKED = POLICY.replace("{path: out/r.csv}\n", "{path: out/r.csv}\n    frontier: [2, 3, 6, 8]\n")


@pytest.fixture
def asked(desk):
    desk.policy(ASKED)
    return desk


def internal(desk):
    (folder,) = (desk.folder / ".privrelease").glob("*/*/internal")
    return folder


def test_the_forecast_of_a_run_is_that_of_the_command_and_the_audit_finds_the_released_point(asked):
    wanted = asked("frontier", "policy.yaml", "--k", "2,3,6,8", "--format", "json").json["points"]
    assert asked("run", "policy.yaml").code == 0
    audit = json.loads((internal(asked) / "audit.json").read_text(encoding="utf-8"))
    facts = audit["utility_measures"]["frontier"]
    assert facts["agrees"] is True
    assert [point["k"] for point in facts["points"]] == [2, 3, 5, 6, 8]
    for point, other in zip(facts["points"], wanted, strict=True):
        assert point["cells_lost"]["value"] == other["cells_lost"]
        assert point["highest"]["exact"] == other["highest_risk"]
        assert point["chosen"] == other["policy"]
    figures = [value for point in facts["points"] for value in point.values() if isinstance(value, dict)]
    assert {figure["visibility"] for figure in figures} == {"internal"}


def test_the_internal_edition_shows_it_and_the_recipient_edition_holds_none_of_it(asked):
    asked.once("run", "policy.yaml")
    run = str(internal(asked).parent)
    page = unescape(asked("report", run).out)
    assert "At other thresholds" in page
    assert "the audit did not recompute it" in page
    assert "At the released point the audit found what was forecast" in page
    assert 'id="frontier-t"' in page
    for form in ("html", "json", "markdown", "dpv", "in-toto"):
        said = asked("report", run, "--edition", "recipient", "--format", form).out
        assert "frontier" not in said.lower().replace("frontier: [", ""), form
        assert "At other thresholds" not in said
    manifest = next((internal(asked).parent / "outgoing").glob("*.manifest.json")).read_text(encoding="utf-8")
    assert "frontier" not in manifest


def test_a_forecast_that_differs_at_the_released_point_fails_the_audit(asked, monkeypatch):
    stated = microdata.stated

    def wrong(*given, **more):
        found = stated(*given, **more)
        points = tuple(p.model_copy(update={"cells_lost": p.cells_lost + 1}) if p.chosen else p for p in found.points)
        return found.model_copy(update={"points": points})

    monkeypatch.setattr(microdata, "stated", wrong)
    said = asked("run", "policy.yaml")
    assert said.code == 1
    audit = json.loads((internal(asked) / "audit.json").read_text(encoding="utf-8"))
    (check,) = [one for one in audit["checks"] if one["id"] == "AUDIT-CLAIMS"]
    assert (check["outcome"], check["message"]) == ("fail", "the run states other counts than found: frontier")
    assert "the audit found other figures than were forecast" in unescape(asked("report", str(internal(asked).parent)).out)


def test_a_policy_without_the_key_states_none(desk):
    desk.once("run", "policy.yaml")
    assert "frontier" not in (internal(desk) / "manifest.json").read_text(encoding="utf-8")
    assert "frontier" not in (internal(desk) / "audit.json").read_text(encoding="utf-8")


def test_the_release_is_the_same_with_and_without(desk):
    desk.once("run", "policy.yaml")
    before = desk.released.read_bytes()
    desk.policy(ASKED.replace("out/r.csv", "out/other.csv").replace("id: r\n", "id: other\n"))
    desk("run", "policy.yaml")
    assert (desk.folder / "out" / "other.csv").read_bytes() == before
