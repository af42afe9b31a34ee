"""Facts of every audit that no check judges: identity, legal fields, context, words of a domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from privrelease.audit.checks.codes import kind_of
from privrelease.audit.document.model import (
    ColumnFacts,
    Figure,
    Identity,
    LegalFacts,
    OutputFacts,
    Visibility,
)
from privrelease.findings import Finding, Severity
from privrelease.texts.catalogue import english
from privrelease.texts.sentences import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from privrelease.plan.model import Plan, ReleasedColumn, ReleasePlan, UnitPlan
    from privrelease.relational.schema import Column
    from privrelease.release.manifest import InternalPart

__all__ = [
    "column_facts",
    "context_facts",
    "domain_words",
    "drops_rows",
    "identity_of",
    "input_digest",
    "left_out",
    "legal_facts",
    "rows_outside",
]


#: Declared values of a column that are written out.
_MOST_VALUES = 8


def column_facts(column: Column, words: str, released: ReleasedColumn | None = None) -> ColumnFacts:
    """Describe a column of the source, what became of it by the code of its ``words``, and as what it is ``released``."""
    return ColumnFacts(
        name=column.name,
        role=column.role.value,
        type=(released or column).type.value,
        leaves=released is not None,
        treated=words,
        treatment=english().plain(f"treatment.{words}"),
        domain=domain_words(column),
        drops_rows=drops_rows(column),
        category=column.category,
    )


def drops_rows(column: Column) -> bool:
    """Return True if a row whose value is outside the column's domain is left out."""
    return column.domain is not None and column.domain.outside == "drop"


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


def left_out(rows: int, plan: ReleasePlan) -> tuple[Finding, ...]:
    """Report ``rows`` that were left out at reading because a domain says so: of the released figures they only count as dropped."""
    if not rows:
        return ()
    message = say("rows_outside", n=rows)
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


def rows_outside(rows: int, read: int, unit: UnitPlan | None, minimum: int | None) -> Figure:
    """Count the ``rows`` that a domain leaves out, next to those that were ``read``.

    Recipients see it where both are of at least ``minimum`` persons, whoever they are: with up to ``max_rows`` rows a person, so many times as many
    rows; never where a person may have any number of rows.
    """
    each = 1 if unit is None else unit.max_rows
    shown = minimum is not None and each is not None and min(rows, read) >= minimum * each
    return Figure.of(rows, "count", Visibility.RECIPIENT if shown else Visibility.INTERNAL)


def input_digest(internal: InternalPart | None) -> str | None:
    """Return the keyed digests of everything that a run read, as it says; None where nothing is said."""
    return None if internal is None else ", ".join(part.hmac_sha256 for part in internal.inputs) or None


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

    A field that is written as null or as an empty list is stated to be none: an empty tuple. A field that is not written is
    absent.

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
