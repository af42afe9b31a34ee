"""Two releases that show the same persons, each in a writing of its own: pseudonyms in columns of two names, and values under other aliases."""

from __future__ import annotations

import csv

import pytest

HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: {id}
version: 1.0.0
title: Made-up
datasets:
  d:
    source: {source}
    population: everybody
    unit: {{column: {unit}, max_rows: 1}}
    columns:
      {unit}: {{role: direct, type: string}}
"""
FIRST = HEAD.format(id="first", source="data.csv", unit="id") + (
    """\
      other: {role: direct, type: string}
      a: {role: quasi, type: category}
      b: {role: sensitive, type: category}
      c: {role: quasi, type: category}
threats:
  t: {dataset: d, knows: [a], highest_risk: 0.5}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], columns: [id, a], transform: [{pseudonymise: [id], key: ONE_KEY}], output: out/first.csv}
"""
)


def second(token: str, *, key: str = "ONE_KEY") -> str:
    return (
        FIRST.replace("id: first", "id: second")
        .replace("knows: [a]", "knows: [c]")
        .replace("columns: [id, a]", f"columns: [{token}, c]")
        .replace("pseudonymise: [id], key: ONE_KEY", f"pseudonymise: [{token}], key: {key}")
        .replace("out/first.csv", "out/second.csv")
    )


OF_ANOTHER_FILE = HEAD.format(id="second", source="extract.csv", unit="pid") + (
    """\
      c: {role: quasi, type: category}
threats:
  t: {dataset: d, knows: [c], highest_risk: 0.5}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], columns: [pid, c], transform: [{pseudonymise: [pid], key: ONE_KEY}], output: out/second.csv}
"""
)
#: Of 12 persons one alone is (u, k): six have u, four have k.
PERSONS = [(f"p{i}", "u" if i < 6 else "v", f"value {chr(97 + i)}", "k" if i in {0, 6, 7, 8} else "l") for i in range(12)]


@pytest.fixture
def persons(desk, monkeypatch):
    desk.data("id,other,a,b,c\n" + "".join(f"{one},{one},{a},{b},{c}\n" for one, a, b, c in PERSONS))
    (desk.folder / "extract.csv").write_text("pid,c\n" + "".join(f"{one},{c}\n" for one, _, _, c in PERSONS), encoding="utf-8")
    for name in ("ONE_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, name.lower() * 8)
    return desk


def published(desk, name: str) -> bool:
    return (desk.folder / "out" / f"{name}.csv").exists()


def tokens(desk, name: str, column: str) -> set[str]:
    with (desk.folder / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {row[column] for row in csv.DictReader(file)}


@pytest.mark.parametrize(("policy", "columns"), [(second("other"), "other = id"), (OF_ANOTHER_FILE, "pid = id")])
def test_pseudonyms_of_one_key_in_columns_of_two_names_are_left_to_a_person(persons, policy, columns) -> None:
    (persons.folder / "first.yaml").write_text(FIRST, encoding="utf-8")
    (persons.folder / "second.yaml").write_text(policy, encoding="utf-8")
    assert persons("run", "first.yaml").code == 0
    for _ in range(2):
        said = persons("run", "second.yaml")
        assert said.code == 5, said.out + said.err
        assert f"pseudonyms of one key in columns of two names ({columns}) was not judged together" in said.out
        assert "neither discloses more" not in said.out
    assert not published(persons, "second")


def test_in_the_other_order_too(persons) -> None:
    (persons.folder / "first.yaml").write_text(FIRST, encoding="utf-8")
    (persons.folder / "second.yaml").write_text(OF_ANOTHER_FILE, encoding="utf-8")
    assert persons("run", "second.yaml").code == 0
    assert persons("run", "first.yaml").code == 5
    assert not published(persons, "first")


def test_both_in_one_run(persons) -> None:
    more = second("other").split("releases:\n")[1].replace("id: r,", "id: s,").replace("protect: [t]", "protect: [s]")
    threat = "  s: {dataset: d, knows: [c], highest_risk: 0.5}\nreleases:\n"
    persons.policy(FIRST.replace("releases:\n", threat) + more)
    said = persons.run()
    assert said.code == 5, said.out + said.err
    assert (published(persons, "first"), published(persons, "second")) == (True, False)


def test_pseudonyms_of_two_keys_have_none_in_common(persons) -> None:
    (persons.folder / "first.yaml").write_text(FIRST, encoding="utf-8")
    (persons.folder / "second.yaml").write_text(second("other", key="OTHER_KEY"), encoding="utf-8")
    assert persons("run", "first.yaml").code == 0
    said = persons("run", "second.yaml")
    assert said.code == 0, said.out + said.err
    assert not tokens(persons, "first", "id") & tokens(persons, "second", "other")


@pytest.mark.parametrize("renamed", [False, True])
def test_a_column_under_other_aliases_still_links_the_rows(persons, renamed) -> None:
    """Each b is one person's: who has both files undoes the renaming, or has the rows of the source brought together."""
    one = FIRST.replace("columns: [id, a], transform: [{pseudonymise: [id], key: ONE_KEY}]", "columns: [a, b]")
    other = second("other").replace(
        "columns: [other, c], transform: [{pseudonymise: [other], key: ONE_KEY}]", "columns: [b, c]"
    )
    if renamed:
        names = ", ".join(f"value {chr(97 + i)}: other {chr(97 + i)}" for i in range(12))
        other = other.replace(
            "b: {role: sensitive, type: category}", f"b: {{role: sensitive, type: category, format: {{aliases: {{{names}}}}}}}"
        )
    (persons.folder / "first.yaml").write_text(one, encoding="utf-8")
    (persons.folder / "second.yaml").write_text(other, encoding="utf-8")
    assert persons("run", "first.yaml").code == 0
    for _ in range(2):
        said = persons("run", "second.yaml")
        assert said.code == 1, said.out + said.err
        assert "1 person can be singled out among fewer than 2" in said.out


