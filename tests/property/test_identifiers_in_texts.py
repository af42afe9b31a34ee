"""Identifiers in texts against an attacker who reads every text and tries every run of words, in plain Python.

The attacker shares no function with the search: it folds with ``str`` methods and regular expressions, and compares texts, not hashes.
"""

from __future__ import annotations

import re
import unicodedata

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.engine.identifier_forms import MOST_PARTS, identifiers_of
from privrelease.engine.identifier_runs import LONGEST, runs_of
from privrelease.engine.protocol.base import EngineSettings
from privrelease.engine.protocol.identifiers import FORMS
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource
from tests.depth import depth

WORDS = [
    "anna",
    "Ben",
    "BENA",
    "na",
    "Öst",
    "O\u0308st",
    "Strauß",
    "STRAUSS",
    "ﬁn",
    "fin",
    "\uff26\uff49\uff4e",
    "Имя",
    "имя",
    "ΣΑΣ",
    "σας",
    "12",
]
WORDS += ["0012", "1", "0", "007", "\uff11\uff12", "a1", "山田", "山", "é", "e\u0301", "Ødegård", "x\u200by", "xy"]
GLUE = [" ", ", ", "-", "", "_", ".", "(", ") ", "'", " \u2013 ", "\n", "@"]

texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GLUE)), max_size=7).map(
    lambda pairs: "".join(word + glue for word, glue in pairs)
)
identifiers = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GLUE)), min_size=1, max_size=3).map(
    lambda pairs: "".join(word + glue for word, glue in pairs).strip()
)


def words_of(text: str) -> list[str]:
    """The attacker's words: runs of letters and digits without accents, a Chinese sign is a word."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()).replace("ø", "o")
    plain = "".join(one for one in plain if not unicodedata.combining(one) and one != "\u200b")
    return re.findall(r"[山田]|[^\W_山田]+", plain)


def bare(words: list[str]) -> str:
    return "".join(words).lstrip("0")


def holds(text: str, identifier: str) -> bool:
    """Whether some run of the text's words is the identifier, written together, or its words in any order."""
    ours, theirs = words_of(identifier), words_of(text)
    if not bare(ours):
        return False
    runs = [theirs[low:high] for low in range(len(theirs)) for high in range(low + 1, len(theirs) + 1)]
    if any(bare(run) == bare(ours) for run in runs):
        return True
    shuffled = sorted(word.lstrip("0") for word in ours)
    return 2 <= len(ours) <= MOST_PARTS and any(sorted(word.lstrip("0") for word in run) == shuffled for run in runs)


def found(many: list[str], named: list[str]) -> set[tuple[str, str]]:
    """(text, identifier) pairs of the search; identifiers that are written alike in some way have one key."""
    distinct, asked = list(dict.fromkeys(many)), list(dict.fromkeys(named))
    of = identifiers_of(pa.array(asked, pa.string()), ["part"])
    at, keys = of.hits(runs_of(pa.array(distinct, pa.string())), "part")
    of_key: dict[int, list[str]] = {}
    for name, key in zip(asked, of.forms["part"].keys.tolist(), strict=True):
        of_key.setdefault(key, []).append(name)
    return {(distinct[text], name) for text, key in zip(at.tolist(), keys.tolist(), strict=True) for name in of_key[key]}


def expected(many: list[str], named: list[str]) -> set[tuple[str, str]]:
    """The attacker's pairs; whoever is found under one of several spellings is found under all of them."""
    alike = {name: {name} for name in named if bare(words_of(name))}
    for _ in named:
        for group in alike.values():
            group |= {other for one in list(group) for other in alike if same(one, other)}
            for other in group:
                alike[other] |= group
        if all(alike[other] == group for group in alike.values() for other in group):
            break
    return {(text, other) for text in many for name in alike if holds(text, name) for other in alike[name]}


def same(one: str, other: str) -> bool:
    ours, theirs = words_of(one), words_of(other)
    shuffled = [sorted(word.lstrip("0") for word in words) for words in (ours, theirs)]
    return bare(ours) == bare(theirs) or (len(ours) > 1 and shuffled[0] == shuffled[1])


