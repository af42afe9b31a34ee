"""``audit.json`` as a report: whole for the internal edition, filtered for recipients; and back from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from privrelease.audit.document.schema import audit_bytes, audit_of
from privrelease.errors import InputError
from privrelease.findings import Location
from privrelease.report.view.edition import Edition, for_edition

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.audit.document.model import AuditResult

__all__ = ["read_audit", "render_json"]


def render_json(audit: AuditResult, edition: Edition) -> bytes:
    """Return the edition of an audit as canonical JSON; the same audit gives the same bytes."""
    return audit_bytes(for_edition(audit, edition))


def read_audit(path: Path, label: str | None = None) -> AuditResult:
    """Read an ``audit.json``. Raises InputError (C301, C302): the file cannot be read, or is no audit of a version known here."""
    where = Location(label or str(path))
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            code="C301",
            message=f"the audit cannot be read: {error.strerror or type(error).__name__}",
            hint="name an audit.json, or the folder of a run that holds internal/audit.json",
            location=where,
        ) from None
    try:
        return audit_of(content)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        unknown = first["type"] == "extra_forbidden"  # a key of an external file is not repeated: it may be a value
        place = ".".join(str(part) for part in first["loc"][: -1 if unknown else None]) or "the whole file"
        raise InputError(
            code="C302",
            message=f"this is not an audit of a known version: {place}: {'has a key that is not known' if unknown else first['msg']}",
            hint="only audit.json files of format privrelease/audit, version 1, can be rendered",
            location=where,
        ) from None