@pytest.mark.parametrize(
    ("first", "then"), [("string", "category"), ("category", "string"), ("integer", "string"), ("integer", "number")]
)
def test_a_column_of_another_type_in_another_file_is_left_to_a_person(persons, first, then) -> None:
    """Each b is one person's, and both files write it alike; the second is of a new source file, so that no row map links them."""
    rows = [(one, a, number, c) for number, (one, a, _, c) in enumerate(PERSONS, start=21)]
    for name, ending in (("data", ""), ("extract", "p12,w,99,l\n")):
        text = "id,other,a,b,c\n" + "".join(f"{one},{one},{a},{b},{c}\n" for one, a, b, c in rows)
        (persons.folder / f"{name}.csv").write_text(text + ending.replace(",w", ",p12,w"), encoding="utf-8")
    typed = "b: {{role: sensitive, type: {0}{1}}}"
    domain = {"integer": ", domain: [0, 99]", "number": ", domain: [0, 99], grid: 1"}
    one, other = (
        text.replace("b: {role: sensitive, type: category}", typed.format(kind, domain.get(kind, "")))
        for text, kind in ((FIRST, first), (second("other").replace("data.csv", "extract.csv"), then))
    )
    one = one.replace("columns: [id, a], transform: [{pseudonymise: [id], key: ONE_KEY}]", "columns: [a, b]")
    other = other.replace("columns: [other, c], transform: [{pseudonymise: [other], key: ONE_KEY}]", "columns: [b, c]")
    (persons.folder / "first.yaml").write_text(one, encoding="utf-8")
    (persons.folder / "second.yaml").write_text(other, encoding="utf-8")
    said = persons("run", "first.yaml")
    assert said.code == 0, said.out + said.err
    said = persons("run", "second.yaml")
    assert said.code == 5, said.out + said.err
    assert "what both disclose by columns of one name and two types (b) was not compared" in said.out
    assert not published(persons, "second")
