from __future__ import annotations

import json

from .conftest import POLICY

WEAKER = POLICY.replace("highest_risk: 0.2", "highest_risk: 0.5")


def two(desk, old=POLICY, new=WEAKER):
    (desk.folder / "old.yaml").write_text(old, encoding="utf-8")
    (desk.folder / "new.yaml").write_text(new, encoding="utf-8")
    return "old.yaml", "new.yaml"


def test_a_weaker_policy_is_told_with_its_line_and_fails_where_asked(desk):
    files = two(desk)
    said = desk("diff", *files)
    assert said.code == 0
    assert said.out == "new.yaml:16:53: weaker: threats.t.highest_risk: 0.2 becomes 0.5\n"
    assert desk("diff", *files, "--fail-on", "weaker").code == 1
    assert desk("diff", *files, "--fail-on", "breaking").code == 1
    assert desk("diff", *reversed(files), "--fail-on", "breaking").code == 0


def test_a_breaking_change_fails_where_breaking_ones_are_asked_for_only(desk):
    files = two(desk, new=POLICY.replace("out/r.csv", "out/s.csv"))
    assert desk("diff", *files, "--fail-on", "weaker").code == 0
    assert desk("diff", *files, "--fail-on", "breaking").code == 1


def test_an_environment_that_tightens_less_stops_where_weaker_changes_do(desk):
    over = "environments: {{prod: {{threats: {{t: {{highest_risk: {}}}}}}}}}\n"
    files = two(desk, old=POLICY + over.format("0.1"), new=POLICY + over.format("0.2"))
    said = desk("diff", *files, "--fail-on", "weaker")
    assert said.code == 1
    assert "weaker: environments.prod: threats.t.highest_risk: 0.1 becomes 0.2" in said.out
    assert desk("diff", *files, "--env", "prod", "--fail-on", "weaker").code == 1


def test_every_form_of_a_diff_names_the_change(desk):
    files = two(desk)
    value = desk("diff", *files, "--format", "json").json
    assert value["counts"] == {"weaker": 1, "breaking": 0, "stricter": 0, "neutral": 0}
    assert value["changes"][0]["line"] == 16
    assert "threats.t.highest" in desk("diff", *files, "--format", "markdown").out.replace("\\", "")
    assert desk("diff", *files, "--format", "github").out.startswith("::warning title=weaker,file=new.yaml,line=16")


def test_the_second_release_says_what_changed_since_the_first_and_diff_says_the_same(desk):
    desk.run()
    desk.policy(POLICY.replace("highest_risk: 0.2", "highest_risk: 0.5"))
    desk.run()
    runs = sorted((desk.folder / ".privrelease" / "runs").iterdir())
    first, second = (json.loads((run / "internal" / "audit.json").read_text(encoding="utf-8")) for run in runs)
    assert "0" not in first["sections"]
    assert second["sections"]["0"]["run"] == runs[0].name
    assert "Since the previous release" in (runs[1] / "internal" / "report.html").read_text(encoding="utf-8")
    outside = next((runs[1] / "outgoing").glob("*.report.html")).read_text(encoding="utf-8")
    assert "Since the previous release" not in outside
    said = desk("diff", str(runs[0]), str(runs[1]), "--format", "json")
    assert said.json["changes"] == second["sections"]["0"]["changes"]
    assert any(change["what"] == "highest_risk_limit" and change["effect"] == "worse" for change in said.json["changes"])
    assert desk("diff", str(runs[0]), str(runs[1]), "--fail-on", "weaker").code == 1
    assert desk("diff", str(runs[0]), str(runs[1]), "--format", "markdown").out.startswith("| Effect")
