"""Keys of stored answers: ``question.content``, digests of what is asked and of the data that is asked.

A question is all that determines an answer and nothing else (DESIGN, semantics 13); the content is that of the data, by digests under a
secret key. Data that was digested under another key cannot be compared: the snapshot's label then decides, as the policy declares it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from privrelease.errors import BudgetError
from privrelease.findings import Finding, Severity
from privrelease.ledger.entries import differ, digests_of, written
from privrelease.ledger.refusals import budget_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from privrelease.dp.sensitivity import Contribution
    from privrelease.ledger.accounts import Spent
    from privrelease.ledger.protocol import Ledger
    from privrelease.plan.model import Plan
    from privrelease.relational.schema import Column, TableSource

__all__ = ["answer_key", "check_same", "content_first", "contributing", "digest", "is_of", "lost_reservations", "read_as"]


def digest(question: str) -> str:
    """Return the digest of a question's canonical text."""
    return hashlib.sha256(question.encode()).hexdigest()


def answer_key(question: str, content: str | None) -> str:
    """Return the key of a question's digest about data of a content.

    >>> answer_key("ab", "k1:aa,k1:bb") == answer_key("ab", "k1:bb,k1:aa")
    True
    """
    return f"{question}.{_content_part(content)}"


def is_of(key: str, content: str | None) -> bool:
    """Return True if a key is about data of a content; False too where the content is not known."""
    return content is not None and key.partition(".")[2] == _content_part(content)


def content_first(keys: Iterable[str], content: str | None) -> list[str]:
    """Return the keys of one question in order, that about data of a content first."""
    return sorted(keys, key=lambda key: (not is_of(key, content), key))


def _content_part(content: str | None) -> str:
    return digest(written(sorted(map(list, digests_of(content)))))


def check_same(snapshot: str | None, about: str, before: str, content: str | None) -> None:
    """Raise BudgetError (L131) where the data under a snapshot's label is another than when ``about`` was answered."""
    if differ(before, content):
        raise BudgetError(
            code="L131",
            message=f"the data of snapshot {snapshot} is not what it was when {about} was answered",
            hint="give changed data a new `snapshot` label",
        )


def contributing(unit: str | None, contribution: Contribution) -> dict[str, Any]:
    """Return who is protected, and how much of a person counts."""
    return {"column": unit, "max_rows": contribution.max_rows, "max_groups": contribution.max_groups}


def read_as(source: TableSource, looked: Collection[str | None]) -> dict[str, Any]:
    """Return how the columns that are looked at become values, and which rows the domain of any column leaves out."""
    read = [column for column in source.columns if column.name in looked or column.domain is not None]
    return {
        "kind": source.kind.value,
        "table": source.table,
        "format": [source.format.delimiter, source.format.quote, source.format.encoding],
        "columns": sorted((_reading(column) for column in read), key=written),
    }


def _reading(column: Column) -> dict[str, Any]:
    form, domain = column.format, column.domain
    return {
        "name": column.name,
        "type": column.type.value,
        "grid": None if column.grid is None else str(column.grid.normalize()),
        "missing": sorted(form.missing),
        "suppression_mark": form.suppression_mark,
        "aliases": sorted(form.aliases),
        "normalise": list(form.normalise),
        "written": [form.date, form.decimal, form.thousands],
        "domain": None
        if domain is None
        else [None if domain.values is None else sorted(domain.values), domain.low, domain.high, domain.outside],
    }


def lost_reservations(release: str, policy: Plan, ledger: Ledger) -> tuple[Finding, ...]:
    """Return for each reservation whose run stored no answers what a next run says of it (L132), whatever becomes of that run."""
    return tuple(_lost(spent) for spent in ledger.book().lost(f"{policy.policy_id}/{release}"))


def _lost(spent: Spent) -> Finding:
    return Finding(
        "L132",
        f"run {spent.claim.run} reserved {budget_words(spent.claim.cost)} in entry {spent.sequence} of the ledger and stored no answers: it ended before it "
        "could, or is still running",
        Severity.WARN,
        hint="the budget stays spent, and nothing that was drawn for it is ever published; what this run draws is charged by itself",
    )
