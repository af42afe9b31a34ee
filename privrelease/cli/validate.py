"""``privrelease validate``: every fault of a policy at once, without data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.cli.console import FailOn
from privrelease.cli.ending import Ending
from privrelease.cli.forms import for_pipeline
from privrelease.cli.machine import finding_value
from privrelease.findings import Severity, amount

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.findings import Finding
    from privrelease.policy.loader import LoadedPolicy

__all__ = ["counted", "validate"]


def validate(policy: Path, environment: str | None, data_root: Path | None, fail_on: FailOn, console: Console) -> Ending:
    """Check a policy and say the k that each threshold means. Findings are the command's data, so they go to stdout."""
    from privrelease.policy.loader import check_policy

    loaded, findings = check_policy(policy, env=environment, data_root=data_root)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    warnings = [finding for finding in findings if finding.severity is Severity.WARN]
    if console.json:
        value = {"policy": str(policy), "valid": not errors and loaded is not None, "findings": [*map(finding_value, findings)]}
        console.document(value)
    elif console.text:
        for finding in findings:
            console.data(str(finding))
    for_pipeline((), findings, console)
    if errors or loaded is None:
        return Ending(2, f"the policy has {counted(errors, 'error')}")
    if console.text:
        _explain(loaded, console)
    if warnings and fail_on is FailOn.WARN:
        return Ending(1, f"the policy has {counted(warnings, 'warning')}, and --fail-on warn was asked for")
    return Ending(0, "the policy is valid" + (f", with {counted(warnings, 'warning')}" if warnings else ""))


def counted(findings: list[Finding], noun: str) -> str:
    """Count findings in words.

    >>> counted([], "error")
    '0 errors'
    """
    return f"{len(findings)} {noun}" + ("" if len(findings) == 1 else "s")


def _explain(loaded: LoadedPolicy, console: Console) -> None:
    """Say which class size every threshold means."""
    from privrelease.plan.build import build_plan
    from privrelease.plan.explain import ReleaseExplanation, explain
    from privrelease.plan.explain_tables import TableExplanation

    for release in explain(build_plan(loaded)).releases:
        if isinstance(release, TableExplanation):
            console.data(f"release {release.id}: {release.cells} cells, {release.rules[0]}")
            continue
        if not isinstance(release, ReleaseExplanation):
            console.data(
                f"release {release.id}: spends {release.spends} of {release.population}, {amount(len(release.queries), 'query', 'queries')}"
            )
            continue
        for threat in release.threats:
            for limit in threat.thresholds:
                k = f"k = {limit.k}: " if limit.k is not None else ""
                console.data(f"release {release.id}, threat {threat.name}: {limit.threshold} {limit.value}: {k}{limit.meaning}")
