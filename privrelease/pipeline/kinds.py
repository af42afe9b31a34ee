"""Kinds of releases as values: what the pipeline does with a release of each kind.

A new kind is a wing of functions and one more value in ``KINDS``. The wings import what they compute with when they are called, so that
asking for a kind loads nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from privrelease.pipeline import microdata, statistics, synthetic, tables
from privrelease.plan.model import named
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from privrelease.audit.comparison.previous_release import EarlierRelease
    from privrelease.audit.document.model import AuditResult
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import Staged
    from privrelease.execute.common.progress import Progress
    from privrelease.execute.microdata.forecast import Forecast
    from privrelease.execute.tables.forecast import TableForecast
    from privrelease.pipeline.audit import AuditedFiles
    from privrelease.pipeline.steps import Steps
    from privrelease.pipeline.world import World
    from privrelease.plan.build import Build
    from privrelease.plan.explain import Explain
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.policy.release_kind import ReleaseKind
    from privrelease.release.manifest import InputDigest, Manifest
    from privrelease.release.runs import RunFolder
    from privrelease.release.store import ReleaseStore

__all__ = ["KINDS", "Kind", "PlainForecast", "kind_named", "kind_of", "kind_of_manifest", "with_steps"]

P = TypeVar("P")


class PlainForecast(Protocol):
    """A forecast that says itself how it is shown. ``release``: its id. ``fails``: a run would fail as the data is."""

    @property
    def release(self) -> str:
        """The release."""
        ...

    @property
    def fails(self) -> bool:
        """Return True if a run would fail as the data is."""
        ...

    def as_lines(self) -> tuple[str, ...]:
        """Return it as lines of text."""
        ...

    def as_data(self) -> dict[str, object]:
        """Return it for JSON."""
        ...


def _sources(plan: Any, engine: AuditEngine, world: World) -> tuple[Callable[[], Staged], ...]:  # noqa: ANN401 -- every kind's plan names its sources
    del world
    return tuple(partial(engine.stage, source) for source in plan.sources)


def _never(manifest: Manifest) -> bool:
    del manifest
    return False


@dataclass(frozen=True, slots=True)
class Kind(Generic[P]):
    """A kind of release; ``P``: the class of its plans, whose ``kind`` is the kind's ``name``."""

    name: str
    spec: Callable[[], ReleaseKind[Any]]
    """Return what the policy says of the kind: its keys and rules."""
    build: Build
    """Plan a release of a policy."""
    explain: Explain
    """Say in words what a plan will do."""
    execute: Callable[[P, Plan, World, ReleaseStore, RunFolder, Progress], AuditResult]
    """Run a release in the folder of a run, park it there and audit what was parked."""
    audit: Callable[[P, Plan, AuditedFiles, World], AuditResult]
    """Audit files that exist already against a release."""
    inputs: Callable[[RunFolder], tuple[InputDigest, ...]]
    """Return the digests of what a run read, its source first."""
    previous: Callable[[EarlierRelease, RunFolder], EarlierRelease]
    """Complete a previous release by what the folder of its run adds to its manifest."""
    external: Callable[[EarlierRelease, P], EarlierRelease]
    """Complete a previous release of unknown origin by what the plan of its counterpart declares."""
    lossy: Callable[[P], frozenset[str]]
    """Return the columns of which single cells may have been suppressed."""
    made: Callable[[Manifest], bool] = _never
    """Return whether a manifest that does not name its kind describes a release of this one."""
    forecast: Callable[[P, Plan, World], Forecast | TableForecast | PlainForecast] | None = None
    """Compute what a run would find and suppress; None where nothing is read beforehand."""
    readings: Callable[[P, AuditEngine, World], tuple[Callable[[], Staged], ...]] = _sources
    """Return what reads the data of a release as a run would, part by part, and makes nothing of it: each returns what it read, with its warnings, and
    raises InputError where it is not as declared."""
    accounted: bool = False
    """The ledger bounds what all releases of this kind disclose together: their audits combine no previous ones."""
    differences: bool = False
    """A difference of two releases is a figure by itself: the audit reads the state that an earlier one was made of."""
    empty_fails: bool = False
    """A source without a row fails the audit, since an empty release shows nothing (A219)."""
    row_map: bool = False
    """A row map leads each released row to its source, for the audit."""
    rehearse: Callable[[P, Plan, World, Progress], str] | None = None
    """Do what a dry run can do of a release that must not be executed without a charge, and say in words what that was. None: a dry run executes
    a release of this kind, unless it is ``accounted``."""
    steps: Callable[[], Steps] | None = None
    """Return the transform steps that a release of this kind may have; None: it has none. See :func:`with_steps`."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy a kind of this package by its name; any other as it is made."""
        return (kind_named, (self.name,)) if any(one is self for one in KINDS) else cast("Any", object.__reduce_ex__(self, 2))


