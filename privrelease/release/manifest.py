"""The manifest of a release: what was released, under which policy, made by which versions.

Two documents. :class:`Manifest` accompanies the data and is for the recipient: nothing in it says more about the source than
the released files do. :class:`InternalManifest` stays: keyed digests of the inputs, the digest of the row map, and the counts
that the executor claims, which the audit recomputes and does not believe.

The risk-utility frontier as a run states it: what it would have lost at other thresholds. A statement; the audit recomputes its own point.
"""

import hashlib
import json
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, AwareDatetime, Field, ValidationError, model_validator

from privrelease.documents import Document
from privrelease.errors import InputError
from privrelease.relational.treatments import AS_IS, TreatmentCode
from privrelease.release.files import canonical_json, os_errors, write_atomically
from privrelease.release.privacy import PrivacyClaim, SyntheticClaim
from privrelease.release.table_description import TableDescription

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Claims",
    "FrontierPoint",
    "FrontierStatement",
    "InputDigest",
    "InternalManifest",
    "InternalPart",
    "InternalSynthetic",
    "InternalTable",
    "Manifest",
    "ManifestColumn",
    "ManifestOutput",
    "PolicyReference",
    "RowMapDigest",
    "StatisticsInternalManifest",
    "internal_part",
    "parsed_part",
    "table_description",
]


_Count = Annotated[int, Field(ge=0)]
_Risk = Annotated[str, Field(pattern=r"^\d+(/[1-9]\d*)?$")]


class FrontierPoint(Document):
    """The release at one threshold of the swept threat. Risks are exact fractions as text."""

    k: Annotated[int, Field(ge=1)]
    threshold: _Risk
    chosen: bool
    """The policy's own threshold: the release that was written."""
    feasible: bool
    highest: _Risk | None
    """None: no record is left."""
    average: _Risk | None
    at_risk: _Count
    counted: _Count
    cells_lost: _Count
    """Cells of dropped rows included."""
    rows_dropped: _Count


class FrontierStatement(Document):
    """Points by ascending k."""

    threat: str
    """Whose highest risk was swept; its other limits stayed."""
    columns: tuple[str, ...]
    others: tuple[str, ...]
    """The other threats, which held at every point as the policy has them."""
    counts: Literal["records", "persons", "person_sets"]
    above: _Risk
    """The level above which a record, or person, is at risk."""
    cells_total: _Count
    points: Annotated[tuple[FrontierPoint, ...], Field(max_length=30)]


def _plain_name(name: str) -> str:
    if not name or name != PurePosixPath(name).name or name in {".", ".."} or "\0" in name:
        msg = "a file name without folders"
        raise ValueError(msg)
    return name


def _whole_seconds(at: datetime) -> datetime:
    if at.microsecond or at.utcoffset():
        msg = "UTC in whole seconds"
        raise ValueError(msg)
    return at


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
FileName = Annotated[str, AfterValidator(_plain_name)]
Moment = Annotated[AwareDatetime, AfterValidator(_whole_seconds)]
Count = Annotated[int, Field(ge=0)]


class _Saved(Document):
    def canonical(self) -> bytes:
        """Return the document as canonical JSON: the same value gives the same bytes."""
        return canonical_json(self.model_dump(mode="json"))

    def digest(self) -> str:
        """Return the SHA-256 of :meth:`canonical`, the digest that approvals sign."""
        return hashlib.sha256(self.canonical()).hexdigest()

    def save(self, path: "Path") -> None:
        """Write the document, completely or not at all. Raises InputError (R101 to R105)."""
        with os_errors("writing the manifest"):
            write_atomically(path, self.canonical())

    @classmethod
    def load(cls, path: "Path") -> Self:
        """Read and check a document. Raises InputError (R125) where it is not valid, or its version is not known here."""
        with os_errors("reading the manifest"):
            content = path.read_bytes()
        return cls.parsed(content, path)

    @classmethod
    def parsed(cls, content: bytes, path: "Path") -> Self:
        """Check the content of a document that was read from ``path``. Raises InputError (R125) as :meth:`load` does."""
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            places = ", ".join(sorted({".".join(map(str, fault["loc"])) or "the whole" for fault in error.errors()}))
            raise InputError(
                code="R125",
                message=f"{path.name} is not such a manifest ({places})",
                hint="was it changed by hand, or written by a newer version?",
            ) from None


class ManifestColumn(Document):
    """A column of a released file."""

    name: str
    type: str
    treatment: TreatmentCode = AS_IS.code
    """``pseudonym``: a keyed pseudonym, by which rows of one person can still be brought together."""


class ManifestOutput(Document):
    """One released file."""

    label: str
    """Its path as the policy writes it."""
    kind: Literal["csv", "parquet", "duckdb"]
    file: FileName
    """Its name next to this manifest in the run's folder."""
    sha256: Sha256
    bytes: Count
    rows: Count
    columns: tuple[ManifestColumn, ...]
    delimiter: str = Field(default=",", exclude_if=lambda sign: sign == ",")
    """The sign between two cells of a CSV file."""
    decimal: str = Field(default=".", exclude_if=lambda sign: sign == ".")
    """The decimal sign of numbers in a CSV file."""


class PolicyReference(Document):
    """Policy of a release: its version, commit and environment."""

    id: str
    version: str
    title: str
    sha256: Sha256
    """SHA-256 of the policy's resolved form."""
    commit: str | None = None
    environment: str | None = None


