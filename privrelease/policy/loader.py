"""Loading: from a file (and what it extends) to a typed policy, with every finding of every file at once."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.errors import PolicyError
from privrelease.findings import Finding, Location, Severity
from privrelease.policy.changes.environments import check_environments, check_tightening, environment_names, overlaid, places_of
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.output.dump import canonical
from privrelease.policy.rules.registry import check_meaning
from privrelease.policy.rules.rule_context import RuleContext
from privrelease.policy.text.messages import did_you_mean, shown
from privrelease.policy.text.nodes import Mapping, Node, Scalar, Sequence_, merged, place_of
from privrelease.policy.text.yaml import MAX_BYTES, parse_yaml, reordered
from privrelease.policy.validation.names import check_names
from privrelease.policy.validation.paths import PathFault, Roots, silent
from privrelease.policy.validation.references import check_references
from privrelease.policy.validation.structure import check_structure
from privrelease.policy.validation.unsupported import without_unavailable
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from privrelease.policy.language.kinds import Kinds
    from privrelease.policy.language.models import Policy

__all__ = ["LoadedPolicy", "check_policy", "chosen_tree", "load_policy", "sorted_findings"]

#: Files that one policy may be made of.
MAX_FILES = 32
#: Findings that are reported at once.
MAX_FINDINGS = 500
#: Bytes of a text whose tree is kept for when it is read again.
_KEPT = 65_536


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """A policy without errors, and where everything in it was written.

    ``path``: absolute. ``files``: every file it was made of, the policy itself last. ``sha256``: of the resolved canonical form, so
    that comments, order of keys in a section and layout do not change it, and any value does. ``environments``: those the file has. ``kinds``: the kinds of release that it was read by.
    """

    policy: Policy
    path: Path
    roots: Roots
    tree: Node
    files: tuple[Path, ...]
    warnings: tuple[Finding, ...]
    sha256: str
    environment: str | None = None
    environments: tuple[str, ...] = ()
    kinds: Kinds = KINDS

    def location(self, *path: str | int) -> Location:
        """Return where the value at ``path`` was written (the closest part that was written at all)."""
        return place_of(self.tree, path)

    @property
    def data_root(self) -> Path | None:
        """The configured data root."""
        return self.roots.data_root


def load_policy(
    path: str | os.PathLike[str],
    *,
    env: str | None = None,
    data_root: str | os.PathLike[str] | None = None,
    content: bytes | None = None,
    label: str | None = None,
    kinds: Kinds = KINDS,
    log: Callable[[str], None] = silent,
) -> LoadedPolicy:
    """Return the policy in file ``path``, with environment ``env`` laid over it.

    ``data_root``: a folder besides the policy's own below which sources may be. ``content``: of the file, which then need not exist. ``label``: what findings call it. ``log``:
    takes a line of progress where reading takes long. Raises PolicyError with every error found.
    """
    loaded, findings = check_policy(path, env=env, data_root=data_root, content=content, label=label, kinds=kinds, log=log)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if loaded is None or errors:
        raise PolicyError(errors or findings)
    return loaded


def check_policy(
    path: str | os.PathLike[str],
    *,
    env: str | None = None,
    data_root: str | os.PathLike[str] | None = None,
    content: bytes | None = None,
    label: str | None = None,
    kinds: Kinds = KINDS,
    log: Callable[[str], None] = silent,
) -> tuple[LoadedPolicy | None, tuple[Finding, ...]]:
    """Return the policy (None where there is an error) and all findings, warnings too, sorted by place."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow a link and change what relative paths mean
    root = None if data_root is None else Path(os.path.abspath(data_root))  # noqa: PTH100
    roots = Roots(absolute.parent, root, log)
    files = _Files(roots, {} if content is None else {absolute: content})
    tree = files.read(absolute, label or os.fspath(path))
    findings = list(files.findings)
    if tree is None:
        return None, sorted_findings(findings)
    environments = tree.get("environments") if isinstance(tree, Mapping) else None
    body: Node = tree.without("environments") if isinstance(tree, Mapping) else tree
    findings += check_environments(environments)
    paths = tuple(files.paths)
    names = environment_names(environments)
    plain = _judged(body, roots, paths, kinds)
    chosen = plain
    for name in names:
        over = _judged(overlaid(body, environments, name), roots, paths, kinds)
        if plain.policy is not None and over.policy is not None:
            findings += check_tightening(plain.policy, over.policy, over.tree, name, kinds)
        if name == env:
            chosen = over
        else:
            inside = places_of(environments, name)
            known = {(finding.code, finding.message) for finding in plain.findings}
            findings += [f for f in over.findings if f.location in inside and (f.code, f.message) not in known]
    if env is not None and env not in names:
        hint = did_you_mean(env, names) or (f"there is: {', '.join(names)}" if names else "the policy has no environments")
        findings.append(
            Finding("P501", f"environment {shown(env)} does not exist", location=Location(os.fspath(path)), hint=hint)
        )
    if plain.policy is None and chosen is not plain:
        # without the policy itself no one can tell what the environment loosens
        findings += plain.findings
    findings += chosen.findings
    policy = chosen.policy
    findings = list(sorted_findings(findings))
    if policy is None or any(finding.severity is Severity.ERROR for finding in findings):
        return None, tuple(findings)
    digest = hashlib.sha256(canonical(policy).encode()).hexdigest()
    loaded = LoadedPolicy(policy, absolute, roots, chosen.tree, paths, tuple(findings), digest, env, tuple(names), kinds)
    return loaded, tuple(findings)


