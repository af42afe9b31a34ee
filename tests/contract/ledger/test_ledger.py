"""What every ledger does, in memory and in a database alike."""

from __future__ import annotations

import pytest

from privrelease.errors import BudgetError
from privrelease.units import Epsilon


def test_what_is_reserved_is_spent_and_the_rest_is_left(bench, budget, claim) -> None:
    bench.create("1", "1e-5")
    ledger = bench.open()
    ledger.reserve(claim("0.6", "1e-6"))
    balance = bench.open().balance("patients")
    assert balance.spent == budget("0.6", "1e-6")
    assert balance.cap == budget("1", "1e-5")
    assert balance.spenders == (("registry/counts", budget("0.6", "1e-6")),)


def test_a_tenth_ten_times_is_one_and_not_a_hair_more(bench, claim) -> None:
    bench.create("1")
    ledger = bench.open()
    for _ in range(10):
        ledger.reserve(claim("0.1"))
    assert ledger.balance("patients").spent.epsilon == Epsilon(1)
    with pytest.raises(BudgetError, match="L120"):
        ledger.reserve(claim("0.000000000000000000001"))


def test_delta_is_a_budget_too(bench, budget, claim) -> None:
    bench.create("1", "1e-5")
    ledger = bench.open()
    ledger.reserve(claim("0.1", "9e-6"))
    with pytest.raises(BudgetError, match=r"delta 0.000001 left"):
        ledger.reserve(claim("0.1", "2e-6"))
    assert ledger.balance("patients").spent == budget("0.1", "9e-6")


def test_a_refusal_says_what_is_left_who_spent_it_and_what_would_fit_and_spends_nothing(bench, claim) -> None:
    bench.create("1", "1e-5")
    ledger = bench.open()
    ledger.reserve(claim("0.5", release="registry/counts"))
    ledger.reserve(claim("0.1", release="registry/means"))
    ledger.reserve(claim("0.1", release="registry/counts"))
    before = ledger.head()
    with pytest.raises(BudgetError) as refused:
        ledger.reserve(claim("0.4"))
    assert refused.value.exit_code == 4
    assert refused.value.message == (
        "the privacy budget of population patients does not cover release registry/counts: it asks for epsilon 0.4; of the "
        "ledger's cap, epsilon 1 and delta 0.00001, there are epsilon 0.3 and delta 0.00001 left"
    )
    assert refused.value.hint == (
        "spent by: registry/counts epsilon 0.6; registry/means epsilon 0.1. What would fit: at most epsilon 0.3 and delta "
        "0.00001. Where the dataset names a `snapshot`, answers already stored for it and the same policy stay free"
    )
    assert ledger.head() == before
    ledger.reserve(claim("0.3"))


def test_datasets_of_one_population_share_its_budget(bench, claim) -> None:
    bench.create("1")
    ledger = bench.open()
    ledger.reserve(claim("0.6"))
    with pytest.raises(BudgetError, match="L120"):
        ledger.reserve(claim("0.6", dataset="stays"))
    ledger.reserve(claim("0.6", population="employees", dataset="staff"))


def test_a_renamed_population_has_no_fresh_budget(bench, claim) -> None:
    bench.create("1")
    ledger = bench.open()
    ledger.reserve(claim("0.6", content="k1:aa"))
    with pytest.raises(BudgetError, match="L115 dataset visits belongs to population patients"):
        ledger.reserve(claim("0.6", population="employees"))
    with pytest.raises(BudgetError, match=r"L122 .* has been used before, as population patients"):
        ledger.reserve(claim("0.6", population="employees", dataset="staff", content="k1:aa"))


def test_a_renamed_dataset_has_no_fresh_budget_and_spends_nothing(bench, claim) -> None:
    bench.create("1")
    ledger = bench.open()
    ledger.reserve(claim("0.1", content="k1:aa,k1:bb"))
    before = ledger.head()
    for same in ("k1:aa,k1:bb", "k1:bb", "k1:cc,k1:aa"):
        with pytest.raises(BudgetError, match=r"L129 .* dataset stays has been used before, as dataset visits") as refused:
            bench.open().reserve(claim("0.1", dataset="stays", content=same))
        assert "name the dataset visits" in refused.value.hint
    with pytest.raises(BudgetError, match="L129"):
        ledger.reserve(claim("0.1", dataset="never-added", content="k1:aa"))
    assert ledger.head() == before
    ledger.reserve(claim("0.1", dataset="stays", content="k1:cc"))
    ledger.reserve(claim("0.1", content="k1:aa,k1:dd"))
    with pytest.raises(BudgetError, match="as dataset stays"):
        ledger.reserve(claim("0.1", content="k1:cc"))
    assert ledger.balance("patients").spent.epsilon == Epsilon("0.3")


