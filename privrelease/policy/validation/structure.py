"""Structure: the tree against the models. Every misfit becomes a finding at its place, in words of the policy, not of the validator."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError, create_model

from privrelease.findings import Finding
from privrelease.policy.language.datasets import Dataset
from privrelease.policy.language.kinds import KINDS, Kinds, kind_meant, releases_type, told_without_kind
from privrelease.policy.language.models import policy_model
from privrelease.policy.text.messages import did_you_mean, no_choice, shown
from privrelease.policy.text.nodes import Mapping, Node, Plain, Quoted, Sequence_, as_written, place_of, plain_data, walk
from privrelease.policy.validation.key_suggestions import keys_at, meant_at
from privrelease.policy.validation.partial_policy import faultless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.policy.language.models import Policy

__all__ = ["Structure", "check_structure"]

_Path = tuple[str | int, ...]

#: Words of other tools and spellings, and what the policy language calls it.
_OTHER_WORDS: dict[str, str] = {
    "k": "highest_risk, which is 1/k: `highest_risk: 0.2` for k = 5",
    "k_anonymity": "highest_risk, which is 1/k: `highest_risk: 0.2` for k = 5",
    "quasi_identifiers": "knows",
    "generalize": "generalise",
    "pseudonymize": "pseudonymise",
    "normalize": "normalise",
    "category_of_data": "category",
    "expiry": "expires",
}


class Structure:
    """The outcome: the policy (None where not even a part of it is usable), whether it is whole, findings, the tree it was made
    of.

    ``broken``: what was left out of a partial policy, see :func:`privrelease.policy.validation.partial_policy.faultless`.
    """

    __slots__ = ("broken", "findings", "policy", "tree", "whole")

    def __init__(
        self,
        policy: Policy | None,
        findings: tuple[Finding, ...],
        tree: Node,
        *,
        whole: bool,
        broken: frozenset[tuple[str, ...]],
    ) -> None:
        self.policy = policy
        self.findings = findings
        self.tree = tree
        self.whole = whole
        self.broken = broken


def check_structure(tree: Node, kinds: Kinds = KINDS) -> Structure:
    """Read the tree by the models. With faults, what is faultless is still read, so that its meaning can be checked as well."""
    if not isinstance(tree, Mapping):
        finding = Finding(
            "P201",
            "a policy is a mapping of keys and values",
            location=tree.location,
            hint="start with `apiVersion: privrelease/v1`",
        )
        return Structure(None, (finding,), tree, whole=False, broken=frozenset())
    try:
        return Structure(policy_model(kinds).model_validate(plain_data(tree)), (), tree, whole=True, broken=frozenset())
    except ValidationError as error:
        problems = error.errors(include_url=False)
    findings = tuple(_finding(tree, item, kinds) for item in _first_causes(tree, problems, kinds))
    partial: Node = tree
    broken: frozenset[tuple[str, ...]] = frozenset()
    for _ in range(_ROUNDS):
        partial, gone = faultless(partial, problems, policy_model(kinds))
        broken |= gone
        try:
            return Structure(
                _part_model(kinds).model_validate(plain_data(partial)), findings, partial, whole=False, broken=broken
            )
        except ValidationError as error:
            # what was left out left something empty
            problems = error.errors(include_url=False)
    return Structure(None, findings, tree, whole=False, broken=broken)


#: Leaving out a column may empty its dataset, and that everything.
_ROUNDS = 4


@cache
def _part_model(kinds: Kinds) -> type[Policy]:
    """The model of what is left of a policy without its faulty elements; it may be nothing."""
    return create_model(
        "_Part",
        __base__=policy_model(kinds),
        __module__=__name__,
        datasets=(dict[str, Dataset], Field(default_factory=dict)),
        releases=(releases_type(kinds, partial=True), ()),
    )


def _first_causes(tree: Node, problems: Sequence[Any], kinds: Kinds) -> list[Any]:
    """The problems less those that only follow from another.

    A list is empty since its items are wrong; a key is missing since it is misspelt; a release has other keys since its kind is
    not valid.
    """
    unclear = {
        path[:2]
        for item in problems
        if (path := tuple(item["loc"]))[:1] == ("releases",)
        and path[3:] == ("kind",)
        and item["type"] == "literal_error"
        and kind_meant(item["input"], kinds) is None
    }
    unknown = [tuple(item["loc"]) for item in problems if item["type"] == "extra_forbidden"]
    misspelt = {(*path[:-1], key) for path in unknown for key in meant_at(tree, path, policy_model(kinds))}
    kept = []
    for item in problems:
        path = tuple(item["loc"])
        node = walk(tree, as_written(tree, path))
        wrong = isinstance(node, Mapping | Sequence_) and node.size > item.get("ctx", {}).get("min_length", 1)
        if item["type"] == "too_short" and wrong:
            continue
        if item["type"] == "missing" and path in misspelt:
            continue
        if path[:2] in unclear and len(path) > 3 and not told_without_kind(path[3], kinds):
            continue
        kept.append(item)
    return kept


def _finding(tree: Node, item: Any, kinds: Kinds) -> Finding:  # noqa: ANN401  the shape of a pydantic error
    path: _Path = tuple(item["loc"])
    written = as_written(tree, path)
    known = keys_at(path[:-1], policy_model(kinds)) if item["type"] == "extra_forbidden" else []
    code, message, hint, at_key = _words(item["type"], written, item.get("ctx") or {}, item.get("input"), known, kinds)
    return Finding(code, message, location=place_of(tree, written, key=at_key), hint=hint, subject=_dotted(written))


def _dotted(path: _Path) -> str:
    return ".".join(str(part) for part in path if part != "[key]")


def name_of(path: _Path) -> str:
    """The words that name a value in a message: its key, with the list's key for an item."""
    parts = list(path)
    if not parts:
        return "the policy"
    if parts[-1] == "[key]":
        return f"the name {shown(parts[-2])!r}" if len(parts) > 1 else "the name"
    if isinstance(parts[-1], int):
        key = next((part for part in reversed(parts) if isinstance(part, str)), "the list")
        return f"item {parts[-1] + 1} of {shown(key)}"
    if len(parts) > 1 and parts[-2] == "weights":
        return f"weight of {shown(parts[-1])}"
    return shown(parts[-1])


