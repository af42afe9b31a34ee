"""The world that releases are made in: settings, engine, ledger, randomness and listener for progress, all replaceable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from privrelease.pipeline.kinds import KINDS, Kind
from privrelease.pipeline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from privrelease.dp.randomness import Randomness
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.execute.common.progress import Progress
    from privrelease.ledger.protocol import Ledger
    from privrelease.plan.model import Plan
    from privrelease.release.store import ReleaseStore

__all__ = ["World"]


def _engine(settings: EngineSettings) -> AbstractContextManager[AuditEngine]:
    from privrelease.engine.open import open_engine

    return open_engine(settings)


def _ledger(plan: Plan, store: ReleaseStore) -> Ledger:
    from privrelease.pipeline import ledger

    return ledger.opened(plan, store)


def _randomness() -> Randomness:
    from privrelease.dp.randomness import SystemRandomness

    return SystemRandomness()


def _silent(release: str) -> Progress:
    from privrelease.execute.common.progress import silent

    del release
    return silent


def _unlogged(line: str) -> None:
    del line


@dataclass(frozen=True, slots=True)
class World:
    """Everything that the pipeline is given in addition to a policy.

    ``open_engine``: by its settings. ``open_ledger``: the one that a policy names, where a state folder's manifests vouch for it.
    ``randomness``: of noise that is published. ``progress``: by the id of a release. ``log``: a line of progress in words.
    ``notice``: what whoever runs should know, whatever detail was asked for.
    """

    settings: Settings = field(default_factory=Settings)
    open_engine: Callable[[EngineSettings], AbstractContextManager[AuditEngine]] = _engine
    open_ledger: Callable[[Plan, ReleaseStore], Ledger] = _ledger
    randomness: Callable[[], Randomness] = _randomness
    progress: Callable[[str], Progress] = _silent
    log: Callable[[str], None] = _unlogged
    notice: Callable[[str], None] = _unlogged
    kinds: tuple[Kind[Any], ...] = KINDS

    def engine(self, limits: EngineSettings) -> AbstractContextManager[AuditEngine]:
        """Open an engine within limits, with the temporary folder that the settings name."""
        return self.open_engine(self.settings.engine(limits))
