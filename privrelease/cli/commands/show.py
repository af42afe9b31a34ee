"""``privrelease show``: the policy that results from what it extends and from its environment.

``privrelease schema``: the published schema of a format.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console

__all__ = ["schema", "show"]


def show(policy: Path, environment: str | None, data_root: Path | None, console: Console) -> Ending:
    """Print the resolved policy, with where each value comes from where several files made it."""
    from privrelease.policy.loader import load_policy
    from privrelease.policy.output.dump import canonical, dump

    loaded = load_policy(policy, env=environment, data_root=data_root, log=console.log)
    for finding in loaded.warnings:
        console.log(str(finding))
    if console.json:
        console.document(json.loads(canonical(loaded.policy)))
    else:
        several = len(loaded.files) > 1 or environment is not None
        console.data(dump(loaded.policy, origin=(lambda path: str(loaded.location(*path))) if several else None))
    return Ending(0, "the resolved policy is printed")


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
