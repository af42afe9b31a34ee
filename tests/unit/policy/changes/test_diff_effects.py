"""Changes of words about people, law and reading, one key at a time, each with the verdict that a reviewer would give."""

from __future__ import annotations

import pytest

from privrelease.policy.changes.diff import environment_changes, policy_changes
from privrelease.policy.changes.directions import verdict
from privrelease.policy.changes.environment_rules import Changed
from privrelease.policy.loader import load_policy

FULL = """context: {release_model: controlled, controls: [contract, secure room], harms: job loss}
review: {next: 2027-01-15, triggers: [new columns]}
report: {editions: [internal, recipient]}
legal:
  controller: {name: office}
  dpo: {name: "role:dpo"}
  purposes: [{id: research}]
  basis: {art6: A6-1-e, art9: A9-2-j, national_law: Act 1}
  data_subjects: [patients]
  data_categories: [health]
  recipients: [{name: university, access: secure_environment}]
  transfers: []
  retention: {source: P10Y, release: P5Y}
  security_measures: [encryption, access control]
  notice: {ref: page 1}
  safeguards: ethics vote
  dpia: {description: d, necessity: n, risks: [linkage, inference], measures: [suppression, contract], dpo_advice: {text: t, followed: true}}
attacks: {control: held.csv, singling_out: {max_risk: 0.1}, linkability: {auxiliary: aux.csv, max_risk: 0.1}}
"""

CASES = [
    ("release_model: controlled", "release_model: public", "weaker", "context.release_model"),
    ("release_model: controlled", "release_model: internal", "stricter", "context.release_model"),
    ("[contract, secure room]", "[contract]", "weaker", "context.controls"),
    ("[contract, secure room]", "[contract, secure room, log]", "stricter", "context.controls"),
    ("harms: job loss", "harms: loss of work", "neutral", "context.harms"),
    (", harms: job loss", "", "weaker", "context.harms"),
    ("next: 2027-01-15", "next: 2028-01-15", "weaker", "review.next"),
    ("next: 2027-01-15", "next: 2026-12-15", "stricter", "review.next"),
    ("next: 2027-01-15, ", "", "weaker", "review.next"),
    (", triggers: [new columns]", "", "weaker", "review.triggers"),
    ("[internal, recipient]", "[internal]", "breaking", "report.editions"),
    ("name: office", "name: institute", "neutral", "legal.controller.name"),
    ('  dpo: {name: "role:dpo"}\n', "", "weaker", "legal.dpo"),
    ("[{id: research}]", "[{id: research}, {id: marketing}]", "weaker", "legal.purposes: marketing added"),
    ("art6: A6-1-e", "art6: A6-1-f", "weaker", "legal.basis.art6"),
    ("national_law: Act 1", "national_law: Act 2", "neutral", "legal.basis.national_law"),
    ("[patients]", "[patients, relatives]", "weaker", "legal.data_subjects"),
    ("[health]", "[health, religion]", "weaker", "legal.data_categories"),
    (
        "secure_environment}]",
        "secure_environment}, {name: company}]",
        "weaker",
        "legal.recipients: company added",
    ),
    ("access: secure_environment", "access: download", "weaker", "legal.recipients: university added; university gone"),
    ("[{name: university, access: secure_environment}]", "[]", "stricter", "legal.recipients: university gone"),
    ("transfers: []", "transfers: [{country: US}]", "weaker", "legal.transfers: US added"),
    ("release: P5Y", "release: P6Y", "weaker", "legal.retention.release"),
    ("release: P5Y", "release: P18M", "stricter", "legal.retention.release"),
    ("source: P10Y, ", "", "weaker", "legal.retention.source"),
    ("[encryption, access control]", "[encryption]", "weaker", "legal.security_measures"),
    ("[encryption, access control]", "[encryption, access control, backups]", "stricter", "legal.security_measures"),
    ("  safeguards: ethics vote\n", "", "weaker", "legal.safeguards"),
    ("  notice: {ref: page 1}\n", "", "weaker", "legal.notice"),
    ("[suppression, contract]", "[suppression]", "weaker", "legal.dpia.measures"),
    ("[linkage, inference]", "[linkage]", "weaker", "legal.dpia.risks"),
    ("followed: true", "followed: false", "weaker", "legal.dpia.dpo_advice.followed"),
    ("description: d", "description: other words", "neutral", "legal.dpia.description"),
    ("control: held.csv", "control: easy.csv", "weaker", "attacks.control"),
    ("control: held.csv, ", "", "weaker", "attacks.control"),
    ("auxiliary: aux.csv", "auxiliary: poor.csv", "weaker", "attacks.linkability.auxiliary"),
]


@pytest.fixture
def written(folder):
    def write(name, text):
        (folder.path / name).write_text(text, encoding="utf-8")
        return folder.path / name

    return write


@pytest.mark.parametrize(("old", "new", "effect", "words"), CASES, ids=[f"{case[3]} {case[2]}" for case in CASES])
def test_a_change_of_words_has_the_effect_that_a_reviewer_would_name(written, sound, old, new, effect, words):
    before = sound + FULL
    assert before.count(old) == 1
    (found,) = policy_changes(
        load_policy(written("old.yaml", before)), load_policy(written("new.yaml", before.replace(old, new)))
    )
    assert found.effect == effect
    assert found.message.startswith(words)
    assert "a list becomes a list" not in found.message


def test_another_population_table_cannot_be_told_and_counts_as_weaker():
    """The file that a journalist's risk is counted in decides how large the classes are."""
    path = ("threats", "t", "population", "table")
    assert verdict(Changed(path, "a.csv", "b.csv", False, False, "free", path, path)) == "weaker"
    assert verdict(Changed(path, None, "b.csv", False, False, "free", path, path)) == "weaker"


