"""Environments: overlays that may tighten a policy or point its sources elsewhere, never loosen it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.findings import Finding
from privrelease.policy.changes.environment_rules import loosened
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.text.messages import shown
from privrelease.policy.text.nodes import Mapping, Node, Scalar, Sequence_, merged, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Location
    from privrelease.policy.language.kinds import Kinds
    from privrelease.policy.language.models import Policy

__all__ = ["check_environments", "check_tightening", "environment_names", "overlaid", "places_of"]

#: What the policy is cannot depend on where it runs.
_FIXED = ("apiVersion", "kind", "id", "version", "extends", "environments")


def environment_names(environments: Node | None) -> list[str]:
    """Return the names of the environments."""
    return list(environments.entries) if isinstance(environments, Mapping) else []


def overlaid(body: Node, environments: Node | None, env: str) -> Node:
    """Return the policy with the overlay ``env`` laid over it."""
    overlay = environments.get(env) if isinstance(environments, Mapping) else None
    if not isinstance(overlay, Mapping):
        return body
    for key in _FIXED:
        overlay = overlay.without(key)
    return merged(body, overlay)


def check_environments(environments: Node | None) -> tuple[Finding, ...]:
    """Return what is wrong with the form of the overlays."""
    return tuple(_form(environments))


def places_of(environments: Node | None, env: str) -> frozenset[Location]:
    """Return every place inside the overlay ``env``: what is found there is the overlay's fault."""
    overlay = environments.get(env) if isinstance(environments, Mapping) else None
    return frozenset(_places(overlay)) if overlay is not None else frozenset()


def _places(node: Node) -> Iterator[Location]:
    yield node.location
    if isinstance(node, Mapping):
        for entry in node.entries.values():
            yield entry.location
            yield from _places(entry.value)
    elif isinstance(node, Sequence_):
        for item in node.items:
            yield from _places(item)


def check_tightening(base: Policy, over: Policy, tree: Node, env: str, kinds: Kinds = KINDS) -> tuple[Finding, ...]:
    """Return a finding for every change of ``over`` (read from ``tree``) that loosens ``base``, or may."""
    hint = "an environment may tighten a policy or point its sources elsewhere; write other changes in the policy itself"
    return tuple(
        Finding(
            "P504", f"environment {shown(env)} loosens the policy: {words}", location=place_of(tree, path, key=True), hint=hint
        )
        for path, words in loosened(base, over, kinds)
    )


def _form(environments: Node | None) -> Iterator[Finding]:
    if environments is None or (isinstance(environments, Scalar) and environments.is_null):
        return
    if not isinstance(environments, Mapping):
        yield Finding("P203", "environments needs a mapping of names to overlays", location=environments.location)
        return
    for entry in environments.entries.values():
        if isinstance(entry.value, Scalar) and entry.value.is_null:
            continue
        if not isinstance(entry.value, Mapping):
            yield Finding("P203", f"environment {shown(entry.key)} needs a mapping", location=entry.value.location)
            continue
        for key in _FIXED:
            if key in entry.value.entries:
                place = entry.value.entries[key].location
                yield Finding(
                    "P503", f"an environment cannot change {key}", location=place, hint="write it in the policy itself"
                )
