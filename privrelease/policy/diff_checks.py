"""What a change of a check means: which way its limits, lists and words point depends on what it expects."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from privrelease.policy.diff_judging import limit, members, promised, ranked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from privrelease.policy.diff_judging import Effect, Judge, Judges
    from privrelease.policy.models import Policy
    from privrelease.policy.tightening import Changed

__all__ = ["CHECK_JUDGES"]


def _expects(change: Changed) -> str:
    """What the check expects, in both policies."""
    found = {_expected(policy, change.names[1]) for policy in (change.before, change.after)}
    return found.pop() if len(found) == 1 else ""


def _expected(policy: Policy | None, check: str) -> str:
    return "" if policy is None else next((one.expect for one in policy.checks if one.id == check), "")


def _together(change: Changed) -> Effect | None:
    """Columns whose joint distribution is compared: more of them are never closer together."""
    return promised(change) if isinstance(change.old, tuple) and isinstance(change.new, tuple) else None


def _bound(*, higher: Effect) -> Judge:
    """A bound that is written as its column's values are: numbers by their size, days as texts, others unknown."""

    def judge(change: Changed) -> Effect | None:
        if change.old is None or change.new is None:
            return "stricter" if change.old is None else "weaker"
        try:
            rises = Decimal(str(change.new)) > Decimal(str(change.old))
        except InvalidOperation:
            if not all(_is_day(side) for side in (change.old, change.new)):
                return None
            rises = str(change.new) > str(change.old)
        lower: Effect = "stricter" if higher == "weaker" else "weaker"
        return higher if rises else lower

    return judge


def _is_day(value: object) -> bool:
    text = str(value)
    return len(text) >= 10 and text[:4].isdigit() and text[4] == "-" and text[7] == "-"


def _flag(*, stricter: bool) -> Judge:
    """A flag; ``stricter``: which of its values asks for more. Not written, it is as the other one."""
    return lambda change: (
        "neutral" if bool(change.old) == bool(change.new) else "stricter" if bool(change.new) is stricter else "weaker"
    )


#: Expectations that more values or columns in their list make easier to meet, and those that more make harder.
_EASIER: Final = frozenset(
    {
        "expect_column_values_to_be_in_set",
        "expect_column_distinct_values_to_be_in_set",
        "expect_column_most_common_value_to_be_in_set",
        "expect_column_pair_values_to_be_in_set",
        "expect_column_values_to_be_in_type_list",
        "expect_compound_columns_to_be_unique",
    }
)
_HARDER: Final = frozenset(
    {
        "expect_column_values_to_not_be_in_set",
        "expect_column_distinct_values_to_contain_set",
        "expect_column_values_to_not_match_regex_list",
        "expect_column_values_to_not_match_like_pattern_list",
        "expect_select_column_values_to_be_unique_within_record",
    }
)


def _list(change: Changed) -> Effect | None:
    if not (isinstance(change.old, tuple) and isinstance(change.new, tuple)):
        return None
    if members(change.old) == members(change.new):
        return "neutral"
    expects = _expects(change)
    return _shorter(change.old, change.new) if expects in _EASIER else promised(change) if expects in _HARDER else None


def _shorter(old: Iterable[object], new: Iterable[object]) -> Effect:
    return "stricter" if set(new) <= set(old) else "weaker"


CHECK_JUDGES: Judges = (
    (("checks", "*", "columns"), _together),
    (("checks", "*", "c"), limit(higher="weaker")),
    (("checks", "*", "distance"), ranked("equal", "ordered", absent=("equal", "ordered"))),
    (("checks", "*", "min_value"), _bound(higher="stricter")),
    (("checks", "*", "max_value"), _bound(higher="weaker")),
    (("checks", "*", "strict_min"), _flag(stricter=True)),
    (("checks", "*", "strict_max"), _flag(stricter=True)),
    (("checks", "*", "exact_match"), _flag(stricter=True)),
    (("checks", "*", "double_sided"), _flag(stricter=True)),
    (("checks", "*", "or_equal"), _flag(stricter=False)),
    (("checks", "*", "ties_okay"), _flag(stricter=False)),
    (("checks", "*", "threshold"), limit(higher="weaker")),
    (("checks", "*", "value_set"), _list),
    (("checks", "*", "value_pairs_set"), _list),
    (("checks", "*", "type_list"), _list),
    (("checks", "*", "regex_list"), _list),
    (("checks", "*", "like_pattern_list"), _list),
)
