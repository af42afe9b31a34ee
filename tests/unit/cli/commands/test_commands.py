from __future__ import annotations

import json
import shutil

import pytest

from privrelease.audit.document.schema import audit_schema


def test_validate_prints_the_k_of_every_threshold(desk):
    said = desk("validate", "policy.yaml")
    assert said.code == 0
    assert "k = 5" in said.out


def test_validate_as_json_lists_findings_with_their_places(desk):
    desk.policy((desk.folder / "policy.yaml").read_text(encoding="utf-8").replace("0.2}", "20}"))
    said = desk("validate", "policy.yaml", "--format", "json")
    assert said.code == 2
    (finding,) = [one for one in said.json["findings"] if one["severity"] == "error"]
    assert said.json["valid"] is False
    assert (finding["file"], finding["line"]) == ("policy.yaml", 16)


def test_plan_reads_no_row(desk):
    (desk.folder / "data.csv").unlink()
    said = desk("plan", "policy.yaml")
    assert said.code == 0
    assert "k = 5" in said.out
    assert "suppress cells of area, job" in said.out


def test_plan_with_data_forecasts_what_run_then_takes(desk):
    planned = desk("plan", "policy.yaml", "--data", "--format", "json")
    assert planned.code == 0
    (forecast,) = planned.json["forecasts"]
    assert desk.run().code == 0
    audit = json.loads(next((desk.folder / ".privrelease/runs").glob("*/internal/audit.json")).read_bytes())
    assert forecast["cells_lost"] == audit["utility"]["cells_lost"]["value"]
    assert forecast["threats"][0]["smallest"] == audit["threats"][0]["before"]["k"]["value"] == 1
    assert not (desk.folder / "forecast").exists()


def test_plan_with_data_says_that_a_run_would_fail(desk):
    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    desk.policy(text.replace("{suppress: cells}", "{suppress: cells, limit: 0}"))
    said = desk("plan", "policy.yaml", "--data")
    assert said.code == 1
    assert "would fail" in said.last
    saved = desk("plan", "policy.yaml", "--data", "-o", "plan.json")
    assert (saved.code, saved.last) == (1, f"{said.last}; plan.json is written")


def test_plan_with_data_counts_a_row_without_known_values_as_run_does(desk):
    desk.data("id,area,job,pay\n" + "".join(f"{n},A,{n},1\n" for n in range(4)) + "4,,4,1\n")
    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    text = text.replace("    transform: [{suppress: cells}]\n", "").replace("[area, job]", "[area]").replace("0.2}", "0.25}")
    desk.policy(text.replace("job: {role: quasi", "job: {role: insensitive"))
    planned = desk("plan", "policy.yaml", "--data", "--format", "json")
    (forecast,) = planned.json["forecasts"]
    (threat,) = forecast["threats"]
    assert (threat["smallest"], threat["below_k"], forecast["unmet"]) == (1, 1, ["t"])
    assert planned.code == 1
    assert "would fail" in planned.last
    assert desk.run().code == 1
    audit = json.loads(next((desk.folder / ".privrelease").glob("**/internal/audit.json")).read_bytes())
    assert audit["threats"][0]["before"]["k"]["value"] == audit["threats"][0]["after"]["k"]["value"] == 1


def test_show_prints_a_policy_that_loads_again(desk):
    said = desk("show", "policy.yaml", "--resolved")
    assert said.code == 0
    desk.policy(said.out)
    assert desk("show", "policy.yaml").out == said.out


@pytest.mark.parametrize("of", ["policy", "audit", "manifest"])
def test_schemas_are_json(desk, of):
    said = desk("schema", of)
    assert said.code == 0
    assert said.json["$schema"].startswith(("http://json-schema.org/draft-07", "https://json-schema.org/draft/2020-12"))


def test_an_unknown_schema_is_bad_usage(desk):
    assert desk("schema", "everything").code == 2


def test_what_a_run_writes_follows_the_published_schema(desk):
    jsonschema = pytest.importorskip("jsonschema")
    assert desk.run_once().code == 0
    audit = json.loads(next((desk.folder / ".privrelease/runs").glob("*/internal/audit.json")).read_bytes())
    jsonschema.Draft202012Validator(audit_schema()).validate(audit)


def test_init_writes_a_starter_that_decides_nothing_and_never_overwrites(desk):
    said = desk("init", "data.csv", "-o", "starter.yaml")
    assert said.code == 0
    text = (desk.folder / "starter.yaml").read_text(encoding="utf-8")
    assert "role: ," in text
    assert "north" not in text
    assert desk("validate", "starter.yaml").code == 2
    again = desk("init", "data.csv", "-o", "starter.yaml")
    assert again.code == 2
    assert "exists already" in again.err
    assert (desk.folder / "starter.yaml").read_text(encoding="utf-8") == text


def test_init_takes_the_types_that_a_parquet_file_declares(desk):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table(
        {"age": pyarrow.array([1], pyarrow.int32()), "when": pyarrow.array([0], pyarrow.date32()), "name": ["x"]}
    )
    parquet.write_table(table, desk.folder / "data.parquet")
    assert desk("init", "data.parquet", "-o", "starter.yaml").code == 0
    text = (desk.folder / "starter.yaml").read_text(encoding="utf-8")
    assert "age: {role: , type: integer}" in text
    assert "when: {role: , type: date}" in text


