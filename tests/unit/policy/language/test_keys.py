"""What keys say about themselves is found by their names, and means what it says."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, get_args, get_origin

import pytest
from pydantic import BaseModel

from privrelease.policy.declared import declared, fields_of, marked
from privrelease.policy.language.keys import ABSENT, FREE, FREE_BELOW, KEEP, Judged, Ref, Stricter, one_alone
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.language.models import Policy
from privrelease.policy.language.values import ColumnName
from privrelease.relational.schema import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

LOW, HIGH = Decimal("0.1"), Decimal("0.2")


@pytest.mark.parametrize(
    ("direction", "allowed", "refused"),
    [
        (Stricter.LOWER, [(HIGH, LOW), (None, LOW), (LOW, LOW)], [(LOW, HIGH), (LOW, None)]),
        (Stricter.LOWER_FROM_0, [(HIGH, LOW), (LOW, None)], [(LOW, HIGH), (None, LOW)]),
        (Stricter.HIGHER, [(LOW, HIGH), (None, LOW)], [(HIGH, LOW), (LOW, None)]),
        (Stricter.HIGHER_TO_ALL, [(LOW, HIGH), (LOW, None)], [(HIGH, LOW), (None, LOW)]),
        (Stricter.SET, [(None, LOW)], [(LOW, HIGH), (LOW, None)]),
        (Stricter.MORE, [(("a",), ("b", "a"))], [(("a", "b"), ("a",)), (("a",), ("b",))]),
        (Stricter.FEWER, [(("a", "b"), ("a",))], [(("a",), ("b", "a"))]),
        (Stricter.FEWER_COLUMNS, [(None, ("a",)), (("a", "b"), ("b",))], [(("a",), None), (("a",), ("a", "b"))]),
        (Stricter.ADDED, [(ABSENT, LOW)], [(LOW, ABSENT), (LOW, HIGH)]),
        (Stricter.REMOVED, [(LOW, ABSENT)], [(ABSENT, LOW), (LOW, HIGH)]),
        (Stricter.NAMED, [(None, "a.csv"), ("a.csv", "b.csv")], [("a.csv", None)]),
        (Stricter.POINTED, [("a.csv", "b.csv")], [("a.csv", None)]),
        (Stricter.TRUE, [(False, True)], [(True, False)]),
        (Stricter.FALSE, [(True, False)], [(False, True)]),
        (Stricter.becomes("warn", "error"), [("warn", "error")], [("error", "warn"), ("warn", "info")]),
        (
            Stricter.ranked(Role.INSENSITIVE, Role.SENSITIVE, Role.QUASI, Role.DIRECT),
            [(Role.SENSITIVE, Role.QUASI), (Role.INSENSITIVE, Role.DIRECT)],
            [(Role.DIRECT, Role.QUASI), (Role.SENSITIVE, Role.INSENSITIVE)],
        ),
        (FREE, [(LOW, HIGH), (HIGH, None)], []),
    ],
    ids=lambda value: value.rule if hasattr(value, "rule") else None,
)
def test_a_direction_allows_what_is_stricter_and_nothing_else(direction, allowed, refused):
    assert [direction.allows(old, new) for old, new in allowed] == [True] * len(allowed)
    assert [direction.allows(old, new) for old, new in refused] == [False] * len(refused)
    assert direction.stricter != (direction is FREE)


@pytest.mark.parametrize(
    ("path", "kind", "allowed"),
    [
        ("threats.t.highest_risk", None, Stricter.LOWER),
        ("threats.t", None, Stricter.ADDED),
        ("threats.t.records_at_risk.above", None, Stricter.LOWER),
        ("datasets.d", None, Stricter.ADDED),
        ("datasets.d.source.csv", None, FREE_BELOW),
        ("datasets.d.columns.age.format.missing", None, FREE_BELOW),
        ("datasets.d.columns.age.grid", None, None),
        ("releases.r", None, Stricter.REMOVED),
        ("releases.r.protect", "microdata", Stricter.MORE),
        ("releases.r.protect", "table", None),
        ("releases.r.protect.p_percent", "table", Stricter.HIGHER),
        ("releases.r.drop", "microdata", Stricter.MORE),
        ("releases.r.suppress", "microdata", Stricter.REMOVED),
        ("releases.r.suppress.limit", "microdata", Stricter.LOWER),
        ("releases.r.suppress.limit", "table", None),
        ("releases.r.pseudonymise.age", "microdata", None),
        ("releases.r.queries.q", "statistics", Stricter.REMOVED),
        ("releases.r.queries.q.epsilon", "statistics", Stricter.LOWER),
        ("releases.r.budget.delta", "statistics", Stricter.LOWER_FROM_0),
        ("ledger.datasets.d.delta", None, Stricter.LOWER_FROM_0),
        ("attacks.inference.max_risk", None, Stricter.LOWER),
        ("context.population.size", None, FREE_BELOW),
        ("legal.dpia.risks", None, None),
        ("nothing.of.the.kind", None, None),
    ],
)
def test_what_an_environment_may_do_stands_at_the_key(path, kind, allowed):
    assert declared(tuple(path.split(".")), KINDS, kind).allowed is allowed


def test_the_judge_of_a_key_comes_before_those_of_the_keys_above_it():
    own = declared(("context", "release_model")).judges
    assert own[1:] == declared(("context", "harms")).judges == declared(("context",)).judges
    assert len(own) == 2


def test_a_key_that_says_how_cells_are_read_is_known_alone_and_in_its_section():
    section = ("datasets", "d", "columns", "c", "format")
    assert declared((*section, "aliases", "x")).recodes
    assert not declared(("datasets", "d", "format", "delimiter")).recodes
    assert set(declared(("datasets", "d", "format")).recoding) == {
        *("quote", "encoding", "decimal", "thousands", "date", "datetime", "pivot", "missing", "suppression_mark")
    }
    assert set(declared(section).recoding) == {
        *("decimal", "thousands", "date", "datetime", "pivot", "missing", "suppression_mark", "aliases", "normalise")
    }


def test_a_list_of_one_is_its_item():
    assert one_alone(["a"]) == "a"
    assert one_alone(["a", "b"]) == ["a", "b"]
    assert one_alone([]) == []


def test_words_of_a_direction_are_not_those_of_a_key_that_is_fixed():
    directions = [value for value in vars(Stricter).values() if hasattr(value, "rule")]
    assert len(directions) >= 14
    assert KEEP not in {one.rule for one in directions}


# ------------------------------------------------------------------------------------------------ every key of the language


def keys(annotation: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield every key with its type; entries of mappings and lists as ``*``."""
    for bare, _ in marked(annotation):
        if isinstance(bare, type) and issubclass(bare, BaseModel):
            for key, below in fields_of(bare):
                yield f"{path}{key}", below
                yield from keys(below, f"{path}{key}.")
        elif get_origin(bare) in {dict, tuple}:
            for one in get_args(bare):
                if one is not Ellipsis:
                    yield from keys(one, f"{path}*.")


