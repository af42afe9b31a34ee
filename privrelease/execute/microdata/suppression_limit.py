"""The limit on suppressed cells: by how much it is exceeded, and which columns cost most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.plan.model import MicrodataPlan

__all__ = ["limit_exceeded"]

_NAMED = 3


def limit_exceeded(plan: MicrodataPlan, lost: Mapping[str, int], cells_total: int) -> Finding | None:
    """Return a finding (R170, error) where more than the limit's share of the quasi-identifiers' cells is lost, else None.

    ``lost``: cells per column, dropped rows included. The share is compared exactly; the release still parks, so that audit and report
    show it, and fails there.
    """
    step = plan.suppress
    if step is None or step.limit is None or not cells_total:
        return None
    total = sum(lost.values())
    if total <= step.limit * cells_total:
        return None
    allowed = int(step.limit * cells_total)
    costly = sorted(lost.items(), key=lambda item: (-item[1], item[0]))[:_NAMED]
    named = ", ".join(f"{column} {cells}" for column, cells in costly if cells)
    return Finding(
        "R170",
        f"{total} of {cells_total} cells are lost, {total - allowed} more than the limit of {float(step.limit):.6g} allows; most: {named}",
        location=step.location,
        hint="generalise the columns that cost most, leave one out, or raise `limit` or a threshold",
        subject=f"releases.{plan.id}",
    )
