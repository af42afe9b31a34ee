"""The published form of ``audit.json``: its JSON Schema, and bytes that depend on the value alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from privrelease.audit.document.model import AuditResult
from privrelease.relational.treatments import AS_IS
from privrelease.release.files import canonical_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SCHEMA_ID", "audit_bytes", "audit_of", "audit_schema", "read_audit"]

SCHEMA_ID = "https://privrelease.example/schemas/audit-v1.schema.json"


def audit_schema() -> dict[str, object]:
    """Return the JSON Schema (draft 2020-12) of ``audit.json``, version 1.

    >>> audit_schema()["$id"] == SCHEMA_ID
    True
    """
    schema = AuditResult.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **schema}


def audit_bytes(result: AuditResult) -> bytes:
    """Return ``audit.json``: sorted keys, UTF-8, one newline at the end; equal results give equal bytes.

    ``<`` is written by its number, so that whoever puts the text into a page opens no element with it.
    """
    return canonical_json(result.model_dump(mode="json")).replace(b"<", b"\\u003c")


def audit_of(content: bytes) -> AuditResult:
    """Return the audit of an ``audit.json``, also of one in the form that had sections by number. Raises pydantic's ValidationError."""
    return AuditResult.model_validate_json(_migrated(content))


def read_audit(path: Path) -> AuditResult:
    """Read an ``audit.json``. Raises OSError, and pydantic's ValidationError where it is not valid."""
    return audit_of(path.read_bytes())


#: The fields of what was listed under ``sections``, by the number of the report's section.
_FIELDS: Final = {
    "0": "since",
    "7": "earlier",
    "7 sensitive": "sensitive",
    "9": "attacks",
    "10": "statistics",
    "11": "table",
    "13": "utility_measures",
    "14": "waivers",
    "15": "signoff",
}


#: The codes of treatments by the words in which they alone were written.
_TREATED: Final = {
    "removed (attribute suppression)": "removed",
    "pseudonymised (keyed hash)": "pseudonym",
    "single cells suppressed (local suppression)": "local_suppression",
    "aggregated in a table": "aggregated",
    "aggregated with noise": "noisy",
}


def _migrated(content: bytes) -> bytes:
    """Rewrite an audit that does not say its kind: its sections are listed by number. Any other document is left as it is, and
    refused.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if not isinstance(document, dict) or not document.keys().isdisjoint({"kind", *_FIELDS.values()}):
        return content
    sections = document.pop("sections", {})
    if not isinstance(sections, dict) or not sections.keys() <= _FIELDS.keys():
        return content
    data = document.get("data")
    figures = isinstance(data, dict) and data.get("order") == "policy"
    ids = [check.get("id") for check in document.get("checks") or () if isinstance(check, dict)]
    noisy = "10" in sections or any(str(name).startswith("AUDIT-DP-") for name in ids)
    for column in (data.get("columns") or ()) if isinstance(data, dict) else ():
        if isinstance(column, dict) and "treated" not in column:
            column["treated"] = _TREATED.get(str(column.get("treatment")), AS_IS.words)
    document["kind"] = "statistics" if noisy else "table" if figures or "11" in sections else "microdata"
    document |= {_FIELDS[number]: section for number, section in sections.items()}
    return json.dumps(document).encode()