def names(annotation: object) -> Iterator[tuple[object, ...]]:
    """Yield the marks of each text in a type."""
    for bare, marks in marked(annotation):
        if bare is str:
            yield marks
        elif get_origin(bare) in {dict, tuple}:
            for one in get_args(bare):
                yield from names(one)


#: Names of columns that are not looked up in the dataset that is named beside them.
ELSEWHERE = {
    "datasets.*.columns": "they are declared here",
    "releases.*.queries.*.keys.listed": "one of `by`, looked up with the query's groups",
    "attacks.linkability.columns": "of each release that is attacked",
    "attacks.inference.target": "of each release that is attacked",
    "attacks.inference.knows": "of each release that is attacked",
    "attacks.record_linkage.knows": "of each release that is attacked",
    "attacks.membership.knows": "of each release that is attacked",
}
IS_COLUMN = get_args(ColumnName)[1]


def test_every_key_that_takes_a_column_says_of_which_dataset():
    of_columns = {path: list(names(kind)) for path, kind in keys(Policy) if any(IS_COLUMN in marks for marks in names(kind))}
    assert len(of_columns) > 25
    unsaid = {
        path
        for path, found in of_columns.items()
        if any(IS_COLUMN in marks and not any(isinstance(mark, Ref) for mark in marks) for marks in found)
    }
    assert unsaid == set(ELSEWHERE)


def test_every_name_of_another_section_is_declared():
    found = {
        path: mark.section for path, kind in keys(Policy) for marks in names(kind) for mark in marks if isinstance(mark, Ref)
    }
    others = {path: section for path, section in found.items() if section != "columns"}
    assert others == {
        "threats.*.dataset": "datasets",
        "threats.*.population.table": "datasets",
        "releases.*.from": "datasets",
        "releases.*.protect": "threats",
        "checks.*.release": "releases",
        "checks.*.threat": "threats",
        "waivers.*.check": "checks",
        "waivers.*.release": "releases",
        "ledger.datasets": "datasets",
    }


def test_most_keys_say_something_and_a_judge_is_a_function():
    said = [mark for _, kind in keys(Policy) for _, marks in marked(kind) for mark in marks if isinstance(mark, Judged)]
    assert len(said) > 60
    assert all(callable(mark.judge) for mark in said)
