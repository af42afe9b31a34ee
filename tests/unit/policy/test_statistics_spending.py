"""What the queries of a release may spend each: a total that is the policy's, with no more noise than the sum would ask for."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privrelease.dp.budget import Budget
from privrelease.dp.composition import composed
from privrelease.errors import InputError
from privrelease.plan.build import build_plan
from privrelease.units import Delta, Epsilon
from tests.unit.policy.rules.test_statistics_rules import policy

if TYPE_CHECKING:
    from privrelease.plan.statistics.plan import StatisticsPlan
    from tests.unit.policy.conftest import Folder

WOMEN, MEN = "where: \"sex = 'F'\"", "where: \"sex = 'M'\""


def planned(folder: Folder, budget: str, *queries: str, more: str = "", head: tuple[str, str] | None = None) -> StatisticsPlan:
    text = policy(*queries, budget=f"    budget: {{{budget}}}\n", more=more)
    loaded, findings = folder.load(text if head is None else text.replace(*head))
    assert loaded is not None, findings
    (release,) = build_plan(loaded).releases
    return release


def gaussians(number: int, more: str = "") -> list[str]:
    return [f"id: g{n}, count: {{where: age > {20 + n}}}, mechanism: gaussian{more}" for n in range(number)]


def test_the_total_of_gaussian_queries_is_the_budget_and_their_noise_less_than_by_the_sum(folder: Folder) -> None:
    summed = planned(folder, "epsilon: 1, delta: 1e-6, accounting: approximate", *gaussians(10))
    assert summed.composed.accountant == "approximate"
    assert summed.cost == Budget(Epsilon(1), Delta("1e-6"))
    usual = planned(folder, "epsilon: 1, delta: 1e-6", *gaussians(10))
    tight = planned(folder, "epsilon: 1, delta: 1e-6, accounting: pld", *gaussians(10))
    assert (usual.composed.accountant, tight.composed.accountant) == ("zcdp", "pld")
    assert usual.cost == tight.cost == Budget(Epsilon(1), Delta("1e-6"))
    scales = [plan.draws[0].scale for plan in (summed, usual, tight)]
    shares = [round(math.sqrt(scale / scales[0]), 2) for scale in scales]
    assert shares == [1, 0.35, 0.32]  # as docs/statistics.md says
    assert usual == planned(folder, "epsilon: 1, delta: 1e-6, accounting: zcdp", *gaussians(10))


def test_without_a_need_for_delta_the_rule_is_pure_and_delta_is_kept(folder: Folder) -> None:
    plan = planned(folder, "epsilon: 1, delta: 1e-6", *(f"id: n{n}, count: true" for n in range(40)))
    assert plan.cost == Budget(Epsilon(1))
    asked = planned(folder, "epsilon: 1, delta: 1e-6, accounting: zcdp", *(f"id: n{n}, count: true" for n in range(40)))
    assert asked.cost == Budget(Epsilon(1), Delta("1e-6"))
    assert asked.draws[0].scale < plan.draws[0].scale


def test_a_query_with_its_own_epsilon_costs_that_alone_and_all_together_less(folder: Folder) -> None:
    plan = planned(folder, "epsilon: 1, delta: 1e-6", *gaussians(10, ", epsilon: 0.2"))
    assert {str(query.cost.epsilon) for query in plan.queries} == {"0.2"}
    assert plan.composed.accountant == "zcdp"
    assert Epsilon("0.6") < plan.cost.epsilon < Epsilon("0.7")


def test_own_epsilons_and_shares_together_meet_the_budget(folder: Folder) -> None:
    plan = planned(
        folder, "epsilon: 1, delta: 1e-6", *gaussians(8, ", epsilon: 0.2"), "id: s, count: true, share: 2", "id: t, count: true"
    )
    first, second = (query.cost.epsilon.value for query in plan.queries[-2:])
    assert first == 2 * second > 0
    assert {str(query.cost.epsilon) for query in plan.queries[:-2]} == {"0.2"}
    assert plan.cost == Budget(Epsilon(1), Delta("1e-6"))


def test_queries_that_no_person_is_in_together_each_get_the_whole_budget(folder: Folder) -> None:
    plan = planned(folder, "epsilon: 1", f"id: f, count: {{{WOMEN}}}", f"id: m, count: {{{MEN}}}")
    assert [str(query.cost.epsilon) for query in plan.queries] == ["1", "1"]
    assert plan.cost == Budget(Epsilon(1))
    (apart,) = plan.apart
    assert ([part.queries for part in apart.parts], apart.most) == ([("f",), ("m",)], 1)


NOT_APART = [
    ("overlapping filters", f"id: f, count: {{{WOMEN}}}", "id: m, count: {where: age < 40}", ("", "")),
    ("no filter", f"id: f, count: {{{WOMEN}}}", "id: m, count: true", ("", "")),
    ("two rows a person", f"id: f, count: {{{WOMEN}}}", f"id: m, count: {{{MEN}}}", ("max_rows: 1", "max_rows: 2")),
    (
        "replace",
        f"id: f, count: {{{WOMEN}}}",
        f"id: m, count: {{{MEN}}}",
        ("    budget", "    neighbours: replace\n    budget"),
    ),
    ("another run", f"id: f, count: {{{WOMEN}}}, fresh: true", f"id: m, count: {{{MEN}}}", ("", "")),
]


@pytest.mark.parametrize(("one", "other", "head"), [case[1:] for case in NOT_APART], ids=[case[0] for case in NOT_APART])
def test_queries_that_one_person_may_be_in_together_share_it(
    folder: Folder, one: str, other: str, head: tuple[str, str]
) -> None:
    plan = planned(folder, "epsilon: 1", one, other, head=head)
    assert [str(query.cost.epsilon) for query in plan.queries] == ["0.5", "0.5"]
    assert plan.apart == ()


def test_counts_that_are_made_to_agree_are_parts_by_what_they_count(folder: Folder) -> None:
    asked = (f"id: f, count: {{{WOMEN}}}", f"id: m, count: {{{MEN}}}", "id: a, count: true, by: [sex]", "id: b, count: true")
    plan = planned(folder, "epsilon: 1", *asked, more="    post: [consistent]\n")
    assert [part.queries for part in plan.apart[0].parts][:2] == [("f",), ("m",)]
    assert plan.composed.within(plan.budget)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["laplace", "gaussian"]),
            st.sampled_from(["", ", share: 3", ", share: 0.5", ", epsilon: 0.2"]),
            st.sampled_from(
                [
                    "count: true",
                    f"count: {{{WOMEN}}}",
                    f"count: {{{MEN}}}",
                    "mean: age",
                    "variance: age",
                    "count: true, by: [sex]",
                ]
            ),
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(["approximate", "zcdp"]),
)
def test_a_release_never_costs_more_than_its_budget_nor_a_query_less_than_by_the_sum(folder: Folder, asked, accounting) -> None:
    queries = [f"id: q{n}, {what}, mechanism: {law}{more}" for n, (law, more, what) in enumerate(asked)]
    plan = planned(folder, f"epsilon: 2, delta: 1e-6, accounting: {accounting}", *queries)
    assert plan.cost.fits(plan.budget)
    sharing = [n for n, (_, more, _) in enumerate(asked) if "epsilon" not in more]
    left = 2 - Fraction("0.2") * (len(asked) - len(sharing))
    weights = [Fraction(more.removeprefix(", share: ") or 1) if "epsilon" not in more else Fraction(0) for _, more, _ in asked]
    for n in sharing:
        assert plan.queries[n].cost.epsilon.value >= left * weights[n] / sum(weights)
    if sharing and plan.composed.accountant != "approximate":
        assert plan.cost.epsilon.value >= Fraction("1.99")
    assert composed(plan.draws, plan.rule, plan.budget, plan.apart) == plan.composed


BAD = [
    (
        "pure with a delta",
        "epsilon: 1, delta: 1e-6, accounting: pure",
        ["id: n, count: true"],
        "DP104 pure accounting spends no delta",
    ),
    ("pure with a Gaussian", "epsilon: 1, delta: 1e-6, accounting: pure", gaussians(1), "DP122 query g0 needs a delta"),
    (
        "zcdp without a delta",
        "epsilon: 1, accounting: zcdp",
        ["id: n, count: true"],
        "DP103 zcdp accounting states its total at a delta",
    ),
    (
        "pld without a delta",
        "epsilon: 1, accounting: pld",
        ["id: n, count: true"],
        "DP103 pld accounting states its total at a delta",
    ),
    (
        "an unknown rule",
        "epsilon: 1, accounting: rdp",
        ["id: n, count: true"],
        "P202 accounting must be pure, approximate, zcdp or pld",
    ),
    (
        "too much by any rule",
        "epsilon: 1, delta: 1e-6",
        gaussians(10, ", epsilon: 0.9"),
        "DP105 the queries ask for more epsilon",
    ),
    (
        "nothing left to share",
        "epsilon: 1, delta: 1e-6, accounting: approximate",
        [*gaussians(5, ", epsilon: 0.2"), "id: n, count: true"],
        "DP105 the queries ask for more epsilon",
    ),
]


@pytest.mark.parametrize(("budget", "queries", "says"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_budget_that_does_not_work_is_told_at_its_place(folder: Folder, budget: str, queries: list[str], says: str) -> None:
    (finding,) = folder.check(policy(*queries, budget=f"    budget: {{{budget}}}\n"))
    assert finding.startswith("p.yaml:25:")
    assert says in finding


def test_what_pld_has_no_bound_for_is_told_and_counted_by_zcdp(folder: Folder) -> None:
    asked = ("id: h, histogram: age, bins: {width: 10}, mechanism: gaussian", *gaussians(3))
    budget = "    budget: {epsilon: 1, delta: 1e-6, accounting: pld}\n"
    text = policy(*asked, budget=budget).replace("max_rows: 1}", "max_rows: 3}")
    (finding,) = folder.check(text)
    assert finding.startswith("p.yaml:25:51: P710 warn: PLD has no bound for the Gaussian noise of query h")
    plan = planned(folder, "epsilon: 1, delta: 1e-6, accounting: pld", *asked, head=("max_rows: 1}", "max_rows: 3}"))
    assert plan.composed.accountant == "zcdp"


def test_pld_without_dp_accounting_is_refused_before_anything_else(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    from privrelease.dp.accountants import pld

    monkeypatch.setattr(pld, "find_spec", lambda _: None)
    with pytest.raises(InputError, match="D301"):
        planned(folder, "epsilon: 1, delta: 1e-6, accounting: pld", *gaussians(2))