def chosen_tree(
    roots: Roots, path: Path, label: str, content: bytes | None, env: str | None
) -> tuple[Node, tuple[Path, ...]] | None:
    """Return the tree of a policy with its environment laid over it, and its files; None where its text has errors."""
    files = _Files(roots, {} if content is None else {path: content})
    tree = files.read(path, label)
    if not isinstance(tree, Mapping) or any(finding.severity is Severity.ERROR for finding in files.findings):
        return None
    body = tree.without("environments")
    chosen = body if env is None else overlaid(body, tree.get("environments"), env)
    return chosen, tuple(files.paths)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A whole tree, read: the policy where its structure is whole, the tree it was read from, and everything found."""

    policy: Policy | None
    tree: Node
    findings: tuple[Finding, ...]


def _judged(tree: Node, roots: Roots, files: tuple[Path, ...], kinds: Kinds) -> _Judged:
    """Read a whole tree: what is not available, structure, references, meaning."""
    tree, unavailable, gone = without_unavailable(tree)
    structure = check_structure(tree, kinds)
    named = (*check_names(tree), *check_references(tree, gone | structure.broken, kinds))
    findings = [*unavailable, *structure.findings, *named]
    whole = structure.whole and not unavailable
    if structure.policy is not None:
        broken = structure.broken | gone
        reading = RuleContext(structure.policy, structure.tree, roots, kinds, files, broken, whole, whole and not named)
        findings += check_meaning(reading)
    return _Judged(structure.policy if whole else None, tree, tuple(findings))


def sorted_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return each finding once, by place; at most as many as are reported at once."""
    unique = dict.fromkeys(findings)
    ordered = sorted(unique, key=lambda finding: (finding.location or Location(""), finding.code, finding.message))
    if len(ordered) <= MAX_FINDINGS:
        return tuple(ordered)
    kept = set(sorted(ordered, key=lambda finding: finding.severity is not Severity.ERROR)[:MAX_FINDINGS])
    last = Finding("P107", f"{len(ordered) - MAX_FINDINGS} more findings are not shown", Severity.INFO, ordered[-1].location)
    return (*(finding for finding in ordered if finding in kept), last)


def _parsed(content: bytes, label: str) -> tuple[Node | None, tuple[Finding, ...]]:
    """Return what :func:`parse_yaml` does: of a short text that was read before, the same tree, which nothing changes."""
    return _kept(content, label) if len(content) <= _KEPT else parse_yaml(content, label)


