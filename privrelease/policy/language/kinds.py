"""The kinds of release: each is a value of this tuple; which one is meant is declared under ``kind``."""

from __future__ import annotations

from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import Discriminator, Field, Tag

from privrelease.policy.changes.directions import only_removed
from privrelease.policy.kind_microdata import MICRODATA
from privrelease.policy.kind_statistics import STATISTICS
from privrelease.policy.kind_synthetic import SYNTHETIC
from privrelease.policy.kind_table import TABLE
from privrelease.policy.language.keys import Judged, Stricter
from privrelease.policy.language.values import WHEN_USED
from privrelease.policy.text.messages import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.policy.language.releases import MicrodataRelease
    from privrelease.policy.language.statistics import StatisticsRelease
    from privrelease.policy.language.synthetic import SyntheticRelease
    from privrelease.policy.language.tables import TableRelease
    from privrelease.policy.release_kind import ReleaseKind

__all__ = ["KINDS", "Kinds", "Release", "Releases", "kind_meant", "releases_type", "told_without_kind"]

Kinds = tuple["ReleaseKind[Any]", ...]

#: Every kind of release; a new kind adds its line here.
KINDS: Kinds = (MICRODATA, STATISTICS, TABLE, SYNTHETIC)


def kind_meant(written: object, kinds: Kinds = KINDS) -> str | None:
    """Return the kind that was written, else the one that is closest to it; None where none is.

    >>> kind_meant("table"), kind_meant("statistic"), kind_meant("chart")
    ('table', 'statistics', None)
    """
    names = [kind.name for kind in kinds]
    if not isinstance(written, str):
        return None
    if written in names:
        return str(written)
    return next((name for name in names if did_you_mean(written, [name]) is not None), None)


def told_without_kind(key: object, kinds: Kinds = KINDS) -> bool:
    """Return whether what is wrong with a key of a release can be determined before its kind is known: all kinds have it, or none has."""
    having = [any(key in (name, field.alias) for name, field in kind.model.model_fields.items()) for kind in kinds]
    return all(having) or not any(having)


def _tag_of(kinds: Kinds) -> Callable[[object], str]:
    """The tag of a release; an unknown or missing kind is reported by the first model, a misspelt one read as what it means."""

    def tag(value: object) -> str:
        if isinstance(value, dict):
            known = {key for kind in kinds for key in kind.model.model_fields}
            misspelt = (value[key] for key in value if key not in known and did_you_mean(str(key), ["kind"]) is not None)
            meant = kind_meant(value.get("kind", next(misspelt, None)), kinds)
            return f"<{meant or kinds[0].name}>"
        return next((f"<{kind.name}>" for kind in kinds if isinstance(value, kind.model)), f"<{kinds[0].name}>")

    return tag


def _release_type(kinds: Kinds) -> Any:  # noqa: ANN401  annotations have no common type
    """Return the type of a release of any of these kinds, for a model's field."""
    tagged = tuple(Annotated[kind.model, WHEN_USED, Tag(f"<{kind.name}>")] for kind in kinds)
    return Annotated[Union[tagged], Discriminator(_tag_of(kinds))]  # noqa: UP007  a union of what a tuple holds


def releases_type(kinds: Kinds, *, partial: bool = False) -> Any:  # noqa: ANN401  annotations have no common type
    """Return the type of a policy's releases of any of these kinds; of a ``partial`` policy, which may have none."""
    element: Any = Annotated[_release_type(kinds), Stricter.REMOVED, Judged(only_removed)]
    several = GenericAlias(tuple, (element, ...))
    return several if partial else Annotated[several, Field(min_length=1, max_length=100)]


if TYPE_CHECKING:  # what a type checker can tell apart; at run time the tuple above decides
    Release = MicrodataRelease | StatisticsRelease | TableRelease | SyntheticRelease
    Releases = tuple[Release, ...]
else:
    Release = _release_type(KINDS)
    Releases = releases_type(KINDS)
