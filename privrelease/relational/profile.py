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
    from collections.abc import Mapping

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
    r"insurance|versicher\w*|iban|account|konto|passport|patient(en|in)?|pat|pers(on|onen)?|kunden?|customer|client|klient\w*|member|proband\w*|"
    r"employee|teilnehmer)(_?(id|nr|no|num|number|nummer|name))?($|_)"
)
#: Words of numbers that name a person, of numbers that name a row of one (a visit, a case), and of neither.
_PERSON = re.compile(
    r"(^|_)(patient|pat|person|pers|kunde|customer|client|klient|member|proband|employee|teilnehmer|versicher|insured|ssn|nhs|ahv)(?!\w*name)"
)
_RECORD = re.compile(
    r"(^|_)(fall|case|visit|encounter|episode|admission|aufenthalt|besuch|record|row|zeile|rechnung|invoice|order|sample|probe)"
)
_PLACE = re.compile(r"(^|_)(haus|house|street|strasse|rue|room|zimmer)")
_QUASI = re.compile(
    r"(^|_)(age|alter|birth\w*|geburt\w*|dob|naissance|sex|gender|geschlecht|zip|zipcode|postal|postcode|plz|region|canton|kanton|district|"
    r"city|town|municipality|gemeinde|commune|country|land|state|nationality|race|ethnic\w*|marital\w*|education|occupation|beruf|job|"
    r"profession|admission|admitted|discharge\w*|visit\w*|date|datum|year|jahr|ward)($|_)"
)
#: Numbers of visits, wards and the like, which name the person where each occurs once.
_NUMBERED = re.compile(r"_(id|no|nr|num|number|nummer|key|ref)$")
#: The same where the words are written together: such a number may name a person although its name says no more.
_KEY = re.compile(r"(_(id|no|num|key|ref)|number|nr|nummer)$|^id$")
_SENSITIVE = re.compile(
    r"(^|_)(diagnos\w*|icd\w*|disease|treatment|therap\w*|medication|drug|result|lab|income|salary|wage|gehalt|lohn|religion|politic\w*|union|"
    r"orientation|conviction|cost|costs|kosten|debt|amount|betrag)($|_)"
)


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """Counts over the cells of one column. ``filled``: cells that are neither empty nor a usual mark of a missing value, of which ``marks`` are
    the latter; ``distinct``: values of filled cells; ``most``: rows of the most frequent. ``fits``: filled cells that fit a form, by its name, once
    blanks at their ends are taken off; ``padded``: cells that have such blanks.
    """

    name: str
    filled: int
    marks: int
    distinct: int
    most: int
    fits: Mapping[str, int]
    declared: ColumnType | None = None
    padded: int = 0

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