@settings(max_examples=depth(120, 400))
@given(st.lists(texts, min_size=1, max_size=6), st.lists(identifiers, min_size=1, max_size=5))
def test_the_search_finds_what_the_attacker_finds_and_nothing_else(many, named):
    assert found(many, named) == expected(many, named)


@settings(max_examples=depth(30, 100))
@given(st.lists(texts, min_size=1, max_size=4), st.lists(identifiers, min_size=1, max_size=4, unique=True))
def test_a_form_that_is_prepared_alone_finds_what_it_finds_among_all(many, named):
    asked, hashes = pa.array(named, pa.string()), [pa.array([f"{place:032x}" for place in range(len(named))])]
    runs = runs_of(pa.array(list(dict.fromkeys([*many, *named, f"{0:032x}"])), pa.string()))
    whole = identifiers_of(asked, FORMS, hashes)
    assert set(FORMS) == set(whole.forms)
    for form in FORMS:
        alone = identifiers_of(asked, [form], hashes)
        assert set(alone.forms) <= {form, "folded"}
        pairs = [[one.tolist() for one in of.hits(runs, form)] for of in (alone, whole)]
        assert pairs[0] == pairs[1]
        facts = [[one.tolist() for one in (of.keys, of.weak, of.numbers)] for of in (alone.forms[form], whole.forms[form])]
        assert facts[0] == facts[1]
        assert form != "plain" or len(pairs[0][0]) >= len(named) - 1  # each is a text itself; the empty one is none


@settings(max_examples=depth(30, 100))
@given(st.lists(texts, min_size=1, max_size=3), identifiers, st.integers(0, 2), st.booleans())
def test_a_planted_identifier_is_found(many, name, place, turned):
    words = words_of(name)
    if not bare(words):
        return
    planted = ", ".join(words[::-1] if turned else words)
    at = place % len(many)
    many[at] = f"{many[at]} {planted} {many[at]}"
    assert (many[at], name) in found(many, [name])


@pytest.mark.parametrize("size", [LONGEST - 1, LONGEST, LONGEST + 1, 3 * LONGEST])
def test_long_identifiers_are_compared_by_their_beginning(size):
    name = "ab" * (size // 2) + "c" * (size % 2)
    other = "ba" * (size // 2)
    assert found([f"so {name} it is", f"so {other} it is"], [name]) == {(f"so {name} it is", name)}


def test_a_text_longer_than_a_slice_is_searched_at_its_seams():
    """Names at every seam of the slices of about a million letters, and at the end."""
    names = [f"anna berg{place}" for place in range(4)]
    filler = "zz " * 400_000
    text = "".join(f"{filler} {name}, " for name in names)
    assert found([text, "short"], [*names, "not there"]) == {(text, name) for name in names}
    for shift in range(12):
        letters = "y" * (2**20 - shift) + " "
        assert found([letters + names[0]], names) == {(letters + names[0], names[0])}


@settings(max_examples=depth(8, 25))
@given(
    st.lists(st.tuples(st.sampled_from(["anna", "ben a", "a ben", "Öst", "12", "0012", ""]), texts), min_size=1, max_size=12)
)
def test_rows_that_hold_their_own_identifier_are_counted_exactly(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("own")
    cells = pa.table({"id": [one or None for one, _ in rows], "note": [two or None for _, two in rows]})
    pq.write_table(cells.cast(pa.schema({"id": pa.string(), "note": pa.string()})), folder / "in.parquet")
    columns = (Column("id", ColumnType.STRING, Role.DIRECT), Column("note", ColumnType.STRING, Role.INSENSITIVE))
    with DuckDBEngine(EngineSettings(readable=(folder,), writable=(folder,), threads=1)) as engine:
        source = engine.stage(TableSource("d", SourceKind.PARQUET, str(folder / "in.parquet"), "in.parquet", columns))
        matches = engine.own_identifiers(source, [("id", "note")], ["part"])
    named = [one for one, _ in rows if one]
    pairs = expected([two for _, two in rows if two], named)
    same_rows = sum((two, one) in pairs for one, two in rows)
    if not same_rows:
        assert matches == ()
        return
    (own,) = matches
    assert own.same == same_rows
    assert own.compared == sum(bool(one) and bool(two) for one, two in rows)
    assert own.expected == pytest.approx(sum((two, one) in pairs for one, _ in rows for _, two in rows) / len(rows))
