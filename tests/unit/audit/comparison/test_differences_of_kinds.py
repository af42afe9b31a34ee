"""Two audits as a sceptic compares them: each kind of release, what vanished, what expired, and files of others."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from privrelease.audit.comparison.audits import compare_with_previous, differences
from privrelease.audit.document.model import Figure, Outcome
from privrelease.audit.document.previous_releases import SinceFacts
from privrelease.audit.document.schema import audit_of
from privrelease.audit.document.signoff import WaiverFacts, WaiverRecord
from privrelease.report.view.changes import change_rows
from privrelease.texts.catalogue import english

REPORTS = Path(__file__).parents[4] / "reports"


@pytest.fixture(scope="module", params=["microdata", "statistics", "elderly", "synthetic"])
def any_audit(request):
    return read(request.param)


def read(name):
    return audit_of((REPORTS / f"diabetes-{name}" / "audit.json").read_bytes())


def said(found):
    return [(one.what, one.about, one.effect) for one in found]


def put(audit, section, facts):
    return audit.model_copy(update={section: facts})


def with_checks(audit, number=0, **update):
    checks = list(audit.checks)
    checks[number] = checks[number].model_copy(update=update)
    return audit.model_copy(update={"checks": tuple(checks)})


def number_of(audit, name):
    return next(number for number, check in enumerate(audit.checks) if check.id == name)


def test_an_audit_does_not_differ_from_itself_also_when_read_again(any_audit):
    again = audit_of(any_audit.model_dump_json().encode())
    assert differences(any_audit, again) == differences(again, any_audit) == ()


def test_every_difference_has_a_label_and_is_the_same_when_it_was_stored(any_audit):
    for other in ("microdata", "statistics", "elderly", "synthetic"):
        found = compare_with_previous(any_audit, read(other))
        assert SinceFacts.model_validate_json(found.model_dump_json()) == found
        assert all(row.label for row in change_rows(found.changes, english()))


def test_a_table_and_rows_are_told_apart_and_compared_in_what_both_have():
    found = differences(read("microdata"), read("elderly"))
    told = {one.what for one in found}
    assert ("kind", "", "changed") in said(found)  # another release; nobody says that it took the place of the first
    assert not told & {"threat", "column", "released_rows", "epsilon", "suppressed"}
    assert not [one for one in found if one.about.startswith("AUDIT-")]
    assert {one.about for one in found if one.what == "check" and one.effect == "worse"} == {
        "UTIL-001",
        "UTIL-002",
        "UTIL-003",
        "UTIL-004",
        "SCHEMA-001",
        "SOURCE-001",
    }


def test_a_release_that_became_another_kind_is_worse():
    table = read("elderly")
    renamed = table.model_copy(update={"identity": table.identity.model_copy(update={"release": "microdata"})})
    assert ("kind", "", "worse") in said(differences(read("microdata"), renamed))


# ------------------------------------------------------------------------------------------------------------ checks and waivers


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ("pass", "warn", "worse"),
        ("pass", "not_evaluated", "worse"),
        ("warn", "fail", "worse"),
        ("fail", "pass", "better"),
        ("not_evaluated", "pass", "better"),
        ("not_evaluated", "fail", "worse"),
        # nothing shows that it holds now
        ("fail", "not_evaluated", "changed"),
    ],
)
def test_a_check_that_turned_is_judged_by_its_outcomes(before, after, effect):
    audit = read("microdata")
    one, other = (with_checks(audit, 0, outcome=Outcome(outcome)) for outcome in (before, after))
    assert said(differences(one, other)) == [("check", audit.checks[0].id, effect)]


@pytest.mark.parametrize(("outcome", "effect"), [("pass", "better"), ("fail", "worse"), ("not_evaluated", "changed")])
def test_a_check_that_is_new_is_better_where_it_holds_and_one_that_is_gone_is_worse_always(outcome, effect):
    more = with_checks(read("microdata"), 0, outcome=Outcome(outcome))
    fewer = more.model_copy(update={"checks": more.checks[1:]})
    name = more.checks[0].id
    assert said(differences(fewer, more)) == [("check", name, effect)]
    assert said(differences(more, fewer)) == [("check", name, "worse")]


def test_a_check_that_only_warns_now_is_worse_though_it_holds():
    audit = read("microdata")
    softer = with_checks(audit, number_of(audit, "UTIL-001"), severity="warn")
    assert said(differences(audit, softer)) == [("severity", "UTIL-001", "worse")]
    assert said(differences(softer, audit)) == [("severity", "UTIL-001", "better")]


def test_the_figure_of_a_check_that_moves_towards_its_limit_is_worse_and_so_is_a_laxer_limit():
    audit = read("microdata")
    at = number_of(audit, "UTIL-001")
    near = with_checks(audit, at, observed=Figure.of(Fraction(19, 1000), "share"))
    laxer = with_checks(audit, at, limit=Figure.of(Fraction(1, 2), "share"))
    assert said(differences(audit, near)) == [("observed", "UTIL-001", "worse")]
    assert said(differences(near, audit)) == [("observed", "UTIL-001", "better")]
    assert said(differences(audit, laxer)) == [("check_limit", "UTIL-001", "worse")]


def test_of_a_check_with_a_smallest_figure_a_smaller_one_is_worse():
    audit = read("microdata")
    at = number_of(audit, "UTIL-001")
    many, fewer = (
        with_checks(audit, at, observed=Figure.of(number, "count"), limit=Figure.of(10, "count")) for number in (90, 20)
    )
    assert said(differences(many, fewer)) == [("observed", "UTIL-001", "worse")]


def waived(state, expires="2027-01-01"):
    record = WaiverRecord(check="UTIL-001", reason="r", owner="a", approved_by="b", expires=expires, state=state)
    return put(read("microdata"), "waivers", WaiverFacts(waivers=(record,)))


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ("open", "unused", "better"),
        ("unused", "open", "worse"),
        # what it let pass fails now: told by the decision, and no improvement
        ("open", "expired", "changed"),
        ("open", "self_approved", "changed"),
        ("expired", "open", "worse"),
        ("unused", "expired", "changed"),
    ],
)
def test_a_waiver_that_expired_is_no_improvement(before, after, effect):
    (found,) = differences(waived(before), waived(after))
    assert (found.what, found.about, found.before, found.after, found.effect) == ("waiver", "UTIL-001", before, after, effect)


def test_a_waiver_that_is_gone_is_better_and_one_that_ends_later_is_worse():
    assert said(differences(waived("open"), read("microdata"))) == [("waiver", "UTIL-001", "better")]
    assert said(differences(read("microdata"), waived("open"))) == [("waiver", "UTIL-001", "worse")]
    longer = waived("open", "2028-01-01")
    assert said(differences(waived("open"), longer)) == [("waiver_until", "UTIL-001", "worse")]
    assert said(differences(longer, waived("open"))) == [("waiver_until", "UTIL-001", "better")]


# --------------------------------------------------------------------------------------------------------------------- threats


def threatened(**update):
    audit = read("microdata")
    return audit.model_copy(update={"threats": (audit.threats[0].model_copy(update=update), *audit.threats[1:])})


def test_less_that_an_attacker_is_held_to_know_is_worse_and_classes_over_other_columns_are_not_compared():
    audit = read("microdata")
    after = audit.threats[0].after.model_copy(update={"k": Figure.of(50, "count")})
    fewer = threatened(columns=audit.threats[0].columns[:1], after=after)
    assert said(differences(audit, fewer)) == [("knows", "external", "worse"), ("k", "external", "changed")]
    assert said(differences(fewer, audit)) == [("knows", "external", "better"), ("k", "external", "changed")]
    assert differences(audit, threatened(columns=audit.threats[0].columns[::-1])) == ()


def test_a_laxer_attacker_or_reading_is_worse_and_what_classes_count_is_told():
    audit = read("microdata")
    after = audit.threats[0].after.model_copy(update={"counted": "records", "k": Figure.of(50, "count")})
    found = differences(audit, threatened(attacker="marketer", missing="wildcard", after=after))
    assert said(found) == [
        ("attacker", "external", "worse"),
        ("missing", "external", "worse"),
        ("counted", "external", "changed"),
        ("k", "external", "changed"),
    ]


def test_a_threshold_that_holds_no_more_is_told_though_it_is_the_limit_that_moved():
    audit = read("microdata")
    verdict = audit.threats[0].verdicts[0].model_copy(update={"threshold": Figure.of(Fraction(1, 100), "risk"), "holds": False})
    tighter = threatened(verdicts=(verdict, *audit.threats[0].verdicts[1:]), holds=False)
    assert said(differences(audit, tighter)) == [
        ("highest_risk_limit", "external", "better"),
        ("highest_risk_verdict", "external", "worse"),
    ]
    assert "Highest risk within its limit" in [row.label for row in change_rows(differences(audit, tighter), english())]


def test_a_figure_that_is_undefined_now_is_worse():
    audit = read("microdata")
    verdict = audit.threats[0].verdicts[0].model_copy(update={"figure": Figure.of(None, "risk", note="no records")})
    undefined = threatened(verdicts=(verdict, *audit.threats[0].verdicts[1:]))
    assert said(differences(audit, undefined)) == [("highest_risk", "external", "worse")]
    assert said(differences(undefined, audit)) == [("highest_risk", "external", "changed")]


def test_a_unit_that_is_gone_is_worse():
    audit = read("microdata")
    rows = audit.model_copy(update={"data": audit.data.model_copy(update={"unit": None})})
    assert said(differences(audit, rows)) == [("unit", "", "worse")]


# -------------------------------------------------------------------------------------------------------------------- sections


def private(**update):
    audit = read("statistics")
    return put(audit, "statistics", audit.statistics.model_copy(update=update))


@pytest.mark.parametrize(
    ("update", "found"),
    [
        ({"epsilon": "1.5"}, ("epsilon", "", "worse")),
        ({"epsilon": "0.5"}, ("epsilon", "", "better")),
        ({"delta": "0.001"}, ("delta", "", "worse")),
        ({"noise": "test"}, ("noise", "", "worse")),
        ({"neighbours": "replace"}, ("neighbours", "", "changed")),
        ({"max_rows": 7}, ("max_rows", "", "changed")),
    ],
)
def test_what_a_release_spends_and_hides_is_compared(update, found):
    assert said(differences(read("statistics"), private(**update))) == [found]


def test_a_query_more_and_a_dearer_one_are_worse():
    audit = read("statistics")
    queries = audit.statistics.queries
    assert said(differences(private(queries=queries[1:]), audit)) == [("query", queries[0].id, "worse")]
    assert said(differences(audit, private(queries=queries[1:]))) == [("query", queries[0].id, "changed")]
    dearer = queries[0].model_copy(update={"epsilon": "0.9"})
    assert said(differences(audit, private(queries=(dearer, *queries[1:])))) == [("query_epsilon", queries[0].id, "worse")]


def tabled(**update):
    audit = read("elderly")
    return put(audit, "table", audit.table.model_copy(update=update))


@pytest.mark.parametrize(
    ("update", "found"),
    [
        ({"min_count": 3}, ("min_count", "", "worse")),
        ({"dominance": None}, ("dominance", "", "worse")),
        ({"p_percent": None}, ("p_percent", "", "worse")),
        ({"interval": "0"}, ("interval", "", "worse")),
        ({"margins": False}, ("margins", "", "better")),
        ({"zeros_shown": False}, ("zeros_shown", "", "better")),
        ({"class_disclosure": True}, ("class_disclosure", "", "better")),
        ({"suppressed": Figure.of(99, "count")}, ("suppressed", "", "worse")),
        ({"by": ("region",)}, ("table_by", "", "changed")),
    ],
)
def test_the_rules_of_a_table_are_compared(update, found):
    assert said(differences(read("elderly"), tabled(**update))) == [found]


def test_an_attack_that_is_no_longer_tried_is_worse_and_so_is_more_success_without_a_limit():
    audit = read("microdata")
    facts = audit.attacks
    without = put(audit, "attacks", facts.model_copy(update={"attacks": facts.attacks[1:]}))
    assert [effect for _, _, effect in said(differences(audit, without))] == ["worse"]
    assert [effect for _, _, effect in said(differences(without, audit))] == ["better"]
    first = facts.attacks[0]
    assert first.max_risk is None
    risk = first.risk.model_copy(update={"value": Figure.of(Fraction(99, 100), "share")})
    rarer = put(
        audit, "attacks", facts.model_copy(update={"attacks": (first.model_copy(update={"risk": risk}), *facts.attacks[1:])})
    )
    assert [(what, effect) for what, _, effect in said(differences(rarer, audit))] == [("attack_risk", "worse")]


@pytest.mark.parametrize("exact", ["secret", "1/0", "1e999999999", "9" * 500])
def test_a_figure_that_is_no_number_is_refused_and_not_computed(exact):
    audit = read("microdata")
    bad = threatened(after=audit.threats[0].after.model_copy(update={"k": Figure(value=5, exact=exact)}))
    with pytest.raises((ValueError, ArithmeticError)) as caught:
        differences(bad, bad)
    assert "secret" not in str(caught.value)


def test_the_section_is_not_compared_with_itself():
    audit = read("microdata")
    assert differences(audit, put(audit, "since", compare_with_previous(read("elderly"), audit))) == ()
