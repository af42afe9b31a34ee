"""Words that follow a count are singular after 1, in every language and form of a text."""

from __future__ import annotations

import re

import pytest

from privrelease.texts.catalogue import LANGUAGES, Catalogue, catalogue_of
from privrelease.texts.sentences import say

#: Of the first paragraph of a report, by kind of release: (key, words after 1, words after 2).
FIRST = [
    (
        "plain.leaves",
        "a file of 1 record from d, one line for each, with 1 column (a)",
        "2 records from d, one line for each, with 2 columns",
    ),
    ("plain.leaves.statistics", "This release is 1 figure about", "This release is 2 figures about"),
    ("plain.leaves.table", "a table of 1 cell about", "a table of 2 cells about"),
    (
        "plain.leaves.synthetic",
        "a file of 1 synthetic row made from d, with 1 column",
        "a file of 2 synthetic rows made from d, with 2 columns",
    ),
    ("plain.about", "about 1 person.", "about 2 persons."),
]


def values(n: str) -> dict[str, str]:
    return {"rows": n, "columns": n, "persons": n, "dataset": "d", "names": "a"}


@pytest.mark.parametrize(("key", "one", "two"), FIRST)
def test_the_first_sentences_of_a_report_count_in_words(key, one, two):
    texts = catalogue_of("en")
    assert one in texts.plain(key, **values("1"))
    assert two in texts.plain(key, **values("2"))
    assert one in re.sub("<[^>]+>", "", texts.html(key, **values("1")))
    assert one in texts.text(key, **values("1")).replace("\u2068", "").replace("\u2069", "")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", [key for key, _, _ in FIRST])
def test_no_language_shows_the_choice_of_words_and_each_has_two(language, key):
    said = [catalogue_of(language).plain(key, **values(n)) for n in ("1", "2")]
    assert said[0].replace("1", "2") != said[1]
    assert not any(set("{|}") & set(text) for text in said)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_choice_of_words_is_about_a_value_of_its_text(language):
    for key, text in catalogue_of(language).texts.items():
        for name, one, others in re.findall(r"\{(\w+)\|([^|{}]*)\|([^|{}]*)\}", text):
            assert f"{{{name}}}" in text, key
            assert one != others, key


def test_the_larger_number_is_not_taken_for_one():
    texts = Catalogue("en", {"k": "{n} {n|row|rows}"})
    assert [texts.plain("k", n=n) for n in ("1", "0", "11", "1,001", "0.1")] == [
        "1 row",
        "0 rows",
        "11 rows",
        "1,001 rows",
        "0.1 rows",
    ]


def test_faults_of_one_row_or_person_are_singular():
    assert say("rows_missing", n=1, most=0) == "1 row is missing; the residual rule explains at most 0"
    assert say("persons_rows_missing", n=1, most=0) == "the rows of 1 person are missing; the residual rule explains at most 0"
    assert say("rows_asked", n=1, asked=3) == "there is 1 row, and 3 were asked for"
    assert say("records_in_small", n=1, k=5, smallest=1).startswith("1 record is in classes below 5")
    assert say("persons_in_small", n=2, k=5, smallest=1).startswith("2 persons are in classes below 5")
