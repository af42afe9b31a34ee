"""What two releases tell together, on classes worked out by hand; and how an audit takes that in."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.facts import context_facts, legal_facts
from privrelease.audit.comparison.combine import PreviousReleaseFindings, _verdict, earlier_check, set_aside, with_earlier
from privrelease.audit.comparison.previous_release import EarlierRelease
from privrelease.audit.document.model import AuditResult, Outcome
from privrelease.audit.document.previous_releases import ComparedRelease, EarlierFacts, for_recipients
from privrelease.audit.microdata.facts import data_facts, identity
from privrelease.audit.microdata.previous_releases import _exposed, _persons_at_least
from privrelease.audit.tables.previous_releases import printed_in
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.engine.protocol.release_pairs import CombinedClasses
from privrelease.relational.schema import Sink, SinkKind

FIVE = Thresholds(highest=Fraction(1, 5))


def classes(linked, first, second, alone=None, residual=None):
    none = [0] * len(linked)
    sizes = [np.array(one, np.int64) for one in (linked, first, second, alone or none, alone or none)]
    return CombinedClasses(*sizes, np.array(residual or [False] * len(linked)))


def exposed(limits, found, *, certain=True):
    return _exposed(limits, found, certain=certain)


def test_a_record_is_exposed_where_only_the_combination_is_small():
    """Of classes of 1, 4, 5 and 4: the last is as small in either release alone, which that release's own audit reports."""
    number, faults = exposed(FIVE, classes([1, 4, 5, 4], [5, 5, 5, 4], [9, 4, 9, 4]))
    assert number == 1 + 4
    assert len(faults) == 1
    assert "smallest 1" in faults[0]


def test_who_is_not_linked_may_be_one_of_the_class():
    """One linked record and four on either side that no link leads to: five may have that pair."""
    assert exposed(FIVE, classes([1], [5], [5], alone=[4]), certain=False) == (0, [])
    number, faults = exposed(FIVE, classes([1], [5], [5], alone=[3]), certain=False)
    assert number == 1
    assert len(faults) == 1


def test_records_without_a_known_cell_in_either_release_are_in_no_class():
    assert exposed(FIVE, classes([1], [5], [5], residual=[True])) == (0, [])


def test_average_risk_fails_where_neither_release_alone_does():
    """Classes of 4 in either, of 2 in the pair: 1/4 alone, 1/2 together."""
    limits = Thresholds(average=Fraction(1, 4))
    assert exposed(limits, classes([2, 2], [4, 4], [4, 4])) == (0, ["average_risk is 1/2, above 1/4, for who combines both"])
    assert exposed(limits, classes([2, 2], [2, 2], [4, 4])) == (0, [])


def test_records_at_risk_fail_where_neither_release_alone_does():
    limits = Thresholds(at_risk=RecordsAtRisk(Fraction(1, 3), Fraction(1, 2)))
    found = classes([2, 2], [4, 4], [4, 4])
    assert exposed(limits, found) == (0, ["records_at_risk is 1, above 1/2, for who combines both"])


def earlier(**changes):
    return EarlierRelease("old", "microdata", Sink(SinkKind.CSV, Path("/nowhere/old.csv"), "old.csv"), **changes)


def test_what_nobody_can_hold_or_is_of_another_kind_is_named_and_set_aside():
    assert set_aside(earlier(), "microdata") is None
    for one, kind, looked in ((earlier(held=False), "microdata", "not_held"), (earlier(), "table", "other_kind")):
        beside, remaining = set_aside(one, kind)
        assert beside.looked == looked
        assert "old" in remaining[0]


