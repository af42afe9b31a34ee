"""A dry run does all but publish: nothing is published, parked, logged or charged, and no noise is drawn."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from privrelease.dp import randomness
from privrelease.pipeline.kinds import KINDS
from privrelease.pipeline.run import prepare, run
from privrelease.pipeline.settings import Settings
from privrelease.pipeline.world import World
from tests.unit.cli.conftest import APPROVALS, DATA, POLICY

STATISTICS = """\
  - id: s
    kind: statistics
    from: d
    budget: {epsilon: 1}
    queries:
      - {id: n, count: {where: "area = 'north'"}, epsilon: 0.5}
      - {id: pay, sum: pay, epsilon: 0.5}
    output: {path: out/s.csv}
ledger: {cap: {epsilon: 1.5}, url: sqlite:///ledger.db}
"""
TABLE = """\
  - id: c
    kind: table
    from: d
    by: [area]
    measures: [{count: true}]
    protect: {min_count: 3}
    output: {path: out/c.csv}
"""
ALL = (
    POLICY.replace("area: {role: quasi, type: category}", "area: {role: quasi, type: category, domain: [north, south, west]}")
    .replace("type: integer}", "type: integer, domain: [0, 1000]}")
    .replace("  d:\n", "  d:\n    population: made\n")
)


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def made_by(before, after):
    """Files that are new or changed, but for what the state folder needs for itself."""
    own = {".privrelease/lock", ".privrelease/.gitignore", ".privrelease/digest.key"}
    return {name for name, content in after.items() if before.get(name) != content and name not in own}


def comparable(text):
    """An audit without what names the run and the moment, and the note of the dry run."""
    value = json.loads(re.sub(r"\d{8}T\d{12}-[0-9a-f]{6}", "RUN", text))
    value["findings"] = [one for one in value["findings"] if one["code"] != "R229"]
    value["identity"] = {key: one for key, one in value["identity"].items() if key not in {"run", "audited_at", "created_at"}}
    return value


@pytest.fixture
def all_kinds(desk):
    desk.policy(ALL + TABLE + STATISTICS)
    assert desk("ledger", "init", "policy.yaml").code == 0
    return desk


def test_a_dry_run_leaves_reports_alone_of_every_kind(all_kinds, monkeypatch):
    desk = all_kinds
    before = files(desk.folder)

    def drawn(*_):
        raise AssertionError

    for source in (randomness.SystemRandomness, randomness.TestRandomness):
        monkeypatch.setattr(source, "draw", drawn)
    said = desk("run", "policy.yaml", "--dry-run")
    assert said.code == 1, said.err
    after = files(desk.folder)
    folders = [f".privrelease/dry-run/made/{name}" for name in ("c", "r")]
    names = ("audit.json", "report.html", "report.recipient.html")
    both = {f"{folder}/{name}" for folder in folders for name in names}
    assert made_by(before, after) == both - {".privrelease/dry-run/made/c/report.recipient.html"}
    assert (desk.folder / ".privrelease" / "dry-run").stat().st_mode & 0o777 == 0o700
    assert list((desk.folder / ".privrelease" / "runs").iterdir()) == []
    assert not desk.released.parent.exists()
    assert said.out.count("dry run, it would be published; nothing was published, parked or charged") == 1
    assert said.out.count("dry run, it fails its audit; nothing was published, parked or charged") == 1
    assert "release s: NOT DRAWN\n  the source can be read, and a run would spend epsilon 1" in said.out
    for folder in folders:
        assert b"this is the report of a dry run" in after[f"{folder}/report.html"]
    assert desk("list", "policy.yaml", "--all").out == ""


def test_a_dry_run_says_what_the_run_then_finds(all_kinds):
    desk = all_kinds
    found = desk("run", "policy.yaml", "--dry-run", "--format", "json").json
    assert [(one["became"], one["would"], one["exit_code"], one["run"]) for one in found["releases"]] == [
        ("rehearsed", "published", 0, None),
        ("rehearsed", "quarantined", 1, None),
        ("rehearsed", None, 0, None),
    ]
    # the rows show the group column of the table: each would pass without the other
    ran = desk("run", "policy.yaml", "--format", "json").json
    assert [one["became"] for one in ran["releases"]] == ["published", "quarantined", "published"]
    for dry, real in zip(found["releases"][:2], ran["releases"][:2], strict=True):
        texts = [(desk.folder / one["files"]["audit"]).read_text(encoding="utf-8") for one in (dry, real)]
        assert comparable(texts[0]) == comparable(texts[1])
    # an index over the state folder is about releases
    assert "the index shows 3 audits" in desk("report", "--index", ".privrelease", "-o", "index.html").err


def test_a_dry_run_looks_at_what_was_published_before(desk):
    assert desk.run_once().code == 0
    desk.data(DATA.replace("11,south,clerk,111\n", ""))
    first = {path.name for path in (desk.folder / ".privrelease" / "runs").iterdir()}
    dry = desk("run", "policy.yaml", "--dry-run")
    audit = (desk.folder / ".privrelease/dry-run/made/r/audit.json").read_text(encoding="utf-8")
    assert dry.code == desk.run().code
    later = [path for home in ("runs", "quarantine") for path in (desk.folder / ".privrelease" / home).iterdir()]
    (run_folder,) = (path for path in later if path.name not in first)
    text = (run_folder / "internal" / "audit.json").read_text(encoding="utf-8")
    assert comparable(audit) == comparable(text)
    assert json.loads(audit)["since"] is not None


@pytest.mark.parametrize(
    ("change", "code", "would"),
    [
        (("[{suppress: cells}]", "[]"), 1, "quarantined"),
        (("releases:", APPROVALS + "releases:"), 5, "parked"),
    ],
)
def test_a_dry_run_ends_as_the_run_would(office, change, code, would):
    desk = office.desk
    desk.policy(POLICY.replace(*change))
    said = desk("run", "policy.yaml", "--dry-run", "--format", "json")
    assert said.code == code
    assert "the release is parked" not in said.last, "nothing is"
    assert ("would be missing" in said.last) == (code == 5)
    assert said.json["releases"][0]["would"] == would
    assert not list((desk.folder / ".privrelease" / "quarantine").iterdir())
    assert not list((desk.folder / ".privrelease" / "runs").iterdir())
    recipient = desk.folder / ".privrelease/dry-run/made/r/report.recipient.html"
    assert recipient.exists() == (would != "quarantined")


def test_a_budget_that_a_run_would_not_get_is_refused_for_all_releases_together(all_kinds):
    desk = all_kinds
    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    again = STATISTICS.partition("ledger:")[0].replace("id: s", "id: s2").replace("out/s.csv", "out/s2.csv")
    desk.policy(text.replace("ledger:", again + "ledger:"))
    said = desk("run", "policy.yaml", "--dry-run", "--format", "json")
    assert said.code == 4
    assert [one["exit_code"] for one in said.json["releases"]] == [0, 1, 0, 4]
    assert "L120" in said.err
    (desk.folder / "ledger.db").unlink()
    assert desk("run", "policy.yaml", "--dry-run", "--release", "s").code == 4


def test_a_fault_of_the_data_is_found_before_anything_is_charged(all_kinds):
    desk = all_kinds
    desk.data(DATA + "13,west,smith,none\n")
    said = desk("run", "policy.yaml", "--dry-run")
    assert said.code == 3
    assert "nothing was published, parked or charged; r, s\n" in said.err
    assert said.err.count("D201") == 2


def test_a_dry_run_that_is_interrupted_leaves_nothing(desk, monkeypatch):
    from privrelease.report.pages import html

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(html, "render_html", stop)
    assert desk("run", "policy.yaml", "--dry-run").code == 3
    assert not list((desk.folder / ".privrelease" / "runs").iterdir())


def test_a_dry_run_draws_no_test_noise_either(desk):
    said = desk("run", "policy.yaml", "--dry-run", "--test-noise", "1")
    assert (said.code, "C167" in said.err) == (2, True)


def test_a_kind_that_charges_and_has_no_dry_run_is_not_executed(all_kinds):
    kinds = tuple(replace(kind, rehearse=None, execute=None) if kind.accounted else kind for kind in KINDS)
    settings = Settings()
    loaded, plan = settings.load(all_kinds.folder / "policy.yaml", kinds)
    work = prepare(loaded, plan, ("s",), World(settings, kinds=kinds), dry=True)
    (one,) = run(work).releases
    assert (one.became, one.would, one.error) == ("rehearsed", None, None)
    assert "charges a budget and has no dry run" in one.reason
