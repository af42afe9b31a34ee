"""Section 5: the context into which the data is released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.sections.legal import Facts, facts

if TYPE_CHECKING:
    from privrelease.report.view.page import Context

__all__ = ["build"]

_FIELDS = ("release_model", "population", "controls", "motives", "harms")


def build(context: Context) -> Facts:
    """Show the fields of the policy's context, and which of them it does not state."""
    keys = [(name, f"context.{name}") for name in _FIELDS]
    return Facts(context.catalogue.text("record.caption"), facts(context.audit.context, keys, context.catalogue))
