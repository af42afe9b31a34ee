from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privrelease.policy.output.json_schema import policy_schema
from privrelease.policy.text.nodes import Mapping, Node, Scalar
from privrelease.policy.text.yaml import parse_yaml
from privrelease.policy.validation.structure import check_structure
from privrelease.policy.validation.unsupported import without_unavailable
from tests.depth import depth

VALIDATOR = jsonschema.Draft7Validator(policy_schema())

FULL: dict[str, Any] = {
    "apiVersion": "privrelease/v1",
    "kind": "ReleasePolicy",
    "id": "registry",
    "version": "1",
    "title": "A registry",
    "datasets": {
        "patients": {
            "source": "p.csv",
            "format": {"delimiter": ";", "decimal": ",", "missing": ["", "NA"], "date": "%d.%m.%Y"},
            "snapshot": "s",
            "unit": {"column": "id", "max_rows": 3},
            "unlisted_columns": "drop",
            "columns": {
                "id": {"role": "direct", "type": "string"},
                "age": {"role": "quasi", "type": "integer", "domain": [18, 85], "outside": "drop", "unit": "years"},
                "sex": {
                    "role": "quasi",
                    "type": "category",
                    "domain": {"values": ["F", "M"]},
                    "format": {"aliases": {"w": "F"}},
                },
            },
        },
        "census": {"source": {"sqlite": "c.db", "table": "t"}, "columns": {"age": {"role": "quasi", "type": "integer"}}},
    },
    "threats": {
        "external": {
            "dataset": "patients",
            "knows": ["age", "sex"],
            "attacker": "journalist",
            "highest_risk": 0.2,
            "records_at_risk": {"above": 0.1, "share": 0.5},
            "population": {"size": 100, "estimator": "snb"},
            "knows_rows": True,
            "also": {"subsets": {"up_to": 2, "k": 3}},
        }
    },
    "releases": [
        {
            "id": "m",
            "kind": "microdata",
            "from": "patients",
            "protect": ["external"],
            "columns": ["age", "sex"],
            "transform": [
                {"drop": ["id"]},
                {"pseudonymise": ["id"], "key": "KEY"},
                {"suppress": "cells", "limit": 0.05, "weights": {"age": 2}, "residual": "keep"},
            ],
            "order": "values",
            "output": ["o.csv", {"path": "p.parquet", "format": "parquet"}],
        }
    ],
    "checks": [
        {"id": "C", "release": "m", "expect": "k", "min": 5, "severity": "warn", "threat": "external"},
        {
            "id": "E",
            "release": "m",
            "on": "source",
            "expect": "expect_column_values_to_be_in_set",
            "column": "sex",
            "value_set": ["F", 1, "NO"],
            "mostly": 0.9,
            "strict_min": True,
            "match_on": "any",
            "value_pairs_set": [["a", 1], [True, "b"]],
            "quantile_ranges": {"quantiles": [0.5], "value_ranges": [[1, None]]},
            "regex_list": ["^a$"],
            "column_list": ["age", "sex"],
            "sum_total": 5,
        },
        {
            "id": "L",
            "release": "m",
            "expect": "l_diversity",
            "kind": "recursive",
            "c": 3,
            "columns": ["age"],
            "distance": "equal",
        },
    ],
    "legal": {
        "profile": "gdpr",
        "controller": {"name": "A"},
        "representative": None,
        "recipients": [{"name": "B", "country": "DE"}],
        "retention": {"source": "P10Y"},
        "dpia": {"risks": ["r"], "dpo_advice": {"text": "t", "followed": True}},
    },
    "context": {"release_model": "controlled", "population": {"size": 10}},
    "report": {"editions": ["internal"]},
    "review": {"next": "2027-01-15"},
}

ODD: list[Any] = [None, True, 0, 3, 3.0, 0.5, 20, "x", "", " ", [], ["a"], [None], {}, {"zzz": 1}, "statistics", "KEY", "a/b"]
KEYS = ["zzz", "path", "values", "k", "drop", "description", "highest_risk", "output", "columns", "format", "id"]

#: Faults of the structure as the schema can say them; the others are rules between parts.
STRUCTURAL = {"P104", "P200", "P201", "P202", "P203", "P205", "P210"}


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(data, dict):
        for key, value in data.items():
            found += places(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            found += places(value, (*path, index))
    return found


PLACES = [path for path in places(FULL) if path]


@st.composite
def mutants(draw: st.DrawFn) -> dict[str, Any]:
    """The full policy with one to three things replaced, removed or added."""
    data = copy.deepcopy(FULL)
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from(PLACES))
        parent: Any = data
        try:
            for part in above:
                parent = parent[part]
            action = draw(st.sampled_from(["replace", "remove", "add"]))
            if action == "replace":
                parent[last] = copy.deepcopy(draw(st.sampled_from(ODD)))
            elif action == "remove":
                del parent[last]
            elif isinstance(parent, dict):
                parent[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(st.sampled_from(ODD)))
            elif isinstance(parent, list):
                parent.append(copy.deepcopy(draw(st.sampled_from(ODD))))
        except (KeyError, IndexError, TypeError):
            continue
    return data


def structural_faults(text: str) -> set[str]:
    tree, findings = parse_yaml(text, "p.yaml")
    assert findings == (), text
    assert tree is not None
    if isinstance(tree, Mapping):
        tree = tree.without("extends").without("environments").without("$schema")
    tree, unavailable, _ = without_unavailable(tree)
    return {finding.code for finding in (*unavailable, *check_structure(tree).findings)}


def test_the_full_policy_is_of_the_right_structure() -> None:
    assert VALIDATOR.is_valid(FULL)
    assert structural_faults(json.dumps(FULL)) == set()


@given(mutants())
@settings(max_examples=depth(70, 200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_schema_and_loader_agree_on_structure(data: dict[str, Any]) -> None:
    faults = structural_faults(json.dumps(data)) & STRUCTURAL
    says = [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(data)]
    assert bool(faults) == bool(says), (faults, says)


NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def core_schema(node: Node) -> Any:
    """What an editor sees: scalars as the core schema of YAML 1.2 reads them."""
    if isinstance(node, Mapping):
        return {entry.key: core_schema(entry.value) for entry in node.entries.values()}
    if not isinstance(node, Scalar):
        return [core_schema(item) for item in node.items]
    if not node.plain:
        return node.text
    if node.is_null:
        return None
    if node.text.lower() in {"true", "false"}:
        return node.text.lower() == "true"
    return float(node.text) if NUMBER.fullmatch(node.text) else node.text


EXAMPLES = sorted((Path(__file__).parents[2] / "policies").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_schema_and_loader_accept_every_example(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree, _ = parse_yaml(text, path.name)
    assert tree is not None
    assert [error.message for error in VALIDATOR.iter_errors(core_schema(tree))] == []
    assert structural_faults(text) == set()


def test_there_are_examples() -> None:
    assert EXAMPLES
