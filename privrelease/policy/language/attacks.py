"""Attacks: what is tried on every file of rows before it is released, and how far it may succeed."""

from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field

from privrelease.policy.changes import data_changes as figures
from privrelease.policy.changes.directions import elsewhere, held
from privrelease.policy.language.keys import FREE, Judged, Stricter
from privrelease.policy.language.number_values import Combined, Confidence, SampleSize, Share
from privrelease.policy.language.values import ColumnName, Flag, Frozen, PathText, Text

__all__ = [
    "ATTACKS",
    "AttacksSpec",
    "InferenceSpec",
    "LimitsSpec",
    "LinkabilitySpec",
    "MembershipSpec",
    "RecordLinkageSpec",
    "SinglingOutSpec",
]

Columns = Annotated[tuple[ColumnName, ...], Field(min_length=1)]


def _one_or_more(value: object) -> object:
    """A text represents a list of one."""
    return (value,) if isinstance(value, str) else value


class LimitsSpec(Frozen):
    """The limit of an attack's success; without a limit it is information."""

    max_risk: Annotated[Share | None, Stricter.LOWER] = None
    """The largest share of what persons outside the release are safe from that may succeed on those inside: (main - control) / (1 - control)."""
    max_advantage: Annotated[Share | None, Stricter.LOWER] = None
    """The largest difference of the two success rates: main - control."""


class SinglingOutSpec(LimitsSpec):
    """Predicates that match one released record are tried on the data."""

    combine: Combined = 3
    """Columns of a multivariate predicate; predicates on one column are tried as well."""


class LinkabilitySpec(LimitsSpec):
    """Two sets of columns of a person are each led to the nearest released record."""

    columns: Annotated[tuple[Columns, Columns], Field(json_schema_extra={"minItems": 2, "maxItems": 2})] | None = None
    """The two sets; where not given, the quasi-identifiers that leave and the other columns that do."""
    auxiliary: Annotated[PathText | None, Stricter.NAMED, Judged(elsewhere)] = None
    """A file with the first set as the attacker has it, and the unit column; read like the dataset. Else the data itself is split."""


class InferenceSpec(LimitsSpec):
    """A column is guessed from the records nearest to what is known."""

    target: Annotated[
        tuple[ColumnName, ...],
        BeforeValidator(_one_or_more, json_schema_input_type=Columns | ColumnName),
        Field(min_length=1),
        Judged(held),
    ]
    """The column that is guessed, or several, each by itself."""
    knows: Columns | None = None
    """The columns that the attacker knows; where not given, the quasi-identifiers that leave."""
    tolerance: Share = Decimal(0)
    """A number counts as guessed within this share of the guess."""


class RecordLinkageSpec(LimitsSpec):
    """A person's own record is looked for among the released ones."""

    knows: Columns | None = None
    """The columns that the attacker knows; where not given, the quasi-identifiers that leave."""


class MembershipSpec(LimitsSpec):
    """An attack that decides whether a person is in the data from the distance to the nearest released record. Needs `control`."""

    knows: Columns | None = None
    """The columns that the attacker knows; where not given, all columns that leave."""


class AttacksSpec(Frozen):
    """Attacks on releases of rows."""

    releases: Annotated[Annotated[tuple[Text, ...], Field(min_length=1)] | None, Judged(figures.attacked)] = None
    """The releases that are attacked; all of kind microdata where not given. One of kind synthetic is attacked only where it is named."""
    control: Annotated[PathText | None, Stricter.NAMED, Judged(elsewhere)] = None
    """A file of persons of the same population who are not in the data, read like the dataset: what succeeds on them is no fault of the release."""
    sample: Annotated[SampleSize, Stricter.HIGHER] = 1000
    """Persons or predicates tried per attack, chosen by the keyed digest of the data; all where there are fewer."""
    confidence: Annotated[Confidence, Stricter.HIGHER] = Decimal("0.95")
    """Confidence of the intervals."""
    closest_record: Annotated[Flag, FREE] = True
    """Show distances to the closest record, as information."""
    singling_out: Annotated[SinglingOutSpec | None, Stricter.SET] = None
    """Singling out."""
    linkability: Annotated[LinkabilitySpec | None, Stricter.SET] = None
    """Linking two lists by the release."""
    inference: Annotated[InferenceSpec | None, Stricter.SET] = None
    """Guessing a column."""
    record_linkage: Annotated[RecordLinkageSpec | None, Stricter.SET] = None
    """Finding a person's record."""
    membership: Annotated[MembershipSpec | None, Stricter.SET] = None
    """Telling who was in the data."""


#: Every attack's key.
ATTACKS: tuple[str, ...] = ("singling_out", "linkability", "inference", "record_linkage", "membership")
