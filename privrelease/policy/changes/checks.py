"""Verdicts on changes of a check: the direction of its limits, lists and words depends on what it expects."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from privrelease.policy.changes.directions import members, promised

if TYPE_CHECKING:
    from collections.abc import Iterable

    from privrelease.policy.changes.directions import Effect, Judge
    from privrelease.policy.changes.environment_rules import Changed
    from privrelease.policy.language.checks import Check

__all__ = ["bound", "diversity", "flag", "listed", "together"]


def _unchanged(change: Changed) -> Check | None:
    """The check, where what it expects, and how, is the same in both policies."""
    found = [
        next((one for one in policy.checks if one.id == change.names[1]), None)
        for policy in (change.before, change.after)
        if policy is not None
    ]
    same = len({(one.expect, one.match_on, one.exact_match) for one in found if one is not None}) == 1
    return found[0] if same and None not in found else None


def together(change: Changed) -> Effect | None:
    """Judge columns whose joint distribution is compared: more of them are never closer together."""
    return promised(change) if isinstance(change.old, tuple) and isinstance(change.new, tuple) else None


def diversity(change: Changed) -> Effect:
    """Judge how l is counted: entropy never counts more values than are there; the recursive form is another measure."""
    before, after = (side or "distinct" for side in (change.old, change.new))
    return "neutral" if before == after else "stricter" if (before, after) == ("distinct", "entropy") else "weaker"


def bound(*, higher: Effect) -> Judge:
    """Return the judge of a bound that is written as its column's values are: numbers by their size, days as texts, others unknown."""

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


def flag(*, stricter: bool, absent: bool = False) -> Judge:
    """Return the judge of a flag. ``stricter``: which of its values asks for more; ``absent``: what it is where it is not written."""

    def judge(change: Changed) -> Effect:
        before, after = (absent if side is None else side for side in (change.old, change.new))
        return "neutral" if before == after else "stricter" if after is stricter else "weaker"

    return judge


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

#: Of these one pattern is enough, or every one must match: `match_on` says which.
_OF_PATTERNS: Final = frozenset({"expect_column_values_to_match_regex_list", "expect_column_values_to_match_like_pattern_list"})
_COLUMNS: Final = "expect_table_columns_to_match_set"
_ORDERED: Final = "expect_table_columns_to_match_ordered_list"


def listed(change: Changed) -> Effect | None:
    """Judge a list of a check: what its expectation makes of more values or columns."""
    if not (isinstance(change.old, tuple) and isinstance(change.new, tuple)):
        return None
    check = _unchanged(change)
    if check is None:
        return None
    if members(change.old) == members(change.new):
        return None if check.expect == _ORDERED else "neutral"
    if check.expect in _OF_PATTERNS:
        return promised(change) if check.match_on == "all" else _shorter(change.old, change.new)
    harder = check.expect in _HARDER or (check.expect == _COLUMNS and check.exact_match is False)
    return _shorter(change.old, change.new) if check.expect in _EASIER else promised(change) if harder else None


def _shorter(old: Iterable[object], new: Iterable[object]) -> Effect:
    return "stricter" if set(new) <= set(old) else "weaker"
