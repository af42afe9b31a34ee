"""The audit of a release of statistics: the parked files against the plan and the claim. No row of the source is read.

Nothing that is private decides (DESIGN, semantics 12): every check looks at the released file, the claim and the plan, which hold nothing of
the data but its noisy figures. Running again until a check passes could select no noise.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from itertools import product
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Final

from privrelease.audit.charges import uncharged
from privrelease.audit.codes import NO_MANIFEST
from privrelease.audit.decision import decide
from privrelease.audit.facts import context_facts, legal_facts
from privrelease.audit.model import (
    AuditResult,
    CheckResult,
    ColumnFacts,
    DataFacts,
    Figure,
    FindingRecord,
    Identity,
    Outcome,
    OutputFacts,
    Visibility,
)
from privrelease.audit.privacy import ReleasedRow, privacy_section
from privrelease.audit.privacy_model import PRIVACY
from privrelease.dp.queries import Histogram, PrivateKeys, PublicKeys
from privrelease.relational.schema import SinkKind
from privrelease.release.digests import sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from privrelease.audit.charges import Charges
    from privrelease.plan.model import Plan
    from privrelease.plan.statistics import StatisticPlan, StatisticsPlan
    from privrelease.relational.schema import Sink
    from privrelease.release.manifest import Manifest

__all__ = ["StatisticsTarget", "audit_statistics"]

_MARK: Final = "not private: "
_TEXTS: Final = frozenset({"query", "group", "mechanism"})

REMAINING: Final = (
    "Whether the budget is fitting: epsilon bounds what the release adds to what is known of a person, whatever else is known.",
    "Whether the unit is the person: who has several identifiers is protected by each of them alone.",
    "Whether the figures are good enough for their purpose; their intervals say what the noise may have done.",
    "Whether the release is lawful and necessary: the controller's decision, on the data-protection officer's advice.",
)


_NOT_CHARGED: Final = "Whether the ledger was charged for the draws: it was not at hand."


@dataclass(frozen=True, slots=True)
class StatisticsTarget:
    """The parked release: its files in the plan's order, and what the run says of itself (None: nothing is claimed)."""

    files: tuple[Sink, ...]
    manifest: Manifest | None = None
    run: str | None = None
    charges: Charges | None = None
    """What the ledger says; None where it is not at hand, and then nothing is said about it."""


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
    plan: StatisticsPlan, policy: Plan, target: StatisticsTarget, *, audited_at: str, versions: Mapping[str, str]
) -> AuditResult:
    """Check the files of ``target`` against ``plan`` and the claim, and decide. Everything wrong is a finding, not an exception."""
    evidence = _Evidence(plan, target, tuple(_read(plan, sink) for sink in target.files))
    made = [check for check in CHECKS if check[3] is not _charged or target.charges is not None]
    checks = tuple(_result(check, evidence) for check in made)
    legal = legal_facts(policy.legal, policy.missing_legal)
    findings = tuple(_finding(plan, check, code) for check, (code, *_) in zip(checks, made, strict=True) if _fails(check))
    decision = decide((), None, checks, findings, legal)
    return AuditResult(
        decision=decision.model_copy(
            update={"assessment_remaining": REMAINING if target.charges is not None else (*REMAINING, _NOT_CHARGED)}
        ),
        identity=_identity(evidence, policy, audited_at, versions),
        legal=legal,
        context=context_facts(policy.context, policy.review),
        data=_data(evidence),
        threats=(),
        union=None,
        utility=None,
        checks=checks,
        findings=findings,
        sections={
            PRIVACY: privacy_section(
                plan,
                policy,
                _released(evidence, checks),
                manifest=target.manifest,
                charges=target.charges,
                version=versions.get("privrelease"),
            )
        },
    )


def _released(evidence: _Evidence, checks: tuple[CheckResult, ...]) -> dict[str, list[ReleasedRow]] | None:
    """The file's figures by query; None where it is not the table that was asked for, and its texts might be anything."""
    if any(_fails(check) and check.id in _OF_THE_FILE for check in checks):
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
        names, rows = _csv(sink) if sink.kind is SinkKind.CSV else _parquet(sink)
        if tuple(names) != plan.columns:
            return None
        return tuple(_row(dict(zip(names, row, strict=True))) for row in rows)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _csv(sink: Sink) -> tuple[list[str], list[Sequence[object]]]:
    lines = list(csv.reader(io.StringIO(sink.path.read_text(encoding="utf-8")), strict=True))
    return (lines[0] if lines else []), [list(line) for line in lines[1:]]


