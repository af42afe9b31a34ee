"""Section 10: the claim is the plan's, the figures are the file's, the budget is the ledger's up to this release's entry."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from privrelease.audit.checks.charges import MOST_CHARGES, Charges
from privrelease.audit.document.model import Visibility
from privrelease.audit.document.privacy import PrivacyFacts, for_recipients
from privrelease.audit.statistics.privacy import MOST_GROUPS, privacy_section
from privrelease.dp.budget import Budget
from privrelease.dp.calibration import draws
from privrelease.dp.domains import Bins, NumericDomain
from privrelease.dp.queries import Count, Histogram, Mean, Quantile, Setting
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.ledger.accounts import Spent
from privrelease.plan.statistics.plan import StatisticPlan, StatisticsPlan
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource
from privrelease.units import Delta, Epsilon

PAY = NumericDomain("0", "200", grid="1")
SOURCE = TableSource("people", SourceKind.CSV, "/nowhere/p.csv", "p.csv", (Column("pay", ColumnType.INTEGER, Role.SENSITIVE),))


def statistic(query, figure, setting, epsilon="0.5", delta="0", noise="laplace"):
    budget = Budget(Epsilon(epsilon), Delta(delta))
    return StatisticPlan(query.id, figure, query, None, budget, draws(query, setting, budget, noise), noise)


def plan_of(neighbours=Neighbours.ADD_REMOVE, unit="id"):
    setting = Setting(Contribution(1), neighbours)
    queries = (
        statistic(Count("n"), "count", setting),
        statistic(Mean("pay", "pay", PAY), "mean", setting, "1"),
        statistic(Histogram("bands", "pay", Bins.of_width(PAY, 50)), "histogram", setting, "0.25", "1e-6", "gaussian"),
        statistic(Quantile("middle", "pay", PAY), "median", setting, "0.25"),
    )
    named = None if unit is None else SimpleNamespace(column=unit)
    return StatisticsPlan("s", SOURCE, queries, Budget(Epsilon(2), Delta("1e-6")), setting, (), unit=named)


def section(plan=None, rows=None, *, claim=None, charges=None, cap=None):
    ledger = None if cap is None else SimpleNamespace(cap=cap)
    manifest = None if claim is None else SimpleNamespace(privacy=claim)
    policy = SimpleNamespace(ledger=ledger)
    return privacy_section(plan or plan_of(), policy, rows, manifest=manifest, charges=charges, version="0")


def claim(sequence=3, *, private=True, again=()):
    queries = tuple(SimpleNamespace(id=name, served_again=name in again) for name in ("n", "pay"))
    return SimpleNamespace(private=private, population="all", queries=queries, anchor=SimpleNamespace(sequence=sequence))


def charges(*costs, cap=None, entry=()):
    """Reservations at entries 1, 2, …: (release, epsilon)."""
    at = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    spent = tuple(
        Spent(number, at, SimpleNamespace(release=release, cost=Budget(Epsilon(epsilon))))
        for number, (release, epsilon) in enumerate(costs, 1)
    )
    return Charges(entry, frozenset(), cap, spent)


def test_the_claim_is_recomputed_from_every_draw_of_the_plan():
    facts = section()
    assert (facts.epsilon, facts.delta) == ("2", "0.000001")
    assert [query.id for query in facts.queries] == ["n", "pay", "bands", "middle"]
    mean = facts.queries[1]
    assert [(draw.figure, draw.scale, draw.epsilon) for draw in mean.draws] == [("sum", 200.0, "0.5"), ("rows", 2.0, "0.5")]
    assert mean.domain == "[0, 200], grid 1"
    bands = facts.queries[2]
    assert bands.domain == "4 bins, [0, 50) to [150, 200]"
    assert bands.draws[0].mechanism == "discrete_gaussian"
    assert bands.draws[0].numbers == 4
    assert facts.queries[3].draws[0].error is None


def test_what_is_not_protected_follows_neighbours_and_unit():
    assert section().unprotected == ("other_releases", "declared", "identifiers", "course")
    replaced = section(plan_of(Neighbours.REPLACE, unit=None))
    assert replaced.unprotected == ("other_releases", "declared", "persons", "rows", "course")


def test_released_figures_are_for_recipients_and_nothing_is_repeated_of_a_file_that_is_not_as_it_should_be():
    rows = {"n": [({}, (41.0, 35.0, 47.0))], "middle": [({}, (99.5, None, None))]}
    (group,) = section(rows=rows).queries[0].groups
    assert (group.value.value, group.value.exact, group.value.visibility) == (41, "41", Visibility.RECIPIENT)
    assert section(rows=rows).queries[3].groups[0].low.value is None
    spoilt = section(rows=None).queries[0]
    assert spoilt.groups == ()
    assert spoilt.released.value is None


def test_many_groups_are_cut_and_counted():
    rows = {"n": [({"key": str(number)}, (1.0, 0.0, 2.0)) for number in range(MOST_GROUPS + 7)]}
    query = section(rows=rows).queries[0]
    assert len(query.groups) == MOST_GROUPS
    assert query.released.value == MOST_GROUPS + 7


def test_the_budget_ends_at_the_entry_of_this_release_and_takes_the_stricter_cap():
    spent = charges(("a", "0.1"), ("b", "0.2"), ("s", "2"), ("later", "1"), cap=Budget(Epsilon(9), Delta("1e-5")))
    budget = section(claim=claim(3), charges=spent, cap=Budget(Epsilon(4), Delta("1e-4"))).budget
    assert (budget.cap_epsilon, budget.cap_delta) == ("4", "0.00001")
    assert (budget.before_epsilon, budget.charged_epsilon, budget.after_epsilon) == ("0.3", "2", "2.3")
    assert [(one.release, one.spent_epsilon) for one in budget.history] == [("a", "0.1"), ("b", "0.3"), ("s", "2.3")]


def test_a_release_of_stored_answers_was_free():
    facts = section(claim=claim(9, again=("n",)), charges=charges(("a", "0.1")))
    assert facts.queries[0].served_again
    assert not facts.queries[1].served_again
    assert (facts.budget.before_epsilon, facts.budget.charged_epsilon, facts.budget.after_epsilon) == ("0.1", "0", "0.1")
    assert facts.budget.cap_epsilon is None


def test_only_the_last_reservations_are_listed_and_none_is_lost_from_the_sum():
    spent = charges(*((f"r{number}", "0.01") for number in range(MOST_CHARGES + 5)))
    budget = section(claim=claim(MOST_CHARGES + 5), charges=spent).budget
    assert len(budget.history) == MOST_CHARGES
    assert budget.after_epsilon == budget.history[-1].spent_epsilon == "0.55"


@pytest.mark.parametrize("known", [None, charges(("a", "0.1"), entry=None)])
def test_no_budget_is_shown_without_the_ledgers_entry(known):
    assert section(claim=claim(1), charges=known).budget is None


def test_noise_of_a_test_and_files_that_nobody_claims_are_told_apart():
    assert section().noise == "unknown"
    assert section(claim=claim()).noise == "secret"
    assert section(claim=claim(private=False)).noise == "test"


def test_the_section_is_read_back_from_a_file():
    facts = section(claim=claim(1), charges=charges(("s", "2")))
    assert PrivacyFacts.model_validate_json(facts.model_dump_json()) == facts


def test_recipients_do_not_learn_which_other_releases_spent():
    facts = section(claim=claim(2), charges=charges(("other-release", "0.1"), ("s", "2")))
    kept = for_recipients(facts)
    assert "other-release" in facts.model_dump_json()
    assert "other-release" not in kept.model_dump_json()
    assert kept.budget.after_epsilon == "2.1"
    assert isinstance(kept, PrivacyFacts)
    assert for_recipients(section()) == section()
