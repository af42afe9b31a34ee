from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from privrelease.policy.loader import load_policy
from privrelease.policy.output.layout import canonical_layout, section_order
from privrelease.policy.output.starter import starter_policy

POLICIES = sorted((Path(__file__).resolve().parents[3] / "policies").glob("*.yaml"))
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


def test_canonical_layout_is_a_fixed_point():
    once = canonical_layout(JUMBLED)
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


def test_line_ends_of_windows_become_plain():
    assert canonical_layout("threats: {}\r\nid: a\r\n") == "id: a\nthreats: {}\n"


def test_a_line_break_that_readers_count_in_different_ways_moves_nothing():
    text = "# a\u2028b\n\nthreats: {}\n# c\u0085d\nid: a\n"
    assert canonical_layout(text) == text


def test_a_starter_is_in_canonical_layout():
    text = starter_policy(["id", "age"], "data.csv")
    assert canonical_layout(text) == text