@lru_cache(maxsize=16)
def _kept(content: bytes, label: str) -> tuple[Node | None, tuple[Finding, ...]]:
    return parse_yaml(content, label)


class _Files:
    """Reads a file and what it extends; every file once on each way down, cycles refused."""

    def __init__(self, roots: Roots, given: dict[Path, bytes]) -> None:
        self._roots = roots
        self._given = given
        self.paths: list[Path] = []
        self.findings: list[Finding] = []

    def read(self, path: Path, label: str, above: tuple[Path, ...] = ()) -> Node | None:
        content = self._content(path, label)
        if content is None:
            return None
        tree, findings = _parsed(content, label)
        self.findings += (*findings, *reordered(content, label))
        if not isinstance(tree, Mapping):
            self._add(path)
            return tree
        below: Node | None = None
        for item, written in self._extended(tree):
            base = self._base(item, written, path, label, (*above, path))
            if base is not None:
                below = base if below is None else merged(below, base)
        self._add(path)
        own = tree.without("extends").without("$schema")
        return own if below is None else merged(below, own)

    def _add(self, path: Path) -> None:
        if path not in self.paths:
            self.paths.append(path)

    def _content(self, path: Path, label: str) -> bytes | None:
        if path in self._given:
            return self._given[path]
        try:
            with path.open("rb") as file:
                return file.read(MAX_BYTES + 1)
        except OSError as error:
            reason, hint = "cannot be read", "check the path"
            if isinstance(error, FileNotFoundError):
                reason = "does not exist"
                if label == "-":
                    reason = "is not taken from stdin here"
                    hint = "save it as a file and name that: `validate`, `plan`, `diff` and `fmt` take -, while a run keeps its state next to its policy"
            elif isinstance(error, IsADirectoryError):
                reason, hint = "is a directory", "name the policy file in it"
            self.findings.append(Finding("P101", f"the policy file {reason}", location=Location(label), hint=hint))
        except ValueError:
            self.findings.append(
                Finding("P101", "the policy file cannot be read", location=Location(shown(label)), hint="check the path")
            )
        return None

    def _extended(self, tree: Mapping) -> list[tuple[Node, str]]:
        extends = tree.get("extends")
        if extends is None or (isinstance(extends, Scalar) and extends.is_null):
            return []
        items = extends.items if isinstance(extends, Sequence_) else (extends,)
        found: list[tuple[Node, str]] = []
        for item in items:
            if isinstance(item, Scalar) and item.text.strip() and not item.is_null:
                found.append((item, item.text))
            else:
                self.findings.append(
                    Finding(
                        "P203", "extends needs a list of paths", location=item.location, hint="write `extends: [org-base.yaml]`"
                    )
                )
        return found

    def _base(self, item: Node, written: str, path: Path, label: str, above: tuple[Path, ...]) -> Node | None:
        try:
            target = self._roots.inside(written, path.parent)
        except (PathFault, ValueError) as fault:
            message = fault.message if isinstance(fault, PathFault) else "extends names no path"
            hint = fault.hint if isinstance(fault, PathFault) else None
            self.findings.append(Finding("P403", message, location=item.location, hint=hint))
            return None
        real = Path(os.path.realpath(target))
        if real in {Path(os.path.realpath(other)) for other in above}:
            self.findings.append(Finding("P502", f"extends goes in a circle: {shown(written)}", location=item.location))
            return None
        if len(above) + len(self.paths) > MAX_FILES:
            self.findings.append(Finding("P502", f"a policy is made of more than {MAX_FILES} files", location=item.location))
            return None
        if not target.is_file():
            self.findings.append(
                Finding("P101", f"{shown(written)} does not exist", location=item.location, hint="check the path")
            )
            return None
        return self.read(target, os.path.join(os.path.dirname(label), written), above)  # noqa: PTH118, PTH120  a label, as written
