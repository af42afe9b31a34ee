"""The kinds of release: each has its model; which one is meant stands under ``kind``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Discriminator, Field, Tag

from privrelease.policy.language.releases import MicrodataRelease
from privrelease.policy.language.statistics import StatisticsRelease
from privrelease.policy.language.tables import TableRelease
from privrelease.policy.text.messages import did_you_mean

__all__ = ["KINDS", "Release", "Releases", "kind_meant", "told_without_kind"]

#: Every kind and its model; a new kind adds its line here and its member below.
KINDS: tuple[tuple[str, type[MicrodataRelease | StatisticsRelease | TableRelease]], ...] = (
    ("microdata", MicrodataRelease),
    ("statistics", StatisticsRelease),
    ("table", TableRelease),
)


def kind_meant(written: object) -> str | None:
    """Return the kind that was written, else the one that is closest to it; None where none is.

    >>> kind_meant("table"), kind_meant("statistic"), kind_meant("chart")
    ('table', 'statistics', None)
    """
    names = [name for name, _ in KINDS]
    if not isinstance(written, str):
        return None
    if written in names:
        return str(written)
    return next((name for name in names if did_you_mean(written, [name]) is not None), None)


def told_without_kind(key: object) -> bool:
    """Return whether what is wrong with a key of a release can be told before its kind is known: all kinds have it, or none has."""
    having = [any(key in (name, field.alias) for name, field in model.model_fields.items()) for _, model in KINDS]
    return all(having) or not any(having)


def _kind(value: object) -> str:
    """The tag of a release; an unknown or missing kind is told by the first model, what is misspelt read as what it means."""
    if isinstance(value, dict):
        known = {key for _, model in KINDS for key in model.model_fields}
        misspelt = (value[key] for key in value if key not in known and did_you_mean(str(key), ["kind"]) is not None)
        meant = kind_meant(value.get("kind", next(misspelt, None)))
        return f"<{meant or KINDS[0][0]}>"
    return next((f"<{name}>" for name, model in KINDS if isinstance(value, model)), "<microdata>")


Release = Annotated[
    Annotated[MicrodataRelease, Tag("<microdata>")]
    | Annotated[StatisticsRelease, Tag("<statistics>")]
    | Annotated[TableRelease, Tag("<table>")],
    Discriminator(_kind),
]

Releases = Annotated[tuple[Release, ...], Field(min_length=1, max_length=100)]
