"""The sound part of a policy with errors: what is left without every element that an error is in, or that needs such an element.

It is for reading data alone. No release may be made of it, since what was left out may have been a protection.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from privrelease.findings import Finding, Severity
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.loader import LoadedPolicy, chosen_tree
from privrelease.policy.output.dump import canonical
from privrelease.policy.rules.registry import check_meaning
from privrelease.policy.rules.rule_context import RuleContext
from privrelease.policy.text.messages import shown
from privrelease.policy.text.nodes import Entry, Mapping, Node, Scalar, Sequence_, leaves, place_of, walk
from privrelease.policy.validation.names import check_names
from privrelease.policy.validation.paths import Roots, silent
from privrelease.policy.validation.references import check_references
from privrelease.policy.validation.structure import check_structure
from privrelease.policy.validation.unsupported import pruned, without_unavailable
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from privrelease.findings import Location
    from privrelease.policy.language.kinds import Kinds
    from privrelease.policy.language.models import Policy

__all__ = ["SoundPart", "sound_part"]

_Path = tuple[str | int, ...]

#: Rounds of leaving out: each may make faulty what needed the elements that went. A policy that needs more loses all of its releases.
_ROUNDS: Final = 16
_RELEASES: Final[_Path] = ("releases",)


@dataclass(frozen=True, slots=True)
class SoundPart:
    """``loaded``: a policy without errors, that may have no release and no dataset. ``passed_over``: a line for each dataset that is wrong itself.

    ``bounded``: datasets that are named only by releases whose kind bounds values by a domain, where those were left out.
    """

    loaded: LoadedPolicy
    passed_over: tuple[Finding, ...]
    bounded: frozenset[str]


def sound_part(
    path: str | os.PathLike[str],
    *,
    env: str | None = None,
    data_root: str | os.PathLike[str] | None = None,
    content: bytes | None = None,
    kinds: Kinds = KINDS,
    log: Callable[[str], None] = silent,
) -> SoundPart | None:
    """Return what can be read of a policy with errors; None where its text cannot be."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow a link and change what relative paths mean
    root = None if data_root is None else Path(os.path.abspath(data_root))  # noqa: PTH100
    roots = Roots(absolute.parent, root, log)
    written = chosen_tree(roots, absolute, os.fspath(path), content, env)
    if written is None:
        return None
    tree, files = written
    found = _reduced(tree, roots, files, kinds)
    if found is None:
        return None
    policy, left = found
    digest = hashlib.sha256(canonical(policy).encode()).hexdigest()
    loaded = LoadedPolicy(policy, absolute, roots, left, files, (), digest, env, (), kinds)
    return SoundPart(loaded, tuple(_passed_over(tree, policy)), frozenset(_bounded(tree, kinds)))


def _reduced(tree: Node, roots: Roots, files: tuple[Path, ...], kinds: Kinds) -> tuple[Policy, Node] | None:
    """Leave out what has errors until nothing has any; None where nothing that can be read is left."""
    for number in range(2 * _ROUNDS):
        tree, _, _ = without_unavailable(tree)
        structure = check_structure(tree, kinds)
        if structure.policy is None:
            return None
        tree = structure.tree
        # a column that is left out alone would be one that the source has and the policy does not
        gone: set[_Path] = {("datasets", name[1]) for name in structure.broken if name[0] == "columns"}
        if not gone:
            reading = RuleContext(structure.policy, tree, roots, kinds, files)
            found = (*check_names(tree), *check_references(tree, kinds=kinds), *check_meaning(reading))
            errors = [finding for finding in found if finding.severity is Severity.ERROR]
            gone = set(_elements(tree, errors))
            if errors and (not gone or number >= _ROUNDS):
                gone.add(_RELEASES)
            gone = {path for path in gone if walk(tree, path) is not None}
        if not gone:
            return structure.policy, tree
        tree = pruned(tree, gone)
    return None


def _elements(tree: Node, errors: Iterable[Finding]) -> Iterable[_Path]:
    """Yield the element that each error is in: by its place, or by its subject where the place is in another file."""
    places: dict[Location, _Path] = {}
    subjects: dict[str, _Path] = {}
    for path, node in leaves(tree):
        places.setdefault(node.location, path)
        places.setdefault(place_of(tree, path, key=True), path)
        subjects.setdefault(".".join(map(str, path)), path)
    for error in errors:
        inside = None if error.location is None else places.get(error.location)
        subject = error.subject
        while not inside and subject:
            inside = subjects.get(subject)
            subject = subject.rpartition(".")[0]
        if inside:
            yield _element(inside)


def _element(path: _Path) -> _Path:
    """Return the least that can be left out without another reading of the data of the rest."""
    match path:
        case ("datasets", _, "columns", _, "hierarchy", *_):
            return path[:5]
        case ("releases", _, "transform", _, *_):
            return path[:4]
        case ("datasets" | "releases" | "threats" | "checks" | "waivers", _, *_):
            return path[:2]
        case _:
            return path[:1]


def _passed_over(tree: Node, policy: Policy) -> Iterable[Finding]:
    for entry in _entries(tree, "datasets"):
        if entry.key not in policy.datasets:
            yield Finding(
                "P108",
                f"the data of dataset {shown(entry.key)} was not read: its declaration has errors",
                Severity.INFO,
                entry.location,
                "correct them and validate again",
                subject=f"datasets.{entry.key}",
            )


def _entries(tree: Node, section: str) -> tuple[Entry, ...]:
    node = tree.get(section) if isinstance(tree, Mapping) else None
    return tuple(node.entries.values()) if isinstance(node, Mapping) else ()


def _bounded(tree: Node, kinds: Kinds) -> Iterable[str]:
    """Yield the datasets that are read by releases with noise alone, as far as the text says: a value outside its domain is clamped there."""
    noisy = {kind.name for kind in kinds if kind.budget is not None}
    releases = tree.get("releases") if isinstance(tree, Mapping) else None
    readers: dict[str, set[str]] = {}
    for item in releases.items if isinstance(releases, Sequence_) else ():
        kind, source = (item.get("kind"), item.get("from")) if isinstance(item, Mapping) else (None, None)
        if isinstance(source, Scalar):
            readers.setdefault(source.text, set()).add(kind.text if isinstance(kind, Scalar) else "")
    return (name for name, found in readers.items() if found <= noisy)