def _parquet(sink: Sink) -> tuple[list[str], list[Sequence[object]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(sink.path)
    except pa.ArrowException as error:
        raise ValueError from error
    return table.column_names, [list(row.values()) for row in table.to_pylist()]


def _row(cells: dict[str, object]) -> _Row:
    numbers = {name: _number(value) for name, value in cells.items() if name not in _TEXTS}
    return _Row(str(cells["query"]), str(cells["group"]), str(cells["mechanism"]), numbers)


def _number(value: object) -> float | None:
    return None if value is None or value == "" else float(str(value))


# ----------------------------------------------------------------------------------------------------------------------- checks


def _readable(evidence: _Evidence) -> str | None:
    lost = [sink.label for sink, table in zip(evidence.target.files, evidence.tables, strict=True) if table is None]
    if lost or not evidence.tables:
        return f"not readable as the long table of statistics: {', '.join(lost) or 'no file'}"
    return None


def _digests(evidence: _Evidence) -> str | None:
    manifest = evidence.target.manifest
    if manifest is None:
        return None
    stated = {output.file: output.sha256 for output in manifest.outputs}
    other = [sink.label for sink in evidence.target.files if stated.get(sink.path.name) != sha256_of(sink.path)]
    return f"not the file of the manifest: {', '.join(other)}" if other else None


def _same(evidence: _Evidence) -> str | None:
    return None if all(table == evidence.tables[0] for table in evidence.tables) else "the files hold different figures"


def _order(evidence: _Evidence) -> str | None:
    asked = [query.id for query in evidence.plan.queries]
    seen = list(dict.fromkeys(row.query for row in evidence.rows))
    if any(query not in asked for query in seen):
        return "there are figures that the plan does not ask for"
    place = {query: number for number, query in enumerate(asked)}
    places = [place[row.query] for row in evidence.rows]
    return None if places == sorted(places) else "queries are not in the order of the policy"


def _groups(evidence: _Evidence) -> str | None:
    """Every declared key is there once, in its order; private keys are there at most once, sorted."""
    for query in evidence.plan.queries:
        found = [row.group for row in evidence.of(query)]
        if isinstance(query.keys, PrivateKeys):
            keys = [_keys(query, group) for group in found]
            if None in keys or keys != sorted(set(keys)):  # type: ignore[type-var]  # no None is left
                return f"query {query.id}: its groups are not keys, each once, in ascending order"
        elif found != list(_declared(query)):
            return f"query {query.id}: its groups are not exactly the declared keys in their order"
    return None


def _declared(query: StatisticPlan) -> Iterator[str]:
    names = list(query.columns)
    parts: list[tuple[str, ...]] = []
    if isinstance(query.keys, PublicKeys):
        parts = [domain.values if hasattr(domain, "values") else domain.labels for domain in query.keys.domains]
    if isinstance(query.query, Histogram):
        names.append("bin")
        parts.append(query.query.bins.labels)
    for keys in product(*parts):
        yield json.dumps(dict(zip(names, keys, strict=True)), sort_keys=True, ensure_ascii=False)


def _keys(query: StatisticPlan, group: str) -> tuple[str, ...] | None:
    try:
        keys = json.loads(group)
    except ValueError:
        return None
    fits = isinstance(keys, dict) and set(keys) == set(query.columns) and all(isinstance(key, str) for key in keys.values())
    return tuple(keys[name] for name in query.columns) if fits else None


def _scales(evidence: _Evidence) -> str | None:
    for query in evidence.plan.queries:
        draw = query.draws[0]
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
                return f"query {query.id}: mechanism, scale, epsilon or delta are not those of the plan"
    return None


def _figures(evidence: _Evidence) -> str | None:
    """Figures are finite, and lie inside their intervals."""
    for row in evidence.rows:
        value, low, high = (row.numbers[name] for name in ("value", "low", "high"))
        if any(number is not None and not isfinite(number) for number in row.numbers.values()):
            return f"query {row.query}: a figure is not finite"
        if value is None and evidence.plan.min_count is None:
            return f"query {row.query}: a figure is missing"
        if value is not None and ((low is not None and low > value) or (high is not None and high < value)):
            return f"query {row.query}: a figure lies outside its interval"
    return None


def _budget(evidence: _Evidence) -> str | None:
    plan = evidence.plan
    if not plan.cost.fits(plan.budget):
        return f"the draws cost epsilon {plan.cost.epsilon}, delta {plan.cost.delta}: more than the budget"
    manifest = evidence.target.manifest
    if manifest is None:
        return None
    claim = manifest.privacy
    if claim is None:
        return "the manifest claims no differential privacy"
    if (claim.epsilon, claim.delta) != (str(plan.cost.epsilon), str(plan.cost.delta)):
        return f"the manifest claims epsilon {claim.epsilon}, the draws of the plan cost {plan.cost.epsilon}"
    stated = [draw for query in claim.queries for draw in query.draws]
    if stated != [draw.record() for draw in plan.draws]:
        return "the manifest does not list every draw of the plan, and nothing else"
    return None


def _secret(evidence: _Evidence) -> str | None:
    manifest = evidence.target.manifest
    seeded = manifest is not None and manifest.privacy is not None and not manifest.privacy.private
    if seeded or any(row.mechanism.startswith(_MARK) for row in evidence.rows):
        return "the noise came from a seed (--test-noise): whoever knows it can take it off. The release is not private"
    return None


def _charged(evidence: _Evidence) -> str | None:
    target = evidence.target
    if target.manifest is None or target.charges is None:
        return None
    return uncharged(target.manifest, target.charges)


#: Code of the finding, id, title, and what is wrong (None: nothing).
CHECKS: tuple[tuple[str, str, str, Callable[[_Evidence], str | None]], ...] = (
    ("A231", "AUDIT-DP-FILES", "Every output is the long table of statistics", _readable),
    ("A232", "AUDIT-DP-DIGEST", "Files are those of the manifest", _digests),
    ("A233", "AUDIT-DP-SAME", "All files hold the same", _same),
    ("A234", "AUDIT-DP-ORDER", "Figures stand in the order of the policy", _order),
    ("A235", "AUDIT-DP-GROUPS", "Every declared group is there, and no other", _groups),
    ("A236", "AUDIT-DP-SCALE", "Mechanisms, scales and costs are those of the plan", _scales),
    ("A237", "AUDIT-DP-FIGURES", "Figures are finite and inside their intervals", _figures),
    ("A238", "AUDIT-DP-BUDGET", "All draws together are within the budget, and claimed", _budget),
    ("A239", "AUDIT-DP-NOISE", "The noise is secret", _secret),
    ("A240", "AUDIT-DP-LEDGER", "The ledger was charged for every draw, and for no other", _charged),
)

#: What a file alone cannot show: noise that was never drawn looks like noise.
_NEED_MANIFEST: Final = (_digests, _secret)

_OF_THE_FILE: Final = frozenset(
    f"AUDIT-DP-{part}" for part in ("FILES", "DIGEST", "SAME", "ORDER", "GROUPS", "SCALE", "FIGURES")
)


def _result(check: tuple[str, str, str, Callable[[_Evidence], str | None]], evidence: _Evidence) -> CheckResult:
    _, name, title, judge = check
    wrong = judge(evidence)
    if wrong is None and judge in _NEED_MANIFEST and evidence.target.manifest is None:
        return CheckResult(id=name, title=title, outcome=Outcome.NOT_EVALUATED, severity="warn", message=NO_MANIFEST)
    return CheckResult(
        id=name,
        title=title,
        outcome=Outcome.PASS if wrong is None else Outcome.FAIL,
        severity="error",
        message="as it should be" if wrong is None else wrong,
    )


def _fails(check: CheckResult) -> bool:
    return check.outcome is Outcome.FAIL


def _finding(plan: StatisticsPlan, check: CheckResult, code: str) -> FindingRecord:
    return FindingRecord(
        code=code,
        message=f"{check.id} {check.title}: {check.message}",
        severity="error",
        subject=f"checks.{check.id}",
        file=None if plan.location is None else plan.location.file,
        line=0 if plan.location is None else plan.location.line,
    )


# ------------------------------------------------------------------------------------------------------------------------- facts


def _identity(evidence: _Evidence, policy: Plan, audited_at: str, versions: Mapping[str, str]) -> Identity:
    present = [(sink, table) for sink, table in zip(evidence.target.files, evidence.tables, strict=True) if sink.path.is_file()]
    return Identity(
        policy_id=policy.policy_id,
        policy_version=policy.policy_version,
        policy_title=policy.title,
        policy_sha256=policy.policy_sha256,
        policy_file=policy.policy_path.name,
        commit=policy.commit,
        environment=policy.environment,
        release=evidence.plan.id,
        run=evidence.target.run,
        audited_at=audited_at,
        input_digest=None,
        outputs=tuple(
            OutputFacts(
                label=sink.label,
                kind=sink.kind.value,
                sha256=sha256_of(sink.path),
                bytes=sink.path.stat().st_size,
                rows=Figure.of(None if table is None else len(table), "count", Visibility.RECIPIENT),
            )
            for sink, table in present
        ),
        versions=dict(versions),
    )


def _data(evidence: _Evidence) -> DataFacts:
    plan = evidence.plan
    used = {column for query in plan.queries for column in (*query.columns, query.query.column)}
    return DataFacts(
        dataset=plan.source.dataset,
        snapshot=plan.snapshot,
        population=plan.population,
        unit=None if plan.unit is None else plan.unit.column,
        source_rows=None,
        source_persons=None,
        released_rows=Figure.of(len(evidence.rows), "count", Visibility.RECIPIENT),
        columns=tuple(
            ColumnFacts(
                name=column.name,
                role=column.role.value,
                type=column.type.value,
                leaves=False,
                treatment="aggregated with noise" if column.name in used else "removed (attribute suppression)",
            )
            for column in plan.source.declared
        ),
        order="policy",
    )
