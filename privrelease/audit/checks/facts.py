"""What a release is made of, what protecting it cost, who it is under: facts that no check judges."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from pydantic import BaseModel

from privrelease.audit.checks.codes import kind_of
from privrelease.audit.document.model import (
    TREATMENT_WORDS,
    ColumnFacts,
    ColumnLoss,
    DataFacts,
    Figure,
    Identity,
    LegalFacts,
    OutputFacts,
    UtilityFacts,
    Visibility,
)
from privrelease.audit.document.visibility import count
from privrelease.audit.microdata.integrity.cells import cells_lost
from privrelease.findings import Finding, Severity, pluralise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from privrelease.audit.document.model import Treatment
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.protocol.base import Staged
    from privrelease.plan.model import MicrodataPlan, Plan
    from privrelease.relational.schema import Column
    from privrelease.release.manifest import InternalPart

__all__ = [
    "context_facts",
    "data_facts",
    "domain_words",
    "identity",
    "identity_of",
    "input_digest",
    "left_out",
    "legal_facts",
    "utility_facts",
]


#: Declared values of a column that are written out.
_MOST_VALUES = 8


def _rows(rows: int | None) -> Figure:
    return Figure.of(rows, "count", Visibility.RECIPIENT, None if rows is not None else "the file cannot be read")


def _treated(plan: MicrodataPlan, column: Column) -> Treatment:
    released = next((other for other in plan.columns if other.name == column.name), None)
    if released is None:
        return "removed"
    if released.treatment == "pseudonym":
        return "pseudonym"
    if plan.suppress is not None and column.name in plan.quasi_identifiers:
        return "local_suppression"
    return "unchanged"


def domain_words(column: Column) -> str | None:
    """Say which values the policy declares for a column; None where it declares none.

    >>> from privrelease.relational.schema import Column, ColumnType, Domain, Role
    >>> domain_words(Column("age", ColumnType.INTEGER, Role.QUASI, Domain(low="18", high="85")))
    '18 to 85'
    >>> domain_words(Column("n", ColumnType.CATEGORY, Role.QUASI, Domain(values=tuple(map(str, range(20))))))
    '20 values: 0, 1, 2, 3, 4, 5, 6, 7, …'
    """
    domain = column.domain
    if domain is None:
        return None
    if domain.values is None:
        step = "" if column.grid is None else f", in steps of {column.grid}"
        return f"{domain.low} to {domain.high}{step}"
    if len(domain.values) <= _MOST_VALUES:
        return ", ".join(domain.values)
    return f"{len(domain.values)} values: {', '.join(domain.values[:_MOST_VALUES])}, …"


def data_facts(evidence: Evidence) -> DataFacts:
    """Describe columns, roles, types, subjects. Counts of the source are internal."""
    plan, source, persons = evidence.plan, evidence.source, evidence.persons
    leaving = {column.name: column for column in plan.columns}
    return DataFacts(
        dataset=plan.source.dataset,
        snapshot=plan.snapshot,
        population=plan.population_id,
        unit=None if plan.unit is None else plan.unit.column,
        source_rows=None if source is None else count(source.n_rows),
        source_persons=None if persons is None else count(persons.persons),
        released_rows=_rows(None if evidence.main is None else evidence.main.n_rows),
        columns=tuple(
            ColumnFacts(
                name=column.name,
                role=column.role.value,
                type=leaving[column.name].type.value if column.name in leaving else column.type.value,
                leaves=column.name in leaving,
                treated=(treated := _treated(plan, column)),
                treatment=TREATMENT_WORDS[treated],
                domain=domain_words(column),
                category=column.category,
            )
            for column in plan.source.columns
        ),
        order=plan.order,
    )


def utility_facts(evidence: Evidence) -> UtilityFacts | None:
    """Count lost cells and rows: of the source, so internal. None where released rows cannot be led back to it."""
    lost = cells_lost(evidence)
    if lost is None or evidence.source is None or evidence.left is None:
        return None
    rows = evidence.source.n_rows
    total = rows * len(lost)
    gone = sum(nulled + dropped for nulled, dropped in lost.values())
    step = evidence.plan.suppress
    limit = None if step is None or step.limit is None else Figure.of(step.limit, "share", Visibility.RECIPIENT)
    return UtilityFacts(
        cells_lost=count(gone),
        cells_total=count(total),
        cells_share=_share(gone, total),
        limit=limit,
        rows_dropped=count(evidence.left.rows),
        columns=tuple(
            ColumnLoss(
                column=column, suppressed=count(nulled), in_dropped_rows=count(dropped), share=_share(nulled + dropped, rows)
            )
            for column, (nulled, dropped) in lost.items()
        ),
    )


def left_out(source: Staged, plan: MicrodataPlan) -> tuple[Finding, ...]:
    """Tell of rows that were left out at reading because a domain says so: they are in no figure."""
    if not source.dropped_outside:
        return ()
    message = (
        f"{pluralise(source.dropped_outside, 'row of the source has', 'rows of the source have')} a value outside its domain"
        " and stayed out, as the policy says"
    )
    return (
        Finding(
            "A501",
            message,
            Severity.INFO,
            plan.source.location,
            hint=kind_of("A501").hint,
            subject=f"datasets.{plan.source.dataset}",
        ),
    )


def _share(amount: int, total: int) -> Figure:
    return Figure.of(Fraction(amount, total) if total else Fraction(0), "share")


def input_digest(internal: InternalPart | None) -> str | None:
    """Return the keyed digests of everything that a run read, as it says; None where nothing is said."""
    return None if internal is None else ", ".join(part.hmac_sha256 for part in internal.inputs) or None


def identity(evidence: Evidence, policy: Plan, audited_at: str, versions: Mapping[str, str]) -> Identity:
    """Say what was audited, under which policy, by which versions; digests are those found, not those claimed."""
    outputs = tuple(
        OutputFacts(
            label=file.sink.label,
            kind=file.sink.kind.value,
            sha256=file.sha256,
            bytes=file.size,
            rows=_rows(None if file.released is None else file.released.n_rows),
        )
        for file in evidence.files
        if file.sha256 is not None
    )
    found = identity_of(policy, evidence.plan.id, evidence.target.run, outputs, audited_at, versions)
    return found.model_copy(update={"input_digest": input_digest(evidence.target.internal)})


def identity_of(
    policy: Plan, release: str, run: str | None, outputs: tuple[OutputFacts, ...], audited_at: str, versions: Mapping[str, str]
) -> Identity:
    """Name the policy, the release, its run and its files."""
    return Identity(
        policy_id=policy.policy_id,
        policy_version=policy.policy_version,
        policy_title=policy.title,
        policy_sha256=policy.policy_sha256,
        policy_file=policy.policy_path.name,
        commit=policy.commit,
        environment=policy.environment,
        release=release,
        run=run,
        audited_at=audited_at,
        input_digest=None,
        outputs=outputs,
        versions=dict(versions),
    )


def _flat(value: object, name: str) -> Iterator[tuple[str, str | tuple[str, ...]]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        if all(not isinstance(part, dict | list | tuple) for part in value):
            yield name, tuple(str(part) for part in value)
        else:
            for position, part in enumerate(value, start=1):
                yield from _flat(part, f"{name}.{position}")
    else:
        yield name, () if value is None else _text(value)


def _text(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def legal_facts(legal: object | None, missing: tuple[str, ...]) -> LegalFacts:
    """State the policy's legal fields by dotted name, and those that its profile needs but lacks.

    What is written as null or as an empty list is stated to be none: an empty tuple. What is not written is not there.

    >>> legal_facts({"profile": "gdpr", "controller": {"name": "Made-up Registry"}, "representative": None}, ()).stated
    {'controller.name': 'Made-up Registry', 'representative': ()}
    """
    content = _written(legal)
    if not isinstance(content, dict):
        return LegalFacts(profile=None, stated={}, missing=missing)
    stated = dict(_flat({key: value for key, value in content.items() if key != "profile"}, ""))
    profile = content.get("profile")
    return LegalFacts(profile=None if profile is None else str(profile), stated=stated, missing=missing)


def context_facts(context: object | None, review: object | None) -> dict[str, str]:
    """State the context of the release and its next review by dotted name; several texts are joined.

    >>> context_facts({"release_model": "controlled", "population": {"size": 1000}}, {"next": "2027-01-15"})
    {'release_model': 'controlled', 'population.size': '1000', 'review.next': '2027-01-15'}
    """
    stated: dict[str, str] = {}
    for content, name in ((_written(context), ""), (_written(review), "review")):
        for key, value in _flat(content, name) if isinstance(content, dict) else ():
            text = value if isinstance(value, str) else "; ".join(value)
            if text:
                stated[key] = text
    return stated


def _written(content: object | None) -> object | None:
    """Return what a person wrote, without defaults."""
    return content.model_dump(mode="json", exclude_unset=True) if isinstance(content, BaseModel) else content
