from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from privrelease.policy.loader import load_policy
from privrelease.policy.output.layout import canonical_layout, section_order
from privrelease.policy.output.starter import starter_policy

POLICIES = sorted((Path(__file__).resolve().parents[4] / "policies").glob("*.yaml"))
JUMBLED = """\
# head of the file

releases: []

# who attacks
# and how
threats:
  t: {knows: [a]}   # at the end
version: 1.0.0


id: "made"
datasets: {}   \x20
"""


def test_sections_go_into_the_order_of_the_language_with_their_comments():
    assert canonical_layout(JUMBLED) == (
        '# head of the file\n\nid: "made"\nversion: 1.0.0\ndatasets: {}\n\n# who attacks\n# and how\nthreats:\n'
        "  t: {knows: [a]}   # at the end\n\nreleases: []\n"
    )


INSIDE = """\
datasets:
  zoo:
    columns:
      # what is said of it
      pay:
        domain: [0, 10]
        role: sensitive
      area: {type: category, role: quasi}
    source: data.csv
  ant: {source: a.csv}
releases:
  - output: out/r.csv   # where it goes
    # its name
    id: r

    kind: microdata
    transform:
      - {suppress: cells}
  # the second
  - kind: statistics
    queries:
      - epsilon: 1
        id: n
    description: |
      # no comment
      id: no key
    id: s
"""


def test_keys_go_into_the_order_of_the_language_and_what_a_person_orders_stays():
    """By hand: names of datasets and columns, mappings in braces and lists stay; a comment goes with its key, that of an item with the item."""
    assert (
        canonical_layout(INSIDE)
        == """\
datasets:
  zoo:
    source: data.csv
    columns:
      # what is said of it
      pay:
        role: sensitive
        domain: [0, 10]
      area: {type: category, role: quasi}
  ant: {source: a.csv}
releases:
    # its name
  - id: r
    kind: microdata

    transform:
      - {suppress: cells}
    output: out/r.csv   # where it goes
  # the second
  - id: s
    kind: statistics
    queries:
      - id: n
        epsilon: 1
    description: |
      # no comment
      id: no key
"""
    )


def test_keys_that_no_model_has_keep_their_mapping_as_it_is():
    text = "releases:\n  - output: x.csv\n    id: r\n    unheard: of\n    kind: microdata\n"
    assert canonical_layout(text) == text


@pytest.mark.parametrize("text", [JUMBLED, INSIDE])
def test_canonical_layout_is_a_fixed_point(text):
    once = canonical_layout(text)
    assert canonical_layout(once) == once


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_a_policy_in_any_order_of_sections_means_the_same(path):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    starts = [n for n, line in enumerate(lines) if line[0].isalpha()] + [len(lines)]
    blocks = ["".join(lines[low:high]) for low, high in pairwise(starts)]
    want = load_policy(path, content=text.encode()).sha256
    for seed in range(3):
        random.Random(seed).shuffle(blocks)
        made = canonical_layout("".join(blocks))
        assert load_policy(path, content=made.encode()).sha256 == want
        keys = [line.partition(":")[0] for line in made.splitlines() if line[:1].isalpha()]
        assert keys == [name for name in section_order() if name in keys]
        assert canonical_layout(made) == made


@pytest.mark.parametrize(
    "text",
    [
        "{threats: {}, id: a}\n",  # no block mapping
        "- a\n- b\n",
        "threats: &t {}\nid: *t\n",  # the anchor must come first
        "title: |\n  a  \n  b\n",  # blanks that are part of a text
    ],
)
def test_what_would_change_its_meaning_is_left_as_it_is(text):
    assert canonical_layout(text) == text


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_shuffled_keys_of_releases_come_back(path):
    """Blocks of the releases' own keys are shuffled: the layout is that of the file as it stands, and every value the same."""
    text = path.read_text(encoding="utf-8")
    made = canonical_layout(text)
    head, _, rest = made.partition("\nreleases:\n")
    lines = rest.splitlines(keepends=True)
    end = next(number for number, line in enumerate(lines) if number and not line.startswith("    "))
    item = ["    " + lines[0][4:], *lines[1:end]]
    starts = [number for number, line in enumerate(item) if line[4] != " "] + [len(item)]
    blocks = ["".join(item[low:high]) for low, high in pairwise(starts)]
    assert len(blocks) > 4
    for seed in range(3):
        random.Random(seed).shuffle(blocks)
        mixed = "  - " + "".join(blocks)[4:]
        assert canonical_layout(f"{head}\nreleases:\n{mixed}{''.join(lines[end:])}") == made


def test_line_ends_of_windows_become_plain():
    assert canonical_layout("threats: {}\r\nid: a\r\n") == "id: a\nthreats: {}\n"


def test_a_line_break_that_readers_count_in_different_ways_moves_nothing():
    text = "# a\u2028b\n\nthreats: {}\n# c\u0085d\nid: a\n"
    assert canonical_layout(text) == text


def test_a_starter_is_in_canonical_layout():
    text = starter_policy(["id", "age"], "data.csv")
    assert canonical_layout(text) == text
