"""A ledger that was tampered with, or put back to an older copy: what `verify` finds, and nothing is spent from it."""

from __future__ import annotations

import sqlite3

import pytest

from privrelease.errors import BudgetError
from privrelease.ledger.open import Anchor
from privrelease.ledger.protocol import Head
from privrelease.ledger.verify import verify

# -------------------------------------------------------------------------------------------------------------------- tampering

CHANGE = 'UPDATE privrelease_entries SET entry = replace(entry, \'"epsilon":"0.1"\', \'"epsilon":"0.0"\') WHERE sequence = 3'
SWAP = (
    "UPDATE privrelease_entries SET sequence = 100 WHERE sequence = 1",
    "UPDATE privrelease_entries SET sequence = 1 WHERE sequence = 3",
    "UPDATE privrelease_entries SET sequence = 3 WHERE sequence = 100",
)


@pytest.mark.parametrize("value", ["NULL", "7", "X'00ff'", "'[]'", "'{}'", "CAST(entry AS BLOB)"])
def test_whatever_stands_in_the_place_of_an_entry_is_told_as_damage(tmp_path, racing, claim, value, problems) -> None:
    bench = racing("sqlite:///ledger.db")
    bench.create("1")
    bench.open().reserve(claim("0.1"))
    with sqlite3.connect(tmp_path / "ledger.db") as raw:
        try:
            raw.execute(f"UPDATE privrelease_entries SET entry = {value} WHERE sequence = 1")
        except sqlite3.IntegrityError:
            return  # the table itself refuses it
    with pytest.raises(BudgetError, match="L110"):
        bench.open()
    assert problems(bench)


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        ((CHANGE,), ["entry 3 was altered: it is not what its hash says"]),
        (("DELETE FROM privrelease_entries WHERE sequence = 3",), ["entry 3 is missing"]),
        (("DELETE FROM privrelease_entries WHERE sequence IN (2, 3)",), ["entries 2 to 3 are missing"]),
        (("DELETE FROM privrelease_entries WHERE sequence = 0",), ["entry 0 is missing"]),
        (("DELETE FROM privrelease_entries",), ["the ledger has no entries"]),
        (SWAP, ["entry 1 was moved: it was written as entry 3", "entry 3 was moved: it was written as entry 1"]),
        (
            ("UPDATE privrelease_entries SET entry = 'x' WHERE sequence = 5",),
            ["entry 5 was altered", "entry 5 is not an entry"],
        ),
        (
            ("UPDATE privrelease_answers SET answer = '13' WHERE query = 'q1'",),
            ["the stored answer to query q1 is not the one"],
        ),
        (("UPDATE privrelease_answers SET query = 'q9' WHERE query = 'q1'",), ["the stored answer to query q9 is not the one"]),
    ],
)
def test_verify_finds_every_altered_removed_or_moved_entry_and_answer(filled, statements, found, problems) -> None:
    assert problems(filled) == []
    if filled.kind == "postgresql":
        statements = [statement.replace("'13'", "convert_to('13', 'UTF8')") for statement in statements]
    filled.tamper(*statements)
    said = problems(filled)
    assert all(any(one.startswith(words) for one in said) for words in found), said


def test_a_tampered_ledger_is_not_spent_from_even_by_a_run_that_had_it_open(filled, claim) -> None:
    ledger = filled.open()
    filled.tamper(CHANGE)
    with pytest.raises(BudgetError, match="L110"):
        filled.open()
    filled.tamper("UPDATE privrelease_entries SET hash = 'x' WHERE sequence = 6")
    with pytest.raises(BudgetError, match="L110"):
        ledger.reserve(claim("0.1"))


def test_an_answer_that_was_altered_is_not_served(filled) -> None:
    changed = "convert_to('13', 'UTF8')" if filled.kind == "postgresql" else "CAST('13' AS BLOB)"
    filled.tamper(f"UPDATE privrelease_answers SET answer = {changed} WHERE query = 'q1'")
    assert filled.open().answer("q0") == b"12"
    with pytest.raises(BudgetError, match="L110"):
        filled.open().answer("q1")


def test_an_entry_rewritten_with_its_hash_breaks_the_chain(filled, problems) -> None:
    import hashlib
    import sqlite3

    if filled.kind != "sqlite":
        pytest.skip("one kind is enough: the chain is the same")
    with sqlite3.connect(filled.folder / "ledger.db") as raw:
        (text,) = raw.execute("SELECT entry FROM privrelease_entries WHERE sequence = 3").fetchone()
        text = text.replace('"cost":{"delta":"0","epsilon":"0.1"}', '"cost":{"delta":"0","epsilon":"0.0"}')
        digest = hashlib.sha256(text.encode()).hexdigest()
        raw.execute("UPDATE privrelease_entries SET entry = ?, hash = ? WHERE sequence = 3", (text, digest))
    assert any("entry 3 is not an entry" in said or "entry 4 does not follow" in said for said in problems(filled))
    with pytest.raises(BudgetError, match="L110"):
        filled.open()


# ---------------------------------------------------------------------------------------------------------------------- anchors


def anchor(head: Head, population: str = "patients") -> Anchor:
    return Anchor(head, population, "run-7")


def test_an_older_copy_is_refused_by_the_newest_manifest_that_can_be_seen(durable, claim) -> None:
    durable.create("1")
    ledger = durable.open()
    first = ledger.reserve(claim("0.1")).head
    second = ledger.reserve(claim("0.1")).head
    anchors = (anchor(first), anchor(second))
    assert durable.open(anchors=anchors).head() == second
    found = verify(ledger, anchors)
    assert (found.problems, found.anchored, found.after) == ((), anchors[1], 0)
    durable.tamper("DELETE FROM privrelease_entries WHERE sequence = 2")
    with pytest.raises(
        BudgetError, match=r"L111 .* is an older copy: it ends at entry 1, and run run-7 was charged in entry 2"
    ):
        durable.open(anchors=anchors)
    older = durable.open(anchors=anchors[:1])
    found = verify(older, anchors)
    assert [problem.code for problem in found.problems] == ["L111"]
    assert found.anchored == anchors[0]
    older.reserve(claim("0.5"))
    with pytest.raises(BudgetError, match=r"L111 entry 2 .* is not the one that run run-7 was charged in"):
        durable.open(anchors=anchors)


def test_verify_names_the_last_anchored_entry_and_how_many_follow(filled) -> None:
    ledger = filled.open()
    book = ledger.book()
    found = verify(ledger, (anchor(Head(book.identity, 2, book.hashes[2])), anchor(Head(book.identity, 1, book.hashes[1]))))
    assert (found.anchored.head.sequence, found.after, found.entries) == (2, 4, 7)
    assert verify(ledger).anchored is None


def test_another_ledger_is_no_fresh_budget_for_a_population_charged_elsewhere(durable) -> None:
    durable.create("1")
    elsewhere = Head("another", 3, "0" * 64)
    with pytest.raises(BudgetError, match="L112 run run-7 charged population patients to ledger another"):
        durable.open(anchors=(anchor(elsewhere),))
    durable.open(anchors=(anchor(elsewhere, "strangers"),))