STATISTICS = """  - id: figures
    kind: statistics
    from: patients
    budget: {epsilon: 1}
    queries:
      - {id: all, count: true, epsilon: 0.5}
      - {id: women, count: {where: "sex = 'F'"}, epsilon: 0.5}
    output: {path: out/figures.csv}
"""


def test_a_query_that_is_gone_breaks_whoever_reads_its_rows(written, sound):
    before = sound.replace("checks:\n", STATISTICS + "checks:\n", 1)
    assert "figures" in before
    after = before.replace("      - {id: women, count: {where: \"sex = 'F'\"}, epsilon: 0.5}\n", "")
    found = policy_changes(load_policy(written("old.yaml", before)), load_policy(written("new.yaml", after)))
    assert [(one.effect, one.subject) for one in found] == [("breaking", "releases.figures.queries.women")]


def over(text, value):
    return f"{text}environments:\n  prod: {{threats: {{external: {{highest_risk: {value}}}}}}}\n"


def environments(path):
    loaded = load_policy(path)
    return {name: load_policy(path, env=name) for name in loaded.environments}


def test_an_environment_that_tightens_less_is_weaker_though_the_policy_itself_says_the_same(written, sound):
    paths = written("old.yaml", over(sound, "0.05")), written("new.yaml", over(sound, "0.1"))
    base = policy_changes(*map(load_policy, paths))
    assert base == ()
    (found,) = environment_changes(*map(environments, paths), load_policy(paths[1]), base)
    assert (found.effect, found.subject) == ("weaker", "environments.prod.threats.external.highest_risk")
    assert found.location.line == over(sound, "0.1").count("\n")


def test_what_the_policy_itself_changes_is_not_told_again_for_its_environments(written, sound):
    paths = (
        written("old.yaml", over(sound, "0.05")),
        written("new.yaml", over(sound.replace("limit: 0.05", "limit: 0.04"), "0.05")),
    )
    base = policy_changes(*map(load_policy, paths))
    assert [one.subject for one in base] == ["releases.microdata.suppress.limit"]
    assert environment_changes(*map(environments, paths), load_policy(paths[1]), base) == ()


@pytest.mark.parametrize(("value", "effect"), [("0.05", "weaker"), ("0.2", "breaking")])
def test_an_environment_that_is_gone_breaks_who_names_it_and_weakens_where_it_was_stricter(written, sound, value, effect):
    paths = written("old.yaml", over(sound, value)), written("new.yaml", sound)
    found = [environments(path) for path in paths]
    assert [one.effect for one in environment_changes(found[0], found[1], load_policy(paths[1]), ())] == [effect]
    assert [one.effect for one in environment_changes(found[1], found[0], load_policy(paths[0]), ())] == ["neutral"]


def test_queries_in_another_order_break_whoever_reads_rows_by_their_place(written, sound):
    before = sound.replace("checks:\n", STATISTICS + "checks:\n", 1)
    first, second = (line + "\n" for line in STATISTICS.splitlines() if "epsilon: 0.5" in line)
    after = before.replace(first + second, second + first)
    assert after != before
    found = policy_changes(load_policy(written("old.yaml", before)), load_policy(written("new.yaml", after)))
    assert [(one.effect, one.message) for one in found] == [("breaking", "releases.figures.queries are in another order")]


TABLE = """  - {id: counts, kind: table, from: patients, by: [sex, arm], measures: [{count: true}, {sum: glucose}], output: {path: out/t.csv}}
"""


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (", {sum: glucose}", "", "breaking"),
        ("[{count: true}, {sum: glucose}]", "[{count: true}, {sum: glucose}, {mean: glucose}]", "weaker"),
        ("by: [sex, arm]", "by: [sex]", "breaking"),
    ],
)
def test_figures_of_a_table_that_are_gone_are_missed_and_new_ones_are_seen(written, sound, old, new, effect):
    arm = "      arm: {role: insensitive, type: category, domain: [a, b]}\n"
    text = sound.replace("      sex:", f"{arm}      sex:", 1)
    before = text.replace("checks:\n", f"{TABLE}checks:\n", 1) + "tables: {min_count: 3}\n"
    assert before.count(old) == 1
    found = policy_changes(load_policy(written("old.yaml", before)), load_policy(written("new.yaml", before.replace(old, new))))
    assert [one.effect for one in found] == [effect]


WAIVER = "waivers: [{{check: UTIL-001, release: microdata, reason: r, owner: a, approved_by: b, expires: {}}}]\n"


@pytest.mark.parametrize(("expires", "effect"), [("2027-06-01", "stricter"), ("2028-06-01", "weaker")])
def test_a_waiver_that_ends_earlier_is_stricter(written, sound, expires, effect):
    paths = written("old.yaml", sound + WAIVER.format("2027-12-01")), written("new.yaml", sound + WAIVER.format(expires))
    assert [one.effect for one in policy_changes(*map(load_policy, paths))] == [effect]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("legal: {recipients: [{name: company}], transfers: [{country: US}]}\n", "legal: nothing becomes"),
        ("legal: {controller: {name: A}, recipients: [{name: company}]}\n", "legal.recipients: company added"),
        ("context: {release_model: public}\n", "context: nothing becomes"),
        ("context: {harms: h, release_model: public}\n", "context.release_model"),
    ],
)
def test_the_first_recipient_transfer_or_public_release_that_is_named_weakens(written, sound, text, words):
    stated = {"legal.r": "legal: {controller: {name: A}}\n", "context.": "context: {harms: h}\n"}
    before = sound + next((value for key, value in stated.items() if words.startswith(key)), "")
    (found,) = policy_changes(load_policy(written("old.yaml", before)), load_policy(written("new.yaml", sound + text)))
    assert found.effect == "weaker"
    assert found.message.startswith(words)
