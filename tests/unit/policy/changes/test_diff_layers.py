"""The verdicts of `privrelease diff` where a policy is written in layers: in what it extends, and in its environments."""

from __future__ import annotations

from pathlib import Path

import pytest

from privrelease.findings import Severity
from privrelease.policy import loader
from privrelease.policy.changes.diff import environment_changes, policy_changes
from privrelease.policy.loader import check_policy, load_policy
from tests.unit.policy.changes.diff_rows_hierarchies import FILES
from tests.unit.policy.changes.parsed_sections import parse_by_sections
from tests.unit.policy.changes.test_diff_every_key import ROWS

#: One row of each section and verdict.
SOME = list({(row.place.split(".")[0], row.effect, row.new is None): row for row in ROWS if not row.base.get("keys")}.values())
KEYS = {"arms.csv": "arm\na\nb\n", "more.csv": "arm\na\nb\nc\n", "sexes.csv": "sex\nF\nM\n", **FILES}
#: Files that an environment may read from elsewhere although nobody can tell what that means.
POINTED = ("attacks.control", "attacks.linkability.auxiliary", "threats.j.population.table")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One for all rows: each writes every policy that it reads."""
    made = tmp_path_factory.mktemp("layers")
    for name, keys in KEYS.items():
        (made / name).write_text(keys, encoding="utf-8")
    return made


@pytest.fixture
def written(folder, monkeypatch):
    monkeypatch.setattr(loader, "parse_yaml", parse_by_sections)

    def write(name, text):
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    return write


@pytest.fixture(scope="module")
def kept():
    """Policies that were loaded, by the texts of their files: of many rows one side is the same."""
    return {}


@pytest.fixture
def loaded(written, kept):
    def load(name, text, env=None, **others):
        for other, its in others.items():
            written(f"{other}.yaml", its)
        path, key = written(name, text), (name, text, env, *others.items())
        if key not in kept:
            kept[key] = load_policy(path, env=env)
        return kept[key]

    return load


@pytest.mark.parametrize("row", SOME, ids=str)
def test_a_change_in_what_a_policy_extends_reads_the_same_and_points_there(loaded, row):
    sides = (
        loaded(f"{name}.yaml", f"extends: [{name}-base.yaml]\n", **{f"{name}-base": side.text})
        for name, side in zip(("old", "new"), row.texts, strict=True)
    )
    change = next(one for one in policy_changes(*sides) if one.subject == row.subject)
    assert change.effect == row.effect
    place = row.line or row.place
    side, name = (row.texts[0], "old") if row.in_old or place not in row.texts[1].lines else (row.texts[1], "new")
    assert (Path(change.location.file).name, change.location.line) == (f"{name}-base.yaml", side.lines[place])


def overlay(row):
    """The section that changes, as an environment of the old policy."""
    section = row.place.split(".")[0]
    lines = row.texts[1].text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith(f"{section}:")), None)
    if start is None:
        return None
    end = next((number for number in range(start + 1, len(lines)) if not lines[number].startswith(" ")), len(lines))
    return "".join(f"    {line}\n" for line in lines[start:end])


@pytest.mark.parametrize("row", [row for row in ROWS if row.effect == "weaker"], ids=str)
def test_no_environment_is_let_do_what_reads_as_weaker(written, loaded, row):
    section = overlay(row)
    if section is None:
        section = f"    {row.place.split('.')[0]}: null\n"
    told, findings = check_policy(written("p.yaml", f"{row.texts[0].text}environments:\n  e:\n{section}"), env="e")
    refused = any(finding.severity is Severity.ERROR for finding in findings)
    same = (
        told is not None and told.policy == loaded("plain.yaml", row.texts[0].text).policy
    )  # what an overlay leaves out stays
    assert refused or same or row.place in POINTED


#: Stricter, and an environment may say it.
TIGHTER = (
    "threats.",
    "releases.m.suppress",
    "releases.s.budget.epsilon",
    "attacks.",
    "tables.",
    "approvals.",
    "ledger.cap",
    "context.",
    "review.",
)
KEPT = ("attacks.releases", "attacks.inference.target")
STRICTER = [
    row
    for row in ROWS
    if row.effect == "stricter"
    and row.kind in {"lowered", "raised", "more"}
    and row.subject.startswith(TIGHTER)
    and row.at not in KEPT
]


@pytest.mark.parametrize("row", STRICTER, ids=str)
def test_what_an_environment_says_anew_reads_as_in_the_policy_itself_and_points_into_it(loaded, row):
    section = overlay(row)
    files = [
        (name, f"{row.texts[0].text}environments:\n  e:\n{text}")
        for name, text in (("old.yaml", "    title: A registry\n"), ("new.yaml", section))
    ]
    over = [{"e": loaded(*file, env="e")} for file in files]
    old, new = (loaded(*file) for file in files)
    found = environment_changes(*over, new, policy_changes(old, new))
    change = next(one for one in found if one.subject == f"environments.e.{row.subject}")
    assert change.effect == "stricter"
    assert Path(change.location.file).name == "new.yaml"
    assert change.location.line > row.texts[0].text.count("\n") + 2
    back = environment_changes(*reversed(over), old, ())
    assert next(one for one in back if one.subject == change.subject).effect in {"weaker", "neutral", "breaking"}
