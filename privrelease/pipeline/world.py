"""The world that releases are made in: settings, engine, ledger, randomness and listener for progress, all replaceable.

What releases ask of an engine that it may lack is refused before any data is read.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from privrelease.engine.protocol.base import Offer
from privrelease.errors import PolicyError
from privrelease.findings import Finding
from privrelease.pipeline.kinds import KINDS, Kind
from privrelease.pipeline.settings import Settings
from privrelease.relational.schema import SinkKind, SourceKind
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from privrelease.dp.randomness import Randomness
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.execute.common.progress import Progress
    from privrelease.findings import Location
    from privrelease.ledger.protocol import Ledger
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.release.store import ReleaseStore

__all__ = ["World", "lacking", "require_offered"]

_DATABASES: Final = frozenset({SourceKind.DUCKDB, SourceKind.SQLITE, SinkKind.DUCKDB})


def _engine(settings: EngineSettings) -> AbstractContextManager[AuditEngine]:
    from privrelease.engine.open import open_engine

    return open_engine(settings)


def _offers() -> frozenset[Offer]:
    from privrelease.engine.open import offered

    return offered()


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

    ``open_engine``: by its settings; ``offers``: which optional parts it has. ``open_ledger``: the one that a policy names, where a state folder's manifests vouch for it.
    ``randomness``: of noise that is published. ``progress``: by the id of a release. ``log``: a line of progress in words.
    ``notice``: what whoever runs should know, whatever detail was asked for.
    """

    settings: Settings = field(default_factory=Settings)
    open_engine: Callable[[EngineSettings], AbstractContextManager[AuditEngine]] = _engine
    offers: Callable[[], frozenset[Offer]] = _offers
    open_ledger: Callable[[Plan, ReleaseStore], Ledger] = _ledger
    randomness: Callable[[], Randomness] = _randomness
    progress: Callable[[str], Progress] = _silent
    log: Callable[[str], None] = _unlogged
    notice: Callable[[str], None] = _unlogged
    kinds: tuple[Kind[Any], ...] = KINDS

    def engine(self, limits: EngineSettings) -> AbstractContextManager[AuditEngine]:
        """Open an engine within limits, with the temporary folder that the settings name."""
        return self.open_engine(self.settings.engine(limits))


def lacking(releases: Iterable[ReleasePlan], offers: frozenset[Offer]) -> tuple[Finding, ...]:
    """Return P615 for each optional part of an engine that a release needs and that is not among ``offers``."""
    return tuple(
        Finding(
            "P615",
            f"release {release.id} asks for {offer.value}, which the engine lacks",
            location=location,
            hint=f"remove {offer.value} from the policy, or run it on an engine that has them",
            subject=f"releases.{release.id}",
        )
        for release in releases
        for offer, location in _needs(release)
        if offer not in offers
    )


def require_offered(releases: Iterable[ReleasePlan], offers: frozenset[Offer]) -> None:
    """Raise PolicyError (P615) where a release needs what the engine lacks."""
    found = lacking(releases, offers)
    if found:
        raise PolicyError(found)


def _needs(release: ReleasePlan) -> Iterator[tuple[Offer, Location | None]]:
    attacks = getattr(release, "attacks", None)
    if attacks is not None:
        yield Offer.ATTACKS, release.location
    for check in release.checks:
        if check.expectation is not None:
            yield Offer.EXPECTATIONS, check.location
            break
    if any(source.kind in _DATABASES for source in release.sources) or any(sink.kind in _DATABASES for sink in release.sinks):
        yield Offer.DATABASES, release.location
