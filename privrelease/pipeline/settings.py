"""The settings under which a policy is worked on: environment, roots, state, limits of the engine."""

from __future__ import annotations

import os
import subprocess
from dataclasses import field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from privrelease.errors import UsageError
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.pipeline.kinds import Kind
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.release.store import ReleaseStore

__all__ = ["Settings", "chosen", "commit_of", "versions"]

_GIT_SECONDS = 5


def _unlogged(line: str) -> None:
    del line


@dataclass(frozen=True, slots=True)
class Settings:
    """Places where a policy is read and its releases are kept, and the limits."""

    environment: str | None = None
    data_root: Path | None = None
    state: Path | None = None
    memory_limit: str = "1GiB"
    threads: int | None = None
    temp: Path | None = None
    test_noise: int | None = None
    """A seed that makes noise repeatable; what comes of it is marked and can never be published."""
    log: Callable[[str], None] = field(default=_unlogged, compare=False, repr=False)
    """Takes a line of progress where reading a policy's files takes long."""

    def load(self, policy: Path, kinds: Sequence[Kind[Any]] = (), *, content: bytes | None = None) -> tuple[LoadedPolicy, Plan]:
        """Load a policy and plan it. ``kinds``: of releases (none: those of this package). ``content``: of the file, which then need not exist.
        Raises PolicyError with every error.
        """
        from privrelease.plan.build import build_plan
        from privrelease.policy.language.kinds import KINDS
        from privrelease.policy.loader import load_policy

        known = tuple(kind.spec() for kind in kinds) or KINDS
        loaded = load_policy(policy, env=self.environment, data_root=self.data_root, content=content, kinds=known, log=self.log)
        return loaded, build_plan(
            loaded, commit=commit_of(loaded.path), builders=tuple((kind.name, kind.build) for kind in kinds)
        )

    def store(self, plan: Plan) -> ReleaseStore:
        """Open the state folder."""
        from privrelease.release.store import ReleaseStore

        return ReleaseStore.beside(plan.policy_path) if self.state is None else ReleaseStore(self.state)

    def engine(self, settings: EngineSettings) -> EngineSettings:
        """Put the temporary folder that was asked for into an engine's settings."""
        if self.temp is None:
            return settings
        if not self.temp.is_dir():
            raise UsageError(
                code="C104", message=f"--temp is not a folder: {self.temp}", hint="make it first, or name another one"
            )
        return replace(settings, temp_folder=self.temp.resolve())


def chosen(plan: Plan, ids: Sequence[str]) -> tuple[ReleasePlan, ...]:
    """Return the releases that were asked for, all where none was named. Raises UsageError (C103)."""
    known = {release.id: release for release in plan.releases}
    for name in ids:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the policy has: {', '.join(known)}"
            raise UsageError(code="C103", message=f"the policy has no release {name}", hint=hint)
    return plan.releases if not ids else tuple(known[name] for name in dict.fromkeys(ids))


def _in_a_repository(folder: Path) -> bool:
    """Return whether git can find a repository from a folder: a variable names one, or a ``.git`` lies in it or above it. Starting git takes longer
    than reading a small policy.
    """
    inside = folder.resolve()
    return "GIT_DIR" in os.environ or any(os.path.lexists(home / ".git") for home in (inside, *inside.parents))


def commit_of(policy: Path) -> str | None:
    """Return the commit of the repository that holds the policy, with ``-modified`` where the file differs from it.

    None where there is no repository, no git, or the file is not under its control.
    """
    if not _in_a_repository(policy.parent):
        return None
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(policy.parent), "status", "--porcelain=v2", "--branch"]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(  # noqa: S603 -- fixed words and a path, no shell
            [*command, "--ignored=no", "--", policy.name],
            capture_output=True,
            text=True,
            check=False,
            timeout=_GIT_SECONDS,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    commit, changed = None, ""
    for line in done.stdout.splitlines():
        if line.startswith("# branch.oid "):
            commit = line.removeprefix("# branch.oid ").strip()
        elif line.startswith("?"):
            return None
        elif not line.startswith("#"):
            changed = "-modified"
    return None if done.returncode or commit is None or commit.startswith("(") else commit + changed


def versions() -> dict[str, str]:
    """Return the versions of what makes and measures a release."""
    import platform

    from privrelease import __version__
    from privrelease.engine.open import libraries
    from privrelease.lean_imports import version_of

    named = sorted({*libraries(), "numpy", "pyarrow"})
    return {"privrelease": __version__, "python": platform.python_version(), **{name: version_of(name) for name in named}}
