"""Texts of filters that their column cannot hold: a slip of the pen that would find no one, and would be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.text.messages import did_you_mean, shown
from privrelease.relational.filters import Among, Both, Comparison, Either, Negated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from privrelease.policy.language.datasets import Dataset
    from privrelease.relational.filters import Filter

__all__ = ["declared_values", "unknown_text"]


def declared_values(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """Return the values of every column whose domain lists them."""
    domains = {name: spec.domain for name, spec in dataset.columns.items()}
    return {name: domain.values for name, domain in domains.items() if domain is not None and domain.values is not None}


def unknown_text(found: Filter, values: Mapping[str, tuple[str, ...]]) -> tuple[str, str] | None:
    """Say which text of a filter its column cannot hold, and what may have been meant; None where there is no such text.

    >>> from privrelease.relational.filters import Comparison
    >>> unknown_text(Comparison("sex", "=", "f"), {"sex": ("F", "M")})
    ('f is not in the domain of sex', 'did you mean F?')
    >>> unknown_text(Comparison("age", "=", 5), {"sex": ("F", "M")})
    """
    for column, text in _texts(found):
        held = values.get(column)
        if held is not None and text not in held:
            hint = did_you_mean(text, held[:1000]) or "add it to the domain"
            return f"{shown(text)} is not in the domain of {shown(column)}", hint
    return None


def _texts(found: Filter) -> Iterator[tuple[str, str]]:
    """Every text that a column is said to be, or not to be."""
    match found:
        case Both(left, right) | Either(left, right):
            yield from _texts(left)
            yield from _texts(right)
        case Negated(inner):
            yield from _texts(inner)
        case Comparison(column, "=" | "<>", str(value)):
            yield column, value
        case Among(column, values):
            yield from ((column, value) for value in values if isinstance(value, str))
        case _:
            pass
