"""Treatments of a released column as declarations: what becomes of its cells on the way from the source to the file.

A declaration says what holds of the released column, and nothing of how it is made or verified: the room ``execute`` makes it and the room
``audit`` verifies the relation, each with queries of its own. The families are those of ISO/IEC 20889:2018; the words of a treatment stand in
the catalogue of texts under ``treatment.`` and the code of its words.

``TREATMENTS`` lists the treatments of columns that are released, ``WITHHELD`` what becomes of the others.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AGGREGATED",
    "AS_IS",
    "NOISY",
    "REMOVED",
    "TREATMENTS",
    "WITHHELD",
    "AsIs",
    "CellRelation",
    "Family",
    "Perturbed",
    "Pseudonym",
    "Recoded",
    "Recoding",
    "Suppressed",
    "Synthetic",
    "Treatment",
    "TreatmentCode",
    "TreatmentWords",
    "Withheld",
    "declaration_of",
    "family_of",
    "relation_of",
]


class Family(StrEnum):
    """Families of de-identification techniques, ISO/IEC 20889:2018."""

    STATISTICAL = "statistical tools"
    SUPPRESSION = "suppression"
    PSEUDONYMISATION = "pseudonymization"
    GENERALISATION = "generalization"
    RANDOMISATION = "randomization"
    SYNTHETIC = "synthetic data"


class CellRelation(StrEnum):
    """The relation between a cell of the source and the cell that is released for it."""

    EQUAL = "equal"
    EQUAL_OR_MISSING = "equal_or_missing"
    KEYED_TOKEN = "keyed_token"  # noqa: S105 -- the name of a relation
    """Equal values have one token, different values different ones; without the key none is computed from its value."""
    MAPPED = "mapped"
    """The released cell is what a declared map gives for the source's cell."""
    UNRELATED = "unrelated"
    """The cell alone does not tell that of the source; what holds is a matter of the whole column."""

    @property
    def own_values(self) -> bool:
        """Return True if a released cell holds the value of its source wherever it holds one, so that the two can be compared.

        >>> CellRelation.EQUAL_OR_MISSING.own_values, CellRelation.KEYED_TOKEN.own_values
        (True, False)
        """
        return self in {CellRelation.EQUAL, CellRelation.EQUAL_OR_MISSING}

    @property
    def may_lack(self) -> bool:
        """Return True if a released cell may be missing where that of the source is not."""
        return self in {CellRelation.EQUAL_OR_MISSING, CellRelation.UNRELATED}


class Treatment(Protocol):
    """A treatment. ``code``: in plan and manifest. ``words``: the code of its words. ``family``: None where nothing is done."""

    code: ClassVar[str]
    words: ClassVar[str]
    family: ClassVar[Family | None]
    relation: ClassVar[CellRelation]

    def released_type(self, source: ColumnType) -> ColumnType:
        """Return the type of the released column, by the type that the source's column has."""
        ...


class _SameType:
    """Of a treatment that leaves the type of its column as it is."""

    __slots__ = ()

    def released_type(self, source: ColumnType) -> ColumnType:
        """Return the type of the source."""
        return source


@dataclass(frozen=True, slots=True)
class AsIs(_SameType):
    """Every cell as it is in the source."""

    code: ClassVar[str] = "as_is"
    words: ClassVar[str] = "unchanged"
    family: ClassVar[Family | None] = None
    relation: ClassVar[CellRelation] = CellRelation.EQUAL


@dataclass(frozen=True, slots=True)
class Suppressed(_SameType):
    """Every cell as it is in the source, or missing: local suppression."""

    code: ClassVar[str] = "suppressed"
    words: ClassVar[str] = "local_suppression"
    family: ClassVar[Family | None] = Family.SUPPRESSION
    relation: ClassVar[CellRelation] = CellRelation.EQUAL_OR_MISSING


@dataclass(frozen=True, slots=True)
class Pseudonym:
    """A keyed token for every value (HMAC). ``key``: the environment variable that holds the key, never the key.

    >>> Pseudonym("KEY").released_type(ColumnType.INTEGER).value
    'string'
    """

    key: str

    code: ClassVar[str] = "pseudonym"
    words: ClassVar[str] = "pseudonym"
    family: ClassVar[Family | None] = Family.PSEUDONYMISATION
    relation: ClassVar[CellRelation] = CellRelation.KEYED_TOKEN

    def released_type(self, source: ColumnType) -> ColumnType:
        """Return text, whatever the column was."""
        del source
        return ColumnType.STRING


