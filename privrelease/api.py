"""The public interface for Python: load a policy, plan, run, audit, compare and report. Everything is returned, nothing is printed.

>>> from privrelease import api
>>> policy = api.load("policies/diabetes.yaml")  # doctest: +SKIP
>>> print(api.run(policy, release="microdata"))  # doctest: +SKIP

What is wrong is raised as an error of :mod:`privrelease.errors` with its code, place and remedy; what stops one release of a run stands in
its result. Libraries are loaded by the function that needs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from privrelease.errors import InputError, UsageError
from privrelease.pipeline.kinds import KINDS
from privrelease.pipeline.settings import Settings
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    import os

    from privrelease.audit.document.model import AuditResult
    from privrelease.audit.document.previous_releases import Difference
    from privrelease.execute.common.progress import Progress
    from privrelease.findings import Finding
    from privrelease.pipeline.kinds import Kind
    from privrelease.pipeline.results import ReleaseResult, RunResult
    from privrelease.plan.explain import Explanation
    from privrelease.plan.model import Plan
    from privrelease.policy.changes.diff import PolicyChange
    from privrelease.policy.loader import LoadedPolicy

__all__ = ["Policy", "audit", "diff", "load", "plan", "report", "run"]

#: The name under which findings place what a mapping says.
_MAPPING = "<mapping>"

#: What represents a policy: its file, what a file would say as mappings, or one that is loaded already.
PolicyLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, object] | Policy"
#: What represents an audit: its file, the folder of its run, or itself.
AuditLike: TypeAlias = "str | os.PathLike[str] | AuditResult | ReleaseResult"


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy without errors, in one environment, and the plan of its releases."""

    path: Path
    """Its file, or where that would be: sources and outputs are relative to its folder."""
    settings: Settings
    loaded: LoadedPolicy
    planned: Plan
    content: bytes | None = None
    """The content of a mapping, as YAML; None where the policy is a file."""
    kinds: tuple[Kind[Any], ...] = KINDS
    """The kinds of release that it may have."""

    @property
    def id(self) -> str:
        """Its id."""
        return self.planned.policy_id

    @property
    def version(self) -> str:
        """Its version."""
        return self.planned.policy_version

    @property
    def sha256(self) -> str:
        """The digest of what it says."""
        return self.planned.policy_sha256

    @property
    def releases(self) -> tuple[str, ...]:
        """The ids of its releases."""
        return tuple(release.id for release in self.planned.releases)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Return what was found in it and does not keep it from being used."""
        return self.loaded.warnings

    def __str__(self) -> str:
        """Return its id, version and title."""
        return f"{self.id} {self.version}: {self.planned.title}"


def load(
    policy: PolicyLike,
    *,
    env: str | None = None,
    data_root: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    kinds: Sequence[Kind[Any]] | None = None,
) -> Policy:
    """Return a policy: from a file, from mappings that say what a file would say, or one that is loaded already.

    ``env``: the environment that is laid over it. ``data_root``: a folder below which sources may be, too. ``folder``: of a policy that is
    given as a mapping (default: the working folder). ``kinds``: of release that it may have (default: those of this package). Of a loaded
    policy each counts in place of its own. Raises PolicyError with every error.
    """
    root = None if data_root is None else Path(data_root)
    if isinstance(policy, Policy):
        own = policy.settings
        settings = replace(own, environment=env or own.environment, data_root=root or own.data_root)
        known = policy.kinds if kinds is None else tuple(kinds)
        same = settings == own and known == policy.kinds
        return policy if same else _loaded(policy.path, settings, policy.content, known)
    settings = Settings(environment=env, data_root=root)
    known = KINDS if kinds is None else tuple(kinds)
    if isinstance(policy, Mapping):
        from privrelease.policy.output.dump import yaml_of

        return _loaded(Path(folder or "") / _MAPPING, settings, yaml_of(policy).encode(), known)
    return _loaded(Path(policy), settings, None, known)


def plan(policy: PolicyLike, *, env: str | None = None, data_root: str | os.PathLike[str] | None = None) -> Explanation:
    """Return what the releases of a policy will do, in words; ``str`` of it is the text of ``privrelease plan``. Reads no row."""
    from privrelease.plan.explain import explain

    found = load(policy, env=env, data_root=data_root)
    return explain(found.planned, explainers=tuple((kind.name, kind.explain) for kind in found.kinds))


def run(
    policy: PolicyLike,
    *,
    release: str | Sequence[str] | None = None,
    env: str | None = None,
    data_root: str | os.PathLike[str] | None = None,
    state: str | os.PathLike[str] | None = None,
    memory_limit: str = "1GiB",
    threads: int | None = None,
    stop_at_warnings: bool = False,
    test_noise: int | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> RunResult:
    """Protect, audit, publish and report releases of a policy, as ``privrelease run`` does; all of them where none is named.

    ``state``: the folder of runs (default: ``.privrelease`` next to the policy). ``memory_limit``, ``threads``: of the engine.
    ``stop_at_warnings``: a warning of the audit fails a release, too. ``test_noise``: a seed of repeatable noise; what comes of
    it is marked and never published. ``dry_run``: do all but publish; nothing is published, parked or charged. ``progress``: notified of each step. The reason that stops a release is in its result;
    errors of the policy or the state folder are raised.
    """
    from privrelease.pipeline import run as pipeline
    from privrelease.pipeline.world import World

    found = load(policy, env=env, data_root=data_root)
    settings = replace(
        found.settings,
        state=None if state is None else Path(state),
        memory_limit=memory_limit,
        threads=threads,
        test_noise=test_noise,
    )
    world = World(settings, kinds=found.kinds)
    if progress is not None:
        world = replace(world, progress=lambda _: progress)
    ids = (release,) if isinstance(release, str) else tuple(release or ())
    work = pipeline.prepare(found.loaded, found.planned, ids, world, stop_at_warnings=stop_at_warnings, dry=dry_run)
    pipeline.tidy(work)
    pipeline.require_logged(work)
    return pipeline.run(work)


def audit(
    policy: PolicyLike,
    file: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    release: str | None = None,
    source: bool = True,
    against: Sequence[str] = (),
    env: str | None = None,
    data_root: str | os.PathLike[str] | None = None,
    state: str | os.PathLike[str] | None = None,
    memory_limit: str = "1GiB",
    threads: int | None = None,
) -> AuditResult:
    """Audit a file that exists already, or several outputs of one release, whoever made them.

    ``release``: whose rules apply (default: the release that the file is an output of, or the only one). ``source``: measure the source, too.
    ``against``: previous releases, each a file, a folder, a run or the id of a release. Raises UsageError (C103) where no release is named
    and none follows from the file.
    """
    from privrelease.pipeline.audit import AuditedFiles
    from privrelease.pipeline.audit import audit as audited
    from privrelease.pipeline.settings import chosen
    from privrelease.pipeline.world import World

    found = load(policy, env=env, data_root=data_root)
    files = tuple(map(Path, file)) if isinstance(file, Sequence) and not isinstance(file, str) else (Path(file),)
    named = chosen(found.planned, (_release_of(found.planned, files) if release is None else release,))[0]
    settings = replace(found.settings, state=None if state is None else Path(state), memory_limit=memory_limit, threads=threads)
    return audited(named, found.planned, AuditedFiles(files, source, tuple(against)), World(settings, kinds=found.kinds))


def diff(old: PolicyLike | AuditLike, new: PolicyLike | AuditLike) -> tuple[PolicyChange, ...] | tuple[Difference, ...]:
    """Return what changed between two policies, or between two audits; each change has an ``effect``.

    Files named ``*.json`` and folders are audits, as for ``privrelease diff``. Policies that were loaded in an environment are compared in
    it, others in all of theirs. Raises UsageError (C142) where one is a policy and the other an audit, (C144) where one audit is an edition
    for recipients and the other is not.
    """
    from privrelease.pipeline.comparison import compared_audits, compared_policies

    audits = _audit_of(old), _audit_of(new)
    if audits[0] is not None and audits[1] is not None:
        return compared_audits((audits[0], audits[1]), (_name_of(old), _name_of(new)))
    if audits[0] is not None or audits[1] is not None:
        first, second = (old, new) if audits[0] is not None else (new, old)
        raise UsageError(
            code="C142",
            message=f"{_name_of(first)} is read as an audit, {_name_of(second)} as a policy: they cannot be compared",
            hint="name two policies, or two audits (an audit.json or the folder of a run each)",
        )
    policies = load(cast("PolicyLike", old)), load(cast("PolicyLike", new))
    environments = {one.settings.environment for one in policies}
    if len(environments) > 1:
        raise UsageError(
            code="C143", message="the policies were loaded in different environments", hint="load both in the same environment"
        )
    before, after = (partial(_in_environment, one) for one in policies)
    return compared_policies(before, after, environments.pop())


def report(
    result: RunResult | ReleaseResult | AuditResult,
    *,
    release: str | None = None,
    form: str = "html",
    edition: Literal["internal", "recipient"] = "internal",
) -> str:
    """Return the report of an audit as text: as a page, or in another form that ``privrelease report --format`` knows.

    ``release``: whose, of a run of several. Raises UsageError: C103 the run has several releases, or none of that name; C106 an unknown form
    (``pdf`` is no text); InputError (C301) where the release was stopped before its audit.
    """
    from privrelease.pipeline.rendering import FORMS
    from privrelease.report.view.edition import Edition

    texts = tuple(name for name in FORMS if name != "pdf")
    if form not in texts:
        raise UsageError(code="C106", message=f"the form of a report is one of {', '.join(texts)}", hint="write form='html'")
    return FORMS[form](_audited(result, release), Edition(edition)).decode()


def _loaded(path: Path, settings: Settings, content: bytes | None, kinds: tuple[Kind[Any], ...]) -> Policy:
    from privrelease.pipeline.settings import commit_of
    from privrelease.plan.build import build_plan
    from privrelease.policy.loader import load_policy

    specs = tuple(kind.spec() for kind in kinds)
    loaded = load_policy(path, env=settings.environment, data_root=settings.data_root, content=content, kinds=specs)
    commit = commit_of(loaded.path) if content is None else None
    planned = build_plan(loaded, commit=commit, builders=tuple((kind.name, kind.build) for kind in kinds))
    return Policy(path, settings, loaded, planned, content, kinds)


def _in_environment(policy: Policy, *, env: str | None) -> LoadedPolicy:
    from privrelease.policy.loader import load_policy

    return load_policy(
        policy.path, env=env, data_root=policy.settings.data_root, content=policy.content, kinds=policy.loaded.kinds
    )


def _release_of(planned: Plan, files: tuple[Path, ...]) -> str:
    """The release that a file is an output of, else the only one."""
    places = {sink.path: release.id for release in planned.releases for sink in release.sinks}
    for file in files:
        place = file.parent.resolve() / file.name
        if place in places:
            return places[place]
    if len(planned.releases) == 1:
        return planned.releases[0].id
    raise _unnamed(tuple(release.id for release in planned.releases))


def _unnamed(ids: tuple[str, ...]) -> UsageError:
    return UsageError(code="C103", message="which release is meant cannot be determined", hint=f"name one: release='{ids[0]}'")


def _audited(result: RunResult | ReleaseResult | AuditResult, release: str | None) -> AuditResult:
    from privrelease.pipeline.results import ReleaseResult, RunResult

    if isinstance(result, RunResult):
        known = {one.release: one for one in result.releases}
        if release is None and len(known) != 1:
            raise _unnamed(tuple(known))
        if release is not None and release not in known:
            message = f"the run has no release {release}"
            raise UsageError(code="C103", message=message, hint=f"it has: {', '.join(known)}")
        result = result.releases[0] if release is None else known[release]
    if isinstance(result, ReleaseResult):
        if result.audit is None:
            raise InputError(
                code="C301", message=f"release {result.release} was stopped before its audit", hint="see `error` of its result"
            )
        return result.audit
    return result


def _audit_of(given: PolicyLike | AuditLike) -> AuditResult | None:
    """The audit that is named; None where a policy is."""
    from privrelease.audit.document.model import AuditResult
    from privrelease.pipeline.comparison import comparable_audit
    from privrelease.pipeline.results import ReleaseResult

    if isinstance(given, AuditResult | ReleaseResult):
        return _audited(given, None)
    if isinstance(given, Mapping | Policy):
        return None
    path = Path(given)
    return comparable_audit(path) if path.is_dir() or path.suffix == ".json" else None


def _name_of(given: PolicyLike | AuditLike) -> str:
    from privrelease.audit.document.model import AuditResult
    from privrelease.pipeline.results import ReleaseResult

    if isinstance(given, AuditResult):
        return f"the audit of {given.identity.release}"
    if isinstance(given, ReleaseResult):
        return f"the audit of {given.release}"
    if isinstance(given, Policy):
        return f"policy {given.id}"
    return "the mapping" if isinstance(given, Mapping) else str(given)
