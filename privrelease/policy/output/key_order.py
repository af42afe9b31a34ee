"""The order of keys in the language: that of the fields of the model that a mapping is, found by walking the language's own models."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from privrelease.policy.text.nodes import Mapping, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.policy.text.nodes import Node

__all__ = ["keys_of", "of_entry", "of_item"]


def _alternatives(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 -- annotations have no type
    """Yield the models, mappings of names and lists that a value may be; scalars are passed over."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif origin in {Union, UnionType}:
        for one in get_args(annotation):
            if one is not NoneType:
                yield from _alternatives(one)
    elif origin in {dict, tuple} or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        yield annotation


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    found: dict[str, Any] = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    if model.__name__ == "Policy":  # these are read before the model is made; an environment has the sections of a policy
        found = {"$schema": None, "extends": None} | found | {"environments": dict[str, model]}  # type: ignore[valid-type]
    return found


def _model(annotation: Any, node: Mapping) -> type[BaseModel] | None:  # noqa: ANN401
    """The one model that has every key of a mapping, and the kind that it names; None where there are several or none."""
    found = [one for one in _alternatives(annotation) if isinstance(one, type)]
    fits = [one for one in found if set(node.entries) <= set(_fields(one)) and _of_kind(one, node)]
    return fits[0] if len(fits) == 1 else None


def _of_kind(model: type[BaseModel], node: Mapping) -> bool:
    kinds = get_args(_unwrapped(_fields(model).get("kind")))
    written = node.entries.get("kind")
    return not kinds or written is None or not isinstance(written.value, Scalar) or written.value.text in kinds


def _unwrapped(annotation: Any) -> Any:  # noqa: ANN401
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def keys_of(annotation: Any, node: Node) -> tuple[str, ...] | None:  # noqa: ANN401
    """Return the keys of the model that a mapping is, in their order; None for a mapping of names, whose order is the user's."""
    model = _model(annotation, node) if isinstance(node, Mapping) else None
    return None if model is None else tuple(_fields(model))


def of_entry(annotation: Any, node: Mapping, key: str) -> Any:  # noqa: ANN401
    """Return what the value of a key may be; None where it is not known."""
    model = _model(annotation, node)
    if model is not None:
        return _fields(model).get(key)
    values = [get_args(one)[1] for one in _alternatives(annotation) if get_origin(one) is dict]
    return values[0] if len(values) == 1 else None


def of_item(annotation: Any) -> Any:  # noqa: ANN401
    """Return what an item of a list may be; None where it is not known."""
    items = [get_args(one)[0] for one in _alternatives(annotation) if get_origin(one) is tuple]
    return items[0] if len(items) == 1 else None