@pytest.mark.parametrize("faults", [[], ["with old: 3 records are in classes below 5"]])
def test_an_audit_takes_in_what_was_found_and_is_decided_anew(made, faults):
    evidence, plan = made.evidence(), made.plan()
    policy = made.policy(plan)
    legal = legal_facts(None, ())
    alone = AuditResult(
        kind="microdata",
        decision=decide((), None, (), (), legal),
        identity=identity(evidence, policy, "2026-01-02T03:04:05Z", {}),
        legal=legal,
        context=context_facts(None, None),
        data=data_facts(evidence),
        threats=(),
        union=None,
        utility=None,
        checks=(),
    )
    beside = ComparedRelease(release="old", run=None, looked="combined")
    check = earlier_check("AUDIT-EARLIER-INTERSECT", faults, "classes stay large")
    result = with_earlier(alone, PreviousReleaseFindings((beside,), (check,), ("What old tells.",)), plan)
    assert result.decision.outcome is (Outcome.FAIL if faults else Outcome.PASS)
    assert [finding.code for finding in result.findings] == (["A281"] if faults else [])
    assert "What old tells." in result.decision.assessment_remaining
    assert result.earlier.releases == (beside,)
    assert with_earlier(alone, PreviousReleaseFindings(), plan) is alone


def test_a_table_is_read_by_what_its_cells_are_of(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "area,sex,total_over,count,status\nn,F,,2,shown\nn,,sex,,suppressed\n,,area sex,9,shown\n", encoding="utf-8"
    )
    by, cells = printed_in(Sink(SinkKind.CSV, path, "t.csv"))
    assert by == ("area", "sex")
    assert cells == {
        frozenset({("area", "n"), ("sex", "F")}): {"count": 2},
        frozenset({("area", "n")}): {"count": None},
        frozenset(): {"count": 9},
    }
    path.write_text("area,count\nn,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no table"):
        printed_in(Sink(SinkKind.CSV, path, "t.csv"))


def test_rows_of_persons_who_have_several_count_as_few_persons_where_the_combination_took_some_away():
    """Six rows of persons with up to three rows each may be of two persons; a class that both releases have alike tells nothing new."""
    found = classes([6, 6], [9, 6], [9, 6])
    assert _exposed(FIVE, found, certain=False, most=3)[0] == 6
    assert _exposed(FIVE, found, certain=False, most=1) == (0, [])
    assert _exposed(FIVE, found, certain=False, most=None)[0] == 6


def test_rows_are_of_at_least_their_number_by_the_most_that_one_has():
    assert _persons_at_least(np.array([1, 5, 6, 7]), 3).tolist() == [1, 2, 2, 3]
    assert _persons_at_least(np.array([1, 5]), None).tolist() == [1, 1]


def test_recipients_learn_the_verdict_and_how_many_releases_were_not_looked_at():
    beside = ComparedRelease(release="old (run 7)", run="7", looked="combined", note="inside")
    facts = EarlierFacts(releases=(beside,), left=2, verdict="warn", remaining=("What old (run 7) tells.",))
    assert for_recipients(facts) == EarlierFacts(releases=(), left=2, verdict="warn")


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ([], "not_evaluated"),
        ([Outcome.NOT_EVALUATED], "not_evaluated"),
        ([Outcome.PASS, Outcome.NOT_EVALUATED], "warn"),
        ([Outcome.PASS, Outcome.WARN], "warn"),
        ([Outcome.PASS, Outcome.PASS], "pass"),
        ([Outcome.PASS, Outcome.FAIL, Outcome.NOT_EVALUATED], "fail"),
    ],
)
def test_the_verdict_is_that_of_the_worst(outcomes, verdict):
    check = earlier_check("AUDIT-EARLIER-INTERSECT", (), "")
    checks = tuple(check.model_copy(update={"outcome": outcome}) for outcome in outcomes)
    assert _verdict(PreviousReleaseFindings((ComparedRelease(release="old", run=None, looked="not_held"),), checks)) == verdict


def test_where_nothing_links_any_earlier_release_the_verdict_says_so():
    unlinked = ComparedRelease(release="old", run=None, looked="nothing_shared")
    assert _verdict(PreviousReleaseFindings((unlinked,))) == "unlinked"
    assert (
        _verdict(PreviousReleaseFindings((unlinked, ComparedRelease(release="older", run=None, looked="not_held"))))
        == "not_evaluated"
    )
