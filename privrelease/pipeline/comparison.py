"""Comparing policies over all their environments, and audits of one edition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from privrelease.errors import InputError, UsageError
from privrelease.findings import Location

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.audit.document.model import AuditResult
    from privrelease.audit.document.previous_releases import Difference
    from privrelease.policy.changes.diff import PolicyChange
    from privrelease.policy.loader import LoadedPolicy

__all__ = ["LoadIn", "comparable_audit", "compared_audits", "compared_policies"]


class LoadIn(Protocol):
    """Loads a policy in an environment (None: the policy itself). Raises PolicyError."""

    def __call__(self, *, env: str | None) -> LoadedPolicy:
        """Load it."""
        ...


def compared_policies(
    old: LoadIn, new: LoadIn, environment: str | None = None, *, in_one_place: bool = False
) -> tuple[PolicyChange, ...]:
    """Return what changed between two policies, between the approvers whom they name and in the files of their hierarchies: in one environment, or in
    the policies themselves and in all of their environments. ``in_one_place``: one of them was given as a text, without the files next to it.
    """
    from privrelease.pipeline.approver_changes import approver_changes
    from privrelease.policy.changes.diff import environment_changes, policy_changes, sorted_changes
    from privrelease.policy.hierarchies.file_changes import hierarchy_file_changes

    def files(was: LoadedPolicy, is_now: LoadedPolicy) -> tuple[PolicyChange, ...]:
        return (*approver_changes(was, is_now), *hierarchy_file_changes(was, is_now, in_one_place=in_one_place))

    before, after = old(env=environment), new(env=environment)
    found = sorted_changes((*policy_changes(before, after), *files(before, after)))
    if environment is not None:
        return found
    over = [{name: load(env=name) for name in one.environments} for load, one in ((old, before), (new, after))]
    beside = [change for name in over[0].keys() & over[1].keys() for change in files(over[0][name], over[1][name])]
    more = (*environment_changes(over[0], over[1], after, found), *(one for one in beside if one not in found))
    return sorted_changes(dict.fromkeys((*found, *more)))


def compared_audits(audits: tuple[AuditResult, AuditResult], names: tuple[str, str]) -> tuple[Difference, ...]:
    """Return what changed from the first audit to the second. ``names``: for a message. Raises UsageError (C144): only one is an edition for
    recipients.
    """
    from privrelease.audit.comparison.audits import differences

    withheld = [_withholds(audit.model_dump(mode="json")) for audit in audits]
    if withheld[0] != withheld[1]:
        recipients, internal = names if withheld[0] else reversed(names)
        raise UsageError(
            code="C144",
            message=f"{recipients} is the edition for recipients and {internal} the internal one: what one withholds cannot be compared",
            hint="name two audits of one edition",
        )
    return differences(*audits)


def comparable_audit(path: Path) -> AuditResult:
    """Read an audit, by its file, the folder of its run, or the folder of its reports; see that it can be compared at all.

    Raises InputError (C301, C302) where it cannot.
    """
    from privrelease.audit.comparison.audits import differences
    from privrelease.report.forms.json_report import read_audit

    file = path
    if path.is_dir():
        beside = path / "audit.json"
        file = beside if beside.is_file() else path / "internal" / "audit.json"
    audit = read_audit(file)
    try:
        differences(audit, audit)
    except (ValueError, ArithmeticError):  # of the section's model, or of an invalid figure: neither is repeated
        raise InputError(
            code="C302",
            message="this is not an audit of a known version: a section or figure cannot be read",
            hint="name the audit.json as it was written",
            location=Location(str(file)),
        ) from None
    return audit


def _withholds(value: object) -> bool:
    """Return True if a figure anywhere is withheld, as in the edition for recipients."""
    from privrelease.report.view.edition import WITHHELD

    if isinstance(value, dict):
        return value.get("note") == WITHHELD or any(map(_withholds, value.values()))
    return isinstance(value, list | tuple) and any(map(_withholds, value))
