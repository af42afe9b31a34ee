"""The declarations at a key of the policy language (:mod:`~privrelease.policy.language.keys`), found by its dotted names."""

from __future__ import annotations

from types import GenericAlias, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from privrelease.policy.language.keys import RECODES, Allowed, Consequence, Judged
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.language.models import policy_model
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.policy.changes.directions import Judge
    from privrelease.policy.language.kinds import Kinds

__all__ = ["Declared", "alternatives", "declared", "fields_of", "marked", "marks_of"]

_Marks = tuple[object, ...]
_Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """Declarations that hold at a key: by itself, and by the keys above it where they speak for everything below.

    ``allowed``: what an environment may do. ``judges``: who judges a change, the key's own first. ``recodes``: another value gives cells
    another meaning. ``recoding``: keys just below of which the same is true. ``consequence``: words that follow a change.
    """

    allowed: Allowed | None = None
    judges: tuple[Judge, ...] = ()
    recodes: bool = False
    recoding: tuple[str, ...] = ()
    consequence: str = ""


def declared(names: _Names, kinds: Kinds = KINDS, kind: str | None = None) -> Declared:
    """Return the declarations at dotted names: releases, checks and queries by their ids, transform steps by their names.

    ``kind``: that of the release which the names lead into; without it the first kind that has the key.

    >>> declared(("threats", "external", "highest_risk")).allowed.rule
    'may become lower only'
    """
    for annotation, path in _ways(policy_model(kinds), (), names, kinds, kind):
        own, above = (path[-1] if path else ()), [mark for marks in reversed(path[:-1]) for mark in marks]
        allowed = [mark for mark in own if isinstance(mark, Allowed)]
        allowed += [mark for mark in above if isinstance(mark, Allowed) and mark.below]
        judges = [mark.judge for mark in own if isinstance(mark, Judged)]
        judges += [mark.judge for mark in above if isinstance(mark, Judged) and mark.below]
        recoding = tuple(key for key, below in fields_of(annotation) if RECODES in marks_of(below))
        follows = next((mark.words for mark in own if isinstance(mark, Consequence)), "")
        return Declared(next(iter(allowed), None), tuple(judges), RECODES in (*own, *above), recoding, follows)
    return Declared()


def _ways(
    annotation: Any,  # noqa: ANN401  annotations have no common type
    path: tuple[_Marks, ...],
    names: _Names,
    kinds: Kinds,
    kind: str | None,
) -> Iterator[tuple[Any, tuple[_Marks, ...]]]:
    """Every way down: the type at its end, and the marks of each key on the way."""
    if not names:
        yield annotation, path
        return
    for below, marks in _below(annotation, names[0], kinds, kind):
        yield from _ways(below, (*path, marks), names[1:], kinds, kind)


def _below(annotation: Any, name: str, kinds: Kinds, kind: str | None) -> Iterator[tuple[Any, _Marks]]:  # noqa: ANN401
    for one in alternatives(annotation):
        own = next((known for known in kinds if known.model is one), None)
        if own is not None and kind is not None and own.name != kind:
            continue
        origin, args = get_origin(one), get_args(one)
        if origin is dict:
            yield args[1], marks_of(args[1])
        elif origin is tuple:
            yield args[0], marks_of(args[0])
        else:
            yield from ((below, marks_of(below)) for key, below in fields_of(one) if key == name)
        for step in () if own is None else (model for key, model in own.steps if key == name):
            named = next(below for key, below in fields_of(step) if key == name)
            marks = marks_of(named)
            yield named, marks
            yield step, marks
            by_column: Any = Annotated[(step, *marks)] if marks else step
            yield GenericAlias(dict, (str, by_column)), marks  # keys by the column that the step is about


def fields_of(annotation: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  annotations have no common type
    """Yield the keys of the models that a type can be, with their types and what is declared there."""
    for one in alternatives(annotation):
        if isinstance(one, type) and issubclass(one, BaseModel):
            for name, field in one.model_fields.items():
                marks = tuple(field.metadata)
                yield field.alias or name, Annotated[(field.annotation, *marks)] if marks else field.annotation


def marked(annotation: Any, marks: _Marks = ()) -> Iterator[tuple[Any, _Marks]]:  # noqa: ANN401  annotations have no common type
    """Yield what a type can be, without None, each with all that is declared of it."""
    if get_origin(annotation) is Annotated:
        bare, *own = get_args(annotation)
        yield from marked(bare, (*marks, *own))
    elif get_origin(annotation) in {Union, UnionType}:
        for one in get_args(annotation):
            yield from marked(one, marks)
    elif annotation is not NoneType:
        yield annotation, marks


def alternatives(annotation: Any) -> Iterator[Any]:  # noqa: ANN401  annotations have no common type
    """Yield what a type can be, without its marks and without None."""
    return (bare for bare, _ in marked(annotation))


def marks_of(annotation: Any) -> _Marks:  # noqa: ANN401  annotations have no common type
    """Return what is declared of a type as a whole."""
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