def _spec(kind: str) -> Callable[[], ReleaseKind[Any]]:
    def spec() -> ReleaseKind[Any]:
        from privrelease.policy.language.kinds import KINDS

        return named(kind, ((one.name, one) for one in KINDS))

    return spec


def _build(kind: str) -> Build:
    def build(*given: Any) -> Any:  # noqa: ANN401 -- the builder's own types hold
        from privrelease.plan.build import BUILDERS

        return named(kind, BUILDERS)(*given)

    return build


def _explain(kind: str) -> Explain:
    def explain(plan: Any) -> Any:  # noqa: ANN401 -- the explainer's own types hold
        from privrelease.plan.explain import EXPLAINERS

        return named(kind, EXPLAINERS)(plan)

    return explain


def _steps() -> Steps:
    from privrelease.pipeline.steps import STEPS

    return STEPS


#: Every kind of release.
KINDS: tuple[Kind[Any], ...] = (
    Kind(
        name="microdata",
        spec=_spec("microdata"),
        build=_build("microdata"),
        explain=_explain("microdata"),
        execute=microdata.audited_microdata,
        audit=microdata.audit_files,
        made=microdata.made,
        inputs=microdata.inputs,
        previous=microdata.previous,
        external=microdata.external,
        lossy=microdata.lossy,
        forecast=microdata.forecast,
        readings=microdata.readings,
        empty_fails=True,
        row_map=True,
        steps=_steps,
    ),
    Kind(
        name="statistics",
        spec=_spec("statistics"),
        build=_build("statistics"),
        explain=_explain("statistics"),
        execute=statistics.audited_statistics,
        audit=statistics.audit_files,
        made=statistics.made,
        inputs=statistics.inputs,
        previous=statistics.previous,
        external=statistics.external,
        lossy=statistics.lossy,
        accounted=True,
        rehearse=statistics.rehearse,
    ),
    Kind(
        name="table",
        spec=_spec("table"),
        build=_build("table"),
        explain=_explain("table"),
        execute=tables.audited_table,
        audit=tables.audit_files,
        made=tables.made,
        inputs=tables.inputs,
        previous=tables.previous,
        external=tables.external,
        lossy=tables.lossy,
        forecast=tables.forecast,
        differences=True,
        empty_fails=True,
    ),
    Kind(
        name="synthetic",
        spec=_spec("synthetic"),
        build=_build("synthetic"),
        explain=_explain("synthetic"),
        execute=synthetic.audited_synthetic,
        audit=synthetic.audit_files,
        inputs=synthetic.inputs,
        previous=synthetic.previous,
        external=synthetic.external,
        lossy=synthetic.lossy,
        accounted=True,
        rehearse=synthetic.rehearse,
    ),
)


def with_steps(steps: Steps, kinds: Sequence[Kind[Any]] = KINDS) -> tuple[Kind[Any], ...]:
    """Return the kinds, those that have transform steps with these ones: so a step is tried before its line is written."""
    return tuple(kind if kind.steps is None else _with_steps(kind, steps) for kind in kinds)


def _with_steps(kind: Kind[Any], steps: Steps) -> Kind[Any]:
    from privrelease.pipeline.steps import words_of
    from privrelease.plan.explain import explain_microdata
    from privrelease.policy.kind_microdata import microdata_kind

    spec, explain = microdata_kind(tuple(one.spec for one in steps)), partial(explain_microdata, words=words_of(steps))
    return replace(kind, spec=lambda: spec, explain=explain, steps=lambda: steps)


def kind_of(release: ReleasePlan, kinds: Sequence[Kind[Any]] = KINDS) -> Kind[Any]:
    """Return the kind of a planned release."""
    return kind_named(release.kind, kinds)


def kind_named(name: str, kinds: Sequence[Kind[Any]] = KINDS) -> Kind[Any]:
    """Return the kind of that name. Raises LookupError where there is none."""
    return named(name, ((kind.name, kind) for kind in kinds))


def kind_of_manifest(manifest: Manifest, kinds: Sequence[Kind[Any]] = KINDS) -> Kind[Any]:
    """Return the kind of a release from its manifest. Raises LookupError where no kind makes such manifests."""
    if manifest.kind is not None:
        return kind_named(manifest.kind, kinds)
    for kind in kinds:
        if kind.made(manifest):
            return kind
    message = "no kind of release makes such a manifest"
    raise LookupError(message)