def test_a_ledger_that_charged_one_file_under_two_names_stays_readable_and_keeps_the_first(bench, claim, monkeypatch) -> None:
    from privrelease.ledger.state import Book

    bench.create("1")
    with monkeypatch.context() as before_names_were_asked:
        before_names_were_asked.setattr(Book, "check_name", lambda *_: None)
        bench.open().reserve(claim("0.1", content="k1:aa"))
        bench.open().reserve(claim("0.1", dataset="stays", content="k1:aa"))
    ledger = bench.open()
    assert ledger.balance("patients").spent.epsilon == Epsilon("0.2")
    with pytest.raises(BudgetError, match="L129"):
        ledger.reserve(claim("0.1", dataset="stays", content="k1:aa"))
    ledger.reserve(claim("0.1", content="k1:aa"))


def test_other_content_under_one_snapshot_is_refused_and_other_keys_tell_nothing(bench, claim) -> None:
    bench.create("1")
    ledger = bench.open()
    ledger.reserve(claim("0.1", snapshot="2026", content="k1:aa"))
    ledger.reserve(claim("0.1", snapshot="2026", content="k1:aa"))
    ledger.reserve(claim("0.1", snapshot="2027", content="k1:bb"))
    ledger.reserve(claim("0.1", snapshot="2026", content="k2:cc"))
    for other in ("k1:bb", "k2:dd", "k1:aa,k1:bb"):
        with pytest.raises(BudgetError, match="L121 snapshot 2026 of visits"):
            ledger.reserve(claim("0.1", snapshot="2026", content=other))
    assert ledger.balance("patients").spent.epsilon == Epsilon("0.4")


def test_answers_are_stored_once_and_served_again(bench, claim) -> None:
    bench.create("1")
    ledger = bench.open()
    assert ledger.answer("q1") is None
    made = ledger.reserve(claim("0.1"))
    assert bench.open().answer("q1") is None
    ledger.commit(made, {"q1": b"12", "q2": b"\x00\xff"})
    again = bench.open()
    assert (again.answer("q1"), again.answer("q2"), again.answer("q3")) == (b"12", b"\x00\xff", None)
    with pytest.raises(BudgetError, match="L123"):
        ledger.commit(made, {"q1": b"13"})
    assert again.answer("q1") == b"12"
    assert again.balance("patients").spent.epsilon == Epsilon("0.1")


def test_a_fresh_answer_takes_the_place_of_the_old(bench, claim) -> None:
    bench.create("1")
    ledger = bench.open()
    for value in (b"12", b"13"):
        ledger.commit(ledger.reserve(claim("0.1")), {"q1": value})
    assert bench.open().answer("q1") == b"13"


def test_only_answers_that_were_claimed_are_stored(bench, claim) -> None:
    bench.create("1")
    ledger = bench.open()
    made = ledger.reserve(claim("0.1"))
    with pytest.raises(ValueError, match="not claimed"):
        ledger.commit(made, {"q1": b"12", "q9": b"13"})
    assert ledger.answer("q1") is None
    ledger.commit(made, {"q1": b"12"})


def test_a_reservation_of_another_claim_stores_nothing(bench, claim) -> None:
    from dataclasses import replace

    bench.create("1")
    ledger = bench.open()
    made = ledger.reserve(claim("0.1"))
    for other in (replace(made, claim=claim("0.2")), replace(made, id="7"), replace(made, id="0")):
        with pytest.raises(BudgetError, match="L123"):
            ledger.commit(other, {"q1": b"12"})


def test_a_claim_cannot_cost_less_than_its_draws(bench, claim, draw) -> None:
    bench.create("1")
    ledger = bench.open()
    with pytest.raises(ValueError, match="less than its draws"):
        ledger.reserve(claim("0.1", draws=(draw("0.1", "a"), draw("0.1", "b"))))
    assert ledger.balance("patients").spent.epsilon == Epsilon(0)


def test_each_entry_moves_the_head_and_names_the_one_before(bench, claim) -> None:
    bench.create("1")
    ledger = bench.open()
    heads = [ledger.head()]
    made = ledger.reserve(claim("0.1"))
    heads.append(ledger.head())
    assert made.head == heads[-1]
    ledger.commit(made, {})
    heads.append(ledger.head())
    assert [head.sequence for head in heads] == [0, 1, 2]
    assert len({head.hash for head in heads}) == 3
    assert len({head.ledger for head in heads}) == 1


def test_two_that_are_open_at_once_see_what_the_other_spent(bench, claim) -> None:
    bench.create("1")
    one, other = bench.open(), bench.open()
    one.balance("patients")
    other.reserve(claim("0.6"))
    assert one.balance("patients").spent.epsilon == Epsilon("0.6")
    with pytest.raises(BudgetError, match="L120"):
        one.reserve(claim("0.6"))
