"""What a person decides about a parked release, as values: an approval, what keeps a run from being published, a publication."""

from __future__ import annotations

import json

import pytest

from privrelease.findings import Severity
from privrelease.pipeline import publishing
from privrelease.pipeline.run import prepare, run
from privrelease.pipeline.settings import Settings
from privrelease.pipeline.signing import keygen, verify_run
from privrelease.pipeline.world import World

POLICY = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Computed
datasets:
  d:
    source: data.csv
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south]}
threats:
  t: {dataset: d, knows: [area], highest_risk: 0.2}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: out/r.csv}
approvals: {required: [dpo], keys: approvers.yaml}
"""


@pytest.fixture
def parked(tmp_path):
    """A folder with a run that waits for approval, and its id."""
    (tmp_path / "data.csv").write_text("id,area\n" + "".join(f"{n},north\n" for n in range(9)), encoding="utf-8")
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    pair = keygen(tmp_path / "dpo.key")
    pem = pair.public.read_text(encoding="utf-8").strip().replace("\n", "\n      ")
    (tmp_path / "approvers.yaml").write_text(
        f"approvers:\n  - name: officer\n    roles: [dpo]\n    key: |\n      {pem}\n", encoding="utf-8"
    )
    loaded, plan = Settings().load(tmp_path / "p.yaml")
    result = run(prepare(loaded, plan, (), World()))["r"]
    assert (result.became, result.decision) == ("parked", "pass")
    return tmp_path, result.run


def test_a_run_is_published_once_every_role_has_approved_and_not_before(parked):
    folder, run_id = parked
    policy = folder / "p.yaml"
    report = folder / ".privrelease" / "runs" / run_id / "internal" / "report.html"
    before = publishing.publishable(policy, Settings(), run_id)
    assert "it waits for approval by <bdi>dpo</bdi>" in report.read_text(encoding="utf-8")
    assert (before.ready, before.missing) == (False, ("dpo",))
    with pytest.raises(ValueError, match="not approved"):
        publishing.publish(before)
    assert not (folder / "out" / "r.csv").exists()
    made = publishing.approve(policy, Settings(), run_id, "dpo", (folder / "dpo.key", None))
    assert (made.role, made.approver, made.missing, made.changed) == ("dpo", "officer", (), ())
    done = publishing.publish(publishing.publishable(policy, Settings(), run_id))
    assert (done.release, done.outputs) == ("r", ("out/r.csv",))
    assert "Published on" in report.read_text(encoding="utf-8")
    assert (folder / "out" / "r.csv").is_file()
    seen = verify_run(folder / ".privrelease" / "runs" / run_id, [folder / "dpo.key.pub"])
    assert ([one.role for one, _ in seen.verified], seen.unverified, seen.silent, seen.changed) == (["dpo"], (), (), ())
    record, unlogged = publishing.withdraw(policy, Settings(), "r", "wrong codes")
    assert (record.run, unlogged) == (run_id, None)
    assert "wrong codes" in report.read_text(encoding="utf-8")
    assert verify_run(folder / ".privrelease" / "runs" / run_id, [folder / "dpo.key.pub"]).changed == ()
    assert not (folder / "out" / "r.csv").exists()


def test_a_changed_file_is_named_and_nothing_is_signed_or_published(parked):
    folder, run_id = parked
    (file,) = (folder / ".privrelease" / "runs" / run_id / "outgoing").glob("*.csv")
    file.chmod(0o600)
    file.write_text("area\nsouth\n", encoding="utf-8")
    made = publishing.approve(folder / "p.yaml", Settings(), run_id, "dpo", (folder / "dpo.key", None))
    assert made.changed
    assert made.approver == ""
    found = publishing.publishable(folder / "p.yaml", Settings(), run_id)
    assert not found.ready
    assert [one.code for one in found.changed] == [one.code for one in made.changed]


def test_the_language_of_the_policy_is_that_of_its_pages_and_is_kept_in_the_audit(parked):
    folder, _ = parked
    spoken = POLICY.replace("title: Computed", "title: Computed\nreport: {language: de}")
    (folder / "p.yaml").write_text(spoken, encoding="utf-8")
    loaded, plan = Settings().load(folder / "p.yaml")
    result = run(prepare(loaded, plan, (), World()))["r"]
    internal = folder / ".privrelease" / "runs" / result.run / "internal"
    page = (internal / "report.html").read_text(encoding="utf-8")
    assert '<html lang="de">' in page
    assert "sie wartet auf Genehmigung durch <bdi>dpo</bdi>" in page
    assert json.loads((internal / "audit.json").read_bytes())["language"] == "de"


def test_a_language_without_a_catalogue_is_an_error_with_its_place(tmp_path):
    from privrelease.policy.loader import check_policy

    (tmp_path / "p.yaml").write_text(POLICY + "report: {language: tlh}\n", encoding="utf-8")
    loaded, findings = check_policy(tmp_path / "p.yaml")
    assert loaded is None
    errors = [(one.code, one.message) for one in findings if one.severity is Severity.ERROR]
    assert errors == [("P202", "language must be en, de or fr, got tlh")]


@pytest.mark.parametrize("stopped", [False, True])
def test_the_internal_page_is_written_once_and_stays_where_the_publication_is_stopped(tmp_path, monkeypatch, stopped):
    from privrelease.errors import InputError
    from privrelease.release.store import ReleaseStore
    from privrelease.release.tamper_check import alterations
    from privrelease.report.pages import html

    def full(*_args, **_kwargs):
        raise InputError("R102", "the disk is full")

    editions, render = [], html.render_html
    monkeypatch.setattr(
        html, "render_html", lambda audit, edition, **of: editions.append(edition.value) or render(audit, edition, **of)
    )
    if stopped:
        monkeypatch.setattr(ReleaseStore, "publish", full)
    (tmp_path / "data.csv").write_text("id,area\n" + "".join(f"{n},north\n" for n in range(9)), encoding="utf-8")
    (tmp_path / "p.yaml").write_text(POLICY.partition("approvals:")[0], encoding="utf-8")
    loaded, plan = Settings().load(tmp_path / "p.yaml")
    work = prepare(loaded, plan, (), World())
    ended = run(work)["r"]
    assert ended.became == ("failed" if stopped else "published")
    (folder,) = (work.store.folder(one.run) for one in work.store.records())
    assert sorted(editions) == ["internal", "recipient"]
    assert ("Published on" in folder.report.read_text(encoding="utf-8")) is not stopped
    assert folder.record().state.value == ("parked" if stopped else "published")
    assert alterations(folder) == ()
    folder.report.write_text("changed", encoding="utf-8")
    assert len(alterations(folder)) == 1
