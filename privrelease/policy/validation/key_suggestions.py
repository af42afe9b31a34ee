"""Keys that the models know at a place, and those of them that a misspelt one can mean."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag

from privrelease.policy.language.models import Policy
from privrelease.policy.text.messages import did_you_mean
from privrelease.policy.text.nodes import Mapping, Node, as_written, walk

__all__ = ["keys_at", "meant_at"]

_Path = tuple[str | int, ...]


def keys_at(path: _Path, policy: type[Policy] = Policy) -> list[str]:
    """Return the keys that the models allow at ``path``; empty where the keys are free names."""
    kind: Any = policy
    for part in path:
        kind = _below(_bare(kind), part)
        if kind is None:
            return []
    kind = _bare(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        extra = ["extends", "environments"] if kind is policy else []
        return [field.alias or name for name, field in kind.model_fields.items()] + extra
    return []


def meant_at(tree: Node, path: _Path, policy: type[Policy] = Policy) -> frozenset[str]:
    """Return the keys that the unknown key at ``path`` can mean: those close to it that are not written next to it."""
    section = walk(tree, as_written(tree, path)[:-1])
    written = section.entries if isinstance(section, Mapping) else {}
    absent = (key for key in keys_at(path[:-1], policy) if key not in written)
    return frozenset(key for key in absent if did_you_mean(str(path[-1]), [key]) is not None)


def _bare(kind: Any) -> Any:  # noqa: ANN401  annotations have no common type
    """The type without markers and without None."""
    while True:
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        elif get_origin(kind) in {Union, UnionType} and type(None) in get_args(kind):
            rest = [arg for arg in get_args(kind) if arg is not type(None)]
            if len(rest) != 1:
                return kind
            kind = rest[0]
        else:
            return kind


def _below(kind: Any, part: str | int) -> Any:  # noqa: ANN401
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            if part in (name, field.alias):
                return field.annotation
        return None
    origin, args = get_origin(kind), get_args(kind)
    if origin is dict:
        return args[1]
    if origin is tuple:
        return args[0]
    if origin in {Union, UnionType}:
        for arg in args:
            if any(isinstance(mark, Tag) and mark.tag == part for mark in get_args(arg)[1:]):
                return arg
    return None
