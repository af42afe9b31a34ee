from __future__ import annotations

import os
import re
import stat

import pytest


@pytest.fixture
def published(desk):
    assert desk.run_once().code == 0
    return next((desk.folder / ".privrelease/runs").iterdir())


def bytes_below(folder):
    """What every path shows, which of them are links, and no draft left behind."""
    return {
        str(path.relative_to(folder)): (path.is_symlink(), path.read_bytes()) for path in folder.rglob("*") if path.is_file()
    }


def audit_words(desk, *options):
    return desk("audit", "policy.yaml", "--release", "r", "--file", "copy.csv", *options)


@pytest.fixture
def audited(desk, published):
    """A copy of what was published, to audit."""
    (desk.folder / "copy.csv").write_bytes(desk.released.read_bytes())
    return published


PRECIOUS = [
    "policy.yaml",
    "POLICY.yaml",
    "data.csv",
    "out/r.csv",
    "out/r.manifest.json",
    "out/r.report.html",
    ".privrelease/new.json",
    "hard.csv",
    "soft.csv",
    "copy.csv",
]


@pytest.mark.parametrize("option", ["-o", "--report"])
@pytest.mark.parametrize("target", PRECIOUS)
def test_an_audit_never_overwrites_what_it_read_or_what_is_published(desk, audited, option, target):
    os.link(desk.folder / "data.csv", desk.folder / "hard.csv")
    (desk.folder / "soft.csv").symlink_to("nowhere.csv")
    before = bytes_below(desk.folder)
    said = audit_words(desk, option, target, "--force")
    assert said.code == 2
    assert "C131 " in said.err
    assert target in said.err
    assert bytes_below(desk.folder) == before


@pytest.mark.parametrize("target", ["out/r.csv", "policy.yaml", "data.csv", "{run}/internal/audit.json", "{run}/new.html"])
def test_a_report_and_an_attestation_never_overwrite_what_a_release_stands_on(desk, published, target):
    assert desk("keygen", "-o", "my.key").code == 0
    place = target.format(run=published)
    before = bytes_below(desk.folder)
    for words in (("report", str(published)), ("sign", str(published), "--key", "my.key")):
        said = desk(*words, "-o", place)
        assert said.code == 2
        assert re.search("C13[01] ", said.err)
    said = desk("sign", str(published), "--key", "my.key", "-o", "my.key", "--force")
    assert (said.code, "the private key" in said.err) == (2, True)
    assert bytes_below(desk.folder) == before


def test_a_published_file_is_called_an_output_and_not_the_state_folder(desk, published):
    """Also that of another run: its output path is a link into the state folder."""
    said = desk("report", str(published), "-o", "out/r.csv")
    assert "C131 out/r.csv is an output of a release: it is never overwritten" in said.err
    (desk.folder / "out" / "s.csv").symlink_to(published / "outgoing" / "r.csv")
    said = desk("report", str(published), "-o", "out/s.csv")
    assert "C131 out/s.csv is a symbolic link, as outputs of releases are: it is never overwritten" in said.err
    said = desk("report", str(published), "-o", ".privrelease/new.html")
    assert "C131 .privrelease/new.html is in the state folder: it is never overwritten" in said.err


def test_the_policy_of_another_is_not_overwritten_even_by_force(desk, published):
    said = desk("report", str(published), "-o", "policy.yaml", "--force")
    assert (said.code, "C131 policy.yaml is a policy" in said.err) == (2, True)


def test_a_result_that_exists_is_overwritten_only_by_force(desk, audited):
    assert audit_words(desk, "-o", "audit.json").code == 0
    first = (desk.folder / "audit.json").stat().st_ino
    said = audit_words(desk, "-o", "audit.json")
    assert (said.code, said.last) == (2, "exit 2: bad usage or bad policy: C130")
    assert "--force" in said.err
    assert (desk.folder / "audit.json").stat().st_ino == first
    assert audit_words(desk, "-o", "audit.json", "--force").code == 0
    assert (desk.folder / "audit.json").stat().st_ino != first


def test_an_audit_read_is_not_replaced_by_its_report(desk, audited):
    assert audit_words(desk, "-o", "audit.json").code == 0
    said = desk("report", "audit.json", "-o", "audit.json", "--force")
    assert (said.code, "the audit that is read" in said.err) == (2, True)
    assert desk("report", "audit.json", "-o", "page.html").code == 0


def test_two_results_do_not_go_to_one_file(desk, audited):
    said = audit_words(desk, "-o", "one.json", "--report", "out/../one.json")
    assert (said.code, "C132" in said.err) == (2, True)
    assert not (desk.folder / "one.json").exists()


def test_a_folder_or_a_device_is_no_place(desk, audited):
    for place in ("out", "/dev/null"):
        said = audit_words(desk, "-o", place, "--force")
        assert (said.code, "no regular file" in said.err) == (2, True)


def test_a_result_has_the_mode_that_the_umask_leaves(desk, audited):
    before = os.umask(0o027)
    try:
        assert audit_words(desk, "-o", "audit.json").code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((desk.folder / "audit.json").stat().st_mode) == 0o640


