"""Attacks from a policy to an audit, on thirteen persons whose every figure can be worked out by hand.

Six clerks in the north (paid 100 to 105), six in the south (106 to 111), one smith in the west (900). Of six who look alike one is found,
whoever the lot takes; so what is led to a person by area or job is right for 1 + 1 + 1 of 13.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.unit.cli.conftest import POLICY

ATTACKED = POLICY.replace("highest_risk: 0.2", "highest_risk: RISK") + "attacks: {ATTACKS}\n"
CONTROL = "id,area,job,pay\n" + "".join(f"{n},north,clerk,{180 + n}\n" for n in range(20, 33))
EVERYTHING = """control: control.csv, singling_out: {}, linkability: {columns: [[area], [pay]]}, record_linkage: {}, membership: {},
  inference: {target: pay}"""


@pytest.fixture
def attacked(desk):
    """Run a policy with these attacks; give the command's word, the attacks by name, and the whole audit."""

    def run(attacks, *, risk="1", control=CONTROL, changes=(), **files):
        for name, text in {"control": control, **files}.items():
            (desk.folder / f"{name}.csv").write_text(text, encoding="utf-8")
        text = ATTACKED.replace("RISK", risk).replace("ATTACKS", attacks)
        for old, new in changes:
            text = text.replace(old, new)
        desk.policy(text)
        said = desk.run_once()
        found = sorted(desk.folder.glob(".privrelease/*/*/internal/audit.json"), key=lambda path: path.stat().st_mtime_ns)
        audit = json.loads(found[-1].read_bytes()) if found else None
        tried = {one["attack"]: one for one in audit["attacks"]["attacks"]} if found else {}
        return said, tried, audit

    return run


def rate(one, side):
    found = one[side]
    if found["successes"] is None:
        return found["rate"]["value"]["exact"]
    return found["successes"]["value"], found["attempts"]["value"]


def rates(one):
    return tuple(rate(one, side) for side in ("main", "baseline", "control"))


def test_every_attack_on_an_unprotected_file_has_the_rates_worked_out_by_hand(attacked):
    said, tried, audit = attacked(EVERYTHING)
    assert said.code == 0, said.err
    # 13 pays, the lowest and highest of them, west, smith: all right; of the control no one has such values
    assert rate(tried["singling_out_univariate"], "main") == (17, 17)
    assert rate(tried["singling_out_univariate"], "control") == (0, 17)
    assert tried["singling_out_multivariate"]["combine"] == 3
    assert rate(tried["singling_out_multivariate"], "main")[0] == rate(tried["singling_out_multivariate"], "main")[1] > 0
    assert rates(tried["linkability"]) == ((3, 13), "1/13", (0, 13))
    assert rates(tried["record_linkage"]) == ((3, 13), "1/13", "0")
    # of equally frequent pays the lowest is guessed: 100, 106, 900
    assert rates(tried["inference"]) == ((3, 13), (1, 13), (0, 13))
    assert rates(tried["membership"]) == ((7, 7), "1/2", (0, 7))
    assert tried["membership"]["risk"]["value"]["exact"] == "1"
    assert tried["record_linkage"]["risk"]["value"]["exact"] == "3/13"
    assert {one["outcome"] for one in tried.values()} == {None}
    assert audit["attacks"]["closest"]["copies"]["exact"] == "1"
    assert audit["attacks"]["closest"]["held_out_copies"]["exact"] == "0"


def test_protection_takes_the_smith_away(attacked):
    said, tried, _ = attacked(EVERYTHING, risk="0.2")
    assert said.code == 0, said.err
    assert rate(tried["record_linkage"], "main") == (2, 13)
    assert rate(tried["inference"], "main") == (2, 13)
    # no area is the smith's, so any record may be taken for it; should that be the best paid clerk's, both halves meet by chance
    assert rate(tried["linkability"], "main") in {(2, 13), (3, 13)}


def test_the_same_release_is_attacked_alike_each_time(attacked):
    first, second = (attacked(EVERYTHING)[2]["attacks"] for _ in range(2))
    assert first == second


def test_a_limit_that_holds_is_a_warning(attacked):
    said, _, audit = attacked("control: control.csv, record_linkage: {max_risk: 0.5}")
    assert said.code == 0, said.err
    finding = next(finding for finding in audit["findings"] if finding["code"] == "A405")
    assert "within 50 %" in finding["message"]
    assert (finding["severity"], finding["line"]) == ("warn", 24)