class Recoding(Protocol):
    """A map from a value of the source to the one that is released for it, declared and not computed: frozen, with its parameters.

    Equal values have equal released values; a missing value stays missing. The transform step that declares a map says how it is made and, apart
    from that, how it is verified (:mod:`privrelease.pipeline.steps`).
    """

    def released_type(self, source: ColumnType) -> ColumnType:
        """Return the type of the released column, by the type that the source's column has."""
        ...


@dataclass(frozen=True, slots=True)
class Recoded:
    """Every value replaced by what a ``map`` gives for it."""

    map: Recoding

    code: ClassVar[str] = "recoded"
    words: ClassVar[str] = "recoded"
    family: ClassVar[Family | None] = Family.GENERALISATION
    relation: ClassVar[CellRelation] = CellRelation.MAPPED

    def released_type(self, source: ColumnType) -> ColumnType:
        """Return the type of what the map gives."""
        return self.map.released_type(source)


@dataclass(frozen=True, slots=True)
class Perturbed(_SameType):
    """Values changed at random. ``method``: the name of what changes them."""

    method: str

    code: ClassVar[str] = "perturbed"
    words: ClassVar[str] = "perturbed"
    family: ClassVar[Family | None] = Family.RANDOMISATION
    relation: ClassVar[CellRelation] = CellRelation.UNRELATED


@dataclass(frozen=True, slots=True)
class Synthetic(_SameType):
    """Values drawn from a model of the source."""

    code: ClassVar[str] = "synthetic"
    words: ClassVar[str] = "synthetic"
    family: ClassVar[Family | None] = Family.SYNTHETIC
    relation: ClassVar[CellRelation] = CellRelation.UNRELATED


@dataclass(frozen=True, slots=True)
class Withheld:
    """The treatment of a column that is not released. ``words``: the code of its words."""

    words: str
    family: Family


AS_IS = AsIs()

REMOVED = Withheld("removed", Family.SUPPRESSION)
AGGREGATED = Withheld("aggregated", Family.STATISTICAL)
NOISY = Withheld("noisy", Family.RANDOMISATION)

#: Every treatment of a released column.
TREATMENTS: tuple[type[Treatment], ...] = (AsIs, Suppressed, Pseudonym, Recoded, Perturbed, Synthetic)

#: What becomes of a column that is not released.
WITHHELD: tuple[Withheld, ...] = (REMOVED, AGGREGATED, NOISY)

#: The codes that a manifest may hold, and the codes of words that an audit may hold, as types for models of documents.
if TYPE_CHECKING:
    TreatmentCode = str
    TreatmentWords = str
else:
    TreatmentCode: Any = Literal[tuple(one.code for one in TREATMENTS)]
    TreatmentWords: Any = Literal[tuple(one.words for one in (*TREATMENTS, *WITHHELD))]


def declaration_of(treatment: Treatment) -> object:
    """Return what a step declared of a column: the map of a recoded one, else the treatment itself.

    >>> declaration_of(Pseudonym("KEY"))
    Pseudonym(key='KEY')
    """
    return treatment.map if isinstance(treatment, Recoded) else treatment


def relation_of(code: str, treatments: Sequence[type[Treatment]] = TREATMENTS) -> CellRelation:
    """Return the relation of the treatment of that stored code. Raises KeyError where there is none.

    >>> relation_of("pseudonym").value
    'keyed_token'
    """
    return {one.code: one.relation for one in treatments}[code]


def family_of(
    words: str, treatments: Sequence[type[Treatment]] = TREATMENTS, withheld: Sequence[Withheld] = WITHHELD
) -> Family | None:
    """Return the family of what has that code of words; None where nothing is done. Raises KeyError where there is no such thing.

    >>> family_of("removed").value, family_of("unchanged")
    ('suppression', None)
    """
    return ({one.words: one.family for one in treatments} | {one.words: one.family for one in withheld})[words]