def test_a_source_of_many_files_gets_no_more_of_them(desk):
    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    desk.policy(text.replace("source: data.csv", "source: data*.csv"))
    assert desk.run().code == 0
    (desk.folder / "copy.csv").write_bytes(desk.released.read_bytes())
    os.link(desk.folder / "data.csv", desk.folder / "hard.csv")
    for place in ("data2.csv", "hard.csv"):
        said = audit_words(desk, "-o", place, "--force")
        assert (said.code, "a source of dataset d" in said.err) == (2, True)


def test_a_file_that_stood_at_an_output_path_is_told_and_kept(desk):
    (desk.folder / "out").mkdir()
    (desk.folder / "out" / "r.csv").write_bytes(b"my own notes\n")
    said = desk.run("--format", "json")
    assert said.code == 0
    (kept,) = said.json["releases"][0]["kept"]
    assert kept["output"] == "out/r.csv"
    assert (desk.folder / kept["kept"]).read_bytes() == b"my own notes\n"
    assert f"out/r.csv was there before and is kept at {kept['kept']}" in said.err
    again = desk.run("--format", "json")
    assert again.json["releases"][0]["kept"] == []
    assert "was there before" not in again.err


@pytest.mark.parametrize("number", ["0", "257", "100000"])
def test_threads_are_bounded(desk, number):
    said = desk.run("--threads", number)
    assert (said.code, "--threads" in said.err) == (2, True)


@pytest.mark.parametrize("command", ["run", "validate", "show", "plan"])
def test_a_data_root_that_does_not_exist_is_named(desk, command):
    said = desk(command, "policy.yaml", "--data-root", "nowhere")
    assert (said.code, "nowhere" in said.err) == (2, True)


def words(desk, verb, run):
    """A command that writes where the last words say, and what it reads before it does."""
    return {
        "audit -o": ("audit", "policy.yaml", "--release", "r", "--file", "copy.csv", "-o"),
        "audit --report": ("audit", "policy.yaml", "--release", "r", "--file", "copy.csv", "--report"),
        "report": ("report", str(run), "-o"),
        "index": ("report", "--index", ".privrelease", "-o"),
        "sign": ("sign", str(run), "--key", "my.key", "-o"),
        "init": ("init", "data.csv", "-o"),
        "frontier --html": ("frontier", "policy.yaml", "--html"),
        "frontier --chart": ("frontier", "policy.yaml", "--chart"),
        "simulate": ("simulate", "--html"),
    }[verb]


VERBS = ("audit -o", "audit --report", "report", "index", "sign", "init", "frontier --html", "frontier --chart", "simulate")


@pytest.fixture
def no_work(monkeypatch):
    """Whatever is costly refuses to begin."""

    def refuse(*_, **__):
        pytest.fail("work began before the place was looked at")

    for place in (
        "privrelease.engine.duckdb.DuckDBEngine.__init__",
        "privrelease.engine.duckdb.reading.header.read_header",
        "privrelease.report.forms.json_report.read_audit",
        "privrelease.execute.statistics.reference_study.study",
        "privrelease.report.pages.html.render_html",
        "privrelease.report.pages.html.render_index",
    ):
        monkeypatch.setattr(place, refuse)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("place", "why"),
    [("nowhere/x.{}", "is not there"), ("my.key.pub/x.{}", "is no folder"), ("/proc/x.{}", "no file can be made in /proc")],
    ids=["no_folder", "a_file_for_a_folder", "a_folder_that_takes_none"],
)
def test_a_place_where_nothing_can_be_written_is_told_before_the_work(desk, audited, no_work, verb, place, why):
    assert desk("keygen", "-o", "my.key").code == 0
    before = bytes_below(desk.folder)
    ending = "svg" if verb.endswith("chart") else "yaml" if verb == "init" else "html"
    said = desk(*words(desk, verb, audited), place.format(ending))
    assert said.code == 3, said.err
    assert "C133 " in said.err
    assert why in said.err
    assert "hint: " in said.err
    assert bytes_below(desk.folder) == before


def test_the_summary_of_a_pipeline_is_looked_at_before_anything_is_published(desk, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(desk.folder / "nowhere" / "summary.md"))
    said = desk.run("--format", "github")
    assert said.code == 3
    assert "job summary" in said.err
    assert not desk.released.exists()


def test_other_files_that_a_policy_reads_are_not_overwritten_even_by_force(desk, audited):
    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    desk.policy(text + "attacks: {control: others.csv, linkability: {auxiliary: aux.csv, max_risk: 1}}\n")
    for name in ("others.csv", "aux.csv", "earlier.csv"):
        (desk.folder / name).write_bytes((desk.folder / "data.csv").read_bytes())
    for name in ("others.csv", "aux.csv", "earlier.csv"):
        said = audit_words(desk, "--against", "earlier.csv", "-o", name, "--force")
        assert (said.code, "C131 " in said.err) == (2, True), said.err
