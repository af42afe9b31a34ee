"""An earlier release, as far as an audit needs it: its file, what its columns are, and what leads its rows to their source."""

from __future__ import annotations

import re
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, Literal

from privrelease.policy.language.legal import folded_name
from privrelease.relational.treatments import CellRelation, relation_of
from privrelease.texts.sentences import say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from fractions import Fraction
    from pathlib import Path

    from privrelease.relational.schema import Column, Sink
    from privrelease.release.manifest import InputDigest, Manifest
    from privrelease.release.table_description import TableDescription
    from privrelease.texts.sentences import Said

#: The key of a recipient's id among the legal fields of an audit.
_ID: Final = re.compile(r"recipients\.[0-9]+\.id")

__all__ = ["EarlierRelease", "EarlierReleases", "EarlierThreat", "Recipients", "UnreadableRelease"]


@dataclass(frozen=True, slots=True)
class EarlierThreat:
    """An attacker against whom an earlier release was protected: the columns that it shows them, and the highest risk that it allowed."""

    name: str
    columns: tuple[str, ...]
    highest: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Recipients:
    """The recipients of a release, as its policy stated it then. ``names``: folded; empty where they are not on record."""

    ids: tuple[str, ...]
    names: frozenset[str] = frozenset()

    @classmethod
    def stated(cls, ids: Collection[object], legal: Mapping[str, object]) -> Recipients:
        """Return the recipients of these ids, with their names by the legal fields of the same policy (``recipients.1.name``).

        >>> legal = {"recipients.1.id": "lab", "recipients.1.name": "The Lab"}
        >>> Recipients.stated(["lab"], legal)
        Recipients(ids=('lab',), names=frozenset({'the lab'}))
        """
        every = tuple(str(one) for one in ids)
        places = [key.removesuffix("id") for key, text in legal.items() if _ID.fullmatch(key) and text in every]
        return cls(every, frozenset(folded_name(str(legal[f"{place}name"])) for place in places if f"{place}name" in legal))

    def meet(self, other: Recipients) -> bool:
        """Return whether somebody may be among both: an id or a name is the same. Names move between ids, and ids between names.

        >>> Recipients(("a",), frozenset({"one"})).meet(Recipients(("b",), frozenset({"one"})))
        True
        """
        return bool(set(self.ids) & set(other.ids) or self.names & other.names)


@dataclass(frozen=True, slots=True)
class EarlierRelease:
    """An earlier release, whoever made it.

    ``name``: in words. ``columns``: of its file, typed as they are released. ``lossy``: columns of which single cells may have
    been suppressed. ``order``: of its rows. ``row_map``, ``inputs``: where its rows come from; None, empty: not known.
    ``digests``: SHA-256 of its files. ``marked``: declared marks of missing values are missing in it, as in external files.
    ``snapshot``: of the data it was made of. ``held``: who gets the release that is audited may hold this one. ``state``: the
    file that a table was made of, as it was; None where it was removed or replaced. ``pseudonyms``: columns of it that are
    keyed pseudonyms. ``threats``: those that it was protected against, as far as known. ``content``: what its file holds: rows of
    persons, or cells of an exact table. ``own``: columns of rows whose cells hold the values of the source, or none. ``recipients``: who
    gets it, by any publication of the same content, None where one of them did not say; ``apart``: no one who gets the audited release is
    among them, so it is not ``held``. ``description``: the cells, figures and rules by which a run made a table, where its internal manifest says so.
    """

    name: str
    kind: str
    file: Sink
    columns: tuple[Column, ...] = ()
    lossy: frozenset[str] = frozenset()
    order: str = "values"
    run: str | None = None
    row_map: Path | None = None
    inputs: tuple[InputDigest, ...] = ()
    digests: frozenset[str] = field(default=frozenset())
    marked: bool = False
    manifest: Manifest | None = None
    snapshot: str | None = None
    held: bool = True
    state: Path | None = None
    pseudonyms: frozenset[str] = frozenset()
    threats: tuple[EarlierThreat, ...] = ()
    content: Literal["rows", "cells", "other"] = "other"
    own: frozenset[str] = frozenset()
    recipients: tuple[str, ...] | None = None
    apart: bool = False
    description: TableDescription | None = None

    def given_too(self, other: EarlierRelease) -> EarlierRelease:
        """Return this release with those who got the same content by another publication: whoever got a file holds it.

        ``other``: that publication. It was withdrawn or replaced, perhaps: that takes nothing back.
        """
        return replace(
            self,
            recipients=None
            if self.recipients is None or other.recipients is None
            else tuple(dict.fromkeys((*self.recipients, *other.recipients))),
            apart=self.apart and other.apart,
            held=self.held or other.held,
        )

    @property
    def recoded(self) -> tuple[str, ...]:
        """Its columns whose released values represent others, as far as its manifest says."""
        columns = () if self.manifest is None else self.manifest.outputs[0].columns
        return tuple(column.name for column in columns if relation_of(column.treatment) is CellRelation.MAPPED)


def named_by_run(release: str, run: str) -> Said:
    """Return the name of a run's release, in every language.

    >>> named_by_run("extract", "20260101T000000Z-ab")
    'extract (run 20260101T000000Z-ab)'
    """
    return say("of_run", release=release, run=run)


@dataclass(frozen=True, slots=True)
class UnreadableRelease:
    """A release that was published before, of which nothing more is known. ``name``, ``why``: in words. ``run``: None where it is many.

    ``held``: as of an earlier release that is known. ``same``: its files are those of the release that is audited: it reveals nothing more.
    ``must``: this release has to be judged together with it, so that a person has to decide without it.
    """

    name: str
    run: str | None
    why: str
    held: bool = True
    same: bool = False
    must: bool = False


@dataclass(frozen=True, slots=True)
class EarlierReleases:
    """Those that an audit looks at, the newest first, and how many older ones it does not.

    ``unlooked``: those that should have been looked at and could not be. ``unknown``: those that were published by the log of publications,
    or by what the output paths show, and of which nothing is available.
    """

    releases: tuple[EarlierRelease, ...] = ()
    left: int = 0
    unlooked: tuple[UnreadableRelease, ...] = ()
    unknown: tuple[UnreadableRelease, ...] = ()