#: Format and words of the ways to write numbers, by their form.
_WRITTEN: Final = {
    "comma": ('{decimal: ","}', "decimal commas"),
    "grouped_by_point": ('{decimal: ",", thousands: "."}', "decimal commas, and points between thousands"),
    "grouped_by_comma": ('{thousands: ","}', "commas between thousands"),
    "grouped_by_apostrophe": ('{thousands: "\'"}', "apostrophes between thousands"),
    "grouped_by_space": ('{decimal: ",", thousands: " "}', "decimal commas, and blanks between thousands"),
}
_NUMBERS: Final = frozenset({"integer", "number", *_WRITTEN})
#: Type and format by the form that every cell fits, in the order in which they are tried.
_TYPES: Final = (
    *((form, (ColumnType.DATE, f'{{date: "{form}"}}' if form != DATES[0] else "")) for form in DATES),
    *((form, (ColumnType.DATETIME, f'{{datetime: "{form}"}}' if form != DATETIMES[0] else "")) for form in DATETIMES),
    ("integer", (ColumnType.INTEGER, "")),
    ("number", (ColumnType.NUMBER, "")),
    *((form, (ColumnType.NUMBER, format_)) for form, (format_, _) in _WRITTEN.items()),
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
    padding = _padding(one, kind)
    if padding and kind not in _TEXTS:
        form = "{normalise: [trim]}" if not form else f"{form[:-1]}, normalise: [trim]}}"
    written = f"{{role: {role}, type: {kind.value}" + (f", format: {form}" if form else "") + "}"
    if one.marks:
        look = "cell looks like a mark" if one.marks == 1 else "cells look like marks"
        why += f"; {one.marks:,} {look} of a missing value (NA, null, -, ?): declare those in `missing`"
    if one.fits.get("zeros"):
        why += "; zeros before numbers: codes"
    return written, why + _numbers(one, kind, proposed_type(one)[1]) + padding


_TEXTS: Final = frozenset({ColumnType.STRING, ColumnType.CATEGORY})


def _padding(one: ColumnProfile, kind: ColumnType) -> str:
    """Say that cells have blanks at their ends, which no number or date may have and which make other values of texts; empty where none has.

    >>> _padding(ColumnProfile("n", 3, 0, 3, 1, {"integer": 3}, padded=2), ColumnType.INTEGER)
    '; 2 cells have blanks at the ends, which `normalise` takes off'
    """
    if not one.padded or one.declared not in {None, ColumnType.STRING}:
        return ""
    said = f"; {one.padded:,} {'cell has' if one.padded == 1 else 'cells have'} blanks at the ends"
    if kind in _TEXTS:
        return f"{said}: where they mean nothing, write `format: {{normalise: [trim]}}`"
    return f"{said}, which `normalise` takes off"


def _numbers(one: ColumnProfile, kind: ColumnType, form: str) -> str:
    """Say how cells are read as numbers, and what to do where that is wrong or some are none; empty where there is nothing to say.

    >>> _numbers(ColumnProfile("c", 3, 0, 3, 1, {"comma": 3}), ColumnType.NUMBER, '{decimal: ","}')
    '; read as numbers with decimal commas, as `format` says'
    """
    if kind is ColumnType.NUMBER and one.declared is None:
        read = next(
            (f"; read as numbers with {words}, as `format` says" for format_, words in _WRITTEN.values() if format_ == form), ""
        )
        signs = {"": ("point", '{decimal: ",", thousands: "."}'), '{decimal: ","}': ("comma", '{thousands: ","}')}
        sign, other = signs.get(form, ("", ""))
        broken = one.filled - one.fits.get("integer", 0)
        if sign and broken and one.fits.get(f"three_after_{sign}") == broken:
            return f"{read}; each {sign} stands before three digits: where it separates thousands, write `format: {other}`"
        return read
    if kind not in _TEXTS or one.fits.get("zeros") or one.declared is not None:
        return ""
    best = max(_NUMBERS_FIRST, key=lambda name: one.fits.get(name, 0))
    fitting = one.fits.get(best, 0)
    if not _MOSTLY * one.filled <= fitting < one.filled:
        return ""
    format_, words = _WRITTEN.get(best, ("", ""))
    how = (
        f" with {words} (`type: number, format: {format_}`)"
        if words
        else f" (`type: {'integer' if best == 'integer' else 'number'}`)"
    )
    return f"; {fitting:,} of {one.filled:,} cells are numbers{how}: correct the others, or declare them in `missing`"


_NUMBERS_FIRST: Final = ("integer", "number", *_WRITTEN)
#: Share of cells that are numbers from which a column of texts is said to be nearly one of numbers.
_MOSTLY: Final = 0.9


def _role(one: ColumnProfile, kind: ColumnType) -> tuple[str, str]:
    """Return the role that name and counts propose, and why. A column of which neither says anything may be known elsewhere."""
    key = _key(one.name)
    once = "; each value once" if one.each_once and one.filled >= _FEW else ""
    if _DIRECT.search(key):
        return "direct", f"its name{once or ('' if one.nearly_unique or one.each_once else '; values repeat')}"
    if _SENSITIVE.search(key):
        return "sensitive", "its name"
    names = kind in {ColumnType.STRING, ColumnType.INTEGER}
    if _QUASI.search(key) and not (once and names and _NUMBERED.search(key)):
        return "quasi", "its name"
    if one.nearly_unique and names:
        return "direct", "each value once" if one.each_once else "nearly every value once"
    return "quasi", "may be known elsewhere" if one.filled else "no cell is filled: nothing is known of it"


def unit_candidates(profile: FileProfile) -> tuple[tuple[str, int], ...]:
    """Return the columns that may name the person, each with the most rows of one value, the likeliest first.

    Numbers of persons by their name come first, then others, numbers of rows (a case, a visit) last; of alike ones those that repeat: what
    each row has once names the row. A column of few values names no person.

    >>> case, patient = ColumnProfile("CaseID", 40, 0, 40, 1, {}), ColumnProfile("PatientID", 40, 0, 30, 3, {})
    >>> unit_candidates(FileProfile((case, patient), 40, True))
    (('PatientID', 3), ('CaseID', 1))
    """
    found = [one for one in profile.columns if one.filled and one.distinct * 20 > one.filled and _may_name(one)]
    return tuple((one.name, one.most) for one in sorted(found, key=_unlikely))


def _may_name(one: ColumnProfile) -> bool:
    """Return whether a column may name the person: proposed as direct, or a number that repeats and is of nothing known."""
    kind, key = proposed_type(one)[0], _key(one.name)
    if _role(one, kind)[0] == "direct":
        return True
    known = _QUASI.search(key) or _SENSITIVE.search(key) or _PLACE.search(key)
    return kind in {ColumnType.STRING, ColumnType.CATEGORY, ColumnType.INTEGER} and not known and _KEY.search(key) is not None


def _unlikely(one: ColumnProfile) -> tuple[bool, bool, bool, bool, int]:
    """Order columns that may name the person: the likeliest is the smallest."""
    key = _key(one.name)
    return (not _PERSON.search(key), bool(_RECORD.search(key)), not _KEY.search(key), one.each_once, one.most)
