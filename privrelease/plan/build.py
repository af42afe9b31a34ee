"""From a loaded policy to a plan: every reference resolved, every threshold an exact fraction. No row is touched."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.plan.approvals import ApprovalsPlan, LedgerPlan, PublicationsPlan, WaiverPlan
from privrelease.plan.attacks import attacks_plan
from privrelease.plan.checks import check_plans
from privrelease.plan.model import (
    MicrodataPlan,
    Plan,
    PopulationPlan,
    ReleasedColumn,
    SubsetLimit,
    SuppressStep,
    ThreatPlan,
    UnitPlan,
    named,
)
from privrelease.plan.sources import looked_at, needed, release_sinks, release_source, sinks_of, table_source
from privrelease.policy.language.approvals import same_person
from privrelease.policy.language.values import DEFAULT_LOG, IN_LEDGER
from privrelease.policy.rules.required_legal_fields import missing_legal_fields
from privrelease.policy.rules.rule_context import leaving
from privrelease.relational.schema import (
    ListFile,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from privrelease.dp.budget import Budget
    from privrelease.plan.model import ReleasePlan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.policy.language.approvals import Waiver
    from privrelease.policy.language.datasets import ColumnSpec, Dataset
    from privrelease.policy.language.ledger import CapSpec
    from privrelease.policy.language.releases import MicrodataRelease
    from privrelease.policy.language.statistics import StatisticsRelease
    from privrelease.policy.language.synthetic import SyntheticRelease
    from privrelease.policy.language.tables import TableRelease
    from privrelease.policy.language.threats import Threat
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.policy.rules.rule_context import Leaving

__all__ = ["BUILDERS", "Build", "build_plan"]

#: What plans a release of one kind, from the policy, the release's place in it, and the release.
Build: TypeAlias = "Callable[[LoadedPolicy, int, Any], ReleasePlan]"


def build_plan(loaded: LoadedPolicy, *, commit: str | None = None, builders: tuple[tuple[str, Build], ...] = ()) -> Plan:
    """Return what the policy's releases will do. ``commit``: of the git repository that holds the policy. ``builders``: by kind of release
    (none: ``BUILDERS``).
    """
    policy = loaded.policy
    found = builders or BUILDERS
    return Plan(
        policy_id=policy.id,
        policy_version=policy.version,
        policy_path=loaded.path,
        policy_sha256=loaded.sha256,
        title=policy.title,
        releases=tuple(named(one.kind, found)(loaded, number, one) for number, one in enumerate(policy.releases)),
        environment=loaded.environment,
        commit=commit,
        language=None if policy.report is None else policy.report.language,
        legal=policy.legal,
        missing_legal=missing_legal_fields(policy),
        context=policy.context,
        review=policy.review,
        ledger=_ledger(loaded),
        approvals=_approvals(loaded),
        publications=_publications(loaded),
        waivers=tuple(_waiver(loaded, number, waiver) for number, waiver in enumerate(policy.waivers)),
    )


def _ledger(loaded: LoadedPolicy) -> LedgerPlan | None:
    ledger = loaded.policy.ledger
    if ledger is None:
        return None
    legal = loaded.policy.legal
    kept = ledger.retention or (legal.retention.release if legal is not None and legal.retention is not None else None)
    return LedgerPlan(
        ledger.url,
        _cap(ledger.cap),
        loaded.location("ledger"),
        tuple((name, _cap(cap)) for name, cap in ledger.datasets.items()),
        None if kept is None else str(kept),
    )


def _cap(cap: CapSpec) -> Budget:
    from privrelease.dp.budget import Budget
    from privrelease.units import Delta, Epsilon

    return Budget(Epsilon(cap.epsilon), Delta(cap.delta or 0))


def _approvals(loaded: LoadedPolicy) -> ApprovalsPlan | None:
    spec = loaded.policy.approvals
    if spec is None:
        return None
    return ApprovalsPlan(spec.required, loaded.roots.inside(spec.keys, loaded.roots.folder), spec.keys)


def _publications(loaded: LoadedPolicy) -> PublicationsPlan:
    written = loaded.policy.publications or DEFAULT_LOG
    if written == IN_LEDGER:
        return PublicationsPlan(None, IN_LEDGER)
    return PublicationsPlan(loaded.roots.inside(written, loaded.roots.folder), written)


def _waiver(loaded: LoadedPolicy, number: int, waiver: Waiver) -> WaiverPlan:
    return WaiverPlan(
        check=waiver.check,
        release=waiver.release,
        reason=waiver.reason,
        owner=waiver.owner,
        approved_by=waiver.approved_by,
        expires=waiver.expires,
        self_approved=same_person(waiver.owner, waiver.approved_by),
        location=loaded.location("waivers", number),
    )


def _exact(number: Decimal | None) -> Fraction | None:
    return None if number is None else Fraction(number)


def _statistics(loaded: LoadedPolicy, number: int, release: StatisticsRelease) -> StatisticsPlan:
    from privrelease.plan.statistics.plan import StatisticPlan, StatisticsPlan
    from privrelease.policy.kind_statistics import statistics_columns
    from privrelease.policy.statistics.queries import columns_read, resolve

    dataset = loaded.policy.datasets[release.from_]
    found, _ = resolve(release, release.from_, dataset)
    assert found is not None  # a policy with faults is not loaded
    checks = check_plans(loaded, release)
    source = table_source(loaded, release.from_, dataset, dataset.columns)
    return StatisticsPlan(
        id=release.id,
        source=needed(source, {name for query in found.queries for name in columns_read(query)}, dataset),
        queries=tuple(
            StatisticPlan(
                id=query.spec.id,
                figure=query.spec.figure,
                query=query.query,
                where=query.where,
                budget=query.budget,
                draws=query.draws,
                noise=query.spec.mechanism,
                post=tuple(step for step in release.post if step != "consistent")
                if query.spec.post is None
                else query.spec.post,
                fresh=query.spec.fresh,
                agrees=query.agrees,
                expected_rows=query.spec.expected_rows,
                location=loaded.location("releases", number, "queries", index),
            )
            for index, query in enumerate(found.queries)
        ),
        budget=found.budget,
        rule=found.rule,
        apart=found.apart,
        setting=found.setting,
        sinks=tuple(sinks_of(loaded, release)),
        unit=None if dataset.person is None else UnitPlan(dataset.person.column, dataset.person.max_rows),
        rows_are_persons=dataset.unit == "rows",
        snapshot=dataset.snapshot,
        population_id=dataset.population,
        min_count=_min_count(loaded, release),
        columns=tuple(statistics_columns(release)),
        checks=checks,
        checked=looked_at(loaded, release.from_, dataset, tuple(check for check in checks if check.on == "source")),
        location=loaded.location("releases", number),
    )


def _min_count(loaded: LoadedPolicy, release: StatisticsRelease) -> int | None:
    """The release's own, else that of `tables`; the policy's rules refuse one of its own that is lower."""
    common = loaded.policy.tables
    return release.min_count if release.min_count is not None or common is None else common.min_count


def _table(loaded: LoadedPolicy, number: int, release: TableRelease) -> TablePlan:
    from privrelease.plan.tables.plan import table_plan

    dataset = loaded.policy.datasets[release.from_]
    source = release_source(loaded, release.from_)
    place = loaded.location("releases", number)
    sinks, checks = release_sinks(loaded, release), check_plans(loaded, release)
    return table_plan(release, dataset, loaded.policy.tables, source, sinks, place, loaded.roots, checks)


def _synthetic(loaded: LoadedPolicy, number: int, release: SyntheticRelease) -> SyntheticPlan:
    from privrelease.plan.synthetic.plan import synthetic_plan

    dataset, checks = loaded.policy.datasets[release.from_], check_plans(loaded, release)
    checked = looked_at(loaded, release.from_, dataset, tuple(check for check in checks if check.on == "source"))
    source, place = release_source(loaded, release.from_), loaded.location("releases", number)
    read = needed(source, set(release.columns) - set(release.make), dataset)
    attacks = attacks_plan(loaded, release, read, decides=False)
    return synthetic_plan(release, dataset, source, read, release_sinks(loaded, release), place, checks, checked, attacks)


def _microdata(loaded: LoadedPolicy, number: int, release: MicrodataRelease) -> MicrodataPlan:
    policy = loaded.policy
    dataset = policy.datasets[release.from_]
    out = leaving(release, dataset)
    source = table_source(loaded, release.from_, dataset, dataset.columns)
    return MicrodataPlan(
        id=release.id,
        source=source,
        columns=tuple(_released(loaded, release, name, dataset.columns[name], out) for name in out.columns),
        threats=tuple(_threat(loaded, name, policy.threats[name], out) for name in release.protect),
        sinks=tuple(sinks_of(loaded, release)),
        unit=None if dataset.person is None else UnitPlan(dataset.person.column, dataset.person.max_rows),
        rows_are_persons=dataset.unit == "rows",
        suppress=_suppress(loaded, number, out),
        order=release.order,
        recipients=release.recipients,
        recipients_hold_previous=release.recipients_hold_previous,
        frontier=release.frontier,
        checks=check_plans(loaded, release),
        attacks=attacks_plan(loaded, release, source),
        lists=tuple(ListFile(loaded.roots.inside(one, loaded.roots.folder), one) for one in _listed(release, dataset, out)),
        snapshot=dataset.snapshot,
        population_id=dataset.population,
        location=loaded.location("releases", number),
    )


def _listed(release: MicrodataRelease, dataset: Dataset, out: Leaving) -> tuple[str, ...]:
    """Return the files that say how released columns are written, each once."""
    steps = ((step, name) for step in release.transform for name in step.listed() if name in out.treatments)
    return tuple(dict.fromkeys(one for step, name in steps for one in step.files(name, dataset.columns[name])))


def _released(loaded: LoadedPolicy, release: MicrodataRelease, name: str, spec: ColumnSpec, out: Leaving) -> ReleasedColumn:
    step = next((one for one in release.transform if name in out.treatments and name in one.listed()), None)
    treatment = None if step is None else step.planned(name, spec, loaded.roots)
    treatment = out.treatment(name) if treatment is None else treatment
    return ReleasedColumn(name, treatment.released_type(spec.type), spec.role, treatment)


def _threat(loaded: LoadedPolicy, name: str, threat: Threat, out: Leaving) -> ThreatPlan:
    at_risk = threat.records_at_risk
    subsets = threat.also.subsets if threat.also is not None else None
    known = tuple(dict.fromkeys(threat.knows))
    return ThreatPlan(
        name=name,
        columns=tuple(column for column in known if column in out.columns),
        thresholds=Thresholds(
            highest=threat.highest_risk,
            average=threat.average_risk,
            at_risk=None if at_risk is None else RecordsAtRisk(Fraction(at_risk.above), Fraction(at_risk.share)),
        ),
        attacker=threat.attacker,
        missing=threat.missing,
        population=_population(loaded, threat, out),
        subsets=None if subsets is None else SubsetLimit(subsets.up_to, subsets.k),
        knows_rows=threat.knows_rows,
        absent=tuple(column for column in known if column not in out.columns),
        location=loaded.location("threats", name),
    )


def _population(loaded: LoadedPolicy, threat: Threat, out: Leaving) -> PopulationPlan | None:
    spec = threat.population
    if spec is None:
        return None
    table = None
    if spec.table is not None:
        dataset = loaded.policy.datasets[spec.table]
        person = None if dataset.person is None else dataset.person.column
        known = {
            name: column
            for name, column in dataset.columns.items()
            if name == person or (name in threat.knows and name in out.columns)
        }
        table = table_source(loaded, spec.table, dataset, known, unlisted_columns="drop")
    return PopulationPlan(table, spec.weight, spec.size, spec.estimator)


def _suppress(loaded: LoadedPolicy, number: int, out: Leaving) -> SuppressStep | None:
    step = out.suppress
    if step is None:
        return None
    weights = tuple((name, Fraction(weight)) for name, weight in step.weights.items() if name in out.columns)
    place = loaded.location("releases", number, "transform", out.suppress_step)
    return SuppressStep(_exact(step.limit), weights, step.residual, place, step.prefer)


#: How releases are planned, by kind.
BUILDERS: tuple[tuple[str, Build], ...] = (
    ("microdata", _microdata),
    ("statistics", _statistics),
    ("table", _table),
    ("synthetic", _synthetic),
)
