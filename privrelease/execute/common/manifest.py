"""The manifest of a release, whatever its kind: which policy, which files with their digests, made by which versions."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import privrelease
from privrelease import loops
from privrelease.lean_imports import version_of
from privrelease.release.digests import sha256_of
from privrelease.release.files import os_errors
from privrelease.release.manifest import Manifest, ManifestColumn, ManifestOutput, PolicyReference
from privrelease.release.store import now

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from privrelease.plan.model import Plan
    from privrelease.relational.schema import Sink
    from privrelease.release.privacy import PrivacyClaim, SyntheticClaim
    from privrelease.release.runs import RunFolder

__all__ = ["manifest_of"]


def manifest_of(
    release: str,
    policy: Plan,
    run: RunFolder,
    sinks: Sequence[Sink],
    columns: Sequence[ManifestColumn],
    rows: int,
    *,
    order: Literal["values", "source", "policy"],
    libraries: Sequence[str],
    privacy: PrivacyClaim | None = None,
    synthetic: SyntheticClaim | None = None,
    kind: str | None = None,
) -> Manifest:
    """Describe what a run wrote.

    ``sinks``: as the policy labels them, each with the path of the file that was written in the run's folder. ``rows``: of every file.
    ``libraries``: distributions whose versions matter for the content. ``kind``: of a release that the rest does not tell. Reads the files for their digests; InputError where it cannot.
    """
    with os_errors("digesting the files of the release"):
        outputs = tuple(
            ManifestOutput(
                label=sink.label,
                kind=sink.kind.value,
                file=sink.path.name,
                sha256=sha256_of(sink.path),
                bytes=sink.path.stat().st_size,
                rows=rows,
                columns=tuple(columns),
                delimiter=sink.delimiter,
                decimal=sink.decimal,
            )
            for sink in sinks
        )
    return Manifest(
        run=run.id,
        release=release,
        policy=PolicyReference(
            id=policy.policy_id,
            version=policy.policy_version,
            title=policy.title,
            sha256=policy.policy_sha256,
            commit=policy.commit,
            environment=policy.environment,
        ),
        created_at=now(),
        outputs=outputs,
        order=order,
        versions={
            "privrelease": privrelease.__version__,
            "python": platform.python_version(),
            **{name: version_of(name) for name in libraries},
            "loops": loops.running(),
        },
        privacy=privacy,
        synthetic=synthetic,
        kind=kind,
    )
