"""Two releases of the same persons that write ages in different intervals: what both disclose together, beside brute force."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.unit.cli.several_releases.test_second_runs import audit, beside

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  people:
    source: people.csv
    unit: rows
    columns:
      age: {{role: quasi, type: integer, domain: [0, 69], hierarchy: {{widths: [{width}]}}}}
      note: {{role: insensitive, type: category}}
threats:
  T: {{dataset: people, knows: [age], highest_risk: 0.2}}
releases:
  - id: rows
    kind: microdata
    from: people
    {extra}protect: [T]
    transform:
      - {{generalise: age}}
      - {{drop: [note]}}
    output: out/rows.csv
"""


@pytest.fixture
def ages(desk):
    """The ages of :func:`people`, released in tens."""
    found = people(desk)
    desk.policy(POLICY.format(width=10, extra=""))
    assert desk.run_once().code == 0
    return found


def people(desk):
    """Write some ages of which each class of tens and of sevens has at least five persons."""
    drawn = random.Random(3)
    ages = [drawn.randrange(70) for _ in range(160)]
    assert all(min(Counter(age // width for age in ages).values()) >= 5 for width in (10, 7))
    (desk.folder / "people.csv").write_text("age,note\n" + "".join(f"{age},x\n" for age in ages), encoding="utf-8")
    return ages


@pytest.mark.parametrize(("first", "second"), [(10, 7), (7, 10)])
def test_the_classes_of_both_are_those_of_both_labels(desk, first, second):
    ages = people(desk)
    desk.policy(POLICY.format(width=first, extra=""))
    assert desk.run_once().code == 0
    desk.policy(POLICY.format(width=second, extra=""))
    said = desk.run()
    assert said.code == 1
    document = audit(desk)
    assert beside(document)["AUDIT-EARLIER-INTERSECT"] == "fail"
    (one,) = document["earlier"]["releases"]
    both = Counter((age // 10, age // 7) for age in ages)
    exposed = sum(size for size in both.values() if size < 5)
    assert exposed > 0
    assert (one["linked_by"], one["figures"]["exposed.T"]["value"]) == ("source", exposed)
    published = (desk.folder / "out" / "rows.csv").read_text(encoding="utf-8")
    assert published.count(f"[0, {first})") == sum(age < first for age in ages) > 0


def test_where_nobody_holds_both_it_passes_and_names_the_first(desk, ages):
    assert ages
    desk.policy(POLICY.format(width=7, extra="recipients_hold_previous: false\n    "))
    said = desk.run()
    assert said.code == 0, said.err
    document = audit(desk)
    (one,) = document["earlier"]["releases"]
    assert (one["looked"], bool(one["release"])) == ("not_held", True)
    assert any("recipients_hold_previous" in text for text in document["decision"]["assessment_remaining"])


def test_nested_intervals_disclose_no_more_than_the_finer_ones(desk, ages):
    """Ages in tens and in twenties: the class of both labels is that of the tens."""
    assert ages
    desk.policy(POLICY.format(width=20, extra=""))
    said = desk.run()
    assert said.code == 0, said.err
    assert beside(audit(desk))["AUDIT-EARLIER-INTERSECT"] == "pass"


def test_without_a_common_source_a_person_decides(desk, ages):
    """The earlier source is no longer as it was: labels are texts then, and nothing says which rows belong together."""
    people = desk.folder / "people.csv"
    people.write_text(people.read_text(encoding="utf-8") + "".join(f"{age},x\n" for age in ages), encoding="utf-8")
    desk.policy(POLICY.format(width=7, extra=""))
    said = desk.run()
    assert said.code == 5, said.err
    document = audit(desk)
    (one,) = document["earlier"]["releases"]
    assert one["looked"] == "unreadable"
    assert "recoded values (age)" in one["note"]


def test_an_earlier_release_whose_hierarchy_is_gone_is_left_to_a_person_or_joined_by_the_source(desk, ages):
    """Ages as they are after ages in tens: of one source both are joined; of another one the labels are texts, and a person decides."""
    people = desk.folder / "people.csv"
    desk.policy(
        POLICY.format(width=10, extra="")
        .replace(", hierarchy: {widths: [10]}", "")
        .replace("      - {generalise: age}\n", "")
        .replace("0.2", "1")
    )
    said = desk.run()
    document = audit(desk)
    (one,) = document["earlier"]["releases"]
    assert (one["looked"], "Traceback" in said.err) == ("combined", False)
    people.write_text(people.read_text(encoding="utf-8") + "".join(f"{age},x\n" for age in ages), encoding="utf-8")
    said = desk.run()
    assert said.code == 5, said.err
    assert "recoded values (age)" in next(
        one["note"] for one in audit(desk)["earlier"]["releases"] if one["looked"] == "unreadable"
    )


TABLE = """  - id: counts
    kind: table
    from: people
    by: [note]
    measures: [{count: true}]
    protect: {min_count: 5}
    output: out/counts.csv
"""


@pytest.mark.parametrize("order", [("rows", "counts"), ("counts", "rows")])
@pytest.mark.parametrize("few", [0, 2])
def test_a_table_that_suppresses_nothing_has_nothing_that_labels_could_give_back(desk, order, few):
    """Whichever is first; and again from the start, as every night. With two persons in a cell that is suppressed a person decides, as before."""
    people(desk)
    file = desk.folder / "people.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    notes = ["y"] * 6 + ["z"] * few
    file.write_text(
        "\n".join([lines[0], *(f"{line[:-1]}{note}" for line, note in zip(lines[1:], notes + ["x"] * 160, strict=False))])
        + "\n"
    )
    text = POLICY.format(width=10, extra="").replace("type: category}", "type: category, domain: [x, y, z, w]}") + TABLE
    desk.policy(text)
    codes = [desk.run("--release", release).code for release in (*order, *order)]
    assert codes == ([0, 5, 0, 5] if few else [0, 0, 0, 0])
