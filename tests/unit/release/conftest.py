from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from privrelease.release.digests import sha256_of
from privrelease.release.manifest import (
    Claims,
    InternalManifest,
    Manifest,
    ManifestColumn,
    ManifestOutput,
    PolicyReference,
    RowMapDigest,
)
from privrelease.release.runs import ReleaseName, RunFolder
from privrelease.release.store import ReleaseStore

if TYPE_CHECKING:
    from pathlib import Path

MOMENT = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Output:
    path: Path
    label: str = "out/data.csv"


def manifests(run: RunFolder, name: ReleaseName) -> tuple[Manifest, InternalManifest]:
    outputs = tuple(
        ManifestOutput(
            label=path.name,
            kind="csv",
            file=path.name,
            sha256=sha256_of(path),
            bytes=path.stat().st_size,
            rows=1,
            columns=(ManifestColumn(name="a", type="integer"),),
        )
        for path in run.data
    )
    manifest = Manifest(
        run=run.id,
        release=name.release,
        policy=PolicyReference(id=name.policy, version="1", title="T", sha256="0" * 64),
        created_at=MOMENT,
        outputs=outputs,
        order="values",
        versions={"privrelease": "0"},
    )
    run.row_map.write_bytes(b"map")
    internal = InternalManifest(
        run=run.id,
        manifest_sha256=manifest.digest(),
        inputs=(),
        row_map=RowMapDigest(file=run.row_map.name, sha256=sha256_of(run.row_map), bytes=3),
        claims=Claims(
            source_rows=1, classes=1, released_rows=1, dropped_rows=0, cells_total=1, suppressed={"a": 0}, lost={"a": 0}
        ),
    )
    return manifest, internal


class Desk:
    """A store in a project folder, and what a caller does with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.store = ReleaseStore(folder / ".privrelease")
        self.name = ReleaseName("registry", "microdata")

    def sinks(self, *names: str) -> tuple[Output, ...]:
        return tuple(Output(self.out / name) for name in (names or ("data.csv",)))

    def park(self, content: bytes, *names: str, outcome: str | None = "pass", name: ReleaseName | None = None) -> str:
        with self.store.start(name or self.name, self.sinks(*names)) as run:
            for path in run.data:
                path.write_bytes(content)
            self.store.park(run, *manifests(run, name or self.name))
            if outcome is not None:
                self.store.decide(run.id, outcome)
        return run.id

    def publish(self, content: bytes, *names: str, name: ReleaseName | None = None) -> str:
        run = self.park(content, *names, name=name)
        self.store.publish(run)
        return run

    def shown(self) -> dict[str, bytes | None]:
        """Everything under out/: name to bytes, None for a link that shows nothing."""
        if not self.out.exists():
            return {}
        return {
            str(path.relative_to(self.out)): path.read_bytes() if path.exists() else None
            for path in sorted(self.out.rglob("*"))
            if not path.is_dir() or path.is_symlink()
        }

    def data(self) -> bytes | None:
        return self.shown().get("data.csv")


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


@pytest.fixture(autouse=True)
def _ordinary_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)
