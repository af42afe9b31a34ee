"""The policy language as JSON Schema draft-07, for editors and for whoever generates policies.

It says what the models say about structure. Rules between the parts of a policy (references, paths, thresholds that contradict) are
the loader's. Source: https://json-schema.org/draft-07/schema.
"""

from __future__ import annotations

import ast
import copy
import inspect
from functools import cache
from typing import TYPE_CHECKING, Any

from privrelease.policy.language.kinds import KINDS
from privrelease.policy.language.models import policy_model
from privrelease.policy.language.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from privrelease.policy.language.kinds import Kinds

__all__ = ["policy_schema"]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_OVERLAY = "overlay."
_Schema = dict[str, Any]


def policy_schema(kinds: Kinds = KINDS) -> _Schema:
    """Return the JSON Schema (draft-07) of a policy file.

    >>> policy_schema()["$schema"]
    'http://json-schema.org/draft-07/schema#'
    """
    made = policy_model(kinds).model_json_schema(by_alias=True, mode="validation", ref_template="#/definitions/{model}")
    _describe(made)
    definitions: _Schema = {name: _draft7(definition) for name, definition in sorted(made.pop("$defs", {}).items())}
    root = _draft7(made)
    overlays = {f"{_OVERLAY}{name}": _overlay(definition) for name, definition in definitions.items()}
    overlay = _overlay(root)
    for key in ("apiVersion", "kind", "id", "version"):
        del overlay["properties"][key]
    overlay["description"] = (
        "What is laid over the policy in this environment; it may tighten it or point its sources elsewhere."
    )
    texts = {"type": "string", "minLength": 1}
    root["properties"] = {
        "$schema": {"type": "string", "description": "Address of this schema, for editors."},
        **root["properties"],
        "extends": {
            "anyOf": [{"type": "array", "items": texts}, texts, {"type": "null"}],
            "description": "Policies that this one is laid over, in this order; paths relative to this file.",
        },
        "environments": {
            "anyOf": [
                {
                    "type": "object",
                    "additionalProperties": {"anyOf": [{"$ref": f"#/definitions/{_OVERLAY}Policy"}, {"type": "null"}]},
                },
                {"type": "null"},
            ],
            "description": "Overlays by name, chosen with --env.",
        },
    }
    return {
        "$schema": _DRAFT,
        "$id": "urn:privrelease:policy:v1",
        "title": "privrelease release policy",
        **root,
        "definitions": {**definitions, **overlays, f"{_OVERLAY}Policy": overlay},
    }


def _describe(made: _Schema) -> None:
    """Put the text under each field of the models into the schema as its description."""
    models = {model.__name__: model for model in _models(Frozen)}
    for name, definition in {**made.get("$defs", {}), "Policy": made}.items():
        model = models.get(name)
        if model is None:
            continue
        texts = {key: text for base in reversed(model.__mro__) for key, text in _field_texts(base).items()}
        for field, info in model.model_fields.items():
            if field in texts:
                definition["properties"][info.alias or field].setdefault("description", texts[field])


def _models(base: type[Frozen]) -> Iterator[type[Frozen]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)


def _field_texts(model: type) -> dict[str, str]:
    """The text under each field of a class, from its source."""
    module = inspect.getmodule(model)
    if module is None or not issubclass(model, Frozen) or model is Frozen:
        return {}
    found = (node for node in ast.walk(_tree(module)) if isinstance(node, ast.ClassDef) and node.name == model.__name__)
    texts = {}
    for definition in found:
        for field, below in zip(definition.body, definition.body[1:], strict=False):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    texts[name] = inspect.cleandoc(text)
                case _:
                    pass
    return texts


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _draft7(schema: Any) -> Any:  # noqa: ANN401  JSON
    """Rewrite what 2020-12 says otherwise, and drop what only pydantic reads."""
    if isinstance(schema, list):
        return [_draft7(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out: _Schema = {}
    for key, value in schema.items():
        if key in {"title", "discriminator"} and not isinstance(value, dict):
            continue
        if key == "discriminator" or (key == "default" and (value is None or isinstance(value, dict | list))):
            continue
        if key == "prefixItems":
            out["items"] = _draft7(value)
            out["additionalItems"] = False
        elif key == "properties":
            out[key] = {name: _draft7(item) for name, item in value.items()}
        elif key != "items" or "prefixItems" not in schema:
            out[key] = _draft7(value)
    if "$ref" in out and len(out) > 1:
        # in draft-07 whatever stands next to $ref is ignored
        reference = out.pop("$ref")
        out = {"allOf": [{"$ref": reference}], **out}
    return out


def _overlay(schema: Any) -> Any:  # noqa: ANN401  JSON
    """Return the schema of a part of what ``schema`` describes: nothing is required."""
    schema = copy.deepcopy(schema)
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if isinstance(node.get("required"), list):
                del node["required"]
            if isinstance(node.get("$ref"), str):
                node["$ref"] = node["$ref"].replace("#/definitions/", f"#/definitions/{_OVERLAY}")
            node.pop("minProperties", None)
            stack.extend(node.values())
    return schema
