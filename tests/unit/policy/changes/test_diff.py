from __future__ import annotations

import pytest

from privrelease.policy.changes.diff import policy_changes
from privrelease.policy.loader import load_policy

LEGAL = "legal: {profile: gdpr, controller: {name: A}}\n"
WAIVER = "waivers: [{check: UTIL-001, release: microdata, reason: r, owner: a, approved_by: b, expires: 2027-01-01}]\n"
APPROVALS = "approvals: {required: [dpo], keys: keys.yaml}\n"

CASES = [
    ("a higher risk", "highest_risk: 0.2", "highest_risk: 0.3", "weaker", "threats.external.highest_risk: 0.2 becomes 0.3", 19),
    (
        "a lower risk",
        "highest_risk: 0.2",
        "highest_risk: 0.1",
        "stricter",
        "threats.external.highest_risk: 0.2 becomes 0.1",
        19,
    ),
    ("a larger limit", "limit: 0.05", "limit: 0.5", "weaker", "releases.microdata.suppress.limit: 0.05 becomes 0.5", 26),
    ("less known to the attacker", "knows: [age, sex]", "knows: [age]", "weaker", "threats.external.knows", 18),
    ("more known to the attacker", "knows: [age]", "knows: [age, sex]", "stricter", "threats.external.knows", 18),
    ("a check made to warn", "max: 0.05}", "max: 0.05, severity: warn}", "weaker", "checks.UTIL-001.severity", 29),
    ("a laxer role", "age: {role: quasi,", "age: {role: insensitive,", "weaker", "datasets.patients.columns.age.role", 12),
    ("more rows a person", "max_rows: 1}", "max_rows: 2}", "weaker", "datasets.patients.unit.max_rows: 1 becomes 2", 9),
    ("another file", "out/patients.parquet", "out/other.parquet", "breaking", "releases.microdata.output", 27),
    ("another id", "id: registry", "id: register", "breaking", "id: registry becomes register", 3),
    ("another type", "type: integer", "type: number", "breaking", "datasets.patients.columns.age.type", 12),
    (
        "cells of another meaning",
        "type: integer,",
        'type: integer, format: {missing: ["", "99"]},',
        "breaking",
        "datasets.patients.columns.age.format",
        12,
    ),
    (
        "a table cut into cells otherwise",
        "source: data/patients.csv",
        "format: {delimiter: ;}\n    source: data/patients.csv",
        "neutral",
        "datasets.patients.format",
        8,
    ),
    ("another title", "title: A registry", "title: The registry", "neutral", "title: A registry becomes The registry", 5),
    ("another version", "version: 2.1.0", "version: 2.2.0", "neutral", "version: 2.1.0 becomes 2.2.0", 4),
    ("another source", "data/patients.csv", "data/more.csv", "neutral", "datasets.patients.source", 8),
    ("a new waiver", "", WAIVER, "weaker", "waivers", 30),
    ("a waiver that is gone", WAIVER, "", "stricter", "waivers", 30),
    ("approvals", "", APPROVALS, "stricter", "approvals", 30),
    ("approvals that are gone", APPROVALS, "", "weaker", "approvals", 30),
    ("legal fields", "", LEGAL, "stricter", "legal", 30),
    ("another controller", "name: A}", "name: B}", "neutral", "legal.controller.name: A becomes B", 30),
    ("a profile that is gone", "profile: gdpr, ", "", "weaker", "legal.profile", 30),
]


@pytest.fixture
def compared(folder, sound):
    def compare(old, new):
        loaded = []
        for name, text in (("old.yaml", old), ("new.yaml", new)):
            path = folder.path / name
            path.write_text(text, encoding="utf-8")
            loaded.append(load_policy(path))
        return policy_changes(*loaded)

    return compare


@pytest.mark.parametrize(("name", "old", "new", "effect", "words", "line"), CASES, ids=[case[0] for case in CASES])
def test_a_change_is_named_by_its_effect_and_its_line(compared, sound, name, old, new, effect, words, line):
    if "controller" in name or "profile" in name:
        before = sound + LEGAL
        after = before.replace(old, new)
    elif name == "more known to the attacker":
        before, after = sound.replace("knows: [age, sex]", old), sound
    else:
        before = sound if old in sound and old else sound + old
        after = before.replace(old, new, 1) if old else sound + new
    (change,) = compared(before, after)
    assert change.effect == effect
    assert change.message.startswith(words)
    assert change.location.line == line


def test_a_policy_laid_out_otherwise_is_the_same(compared, sound):
    assert compared(sound, sound.replace("highest_risk: 0.2", "highest_risk: 0.20  # k = 5")) == ()


def test_what_weakens_is_told_first_and_a_removed_check_at_its_old_line(compared, sound):
    more = "  - {id: UTIL-002, release: microdata, expect: rows, min: 10}\n"
    new = sound.replace("title: A registry", "title: Other").replace("out/patients", "out/other")
    changes = compared(sound + more, new)
    assert [change.effect for change in changes] == ["weaker", "breaking", "neutral"]
    assert changes[0].message == "checks.UTIL-002 is gone"
    assert (changes[0].location.file.endswith("old.yaml"), changes[0].location.line) == (True, 30)


def test_a_column_that_no_longer_leaves_breaks_readers_and_one_more_weakens(compared, sound):
    selected = sound.replace("    protect:", "    columns: [age, sex, glucose]\n    protect:")
    fewer = selected.replace("[age, sex, glucose]", "[age, sex]")
    assert [change.effect for change in compared(selected, fewer)] == ["breaking"]
    assert [change.effect for change in compared(fewer, selected)] == ["weaker"]


def test_a_new_column_of_the_source_that_leaves_weakens(compared, sound):
    more = sound.replace("threats:", "      town: {role: insensitive, type: string}\nthreats:", 1)
    assert [change.effect for change in compared(sound, more)] == ["weaker"]
