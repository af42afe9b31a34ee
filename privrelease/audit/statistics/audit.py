"""The audit of a release of statistics: the parked files against the plan and the claim.

Nothing that is private decides (DESIGN, semantics 12): every check that decides looks at the released file, the claim and the plan, which
hold nothing of the data but its noisy figures; one that the policy makes on the source is reported internally alone. Running
again until a check passes could select no noise.
"""

from __future__ import annotations

import json
from itertools import product
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Final

from privrelease.audit.check import Check, check_findings, fault, run_checks
from privrelease.audit.checks.aggregate_checks import (
    cells_of_file,
    data_of,
    digest_mismatches,
    number_text,
    output_facts,
    remaining,
)
from privrelease.audit.checks.charges import ledger_faults
from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.facts import context_facts, identity_of, legal_facts
from privrelease.audit.checks.great_expectations import figure_checks, source_checks
from privrelease.audit.comparison.combine import with_earlier
from privrelease.audit.document.model import AuditResult, Outcome
from privrelease.audit.document.sentences import both
from privrelease.audit.statistics.previous_releases import beside_statistics
from privrelease.audit.statistics.privacy import ReleasedRow, privacy_section
from privrelease.dp.composition import covers
from privrelease.dp.draws import Draw
from privrelease.dp.queries import Histogram, PrivateKeys, PublicKeys
from privrelease.relational.treatments import NOISY
from privrelease.texts.sentences import Number, listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from privrelease.audit.check import Need
    from privrelease.audit.checks.charges import Charges
    from privrelease.audit.comparison.previous_release import EarlierReleases
    from privrelease.audit.document.model import CheckResult
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.plan.model import Plan
    from privrelease.plan.statistics.plan import StatisticPlan, StatisticsPlan
    from privrelease.relational.schema import Sink
    from privrelease.release.manifest import Manifest
    from privrelease.release.privacy import PrivacyClaim
    from privrelease.texts.sentences import Said

__all__ = ["STATISTICS_CHECKS", "StatisticsTarget", "audit_statistics"]

_MARK: Final = "not private: "
_NUMBERS: Final = ("value", "low", "high", "scale", "epsilon", "delta")

#: The codes of what no audit of such a release can settle.
REMAINING: Final = ("remaining.budget", "remaining.unit", "remaining.purpose", "remaining.lawful")


@dataclass(frozen=True, slots=True)
class StatisticsTarget:
    """The parked release: its files in the plan's order, and what the run says of itself (None: nothing is claimed)."""

    files: tuple[Sink, ...]
    manifest: Manifest | None = None
    run: str | None = None
    charges: Charges | None = None
    """The ledger's record; None where it is not available, and then nothing is said about it."""
    altered: tuple[Said, ...] = ()
    """Parts of the run that are no longer as they were decided upon, in words."""
    ledger_fault: Said | None = None
    """Why the ledger that should have been charged cannot be believed."""


@dataclass(frozen=True, slots=True)
class _Row:
    query: str
    group: str
    mechanism: str
    numbers: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class _Evidence:
    plan: StatisticsPlan
    target: StatisticsTarget
    tables: tuple[tuple[_Row, ...] | None, ...]

    @property
    def rows(self) -> tuple[_Row, ...]:
        return next((table for table in self.tables if table is not None), ())

    def of(self, query: StatisticPlan) -> list[_Row]:
        return [row for row in self.rows if row.query == query.id]


def audit_statistics(
    plan: StatisticsPlan,
    policy: Plan,
    target: StatisticsTarget,
    *,
    audited_at: str,
    versions: Mapping[str, str],
    engine: AuditEngine | None = None,
    earlier: EarlierReleases | None = None,
) -> AuditResult:
    """Check the files of ``target`` against ``plan`` and the claim, and decide. Everything wrong is a finding, not an exception.

    ``engine``: for checks of the policy, on the file, and on the source; what these find is reported and decides nothing.
    ``earlier``: previous releases of the same persons.
    """
    evidence = _Evidence(plan, target, tuple(_read(plan, sink) for sink in target.files))
    lacking: dict[Need, Said] = {}
    if target.manifest is None:
        lacking = dict.fromkeys(("manifest", "ledger"), say("no_manifest"))
    if target.charges is None:
        lacking["ledger"] = say("no_ledger")
    checks = run_checks(STATISTICS_CHECKS, evidence, lacking)
    legal = legal_facts(policy.legal, policy.missing_legal)
    on_file = figure_checks(plan.checks, plan.column_types, target.files, engine)
    on_source = source_checks(plan, engine)
    checks = (*checks, *on_file)
    findings = (
        *check_findings(plan.location, checks, STATISTICS_CHECKS),
        *check_findings(plan.location, on_source, informs=True),
    )
    decision = decide((), None, checks, findings, legal)
    outputs = output_facts(target.files, evidence.tables)
    used = {column for query in plan.queries for column in (*query.columns, query.query.column)}
    audit = AuditResult(
        kind=plan.kind,
        decision=decision.model_copy(update=both("assessment_remaining", remaining(REMAINING, checks))),
        identity=identity_of(policy, plan.id, target.run, outputs, audited_at, versions),
        legal=legal,
        context=context_facts(policy.context, policy.review),
        data=data_of(plan, plan.population, used, NOISY, len(evidence.rows)),
        threats=(),
        union=None,
        utility=None,
        checks=(*checks, *on_source),
        findings=findings,
        statistics=privacy_section(
            plan,
            policy,
            _released(evidence, checks),
            manifest=target.manifest,
            charges=target.charges,
            version=versions.get("privrelease"),
        ),
    )
    if earlier is None:
        return audit
    return with_earlier(audit, beside_statistics(plan, policy, target.manifest, target.charges, earlier), plan)