@pytest.mark.parametrize(("content", "code"), [(None, 3), (b"", 3)])
def test_init_of_nothing_is_an_input_error(desk, content, code):
    if content is not None:
        (desk.folder / "empty.csv").write_bytes(content)
    assert desk("init", "empty.csv", "-o", "starter.yaml").code == code
    assert not (desk.folder / "starter.yaml").exists()


@pytest.mark.parametrize(("sign", "word"), [(";", ";"), ("|", "|"), ("\t", "tab")])
def test_init_asks_for_a_delimiter_that_hides_columns_and_takes_it(desk, sign, word):
    (desk.folder / "other.csv").write_text(f"id{sign}age\n1{sign}2\n", encoding="utf-8")
    said = desk("init", "other.csv", "-o", "starter.yaml")
    assert said.code == 3
    assert f"--delimiter {word}" in said.err.replace('"', "")
    assert not (desk.folder / "starter.yaml").exists()
    assert desk("init", "other.csv", "-o", "starter.yaml", "--delimiter", word).code == 0
    text = (desk.folder / "starter.yaml").read_text(encoding="utf-8")
    assert "      id: {role: , type: string}\n      age: {role: , type: string}\n" in text
    filled = (
        text.replace("role: ,", "role: quasi,")
        .replace("knows: []", "knows: [age]")
        .replace("highest_risk:  ", "highest_risk: 1 ")
    )
    (desk.folder / "starter.yaml").write_text(filled, encoding="utf-8")
    planned = desk("plan", "starter.yaml", "--data", "--format", "json")
    assert planned.json["forecasts"][0]["source_rows"] == 1, planned.err


def test_init_refuses_a_delimiter_of_two_characters(desk):
    assert desk("init", "data.csv", "-o", "starter.yaml", "--delimiter", ";;").code == 2


def test_init_says_at_once_which_names_differ_only_in_case(desk):
    (desk.folder / "other.csv").write_text("id,Age,AGE\n1,2,3\n", encoding="utf-8")
    said = desk("init", "other.csv", "-o", "starter.yaml", "--quiet")
    assert said.code == 0
    assert "columns Age and AGE differ only in case" in said.err


def test_a_published_file_passes_an_audit_of_its_own(desk):
    assert desk.run_once().code == 0
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "out/r.csv", "--report", "report.html", "-o", "audit.json")
    assert said.code == 0, said.err
    assert "Passes its policy" in (desk.folder / "report.html").read_text(encoding="utf-8")
    assert json.loads((desk.folder / "audit.json").read_bytes())["decision"]["outcome"] == "pass"


def test_a_file_that_was_never_protected_fails_the_audit(desk):
    (desk.folder / "raw.csv").write_text("area,job,pay\nnorth,clerk,1\nsouth,smith,2\n", encoding="utf-8")
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "raw.csv")
    assert said.code == 1
    assert "k 1" in said.out


def test_without_the_source_an_audit_says_what_it_could_not_check(desk):
    assert desk.run_once().code == 0
    shutil.copy(desk.released, desk.folder / "theirs.csv")
    (desk.folder / "data.csv").unlink()
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv", "--no-source", "--format", "json")
    assert said.code == 0, said.err
    audit = said.json
    assert audit["data"]["source_rows"] is None
    assert audit["threats"][0]["before"] is None
    assert audit["threats"][0]["after"]["k"]["value"] >= 5
    unchecked = {check["id"] for check in audit["checks"] if check["outcome"] == "not_evaluated"}
    assert {"AUDIT-ROWMAP", "AUDIT-CHANGED", "AUDIT-ROWS"} <= unchecked
    assert any("could not be checked" in line for line in audit["decision"]["assessment_remaining"])


def test_an_audited_file_may_lie_outside_the_policys_folder_and_of_an_unknown_kind_not(desk, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "r.csv"
    assert desk.run_once().code == 0
    shutil.copy(desk.released, other)
    assert desk("audit", "policy.yaml", "--release", "r", "--file", str(other)).code == 0
    assert desk("audit", "policy.yaml", "--release", "r", "--file", "absent.csv").code == 3
    (desk.folder / "notes.docx").write_bytes(b"")
    assert desk("audit", "policy.yaml", "--release", "r", "--file", "notes.docx").code == 2


def test_report_renders_a_run_in_every_form_and_edition(desk):
    assert desk.run_once().code == 0
    run = next((desk.folder / ".privrelease/runs").iterdir())
    html = desk("report", str(run), "-o", "page.html")
    assert html.code == 0
    assert (desk.folder / "page.html").read_bytes() == (run / "internal/report.html").read_bytes()
    recipient = desk("report", str(run / "internal/audit.json"), "--edition", "recipient")
    assert recipient.out.encode() == (desk.folder / "out/r.report.html").read_bytes()
    assert desk("report", str(run), "--format", "text").out.startswith("release r: PASS")
    assert desk("report", str(run), "--format", "json").json["format"] == "privrelease/audit"


@pytest.mark.parametrize("content", [None, b"{}", b"not json", b'{"format": "privrelease/audit", "version": 2}'])
def test_what_is_no_audit_is_an_input_error(desk, content):
    if content is not None:
        (desk.folder / "audit.json").write_bytes(content)
    assert desk("report", "audit.json").code == 3


@pytest.mark.parametrize("options", [("--edition", "public"), ("--format", "docx")])
def test_an_unknown_edition_or_form_is_bad_usage(desk, options):
    assert desk("report", "audit.json", *options).code == 2