class Manifest(_Saved):
    """Manifest that the recipient gets with the data."""

    format: Literal["privrelease/manifest"] = "privrelease/manifest"
    version: Literal[1] = 1
    run: str
    release: str
    policy: PolicyReference
    created_at: Moment
    """When the files were parked, UTC."""
    outputs: tuple[ManifestOutput, ...] = Field(min_length=1)
    order: Literal["values", "source", "policy"]
    """``values``: rows are sorted by the released values, so their order says nothing more. ``policy``: as the policy lists them."""
    versions: dict[str, str]
    privacy: PrivacyClaim | None = Field(default=None, exclude_if=lambda claim: claim is None)
    """The guarantee of a release with differential privacy, and its mechanism."""
    synthetic: SyntheticClaim | None = Field(default=None, exclude_if=lambda claim: claim is None)
    """The making of the rows of a synthetic release."""
    kind: str | None = Field(default=None, exclude_if=lambda kind: kind is None)
    """The kind of the release. Microdata, statistics and tables do not name it: they are distinguished by what the rest says."""

    @model_validator(mode="after")
    def _one_name_each(self) -> Self:
        names = [output.file for output in self.outputs]
        if len(set(names)) != len(names):
            msg = "two outputs have one file name"
            raise ValueError(msg)
        return self


class InputDigest(Document):
    """One input file: HMAC-SHA256 under the key whose id is ``key_id``."""

    label: str
    """The source as the policy writes it."""
    file: str
    """The file's name; of several files of a glob, each has its own entry."""
    bytes: Count
    hmac_sha256: Sha256
    key_id: str


class RowMapDigest(Document):
    """The map of released rows to source rows, which is never published."""

    file: FileName
    sha256: Sha256
    bytes: Count


class Claims(Document):
    """Statement of the executor about what it did. The audit recomputes all of it."""

    source_rows: Count
    rows_outside_domain: Count = 0
    source_persons: Count | None = None
    linkable: bool = False
    """Rows of one person stay linkable in the output."""
    classes: Count
    released_rows: Count
    dropped_rows: Count
    cells_total: Count
    """Cells of the union of the threats' columns: rows times columns."""
    suppressed: dict[str, int]
    """Cells made missing in rows that leave, per column."""
    lost: dict[str, int]
    """The same, and the non-missing cells of dropped rows."""
    feasible: bool = True


class StatisticsInternalManifest(_Saved):
    """Manifest that stays with the audit of a release of statistics."""

    format: Literal["privrelease/internal-statistics"] = "privrelease/internal-statistics"
    version: Literal[1] = 1
    run: str
    manifest_sha256: Sha256
    inputs: tuple[InputDigest, ...]
    source_rows: Count
    reservation: str | None = None
    """The ledger's entry; None where every answer was served again."""


class InternalTable(_Saved):
    """Manifest that stays with the audit of a table."""

    format: Literal["privrelease/internal-table"] = "privrelease/internal-table"
    version: Literal[1] = 1
    run: str
    manifest_sha256: Sha256
    inputs: tuple[InputDigest, ...]
    source_rows: Count
    description: TableDescription | None = Field(default=None, exclude_if=lambda one: one is None)
    """Cells, figures and rules, for whoever judges the table when no policy has it any more; None: an earlier version made it."""


class InternalSynthetic(_Saved):
    """Manifest that stays with the audit of a synthetic release."""

    format: Literal["privrelease/internal-synthetic"] = "privrelease/internal-synthetic"
    version: Literal[1] = 1
    run: str
    manifest_sha256: Sha256
    inputs: tuple[InputDigest, ...]
    source_rows: Count
    held_out: Count = 0
    """Rows of persons that the model did not see."""
    reservation: str | None = None
    """The ledger's entry; None where the answers were served again."""


class InternalManifest(_Saved):
    """Manifest that stays with the audit."""

    format: Literal["privrelease/internal-manifest"] = "privrelease/internal-manifest"
    version: Literal[1] = 1
    run: str
    manifest_sha256: Sha256
    inputs: tuple[InputDigest, ...]
    row_map: RowMapDigest
    claims: Claims
    frontier: FrontierStatement | None = Field(default=None, exclude_if=lambda one: one is None)
    """The loss of the run at other thresholds, where the policy asks for that."""


InternalPart: TypeAlias = InternalManifest | StatisticsInternalManifest | InternalTable | InternalSynthetic
_PARTS: Final = (InternalManifest, StatisticsInternalManifest, InternalTable, InternalSynthetic)


def internal_part(path: "Path") -> InternalPart:
    """Read what stays inside of a run of any kind; a table of before it had a form of its own is in that of statistics.

    Raises InputError (R101 to R105, R125) where it cannot be read, or is not valid.
    """
    with os_errors("reading the manifest"):
        content = path.read_bytes()
    return parsed_part(content, path)


def parsed_part(content: bytes, path: "Path") -> InternalPart:
    """Check the content of what was read from ``path`` as :func:`internal_part` does. Raises InputError (R125)."""
    try:
        written = json.loads(content).get("format")
    except (ValueError, AttributeError, RecursionError):
        written = None
    kind = next((part for part in _PARTS if part.model_fields["format"].default == written), InternalManifest)
    return kind.parsed(content, path)


def table_description(part: InternalPart, manifest: Manifest) -> TableDescription | None:
    """Return the description of a table that what stays inside of its run holds; None where it is of another kind, of another run than the ``manifest``,
    or has none.
    """
    match part:
        case InternalTable() if (part.run, part.manifest_sha256) == (manifest.run, manifest.digest()):
            return part.description
        case _:
            return None