def _words(
    kind: str, path: _Path, ctx: dict[str, Any], value: object, known: list[str], kinds: Kinds
) -> tuple[str, str, str | None, bool]:
    """Code, message, hint, and whether the key rather than the value is the place."""
    name = name_of(path)
    hint: str | None = None
    at_key = True
    match kind:
        case "privrelease":
            subject = f"{name} of {name_of(path[:-1])}" if ctx["code"] == "P205" else name
            code, message, hint, at_key = ctx["code"], f"{subject} {ctx['message']}", ctx["hint"], False
        case "extra_forbidden":
            key = str(path[-1])
            code, message, hint = "P200", f"unknown key {shown(key)}{_inside(path[:-1])}", _key_hint(key, known)
        case "missing":
            code, message = "P201", f"{shown(path[-1])} is missing{_inside(path[:-1])}"
        case "literal_error":
            choices = re.findall(r"'([^']*)'", str(ctx.get("expected", "")))
            if path[:1] == ("releases",) and path[2:] == ("kind",):
                choices = [one.name for one in kinds]
            words, hint = no_choice(value, choices)
            code, message, at_key = "P202", f"{name} {words}", False
        case "union_tag_not_found" | "union_tag_invalid":
            steps = [step for one in kinds for step, _ in one.steps]
            code, message, hint = (
                "P202",
                f"{name} is not a transform step",
                _step_hint(value, steps) or f"steps: {', '.join(steps)}",
            )
        case "too_short":
            least = ctx.get("min_length", 1)
            code, message = "P203", f"{name} needs at least {least} items" if least > 1 else f"{name} must not be empty"
            hint = "add what is lacking" if least > 1 else None
        case "too_long":
            code, message = "P203", f"{name} must have at most {ctx.get('max_length')} items"
        case _:
            code, message = "P203", f"{name} {_wrong_shape(kind)}, got {_what(value)}"
            if _wrong_shape(kind) == "needs a list" and isinstance(value, str) and path and isinstance(path[-1], str):
                hint = f"write `{shown(path[-1])}: [{shown(value)}]`"
    return code, message, hint, at_key


def _step_hint(value: object, steps: list[str]) -> str | None:
    if not isinstance(value, dict):
        return None
    hints = (did_you_mean(str(key), steps) for key in value)
    return next((hint for hint in hints if hint is not None), None)


def _wrong_shape(kind: str) -> str:
    if kind in {"model_type", "dict_type", "model_attributes_type", "mapping_type", "dataclass_type"}:
        return "needs a mapping (keys and values)"
    if kind in {"tuple_type", "list_type", "iterable_type"}:
        return "needs a list"
    return "has a value of the wrong type"


def _what(value: object) -> str:
    if isinstance(value, Plain | Quoted | str):
        return f"the text {shown(value)}"
    return shown(value)


def _inside(path: _Path) -> str:
    named = name_of(path) if path else ""
    return f" in {named}" if named else ""


def _key_hint(key: str, known: list[str]) -> str | None:
    hint = did_you_mean(key, known)
    if hint is not None:
        return hint
    if key in _OTHER_WORDS:
        return f"here it is called {_OTHER_WORDS[key]}"
    return f"known keys: {', '.join(known)}" if known else None
