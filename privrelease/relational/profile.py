"""Counts over the columns of a data file, and what they propose to a person who writes a policy. Never a cell, and never a decision.

Sources of the proposals: a column whose values are (nearly) all distinct names a record (sdcMicro, Guidelines for identifying variables);
names of columns are compared with words for identifiers, quasi-identifiers and sensitive attributes in English, German and French.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["DATES", "DATETIMES", "ColumnProfile", "FileProfile", "proposal", "proposed_type", "unit_candidates"]

#: Formats of days and of days with a time that are tried, ISO 8601 first: where several fit all cells, the first is proposed.
DATES: Final = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y%m%d")
DATETIMES: Final = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M")

#: Records below which uniqueness says nothing, and the share of distinct values from which a column nearly names a record.
_FEW, _NEARLY = 20, 0.95
#: Distinct values up to which a column of texts is read as categories.
_CATEGORIES = 100

_DIRECT = re.compile(
    r"(^|_)(id|name|vorname|nachname|nom|prenom|surname|email|mail|phone|tel|telefon|mobile|address|adresse|street|strasse|rue|ssn|nhs|"
    r"insurance|versicherung\w*|iban|account|konto|passport|patient|person|kunde|customer|client|member)(_?(id|nr|no|num|number|name))?($|_)"
)
_QUASI = re.compile(
    r"(^|_)(age|alter|birth\w*|geburt\w*|dob|naissance|sex|gender|geschlecht|zip|zipcode|postal|postcode|plz|region|canton|kanton|district|"
    r"city|town|municipality|gemeinde|commune|country|land|state|nationality|race|ethnic\w*|marital\w*|education|occupation|beruf|job|"
    r"profession|admission|admitted|discharge\w*|visit\w*|date|datum|year|jahr|ward)($|_)"
)
#: Numbers of visits, wards and the like, which name the person where each occurs once.
_NUMBERED = re.compile(r"_(id|no|nr|num|number|nummer|key|ref)$")
_SENSITIVE = re.compile(
    r"(^|_)(diagnos\w*|icd\w*|disease|treatment|therap\w*|medication|drug|result|lab|income|salary|wage|gehalt|lohn|religion|politic\w*|union|"
    r"orientation|conviction|cost|costs|kosten|debt)($|_)"
)


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """Counts over the cells of one column. ``filled``: cells that are neither empty nor a usual mark of a missing value, of which ``marks`` are
    the latter; ``distinct``: values of filled cells; ``most``: rows of the most frequent. ``fits``: filled cells that fit a form, by its name.
    """

    name: str
    filled: int
    marks: int
    distinct: int
    most: int
    fits: Mapping[str, int]
    declared: ColumnType | None = None

    @property
    def each_once(self) -> bool:
        """Return whether every filled cell has a value of its own."""
        return self.filled > 0 and self.distinct == self.filled

    @property
    def nearly_unique(self) -> bool:
        """Return whether nearly every filled cell has a value of its own, of enough cells to say so."""
        return self.filled >= _FEW and self.distinct >= _NEARLY * self.filled

    def all_fit(self, form: str) -> bool:
        """Return whether every filled cell fits a form."""
        return self.filled > 0 and self.fits.get(form, 0) == self.filled


@dataclass(frozen=True, slots=True)
class FileProfile:
    """The profiles of a file's columns over its first ``rows`` rows; ``whole``: these are all."""

    columns: tuple[ColumnProfile, ...]
    rows: int
    whole: bool


def proposed_type(one: ColumnProfile) -> tuple[ColumnType, str]:
    """Return the type that every filled cell fits, and its format as the policy writes it (empty: the default). Leading zeros make codes.

    >>> proposed_type(ColumnProfile("d", 3, 0, 3, 1, {"%d.%m.%Y": 3, "number": 0}))
    (<ColumnType.DATE: 'date'>, '{date: "%d.%m.%Y"}')
    >>> proposed_type(ColumnProfile("c", 3, 0, 3, 1, {"integer": 3, "zeros": 1}))
    (<ColumnType.STRING: 'string'>, '')
    """
    if one.declared is not None and one.declared is not ColumnType.STRING:
        return one.declared, ""
    fitting = next(
        (found for form, found in _TYPES if one.all_fit(form) and not (form in _NUMBERS and one.fits.get("zeros"))), None
    )
    if fitting is not None:
        return fitting
    few = one.filled >= _FEW and one.distinct <= min(_CATEGORIES, one.filled // 2)
    return (ColumnType.CATEGORY if few else ColumnType.STRING), ""


_NUMBERS: Final = frozenset({"integer", "number", "comma"})
#: Type and format by the form that every cell fits, in the order in which they are tried.
_TYPES: Final = (
    *((form, (ColumnType.DATE, f'{{date: "{form}"}}' if form != DATES[0] else "")) for form in DATES),
    *((form, (ColumnType.DATETIME, f'{{datetime: "{form}"}}' if form != DATETIMES[0] else "")) for form in DATETIMES),
    ("integer", (ColumnType.INTEGER, "")),
    ("number", (ColumnType.NUMBER, "")),
    ("comma", (ColumnType.NUMBER, '{decimal: ","}')),
    ("boolean", (ColumnType.BOOLEAN, "")),
)


def _key(name: str) -> str:
    """Write a name so that its words stand between underscores.

    >>> _key("PatientID"), _key("post-code")
    ('patient_id', 'post_code')
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")


def proposal(one: ColumnProfile) -> tuple[str, str]:
    """Return the keys that a column's profile proposes, as the policy writes them, and the reason.

    >>> proposal(ColumnProfile("patient_id", 40, 0, 40, 1, {}))
    ('{role: direct, type: string}', 'its name; each value once')
    """
    kind, form = proposed_type(one)
    role, why = _role(one, kind)
    written = f"{{role: {role}, type: {kind.value}" + (f", format: {form}" if form else "") + "}"
    if one.marks:
        why += f"; {one.marks:,} cells look like marks of a missing value (NA, null, -, ?): declare those in `missing`"
    if one.fits.get("zeros"):
        why += "; zeros before numbers: codes"
    return written, why


def _role(one: ColumnProfile, kind: ColumnType) -> tuple[str, str]:
    """Return the role that name and counts propose, and why. A column of which neither says anything may be known elsewhere."""
    key = _key(one.name)
    once = "; each value once" if one.each_once and one.filled >= _FEW else ""
    if _DIRECT.search(key):
        return "direct", f"its name{once or ('' if one.nearly_unique else '; values repeat')}"
    if _SENSITIVE.search(key):
        return "sensitive", "its name"
    names = kind in {ColumnType.STRING, ColumnType.INTEGER}
    if _QUASI.search(key) and not (once and names and _NUMBERED.search(key)):
        return "quasi", "its name"
    if one.nearly_unique and names:
        return "direct", "each value once" if one.each_once else "nearly every value once"
    return "quasi", "may be known elsewhere"


def unit_candidates(profile: FileProfile) -> tuple[tuple[str, int], ...]:
    """Return the columns that may name the person, each with the most rows of one value, those with fewer first.

    >>> one = ColumnProfile("patient_id", 40, 0, 30, 3, {})
    >>> unit_candidates(FileProfile((one,), 40, True))
    (('patient_id', 3),)
    """
    found: Sequence[ColumnProfile] = [
        one
        for one in profile.columns
        if one.filled and _role(one, proposed_type(one)[0])[0] == "direct" and one.distinct * 20 > one.filled
    ]
    return tuple(
        (one.name, one.most)
        for one in sorted(found, key=lambda one: (not _key(one.name).endswith(("id", "nr", "no")), one.most))
    )
