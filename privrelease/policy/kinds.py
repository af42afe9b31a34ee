"""The kinds of release: each has its model; which one is meant stands under ``kind``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Discriminator, Field, Tag

from privrelease.policy.releases import MicrodataRelease
from privrelease.policy.statistics import StatisticsRelease
from privrelease.policy.tables import TableRelease

__all__ = ["KINDS", "Release", "Releases"]

#: Every kind and its model; a new kind adds its line here and its member below.
KINDS: tuple[tuple[str, type[MicrodataRelease | StatisticsRelease | TableRelease]], ...] = (
    ("microdata", MicrodataRelease),
    ("statistics", StatisticsRelease),
    ("table", TableRelease),
)


def _kind(value: object) -> str:
    """The tag of a release; an unknown or missing kind is told by the first model."""
    if isinstance(value, dict):
        written = value.get("kind")
        return next((f"<{name}>" for name, _ in KINDS if written == name), "<microdata>")
    return next((f"<{name}>" for name, model in KINDS if isinstance(value, model)), "<microdata>")


Release = Annotated[
    Annotated[MicrodataRelease, Tag("<microdata>")]
    | Annotated[StatisticsRelease, Tag("<statistics>")]
    | Annotated[TableRelease, Tag("<table>")],
    Discriminator(_kind),
]

Releases = Annotated[tuple[Release, ...], Field(min_length=1, max_length=100)]
