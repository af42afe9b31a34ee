"""``privrelease validate``: every fault of a policy at once, without data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.cli.ci_output import for_pipeline
from privrelease.cli.console import FailOn
from privrelease.cli.exit import Ending
from privrelease.cli.findings_output import finding_value
from privrelease.errors import UsageError
from privrelease.findings import Finding, Severity
from privrelease.policy.rules.required_legal_fields import missing_legal

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.pipeline.world import World
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.policy.rules.required_legal_fields import Missing, Profile

__all__ = ["counted", "validate"]


def validate(
    policy: Path,
    environment: str | None,
    data_root: Path | None,
    profile: str | None,
    fail_on: FailOn,
    console: Console,
    world: World | None = None,
) -> Ending:
    """Check a policy and say the k that each threshold means. Findings are the command's data, so they are written to stdout.

    ``profile``: a law whose fields are asked for whether or not the policy asks for them; each that is missing is listed. ``world``: whose
    engine the policy is for.
    """
    from privrelease.policy.loader import check_policy

    asked = _profile(profile)
    loaded, findings = check_policy(policy, env=environment, data_root=data_root)
    missing = () if asked is None or loaded is None else missing_legal(loaded.policy, asked)
    findings = (*findings, *_lacking(loaded, missing, findings))
    if loaded is not None and not any(finding.severity is Severity.ERROR for finding in findings):
        findings = (*findings, *_not_offered(loaded, world))
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    warnings = [finding for finding in findings if finding.severity is Severity.WARN]
    if console.json:
        value: dict[str, object] = {
            "policy": str(policy),
            "valid": not errors and loaded is not None,
            "findings": [*map(finding_value, findings)],
        }
        if asked is not None:
            value["missing_legal"] = [{"field": f"legal.{one.name}", "article": one.article} for one in missing]
        console.document(value)
    elif console.text:
        for finding in findings:
            console.data(str(finding))
    for_pipeline("validate", policy, (), findings, console)
    if errors or loaded is None:
        return Ending(2, f"the policy has {counted(errors, 'error')}")
    if console.text:
        _explain(loaded, console)
        _explain_profile(asked, missing, console)
    if warnings and fail_on is FailOn.WARN:
        return Ending(1, f"the policy has {counted(warnings, 'warning')}, and --fail-on warn was asked for")
    return Ending(0, "the policy is valid" + (f", with {counted(warnings, 'warning')}" if warnings else ""))


def _not_offered(loaded: LoadedPolicy, world: World | None) -> tuple[Finding, ...]:
    """Report what the policy asks of an engine that it lacks."""
    from privrelease.pipeline.world import World, lacking
    from privrelease.plan.build import build_plan

    return lacking(build_plan(loaded).releases, (world or World()).offers())


def _profile(named: str | None) -> Profile | None:
    if named is None:
        return None
    if named != "gdpr":
        raise UsageError(code="C117", message="--profile is gdpr: no other is known", hint="write --profile gdpr")
    return "gdpr"


def _explain_profile(profile: Profile | None, missing: tuple[Missing, ...], console: Console) -> None:
    """List every field that is asked for and not stated."""
    for one in missing:
        console.data(f"legal.{one.name} is not stated: {one.article}")
    if profile is not None and not missing:
        console.data(f"profile {profile}: every required field is stated; whether it is right remains to be assessed")


def _lacking(loaded: LoadedPolicy | None, missing: tuple[Missing, ...], findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Report fields that the command line asks for, where the policy itself does not."""
    if loaded is None or not missing or any(finding.code == "P606" for finding in findings):
        return ()
    message = f"the profile gdpr requires fields that are missing in legal: {', '.join(one.name for one in missing)}"
    hint = "write `legal: {profile: gdpr}`, so that without them the decision is `review`, not `pass`"
    return (Finding("P606", message, Severity.WARN, loaded.location("legal"), hint, subject="legal"),)


def counted(findings: list[Finding], noun: str) -> str:
    """Count findings in words.

    >>> counted([], "error")
    '0 errors'
    """
    return f"{len(findings)} {noun}" + ("" if len(findings) == 1 else "s")


def _explain(loaded: LoadedPolicy, console: Console) -> None:
    """Say which class size every threshold means."""
    from privrelease.plan.build import build_plan
    from privrelease.plan.explain import explain

    for release in explain(build_plan(loaded)).releases:
        for line in release.in_short():
            console.data(line)
