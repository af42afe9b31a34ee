from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

from privrelease.policy.language.models import Policy
from privrelease.policy.output.json_schema import policy_schema
from privrelease.policy.validation.key_suggestions import keys_at

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def schema() -> dict[str, object]:
    return policy_schema()


def test_the_schema_is_draft_7(schema: dict[str, object]) -> None:
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    text = json.dumps(schema)
    assert '"prefixItems"' not in text
    assert '"$defs"' not in text


def test_nothing_stands_beside_a_reference(schema: dict[str, object]) -> None:
    def references(node: object) -> Iterator[dict[str, object]]:
        if isinstance(node, dict):
            if "$ref" in node:
                yield node
            for value in node.values():
                yield from references(value)
        elif isinstance(node, list):
            for value in node:
                yield from references(value)

    found = list(references(schema))
    assert len(found) > 20
    assert all(list(node) == ["$ref"] for node in found)


def test_every_key_has_a_description(schema: dict[str, object]) -> None:
    definitions = schema["definitions"]
    assert isinstance(definitions, dict)
    for name, definition in {**definitions, "Policy": schema}.items():
        for key, value in definition.get("properties", {}).items():
            assert value.get("description"), f"{name}.{key}"


def test_the_schema_knows_every_key_of_the_models(schema: dict[str, object]) -> None:
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert set(properties) == {*keys_at(()), "$schema"}
    assert set(Policy.model_fields) < set(properties)


def test_an_environment_is_a_part_of_a_policy(schema: dict[str, object]) -> None:
    validator = jsonschema.Draft7Validator({"$ref": "#/definitions/overlay.Policy", "definitions": schema["definitions"]})
    assert validator.is_valid({"threats": {"external": {"highest_risk": 0.1}}})
    assert not validator.is_valid({"threats": {"external": {"highest_rsk": 0.1}}})
    assert not validator.is_valid({"id": "other"})
