"""The published form of ``audit.json``: its JSON Schema, and bytes that depend on the value alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.document.model import AuditResult
from privrelease.release.files import canonical_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SCHEMA_ID", "audit_bytes", "audit_schema", "read_audit"]

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


def read_audit(path: Path) -> AuditResult:
    """Read an ``audit.json``. Raises OSError, and pydantic's ValidationError where it is none."""
    return AuditResult.model_validate_json(path.read_bytes())
