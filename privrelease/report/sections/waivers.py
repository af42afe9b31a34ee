"""Section 14: every waiver of the release, those that do not count too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.view.edition import Edition
from privrelease.report.view.page import Absent
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.report.view.page import Context, Status

__all__ = ["WaiverRow", "WaiversBody", "build"]

_STATES: dict[str, Status] = {"open": "warn", "unused": "info", "expired": "fail", "self_approved": "fail"}


@dataclass(frozen=True, slots=True)
class WaiverRow:
    """A waiver and what became of it."""

    check: str
    status: Status
    state: str
    reason: str
    owner: str
    approved_by: str
    expires: str


@dataclass(frozen=True, slots=True)
class WaiversBody:
    """All waivers, in the policy's order."""

    waivers: tuple[WaiverRow, ...]


def build(context: Context) -> WaiversBody | Absent:
    """List waivers. Reasons and names stay with the controller: recipients see which checks are waived."""
    texts = context.catalogue
    facts = context.audit.waivers
    if context.edition is Edition.RECIPIENT:
        # a waived check may be one that recipients do not see: of those nothing is said, neither that there is one nor that there is none
        waived = ", ".join(check.id for check in context.audit.checks if check.waived)
        return Absent(texts.text("waivers.recipient", checks=waived) if waived else texts.text("waivers.elsewhere"))
    if facts is None:
        return Absent(texts.text("waivers.absent"))
    return WaiversBody(
        tuple(
            WaiverRow(
                one.check,
                _STATES[one.state],
                texts.text(f"waivers.state.{one.state}"),
                one.reason,
                one.owner,
                one.approved_by,
                one.expires,
            )
            for one in facts.waivers
        )
    )
