"""Every key of the policy's language, walked in the models; and made-up policies of which one key is another.

A base is a mapping of keys to mappings or to what stands there, as YAML in one line. Releases, checks and queries are written by their ids.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from ruamel.yaml import YAML

from privrelease.policy.language.kinds import KINDS
from privrelease.policy.language.models import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

Base = dict[str, Any]
Value = str | dict[str, Any] | None
Edits = tuple[tuple[str, Value], ...]
_MODELS = {kind.name: kind.model for kind in KINDS}
_LISTED_BY_ID = ("releases", "checks", "queries")


@dataclass(frozen=True)
class Row:
    """One change: where, what stands there before and after (None: nothing), and what it must read as.

    ``at``: dotted; ``a.[].b`` is the key b of the entries of the list a, which is given whole. ``said``: the subject, where it is not ``at``.
    ``given``: what else stands in both policies; ``only_old`` and ``only_new``: in one of them. ``beside``: subjects of what is told too, since
    one key cannot change without the other. ``does``: the kind of change, where what stands there does not tell.
    ``line``: where it must point where that is not ``at``; ``in_old``: in the old policy, although the new one has the key too.
    ``within``: the rest of the key, where a short form is written that does not have it.
    """

    base: Base = field(repr=False, hash=False, compare=False)
    at: str
    old: Value
    new: Value
    effect: str
    said: str | None = None
    given: Edits = field(default=(), hash=False, compare=False)
    only_old: Edits = field(default=(), hash=False, compare=False)
    only_new: Edits = field(default=(), hash=False, compare=False)
    beside: tuple[str, ...] = ()
    does: str | None = None
    line: str | None = None
    within: str | None = None
    in_old: bool = False

    @property
    def place(self) -> str:
        """Where the value is that changes."""
        return self.at.split(".[]")[0]

    @property
    def subject(self) -> str:
        return self.place if self.said is None else self.said

    @property
    def key(self) -> str:
        """The key of the language that it is about."""
        return key_of(self.at, self.known_releases) + ("" if self.within is None else f".{self.within}")

    @property
    def known_releases(self) -> Base:
        """The base, with a release that only one of the policies has."""
        whole = next((side for side in (self.new, self.old) if isinstance(side, dict) and "kind" in side), None)
        at = self.at.split(".")
        return self.base if whole is None else self.base | {"releases": self.base["releases"] | {at[1]: whole}}

    @property
    def kind(self) -> str:
        """What is done: added, removed, raised, lowered, more, fewer, reordered, ``a>b`` of two words, or altered."""
        if self.does is not None:
            return self.does
        if self.old is None or self.new is None:
            return "added" if self.old is None else "removed"
        assert isinstance(self.old, str)
        assert isinstance(self.new, str)
        numbers = [_number(side) for side in (self.old, self.new)]
        if numbers[0] is not None and numbers[1] is not None:
            return "raised" if numbers[1] > numbers[0] else "lowered"
        lists = [YAML(typ="safe").load(side) for side in (self.old, self.new)]
        if all(isinstance(side, list) for side in lists):
            before, after = ([repr(item) for item in side] for side in lists)
            if sorted(before) == sorted(after):
                return "reordered"
            if set(before) < set(after):
                return "more"
            return "fewer" if set(after) < set(before) else "altered"
        return ">".join(side.strip("'") for side in (self.old, self.new))

    @property
    def texts(self) -> tuple[Written, Written]:
        """Both policies."""
        found = []
        for value, only in ((self.old, self.only_old), (self.new, self.only_new)):
            made = copy.deepcopy(self.base)
            for path, other in (*self.given, *only, (self.place, value)):
                _put(made, path.split("."), other)
            found.append(write(made))
        return found[0], found[1]

    def __str__(self) -> str:
        return f"{self.at}: {self.old} -> {self.new}"


def rows(base: Base, at: str, values: tuple[Value, Value], verdicts: str, **other: Any) -> list[Row]:
    """Rows of one key: ``raised W lowered S added S removed N`` with effects by their first letter.

    The second of ``values`` is higher, longer or just another than the first.
    """
    effects = {"W": "weaker", "B": "breaking", "S": "stricter", "N": "neutral"}
    first, second = values
    sides = {
        "added": (None, first),
        "removed": (first, None),
        "raised": values,
        "more": values,
        "altered": values,
        "on": values,
        "lowered": (second, first),
        "fewer": (second, first),
        "off": (second, first),
        "reordered": values,
    }
    words = verdicts.split()
    found = []
    for kind, effect in zip(words[::2], words[1::2], strict=True):
        does = {"altered": "altered"}.get(kind)
        found.append(Row(base, at, *sides[kind], effects[effect], does=does, **other))
    return found


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _put(node: Any, path: list[str], value: Value) -> None:
    for part in path[:-1]:
        if value is None and isinstance(node, dict) and part not in node:
            return
        node = node.setdefault(part, {}) if isinstance(node, dict) else node[int(part)]
    if isinstance(node, list):
        node[int(path[-1])] = copy.deepcopy(value)
    elif value is None:
        node.pop(path[-1], None)
    else:
        node[path[-1]] = copy.deepcopy(value)


@dataclass(frozen=True)
class Written:
    """A policy as text, and the line of each dotted path."""

    text: str
    lines: dict[str, int]


def write(base: Base) -> Written:
    """Write a policy, one key a line."""
    lines: list[str] = []
    places: dict[str, int] = {}

    def below(node: Any, path: str, depth: int) -> None:
        for key, value in node.items():
            here = f"{path}.{key}" if path else str(key)
            lines.append("  " * depth + f"{key}:")
            places[here] = len(lines)
            if isinstance(value, str):
                lines[-1] += f" {value}"
            elif isinstance(value, list) or key in _LISTED_BY_ID:
                named = {str(number): item for number, item in enumerate(value)} if isinstance(value, list) else value
                for name, item in named.items():
                    lines.append("  " * (depth + 1) + "-")
                    places[f"{here}.{name}"] = len(lines) + 1
                    below(item if isinstance(value, list) else {"id": name, **item}, f"{here}.{name}", depth + 2)
            else:
                below(value, here, depth + 1)

    below(base, "", 0)
    return Written("\n".join(lines) + "\n", places)


# ------------------------------------------------------------------------------------------------------------ the language's keys


@dataclass(frozen=True)
class Key:
    """A key of the language: its pattern, whether it can be left out, and what it takes."""

    pattern: str
    optional: bool
    numbers: bool
    words: tuple[str, ...]
    listed: bool
    mapped: bool
    inner: bool

    def demands(self) -> set[str]:
        """The kinds of change that must have a verdict each."""
        found: set[str] = set()
        if self.inner:
            return {"altered"}
        if self.optional:
            found |= {"added", "removed"}
        if self.numbers:
            found |= {"raised", "lowered"}
        if len(self.words) in (2, 3):
            found |= {f"{old}>{new}" for old in self.words for new in self.words if old != new}
        if self.listed:
            found |= {"more", "fewer"}
        if not (found - {"added", "removed"}) and not self.mapped and len(self.words) != 1:
            found.add("altered")
        return found


def every_key() -> dict[str, Key]:
    """Return every key by its pattern: ``*`` is any name, ``[]`` any entry of a list; releases by their kinds."""
    return {key.pattern: key for key in _keys(Policy, "", inner=False)}


def _keys(model: type[BaseModel], path: str, *, inner: bool) -> Iterator[Key]:
    for name, info in model.model_fields.items():
        pattern = f"{path}{info.alias or name}"
        kinds = list(_leaves(info.annotation))
        below = list(_below(info.annotation))
        listed = any(get_origin(kind) is tuple and Ellipsis in get_args(kind) for kind in kinds)
        words = tuple(word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind))
        words += ("true", "false") if bool in kinds else ()
        words += tuple(one.value for kind in kinds if isinstance(kind, type) and hasattr(kind, "__members__") for one in kind)
        yield Key(
            pattern,
            not info.is_required() and info.get_default(call_default_factory=True) in (None, (), {}),
            any(kind in (int, Decimal, Fraction) for kind in kinds),
            words,
            listed and not inner,
            bool(below) or any(get_origin(kind) is dict for kind in kinds),
            inner,
        )
        assert info.get_default() is not PydanticUndefined or info.is_required() or info.default_factory is not None
        for suffix, kind in below:
            if kind is None:
                yield Key(pattern + suffix, optional=True, numbers=False, words=(), listed=False, mapped=True, inner=inner)
                continue
            within = inner or (
                suffix.startswith(".[]") and pattern.rpartition(".")[2] not in _LISTED_BY_ID and "transform" not in pattern
            )
            if suffix and not within:
                yield Key(pattern + suffix, optional=True, numbers=False, words=(), listed=False, mapped=True, inner=False)
            yield from _keys(kind, f"{pattern}{suffix}.", inner=within)


def _leaves(kind: Any) -> Iterator[Any]:
    if get_origin(kind) is Annotated:
        yield from _leaves(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for one in get_args(kind):
            yield from _leaves(one)
    elif kind is not NoneType:
        yield kind


def _below(kind: Any) -> Iterator[tuple[str, type[BaseModel] | None]]:
    """What lies below a key: models by their way; None for a mapping of names to values."""
    for one in _leaves(kind):
        if isinstance(one, type) and issubclass(one, BaseModel):
            yield "", one
        elif get_origin(one) is dict:
            found = list(_below(get_args(one)[1]))
            yield from ((f".*{suffix}", model) for suffix, model in found)
            if not found:
                yield ".*", None
        elif get_origin(one) is tuple:
            of = [item for item in get_args(one) if item is not Ellipsis]
            found = [pair for item in dict.fromkeys(of) for pair in _below(item)]
            several = len(found) > 1
            yield from ((f".[]{f'<{model.__name__}>' if several else ''}{suffix}", model) for suffix, model in found if model)


def key_of(at: str, base: Base) -> str:
    """The pattern of a dotted path; ``base`` says of which kind a release is."""
    parts = at.split(".")
    found: list[str] = []
    kind: Any = Policy
    for number, part in enumerate(parts):
        model = next((one for one in _leaves(kind) if isinstance(one, type) and issubclass(one, BaseModel)), None)
        if model is not None:
            found.append(part)
            kind = next(info.annotation for name, info in model.model_fields.items() if part == (info.alias or name))
            continue
        origin = next(one for one in _leaves(kind) if get_origin(one) in (dict, tuple))
        if get_origin(origin) is dict:
            found.append("*")
            kind = get_args(origin)[1]
        elif found == ["releases"]:
            kind = _MODELS[base["releases"][part]["kind"]]
            found.append(f"[]<{kind.__name__}>")
        else:
            options = [one for _, one in _below(origin) if one is not None]
            named = [one for one in options if f"<{one.__name__}>" in part]
            named += [one for one in options if number + 1 < len(parts) and _has(one, parts[number + 1])]
            kind = (*named, options[0])[0]
            found.append(f"[]<{kind.__name__}>" if len(options) > 1 else "[]")
    return ".".join(found)


def _has(model: type[BaseModel], key: str) -> bool:
    return any(key == (info.alias or name) for name, info in model.model_fields.items())