def _released(evidence: _Evidence, checks: tuple[CheckResult, ...]) -> dict[str, list[ReleasedRow]] | None:
    """The file's figures by query; None where it is not the table that was asked for, and its texts might be anything."""
    if any(check.outcome is Outcome.FAIL and check.id in _OF_THE_FILE for check in checks):
        return None
    released: dict[str, list[ReleasedRow]] = {}
    for row in evidence.rows:
        numbers = (row.numbers["value"], row.numbers["low"], row.numbers["high"])
        released.setdefault(row.query, []).append((json.loads(row.group), numbers))
    return released


# ---------------------------------------------------------------------------------------------------------------------- reading


def _read(plan: StatisticsPlan, sink: Sink) -> tuple[_Row, ...] | None:
    """The rows of a file as they are; None where it is no such table."""
    try:
        names, rows = cells_of_file(sink)
        if tuple(names) != plan.columns:
            return None
        keys = {query.id: _key_names(query) for query in plan.queries}
        return tuple(_row(dict(zip(names, row, strict=True)), keys, sink) for row in rows)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _row(cells: dict[str, object], keys: Mapping[str, tuple[str, ...]], sink: Sink) -> _Row:
    numbers = {name: _number(cells.pop(name), sink) for name in _NUMBERS}
    query, mechanism = str(cells.pop("query")), str(cells.pop("mechanism"))
    if "group" in cells:
        return _Row(query, str(cells["group"]), mechanism, numbers)
    # a key that is not the query's should be blank; where it is not, the group is none of the declared
    own = keys.get(query, ())
    group = {name: "" if cell is None else str(cell) for name, cell in cells.items() if name in own or cell not in (None, "")}
    return _Row(query, json.dumps(group, sort_keys=True, ensure_ascii=False), mechanism, numbers)


def _key_names(query: StatisticPlan) -> tuple[str, ...]:
    return (*query.columns, *(("bin",) if isinstance(query.query, Histogram) else ()))


def _number(value: object, sink: Sink) -> float | None:
    text = number_text(value, sink)
    return None if text is None else float(text)


# ----------------------------------------------------------------------------------------------------------------------- checks


def _readable(evidence: _Evidence) -> Said | None:
    lost = [sink.label for sink, table in zip(evidence.target.files, evidence.tables, strict=True) if table is None]
    if lost or not evidence.tables:
        return say("not_statistics", files=listed(lost) if lost else say("no_output"))
    return None


def _digests(evidence: _Evidence) -> Said | None:
    return digest_mismatches(evidence.target.files, evidence.target.manifest, evidence.target.altered)


def _same(evidence: _Evidence) -> Said | None:
    return None if all(table == evidence.tables[0] for table in evidence.tables) else say("other_figures")


def _order(evidence: _Evidence) -> Said | None:
    asked = [query.id for query in evidence.plan.queries]
    seen = list(dict.fromkeys(row.query for row in evidence.rows))
    if any(query not in asked for query in seen):
        return say("unasked_figures")
    place = {query: number for number, query in enumerate(asked)}
    places = [place[row.query] for row in evidence.rows]
    return None if places == sorted(places) else say("queries_order")


def _groups(evidence: _Evidence) -> Said | None:
    """Every declared key is there once, in its order; private keys are there at most once, sorted."""
    for query in evidence.plan.queries:
        found = [row.group for row in evidence.of(query)]
        if isinstance(query.keys, PrivateKeys):
            keys = [_keys(query, group) for group in found]
            if None in keys or keys != sorted(set(keys)):  # type: ignore[type-var]  # no None is left
                return say("query_not_keys", query=query.id)
        elif found != list(_declared(query)):
            return say("query_not_groups", query=query.id)
    return None


def _declared(query: StatisticPlan) -> Iterator[str]:
    parts: list[tuple[str, ...]] = []
    if isinstance(query.keys, PublicKeys):
        parts = [domain.labels for domain in query.keys.domains]
    if isinstance(query.query, Histogram):
        parts.append(query.query.bins.labels)
    for keys in product(*parts):
        yield json.dumps(dict(zip(_key_names(query), keys, strict=True)), sort_keys=True, ensure_ascii=False)


