"""``privrelease schema``: the published schema of a format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.errors import UsageError

if TYPE_CHECKING:
    from privrelease.cli.console import Console

__all__ = ["schema"]


def schema(of: str, console: Console) -> Ending:
    """Print the JSON Schema of policies (draft-07), audits or manifests (2020-12)."""
    if of == "policy":
        from privrelease.policy.output.json_schema import policy_schema

        document: object = policy_schema()
    elif of == "audit":
        from privrelease.audit.document.schema import audit_schema

        document = audit_schema()
    elif of == "manifest":
        from privrelease.release.manifest import Manifest

        document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Manifest.model_json_schema()}
    else:
        raise UsageError(code="C107", message="there is a schema of policy, audit and manifest", hint="write one of the three")
    console.document(document)
    return Ending(0, f"the schema of {of} is printed")
