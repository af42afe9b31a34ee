"""Classes of values: every way to make, compare, print, copy and misuse one gives what the standard library's dataclass gives."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import sys
from dataclasses import FrozenInstanceError, field
from typing import ClassVar, Generic, NamedTuple, TypeVar

import pytest

from privrelease import value_classes

T = TypeVar("T")


class Pair(NamedTuple):
    """A class as this module makes it, and as the standard library does."""

    ours: type
    theirs: type


def both(body: dict[str, object], annotations: dict[str, object], bases: tuple[type, ...] = (), **given: bool) -> Pair:
    made = []
    for decorator in (value_classes.dataclass, dataclasses.dataclass):
        one = type(
            "Made", bases, {"__annotations__": dict(annotations), "__module__": __name__, "__qualname__": "Made", **body}
        )
        made.append(decorator(**({"frozen": True, "slots": True} | given))(one))
    return Pair(*made)


def post(self):
    object.__setattr__(self, "b", self.b * 2)


PAIRS = {
    "plain": (both({}, {"a": "int", "b": "str"}), [(1, "x"), (1, "y")]),
    "defaults": (
        both({"b": 3, "c": field(default_factory=list, compare=False)}, {"a": int, "b": int, "c": list}),
        [(1,), (1, 4), (1, 3, [2])],
    ),
    "one field": (both({}, {"a": float}), [(1.0,), (2.0,)]),
    "no field": (both({"__doc__": "Nothing."}, {}), [()]),
    "no comparison": (both({}, {"a": int}, eq=False), [(1,)]),
    "constants and properties": (
        both({"kind": "x", "twice": property(lambda self: self.a * 2)}, {"kind": "ClassVar[str]", "a": int}),
        [(2,)],
    ),
    "made afterwards": (both({"__post_init__": post, "b": 5}, {"a": int, "b": int}), [(1,), (1, 2)]),
    "hidden": (
        both({"b": field(default=1, repr=False), "c": field(init=False, default=7)}, {"a": int, "b": int, "c": int}),
        [(1,), (1, 2)],
    ),
    "keyword alone": (both({"b": field(default=1, kw_only=True)}, {"a": int, "b": int}), [(1,)]),
    "keyword alone, made when missing": (
        both(
            {
                "b": field(default_factory=list, kw_only=True),
                "c": field(default=2),
                "d": field(init=False, default_factory=dict),
            },
            {"a": int, "b": list, "c": int, "d": dict},
        ),
        [(1,), (1, 3)],
    ),
    "numbered names": (both({"_0": 4}, {"a": int, "_0": int}), [(1,), (1, 2)]),
    "unhashable": (both({}, {"a": list}), [([1],), ([2],)]),
    "own methods": (both({"__repr__": lambda self: "mine", "__eq__": lambda self, other: True}, {"a": int}), [(1,), (2,)]),
}


def outcome(work):
    try:
        return work()
    except Exception as error:  # noqa: BLE001 -- both fail alike
        return type(error), str(error).replace("value_classes.", "dataclasses.")


@pytest.mark.parametrize("name", PAIRS)
def test_values_are_those_of_the_standard_library(name):
    pair, given = PAIRS[name]
    ours, theirs = ([cls(*values) for values in given] for cls in pair)
    ways = [
        lambda xs: [repr(x) for x in xs],
        lambda xs: [[x == y for y in xs] for x in xs],
        lambda xs: xs[0] == "another class",
        lambda xs: [hash(x) for x in xs] if type(xs[0]).__eq__ is not object.__eq__ else None,
        lambda xs: [dataclasses.asdict(x) for x in xs],
        lambda xs: [dataclasses.astuple(x) for x in xs],
        lambda xs: [(f.name, f.type, f.init, f.repr, f.compare) for f in dataclasses.fields(xs[0])],
        lambda xs: type(xs[0]).__match_args__,
        lambda xs: type(xs[0]).__slots__,
        lambda xs: type(xs[0]).__doc__ if name == "no field" else None,
        lambda xs: [(one.name, one.kind, one.annotation) for one in inspect.signature(type(xs[0])).parameters.values()],
        lambda xs: repr(copy.copy(xs[0])),
        lambda xs: repr(copy.deepcopy(xs[-1])),
        lambda xs: repr(dataclasses.replace(xs[-1])),
        lambda xs: dataclasses.is_dataclass(xs[0]),
        # where there is no field, the standard library's own refusal fails on Python 3.11
        lambda xs: setattr(xs[0], "a", 1) if dataclasses.fields(xs[0]) else None,
        lambda xs: delattr(xs[0], "a") if dataclasses.fields(xs[0]) else None,
        lambda xs: type(xs[0])("far", "too", "many", "of", "them"),
        lambda xs: xs[0].__dict__,
    ]
    for number, way in enumerate(ways):
        assert outcome(lambda way=way: way(ours)) == outcome(lambda way=way: way(theirs)), (name, number)


@value_classes.dataclass(frozen=True, slots=True)
class Place(Generic[T]):
    """A value that is pickled by name."""

    file: T
    line: int = 0
    kind: ClassVar[str] = "place"


def test_values_are_pickled_copied_and_changed_in_copies():
    place = Place("a.yaml", 3)
    assert pickle.loads(pickle.dumps(place)) == place
    assert dataclasses.replace(place, line=4) == Place("a.yaml", 4)
    assert {place: 1}[Place("a.yaml", 3)] == 1
    match place:
        case Place(file, line):
            assert (file, line) == ("a.yaml", 3)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'line'"):
        place.line = 5
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'unheard'"):
        place.unheard = 5
    assert Place.__doc__ == "A value that is pickled by name."
    assert sys.getsizeof(place) == sys.getsizeof(
        dataclasses.make_dataclass("P", ["file", "line"], frozen=True, slots=True)(1, 2)
    )


def test_classes_of_one_shape_share_their_code_and_no_name():
    (first, _), (second, _) = (both({"right": 1}, {name: int, "right": int}) for name in ("left", "up"))
    assert (first(left=3), second(up=3, right=4)) == (first(3, 1), second(3, 4))
    assert first.__init__.__code__.co_code == second.__init__.__code__.co_code
    with pytest.raises(TypeError, match=r"Made.__init__\(\) missing 1 required positional argument: 'up'"):
        second(right=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'left'"):
        second(left=1)


def test_what_is_read_of_a_class_is_that_of_the_standard_library_when_it_is_first_read():
    for body, types in (({"b": 2}, {"a": "int", "b": "int"}), ({"b": field(default=2)}, {"a": "int", "b": "int"})):
        for eq in (True, False):
            ours, theirs = both(body, types, eq=eq)
            below = type("Below", (ours,), {})
            assert repr(below.__dataclass_params__) == repr(theirs.__dataclass_params__)
            told = [
                [(one.name, one.type, one.default, one._field_type, one.kw_only) for one in cls.__dataclass_fields__.values()]
                for cls in (below, ours, theirs)
            ]
            assert told[0] == told[1] == told[2]
            assert ours.__dict__["__dataclass_fields__"] is ours.__dataclass_fields__  # read once, and kept where it belongs
            assert "__dataclass_fields__" not in below.__dict__


@pytest.mark.parametrize("default", [[], {}, set()])
def test_a_default_that_changes_is_refused_as_by_the_standard_library(default):
    with pytest.raises(ValueError, match="mutable default"):
        value_classes.dataclass(frozen=True, slots=True)(type("Made", (), {"__annotations__": {"a": "object"}, "a": default}))


def test_a_value_that_holds_itself_is_printed():
    values: list[object] = []
    place = Place(values)
    values.append(place)
    assert repr(place) == "Place(file=[...], line=0)"


@pytest.mark.parametrize("given", [{"frozen": False}, {"slots": False}, {"order": True}, {"init": False}])
def test_what_is_not_plain_is_left_to_the_standard_library(given, monkeypatch):
    asked = []
    real = dataclasses.dataclass
    monkeypatch.setattr(dataclasses, "dataclass", lambda cls, **how: asked.append(how) or real(cls, **how))
    value_classes.dataclass(**({"frozen": True, "slots": True} | given))(type("Made", (), {"__annotations__": {"a": int}}))
    assert asked == [{"frozen": True, "slots": True} | given]


def test_a_class_that_inherits_fields_has_them_all():
    class Below(Place[str]):
        more: int = 1

    made = value_classes.dataclass(frozen=True, slots=True)(Below)
    assert made("a", 1, 2) == made("a", 1, 2) != made("a", 1, 3)

    class OfNone(both({"__doc__": "Nothing."}, {}).ours):
        more: int = 1

    assert value_classes.dataclass(frozen=True, slots=True)(OfNone)(3).more == 3


def test_a_thread_that_describes_a_class_after_another_has_finds_the_same_fields():
    made = value_classes.dataclass(frozen=True, slots=True)(type("Made", (), {"__annotations__": {"a": int, "b": int}}))
    later = made.__dict__["__dataclass_fields__"]  # as a second thread holds it
    assert [one.name for one in dataclasses.fields(made)] == ["a", "b"]
    assert made.__dict__["__dataclass_fields__"] is not later
    assert list(later.__get__(None, made)) == ["a", "b"]


def test_a_value_is_replaced_as_the_standard_library_asks_for_it():
    """``copy.replace`` of Python 3.13 calls the method."""
    assert Place("a", 1).__replace__(line=2) == dataclasses.replace(Place("a", 1), line=2) == Place("a", 2)
