"""Transform steps of a plan in words: what becomes of single columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from privrelease.relational.treatments import Pseudonym, declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from privrelease.plan.model import MicrodataPlan

__all__ = ["STEP_WORDS", "StepWords", "pseudonym_words", "step_words"]

#: What says in words what becomes of a column: by the class of what a step declares, from the column's name and that.
StepWords: TypeAlias = "tuple[tuple[type[Any], Callable[[str, Any], str]], ...]"


def pseudonym_words(column: str, treatment: Pseudonym) -> str:
    """Say that a column is replaced by pseudonyms.

    >>> pseudonym_words("id", Pseudonym("KEY"))
    'replace id by a pseudonym, keyed by the environment variable KEY'
    """
    return f"replace {column} by a pseudonym, keyed by the environment variable {treatment.key}"


#: The words of the steps of this package.
STEP_WORDS: StepWords = ((Pseudonym, pseudonym_words),)


def step_words(release: MicrodataPlan, words: StepWords = STEP_WORDS) -> Iterator[str]:
    """Yield what becomes of each column whose values change, in output order."""
    for column in release.columns:
        declared = declaration_of(column.treatment)
        yield from (said(column.name, declared) for kind, said in words if type(declared) is kind)
