"""Earlier releases that a person names: by file, folder, run or release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases, named_by_run
from privrelease.errors import InputError, UsageError
from privrelease.pipeline.kinds import KINDS, Kind, kind_of, kind_of_manifest
from privrelease.pipeline.previous.run_folders import pseudonym_columns, release_of_run, released_column, released_file
from privrelease.pipeline.settings import chosen
from privrelease.plan.model import releases_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.pipeline.settings import Settings
    from privrelease.plan.model import Plan, ReleasePlan

__all__ = ["named_releases"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The release that an earlier one is compared with."""

    release: ReleasePlan
    plan: Plan
    settings: Settings
    kinds: Sequence[Kind[Any]] = KINDS


def named_releases(
    texts: Sequence[str], release: ReleasePlan, plan: Plan, settings: Settings, *, kinds: Sequence[Kind[Any]] = KINDS
) -> EarlierReleases:
    """Return the releases that were named, each as ``[POLICY#]EARLIER``: a file, a folder, a run, or the release published now.

    ``POLICY``: the policy it was made under; without one, the policy of the audit. Raises UsageError (C140) where nothing has that name.
    """
    return EarlierReleases(tuple(_named(text, _Asked(release, plan, settings, kinds)) for text in texts))


def _named(text: str, asked: _Asked) -> EarlierRelease:
    policy, mark, name = text.rpartition("#")
    if mark and Path(policy).is_file():
        _, plan = asked.settings.load(Path(policy), asked.kinds)
        asked = replace(asked, plan=plan, release=_counterpart(plan, asked.release))
    else:
        name = text
    path = Path(name)
    if path.is_dir():
        return _of_folder(path, asked)
    return _of_file(path, asked) if path.is_file() else _of_name(name, asked)


def _counterpart(plan: Plan, release: ReleasePlan) -> ReleasePlan:
    """The release of another policy that has the same id, else the only one of the same kind."""
    alike = [one for one in plan.releases if one.id == release.id] or list(releases_of(plan.releases, type(release)))
    if len(alike) == 1:
        return alike[0]
    raise UsageError(
        code="C141",
        message=f"which release of {plan.policy_path.name} an earlier file is of cannot be determined",
        hint="name its run, or a policy with one release of that kind",
    )


def _of_name(name: str, asked: _Asked) -> EarlierRelease:
    from privrelease.release.runs import ReleaseName

    store = asked.settings.store(asked.plan)
    try:
        run = store.folder(name)
    except InputError:
        chosen(asked.plan, (name,))
        current = store.current(ReleaseName(asked.plan.policy_id, name, asked.plan.environment))
        if current is None:
            raise UsageError(
                code="C140",
                message=f"{name} is not a file, folder or run, and no release of that name is published",
                hint="name an earlier release as a file, the folder of its run, its run, or its id once it is published",
            ) from None
        run = current
    return release_of_run(run, asked.release, asked.kinds)


def _of_folder(folder: Path, asked: _Asked) -> EarlierRelease:
    """The folder of a run, or one that holds a release and its manifest as a recipient has them."""
    from privrelease.release.manifest import Manifest
    from privrelease.release.runs import RunFolder

    if (folder / "internal" / "state.json").is_file():
        return release_of_run(RunFolder(folder.resolve()), asked.release, asked.kinds)
    manifests = sorted(folder.glob("*.manifest.json"))
    if len(manifests) != 1:
        raise UsageError(
            code="C140",
            message=f"{folder} is not a run, and holds {'no manifest' if not manifests else 'several manifests'}",
            hint="name a file in it",
        )
    manifest = Manifest.load(manifests[0])
    output = manifest.outputs[0]
    return EarlierRelease(
        name=named_by_run(manifest.release, manifest.run),
        kind=kind_of_manifest(manifest, asked.kinds).name,
        file=released_file(folder / output.file, output),
        columns=tuple(released_column(column) for column in output.columns),
        lossy=kind_of(asked.release, asked.kinds).lossy(asked.release),
        order=manifest.order,
        run=manifest.run,
        digests=frozenset(one.sha256 for one in manifest.outputs),
        manifest=manifest,
        pseudonyms=pseudonym_columns(output.columns),
    )


def _of_file(file: Path, asked: _Asked) -> EarlierRelease:
    """A file: of the run that made it, where that is known; else of anybody, under the release's rules."""
    from privrelease.pipeline.audit import sinks_of
    from privrelease.pipeline.provenance import origin_of
    from privrelease.release.digests import sha256_of

    store = asked.settings.store(asked.plan)
    (sink,) = sinks_of(asked.release, (file,))
    for release in asked.plan.releases:
        origin = origin_of((sink,), release, asked.plan, store, source=False, kinds=asked.kinds)
        if origin is not None and not origin.altered:
            made = release_of_run(origin.run, release, asked.kinds)
            if sha256_of(sink.path) in made.digests:
                return made
    planned = kind_of(asked.release, asked.kinds)
    earlier = EarlierRelease(str(file), planned.name, sink, digests=frozenset({sha256_of(sink.path)}))
    return planned.external(earlier, asked.release)
