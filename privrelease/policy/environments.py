"""Environments: overlays that may tighten a policy or point its sources elsewhere, never loosen it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.findings import Finding
from privrelease.policy.merge import merged
from privrelease.policy.nodes import Mapping, Node, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["check_environments", "environment_names", "overlaid"]

#: What the policy is cannot depend on where it runs.
_FIXED = ("apiVersion", "kind", "id", "version", "extends", "environments")


def environment_names(environments: Node | None) -> list[str]:
    """Return the names of the environments."""
    return list(environments.entries) if isinstance(environments, Mapping) else []


def overlaid(body: Node, environments: Node | None, env: str) -> Node:
    """Return the policy with the overlay ``env`` laid over it."""
    overlay = environments.get(env) if isinstance(environments, Mapping) else None
    return merged(body, overlay) if isinstance(overlay, Mapping) else body


def check_environments(environments: Node | None) -> tuple[Finding, ...]:
    """Return what is wrong with the form of the overlays."""
    return tuple(_form(environments))


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
            yield Finding("P203", f"environment {entry.key} needs a mapping", location=entry.value.location)
            continue
        for key in _FIXED:
            if key in entry.value.entries:
                place = entry.value.entries[key].location
                yield Finding(
                    "P503", f"an environment cannot change {key}", location=place, hint="write it in the policy itself"
                )
