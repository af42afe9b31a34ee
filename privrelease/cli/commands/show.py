"""``privrelease show``: the policy that results from what it extends and from its environment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console

__all__ = ["show"]


def show(policy: Path, environment: str | None, data_root: Path | None, console: Console) -> Ending:
    """Print the resolved policy, with where each value comes from where several files made it."""
    from privrelease.policy.loader import load_policy
    from privrelease.policy.output.dump import canonical, dump

    loaded = load_policy(policy, env=environment, data_root=data_root)
    for finding in loaded.warnings:
        console.log(str(finding))
    if console.json:
        console.document(json.loads(canonical(loaded.policy)))
    else:
        several = len(loaded.files) > 1 or environment is not None
        console.data(dump(loaded.policy, origin=(lambda path: str(loaded.location(*path))) if several else None))
    return Ending(0, "the resolved policy is printed")