LIMITS = {
    "record_linkage: {max_risk: 0.2}": ("A405", "the risk is 23.1 % (8.2 % to 50.3 %) and above 20 %"),
    "membership: {max_advantage: 0.9}": ("A406", "the advantage is 100 %"),
    "singling_out: {max_risk: 0.5}": ("A401", "the risk is 100 %"),
    "linkability: {max_risk: 0.1}": ("A403", "above 10 %"),
    "inference: {target: pay, max_risk: 0.1}": ("A404", "above 10 %"),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_that_does_not_hold_is_a_finding_of_its_own(attacked, limit):
    code, said_by = LIMITS[limit]
    said, _, audit = attacked(f"control: control.csv, {', '.join(LIMITS)}")
    assert said.code == 1
    finding = next(finding for finding in audit["findings"] if finding["code"] == code)
    assert said_by in finding["message"]
    assert (finding["severity"], finding["line"]) == ("error", 24)


def test_a_second_target_is_a_check_of_its_own(attacked):
    said, _, audit = attacked("inference: {target: [pay, job], knows: [area], max_risk: 0.1}")
    assert said.code == 1
    checks = {check["id"]: check["title"] for check in audit["checks"] if check["id"].startswith("AUDIT-ATTACK")}
    assert checks == {
        "AUDIT-ATTACK-INFERENCE": "Attack: guessing a column: pay",
        "AUDIT-ATTACK-INFERENCE-2": "Attack: guessing a column: job",
    }
    assert [finding["code"] for finding in audit["findings"]].count("A404") == 2


def test_singling_out_names_its_columns(attacked, desk):
    said, tried, audit = attacked("control: control.csv, singling_out: {max_risk: 0.5}")
    assert said.code == 1
    assert tried["singling_out_univariate"]["knows"] == ["area", "job", "pay"]
    assert "Attack: singling out by one column: area, job, pay: " in said.err
    titles = [check["title"] for check in audit["checks"] if check["id"].startswith("AUDIT-ATTACK-SINGLING")]
    assert titles == [
        "Attack: singling out by one column: area, job, pay",
        "Attack: singling out by several columns: area, job, pay",
    ]
    (run,) = map(str, desk.folder.glob(".privrelease/quarantine/*"))
    page = re.sub(r"<[^>]+>|[\u2066-\u2069]|&#x206[6-9];", "", desk("report", run, "--format", "html").out)
    assert "Singling out by 3 columns of area, job, pay" in page


def test_a_control_that_always_succeeds_shows_nothing_and_passes_nothing(attacked):
    said, tried, _ = attacked("control: control.csv, inference: {target: job, knows: [area], max_risk: 1}")
    assert rates(tried["inference"]) == ((13, 13), (12, 13), (13, 13))
    assert tried["inference"]["risk"]["value"]["value"] is None
    assert said.code == 1
    assert "undefined (0/0): the control always succeeds" in said.err


def test_where_no_predicate_can_be_made_the_release_is_parked_and_a_person_decides(attacked, desk):
    desk.data("id,area,job,pay\n" + "".join(f"{n},north,clerk,100\n" for n in range(6)))
    said, _, audit = attacked("singling_out: {max_risk: 0.1}")
    assert said.code == 5, said.err
    assert not desk.released.exists()
    check = next(check for check in audit["checks"] if check["id"] == "AUDIT-ATTACK-SINGLING-OUT-UNIVARIATE")
    assert (check["outcome"], check["severity"], check["vacuous"]) == ("not_evaluated", "error", True)
    assert audit["decision"]["outcome"] == "review"
    assert any("AUDIT-ATTACK-SINGLING-OUT-UNIVARIATE" in text for text in audit["decision"]["reasons"])
    assert "AUDIT-ATTACK-SINGLING-OUT-UNIVARIATE" in said.last
    (run,) = map(str, desk.folder.glob(".privrelease/runs/*"))
    junit = desk("report", run, "--format", "junit").out
    assert "<skipped" in junit[junit.index("AUDIT-ATTACK-SINGLING-OUT-UNIVARIATE") :].partition("</testcase>")[0]


def test_without_control_persons_a_limit_is_held_against_guessing(attacked):
    _, tried, _ = attacked("record_linkage: {}, inference: {target: pay}")
    assert tried["inference"]["control"] is None
    assert tried["inference"]["control_kind"] == "none"
    # 3/13 against a guess of 1/13: 2 of the 12 that guessing leaves
    assert tried["inference"]["risk"]["value"]["exact"] == "1/6"


def test_a_control_person_who_is_in_the_data_fails_the_release(attacked):
    said, _, audit = attacked("control: control.csv, record_linkage: {}", control=CONTROL + "3,north,clerk,103\n")
    assert said.code == 1
    (finding,) = [finding for finding in audit["findings"] if finding["code"] == "A407"]
    assert "1 person of the control file is in the data" in finding["message"]


def test_a_list_of_the_attackers_is_led_to_persons_by_the_unit(attacked):
    listed = "id,area,job,more\n" + "".join(f"{n},north,clerk,x\n" for n in (0, 1, 2, 3, 4, 5, 20, 21, 99))
    _, tried, audit = attacked(
        "control: control.csv, linkability: {auxiliary: aux.csv, columns: [[area, job], [pay]]}", aux=listed
    )
    assert rates(tried["linkability"]) == ((1, 6), "1/13", (0, 2))
    assert audit["attacks"]["auxiliary"] == "aux.csv"


def test_a_missing_control_file_is_an_error_that_names_it(attacked, desk):
    said, _, _ = attacked("control: nowhere.csv, record_linkage: {}")
    assert said.code == 3
    assert "nowhere.csv" in said.err


def test_a_file_of_others_is_attacked_too_and_what_needs_the_row_map_is_said(attacked, desk):
    assert attacked(EVERYTHING.replace("record_linkage: {}", "record_linkage: {max_risk: 0.1}"))[0].code == 1
    (desk.folder / "theirs.csv").write_text("area,job,pay\nnorth,clerk,100\nnorth,clerk,101\n", encoding="utf-8")
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv", "--format", "json")
    tried = {one["attack"]: one for one in said.json["attacks"]["attacks"]}
    # of two records that are equally near by area and job the lot takes one: that of the lowest pay, or that of all other pays
    assert rate(tried["linkability"], "main") in {(1, 13), (12, 13)}
    assert tried["record_linkage"]["main"] is None
    assert tried["record_linkage"]["said"] == "could not be made: released rows cannot be led back to the data"
    check = next(check for check in said.json["checks"] if check["id"] == "AUDIT-ATTACK-RECORD-LINKAGE")
    assert (check["outcome"], check["severity"], check["vacuous"]) == ("not_evaluated", "error", True)
    assert said.code == 5, said.err
    assert said.last.startswith("exit 5: a person has to decide: AUDIT-ATTACK-RECORD-LINKAGE")
    alone = desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv", "--no-source", "--format", "json")
    assert {one["said"] for one in alone.json["attacks"]["attacks"]} == {
        "could not be made: it needs the source, which was not read"
    }
    assert alone.code == 5, alone.err


def test_a_file_that_lacks_a_column_is_not_attacked_by_it(attacked, desk):
    attacked(EVERYTHING)
    (desk.folder / "theirs.csv").write_text("area,job\nnorth,clerk\nnorth,clerk\n", encoding="utf-8")
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv", "--format", "json")
    tried = {one["attack"]: one for one in said.json["attacks"]["attacks"]}
    assert tried["inference"]["said"].startswith("could not be made: the file lacks a column")


def test_recipients_are_shown_no_count_and_no_small_rate(attacked, desk):
    attacked(EVERYTHING)
    (run,) = desk.folder.glob(".privrelease/runs/*")
    seen = desk("report", str(run), "--edition", "recipient", "--format", "json").json["attacks"]
    for one in seen["attacks"]:
        for side in ("main", "baseline", "control"):
            if one[side] is not None:
                assert one[side]["successes"] is None
    linkage = next(one for one in seen["attacks"] if one["attack"] == "record_linkage")
    assert linkage["main"]["rate"]["value"]["value"] is None
    page = desk("report", str(run), "--edition", "recipient", "--format", "html").out
    assert "3 of 13" not in page
    assert "control.csv" not in page
    inside = desk("report", str(run), "--edition", "internal", "--format", "html").out
    assert "(3 of 13; " in inside


def test_persons_with_several_rows_are_singled_out_and_attacked_once(attacked, desk):
    # eight persons of two rows each: every pay stands in both rows of one person
    rows = [(n // 2, "north" if n < 8 else "south", "clerk", 100 + n // 2) for n in range(16)]
    desk.data("id,area,job,pay\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    attacks = "singling_out: {combine: 1}, record_linkage: {knows: [pay]}, inference: {target: area, knows: [pay]}"
    found = attacked(attacks, changes=(("max_rows: 1", "max_rows: 2"), ("knows: [area, job]", "knows: [area]")))
    tried = found[1]
    assert rate(tried["record_linkage"], "main") == (8, 8)
    assert rate(tried["inference"], "main") == (8, 8)
    # the file names no person, so no pay is alone in it: nothing can be tried by one column
    assert rate(tried["singling_out_univariate"], "main") == (0, 0)


def test_an_attack_without_a_limit_is_named_with_the_decision(attacked, desk):
    said, _, _ = attacked("singling_out: {}, linkability: {columns: [[area], [pay]], max_risk: 1}, inference: {target: pay}")
    of = "of area, job, pay"
    names = f"Singling out by one column {of}, Singling out by 3 columns {of}, Guessing pay from area, job"
    assert f"no limit set                   {names}" in said.out
    (run,) = map(str, desk.folder.glob(".privrelease/runs/*"))
    assert f"No limit set for these attacks: {names}." in desk("report", run, "--format", "markdown").out
    for edition in ("internal", "recipient"):
        page = desk("report", run, "--edition", edition, "--format", "html").out
        decision = page[page.index("checks hold") :]
        assert "No limit set for these attacks: " in decision[: decision.index("</p>")]
        assert "Linking" not in decision[: decision.index("</p>")]
