"""``privrelease fmt``: policies in canonical layout, in place; with ``--check`` only whether they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.cli.policy_inputs import STDIN, policy_inputs
from privrelease.errors import InputError, PolicyError
from privrelease.findings import Severity, pluralise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.cli.policy_inputs import PolicyInput

__all__ = ["fmt"]


def fmt(named: Sequence[Path], console: Console, *, check: bool = False, only_policies: bool = False) -> Ending:
    """Write policies again in canonical layout; one on stdin goes to stdout. ``check``: write nothing, and end with 1 where one would change.

    Nothing is written where one of them is no YAML, or no mapping. Raises PolicyError (P101, P102, P105, P106, P201), InputError (R101 to R105).
    """
    from privrelease.policy.output.layout import canonical_layout
    from privrelease.release.files import os_errors

    inputs = policy_inputs(named, console, only_policies=only_policies)
    texts = [_text(one) for one in inputs]
    made = [(one, before, canonical_layout(before)) for one, before in zip(inputs, texts, strict=True)]
    changed = [(one, after) for one, before, after in made if after != before]
    for one, _ in changed:
        if str(one.path) != STDIN:
            console.data(f"{'would change' if check else 'changed'}  {one.path}")
    if check:
        said = f"{pluralise(len(changed), 'policy', 'policies')} of {len(made)} not in canonical layout"
        return Ending(1, said) if changed else Ending(0, f"{pluralise(len(made), 'policy', 'policies')} in canonical layout")
    for one, before, after in made:
        if str(one.path) == STDIN:
            console.data(after)
        elif after != before:
            with os_errors(f"writing {one.path.name}"):
                one.path.write_bytes(after.encode())
    return Ending(0, f"{len(changed)} of {pluralise(len(made), 'policy', 'policies')} changed")


def _text(one: PolicyInput) -> str:
    """Return the text of a policy that is YAML, whatever else is wrong with it."""
    from privrelease.policy.text.nodes import Mapping
    from privrelease.policy.text.yaml import parse_yaml
    from privrelease.policy.validation.structure import check_structure

    if one.content is None and not one.path.is_file():
        what = "is not a file" if one.path.exists() else "does not exist"
        raise InputError(code="C111", message=f"{one.path} {what}", hint="name a policy, or a folder of them")
    content = one.path.read_bytes() if one.content is None else one.content
    tree, findings = parse_yaml(content, str(one.path))
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if tree is None or errors:
        raise PolicyError(errors or findings)
    if not isinstance(tree, Mapping):
        raise PolicyError(check_structure(tree).findings)
    return content.decode()