def _keys(query: StatisticPlan, group: str) -> tuple[str, ...] | None:
    try:
        keys = json.loads(group)
    except ValueError:
        return None
    fits = isinstance(keys, dict) and set(keys) == set(query.columns) and all(isinstance(key, str) for key in keys.values())
    return tuple(keys[name] for name in query.columns) if fits else None


def _scales(evidence: _Evidence) -> Said | None:
    for query in evidence.plan.queries:
        draw = query.shown
        unit = 1.0 if draw.mechanism == "permute_and_flip" else float(draw.grid)
        scale = sqrt(draw.scale) if draw.mechanism == "discrete_gaussian" else float(draw.scale)
        scale = 0.0 if draw.mechanism == "public" else scale * unit
        wanted = (scale, float(query.cost.epsilon.value), float(query.cost.delta.value))
        for row in evidence.of(query):
            stated = tuple(row.numbers[name] for name in ("scale", "epsilon", "delta"))
            near = all(
                one is not None and abs(one - other) <= 1e-12 * abs(other) for one, other in zip(stated, wanted, strict=True)
            )
            if not near or row.mechanism.removeprefix(_MARK) != draw.mechanism:
                return say("query_scale", query=query.id)
    return None


def _figures(evidence: _Evidence) -> Said | None:
    """Figures are finite, and lie inside their intervals."""
    for row in evidence.rows:
        value, low, high = (row.numbers[name] for name in ("value", "low", "high"))
        if any(number is not None and not isfinite(number) for number in row.numbers.values()):
            return say("query_infinite", query=row.query)
        if value is None and evidence.plan.min_count is None:
            return say("query_missing", query=row.query)
        if value is not None and ((low is not None and low > value) or (high is not None and high < value)):
            return say("query_outside", query=row.query)
    return None


def _budget(evidence: _Evidence) -> Said | None:
    plan = evidence.plan
    if not plan.cost.fits(plan.budget):
        return say("cost_over", epsilon=Number(str(plan.cost.epsilon)), delta=Number(str(plan.cost.delta)))
    manifest = evidence.target.manifest
    if manifest is None:
        return None
    claim = manifest.privacy
    if claim is None:
        return say("no_claim")
    if (claim.epsilon, claim.delta) != (str(plan.cost.epsilon), str(plan.cost.delta)):
        return say("claim_differs", epsilon=Number(claim.epsilon), cost=Number(str(plan.cost.epsilon)))
    stated = [draw for query in claim.queries for draw in query.draws]
    if stated != [draw.record() for draw in plan.draws]:
        return say("draws_differ")
    return _composition(plan, claim)


def _composition(plan: StatisticsPlan, claim: PrivacyClaim) -> Said | None:
    """Compose again the draws that the manifest lists, from mechanism, sensitivity, scale and grid."""
    families = [(tuple(part.queries for part in one.parts), one.most) for one in plan.apart]
    if [(one.parts, one.at_most) for one in claim.apart] != families or claim.accountant != plan.composed.accountant:
        return say("other_rule")
    stated = tuple(Draw.from_record(draw) for query in claim.queries for draw in query.draws)
    if not covers(plan.cost, stated, claim.accountant, plan.apart):
        return say("draws_cost_more", epsilon=Number(claim.epsilon), delta=Number(claim.delta))
    return None


def _secret(evidence: _Evidence) -> Said | None:
    manifest = evidence.target.manifest
    seeded = manifest is not None and manifest.privacy is not None and not manifest.privacy.private
    if seeded or any(row.mechanism.startswith(_MARK) for row in evidence.rows):
        return say("seeded")
    return None


def _charged(evidence: _Evidence) -> Said | None:
    target = evidence.target
    return ledger_faults(target.manifest, target.charges, target.ledger_fault)


#: In the order in which they are reported. A file alone cannot show noise that was never drawn: it looks like noise.
STATISTICS_CHECKS: tuple[Check[_Evidence], ...] = (
    Check("A231", "AUDIT-DP-FILES", fault(_readable)),
    Check("A232", "AUDIT-DP-DIGEST", fault(_digests), needs="manifest"),
    Check(
        "A233",
        "AUDIT-DP-SAME",
        fault(_same),
    ),
    Check("A234", "AUDIT-DP-ORDER", fault(_order)),
    Check(
        "A235",
        "AUDIT-DP-GROUPS",
        fault(_groups),
    ),
    Check(
        "A236",
        "AUDIT-DP-SCALE",
        fault(_scales),
    ),
    Check("A237", "AUDIT-DP-FIGURES", fault(_figures)),
    Check(
        "A238",
        "AUDIT-DP-BUDGET",
        fault(_budget),
        needs="manifest",
        promised=True,
    ),
    Check(
        "A239",
        "AUDIT-DP-NOISE",
        fault(_secret),
        needs="manifest",
        promised=True,
    ),
    Check(
        "A240",
        "AUDIT-DP-LEDGER",
        fault(_charged),
        needs="ledger",
    ),
)

_OF_THE_FILE: Final = frozenset(
    f"AUDIT-DP-{part}" for part in ("FILES", "DIGEST", "SAME", "ORDER", "GROUPS", "SCALE", "FIGURES")
)
