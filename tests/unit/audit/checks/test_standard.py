"""What comes of a check by a name of Great Expectations, from a made-up count and a made-up answer of the library."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest

from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.great_expectations import Places, standard_checks
from privrelease.audit.document.model import LegalFacts, Outcome, Visibility
from privrelease.engine.protocol.base import ReleasedFile, Staged
from privrelease.errors import InputError
from privrelease.plan.model import CheckPlan
from privrelease.relational.expectations import Counted, Expectation
from privrelease.relational.schema import ColumnType

FILE = ReleasedFile("f", (("sex", ColumnType.CATEGORY), ("mail", ColumnType.STRING)), 100)
SOURCE = Staged("s", (), 100)
IN_SET = Expectation("expect_column_values_to_be_in_set", (("column", "sex"), ("value_set", ("F",))))
REGEX = Expectation("expect_column_values_to_match_regex", (("column", "mail"), ("regex", "@")))
ROWS = Expectation("expect_table_row_count_to_equal", (("value", 100),))
NO_LAW = LegalFacts(profile=None, stated={}, missing=())


@dataclass
class Answers:
    """An engine that answers as it is told, and remembers what the library was asked."""

    counted: Counted | InputError
    said: bool | None = None
    asked: list[tuple[Any, float]] = field(default_factory=list)

    def count_expectation(self, of: Any, expectation: Expectation, *, places: bool = False) -> Counted:
        if isinstance(self.counted, InputError):
            raise self.counted
        return self.counted

    def great_expectations(self, of: Any, expectations: Any) -> tuple[bool | None, ...]:
        self.asked += [(one.name, mostly) for one, mostly in expectations]
        return tuple(self.said for _ in expectations)


def check(expectation: Expectation = IN_SET, **more: Any) -> CheckPlan:
    return CheckPlan("C", expectation.name, expectation=expectation, options=expectation.parameters, **more)


def made(counted: Counted | InputError, said: bool | None = True, of: CheckPlan | None = None, **places: Any):
    where = {"released": FILE, "usable": frozenset({"sex", "mail"}), "source": SOURCE, "minimum": 5} | places
    engine = Answers(counted, said)
    (result,) = standard_checks([of or check()], Places(**where), engine)
    return result, engine


def test_the_share_of_what_was_looked_at_is_compared_and_shown():
    result, _ = made(Counted(8, 2, 2), False, check(mostly=Fraction(1, 2)))
    assert result.outcome is Outcome.FAIL
    assert (result.observed.exact, result.limit.exact) == ("1", "1/2")
    assert "25" not in result.message


@pytest.mark.parametrize(("failing", "outcome"), [(5, Outcome.PASS), (6, Outcome.FAIL)])
def test_a_share_equal_to_the_limit_passes(failing, outcome):
    result, _ = made(Counted(100, 100, failing), failing <= 5, check(mostly=Fraction(95, 100)))
    assert result.outcome is outcome


def test_the_library_is_asked_with_the_share_that_must_meet_it():
    _, engine = made(Counted(100, 100, 0), True, check(mostly=Fraction(9, 10)))
    assert engine.asked == [(IN_SET.name, 0.9)]


def test_where_it_says_no_and_our_count_says_yes_nothing_passes():
    result, _ = made(Counted(100, 100, 0), False)
    assert result.outcome is Outcome.NOT_EVALUATED
    assert result.message == "Great Expectations comes to another result than our own count"
    assert not result.vacuous


def test_where_it_could_not_be_evaluated_nothing_passes():
    result, _ = made(Counted(100, 100, 0), None)
    assert result.outcome is Outcome.NOT_EVALUATED


def test_its_rounding_at_the_limit_itself_is_no_other_result():
    # 1 - 9/10 is 0.09999999999999998 as floats, below 0.1
    result, _ = made(Counted(10, 10, 9), False, check(mostly=Fraction(1, 10)))
    assert result.outcome is Outcome.PASS


def test_a_count_that_fails_needs_no_word_of_the_library():
    result, _ = made(Counted(100, 100, 1), True)
    assert result.outcome is Outcome.FAIL


def test_patterns_are_decided_by_our_count_and_do_not_load_the_library():
    result, engine = made(Counted(100, 100, 0), None, check(REGEX))
    assert (result.outcome, engine.asked) == (Outcome.PASS, [])


@pytest.mark.parametrize(
    ("counted", "says"),
    [(Counted(0, 0, 0), "no rows"), (Counted(8, 0, 0), "no values: all that it would look at are missing")],
)
def test_nothing_to_look_at_neither_passes_nor_fails_and_a_person_decides(counted, says):
    result, engine = made(counted)
    assert (result.outcome, result.message, result.observed) == (Outcome.NOT_EVALUATED, says, None)
    assert engine.asked == []
    decision = decide((), None, [result], [], NO_LAW)
    assert decision.outcome is Outcome.REVIEW
    assert decision.checks_passed == 0
    assert any(says in reason for reason in decision.reasons)


def test_nothing_to_look_at_for_a_check_that_warns_decides_nothing():
    result, _ = made(Counted(0, 0, 0), of=check(severity="warn"))
    assert result.outcome is Outcome.NOT_EVALUATED
    assert decide((), None, [result], [], NO_LAW).outcome is Outcome.PASS


def test_a_table_without_rows_is_a_table_and_is_counted():
    result, engine = made(Counted(0, 0), False, check(ROWS))
    assert (result.outcome, len(engine.asked)) == (Outcome.FAIL, 1)


def test_a_failure_with_severity_warn_warns():
    result, _ = made(Counted(100, 100, 50), False, check(severity="warn"))
    assert result.outcome is Outcome.WARN


@pytest.mark.parametrize(
    ("counted", "shown"),
    [
        (Counted(100, 100, 0), Visibility.RECIPIENT),
        (Counted(100, 99, 0), Visibility.RECIPIENT),  # a share of nothing tells no number of missing values
        (Counted(100, 100, 4), Visibility.INTERNAL),
        (Counted(100, 100, 5), Visibility.RECIPIENT),
        (Counted(100, 100, 96), Visibility.INTERNAL),
        (Counted(100, 98, 50), Visibility.INTERNAL),  # two are missing: the fraction's denominator tells 98
        (Counted(100, 95, 50), Visibility.RECIPIENT),
        (Counted(100, 4, 4), Visibility.INTERNAL),
    ],
)
def test_recipients_see_a_check_where_no_count_behind_it_is_small(counted, shown):
    result, _ = made(counted, counted.failing == 0, check(severity="warn"))
    assert result.visibility is shown
    assert result.observed.visibility is shown
    if shown is Visibility.RECIPIENT and counted.failing:
        assert str(counted.failing) + " of" not in result.message


def test_what_is_read_from_the_source_stays_inside_whatever_its_size():
    result, _ = made(Counted(100, 100, 50, places=(1, 2)), False, check(REGEX, on="source"))
    assert result.visibility is Visibility.INTERNAL
    assert result.message == "50 of 100 values fail (50 %, rows 1, 2 and more); at most 0 % may"
    result, _ = made(Counted(100, 100, 0), True, check(on="source"))
    assert result.visibility is Visibility.INTERNAL


def test_a_file_that_lacks_the_column_or_has_it_as_another_type_is_not_counted():
    result, engine = made(Counted(100, 100, 0), usable=frozenset({"mail"}))
    assert (result.outcome, engine.asked) == (Outcome.NOT_EVALUATED, [])
    assert decide((), None, [result], [], NO_LAW).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("on", "place", "says"), [("release", "released", "no file can be read"), ("source", "source", "the source was not read")]
)
def test_what_is_not_there_is_said(on, place, says):
    result, _ = made(Counted(100, 100, 0), of=check(REGEX, on=on), **{place: None})
    assert (result.outcome, result.message) == (Outcome.NOT_EVALUATED, says)


def test_a_fault_of_the_engine_is_told_without_its_text_and_want_of_memory_is_raised():
    result, _ = made(InputError(code="D199", message="made-up cell 4410", hint=""))
    assert (result.outcome, result.message) == (Outcome.NOT_EVALUATED, "the engine could not evaluate it")
    with pytest.raises(InputError, match="no memory"):
        made(InputError(code="D120", message="no memory", hint=""))


def test_under_noise_a_check_on_the_source_only_informs_whatever_it_finds():
    for counted in (
        Counted(8, 8, 8, places=(1,)),
        Counted(8, 8, 0),
        Counted(0, 0, 0),
        InputError(code="D120", message="no", hint=""),
    ):
        result, _ = made(counted, False, check(on="source"), private=True)
        assert (result.private, result.severity, result.visibility) == (True, "warn", Visibility.INTERNAL)
        decision = decide((), None, [result], [], NO_LAW)
        assert (decision.outcome, decision.checks_passed, decision.checks_total) == (Outcome.PASS, 0, 0)
        assert not any(result.title in said for said in decision.assessment_remaining)
