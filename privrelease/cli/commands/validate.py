"""``privrelease validate``: every fault of policies at once, and of their data where that was asked for."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from privrelease.cli.ci_output import for_pipeline
from privrelease.cli.console import FailOn
from privrelease.cli.exit import Ending
from privrelease.cli.findings_output import finding_value
from privrelease.cli.policy_inputs import are_many, common_name, policy_inputs
from privrelease.errors import InputError, UsageError
from privrelease.findings import Finding, Severity, pluralise
from privrelease.policy.rules.required_legal_fields import missing_legal
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.cli.policy_inputs import PolicyInput
    from privrelease.pipeline.settings import Settings
    from privrelease.pipeline.world import World
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.policy.rules.required_legal_fields import Missing, Profile

__all__ = ["counted", "validate"]

#: Sets ``--env`` where no one writes it.
_ENVIRONMENT = "PRIVRELEASE_ENV"


@dataclass(frozen=True, slots=True)
class _Checked:
    """One policy, checked: None where it has an error. ``missing``: legal fields that a profile asks for, None where none was asked for."""

    path: Path
    loaded: LoadedPolicy | None
    findings: tuple[Finding, ...]
    missing: tuple[Missing, ...] | None
    data: tuple[Finding, ...] | None = None
    """Faults and warnings of the data; None where none was read. Of a policy with errors, those of its sound datasets."""

    def of(self, severity: Severity) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity is severity]

    @property
    def data_errors(self) -> list[Finding]:
        return [finding for finding in self.data or () if finding.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[Finding]:
        """Warnings of the policy and of its data."""
        return [finding for finding in (*self.findings, *(self.data or ())) if finding.severity is Severity.WARN]

    @property
    def valid(self) -> bool:
        return self.loaded is not None and not self.of(Severity.ERROR)

    def value(self) -> dict[str, object]:
        """Return the form that a machine reads."""
        value: dict[str, object] = {
            "policy": str(self.path),
            "valid": self.valid,
            "findings": [*map(finding_value, self.findings)],
        }
        if self.data is not None:
            value["data"] = [*map(finding_value, self.data)]
        if self.missing is not None:
            value["missing_legal"] = [{"field": f"legal.{one.name}", "article": one.article} for one in self.missing]
        return value


def validate(
    named: Sequence[Path],
    environment: str | None,
    data_root: Path | None,
    profile: str | None,
    fail_on: FailOn,
    console: Console,
    *,
    only_policies: bool = False,
    world: World | None = None,
    data: Settings | None = None,
) -> Ending:
    """Check policies and say the k that each threshold means. Findings are the command's data, so they are written to stdout.

    ``profile``: a law whose fields are asked for whether or not the policy asks for them; each that is missing is listed. Every policy is
    checked, whatever is wrong with another; the worst ending is the command's. ``world``: whose engine the policies are for.
    ``data``: settings under which the data is read too, where that was asked for.
    """
    asked = _profile(profile)
    inputs = policy_inputs(named, console, only_policies=only_policies)
    checked = [_check(one, environment, data_root, asked, world, console.log) for one in inputs]
    if data is not None:
        checked = [_with_data(one, given, environment, data, console) for one, given in zip(checked, inputs, strict=True)]
    several = are_many(named)
    if console.json:
        values = [one.value() for one in checked]
        console.document(
            {"valid": all(one.valid for one in checked), "policies": values} if several or not values else values[0]
        )
    elif console.text:
        for one in checked:
            _print(one, asked, console, named=several)
    findings = tuple(finding for one in checked for finding in (*one.findings, *(one.data or ())))
    for_pipeline("validate", common_name(named), (), findings, console)
    return _ending(checked, fail_on)


def _check(
    given: PolicyInput,
    environment: str | None,
    data_root: Path | None,
    profile: Profile | None,
    world: World | None,
    log: Callable[[str], None],
) -> _Checked:
    from privrelease.policy.loader import check_policy

    loaded, findings = check_policy(given.path, env=environment, data_root=data_root, content=given.content, log=log)
    if environment is not None and environment == os.environ.get(_ENVIRONMENT):
        said = f" (it is set by the variable {_ENVIRONMENT})"
        findings = tuple(replace(one, message=one.message + said) if one.code == "P501" else one for one in findings)
    if loaded is not None:
        findings = (*findings, *_outside(loaded))
    if loaded is not None and not any(finding.severity is Severity.ERROR for finding in findings):
        findings = (*findings, *_not_offered(loaded, world))
    if profile is None:
        return _Checked(given.path, loaded, findings, None)
    missing = () if loaded is None else missing_legal(loaded.policy, profile)
    return _Checked(given.path, loaded, (*findings, *_lacking(loaded, missing, findings)), missing)


def _with_data(
    checked: _Checked, given: PolicyInput, environment: str | None, settings: Settings, console: Console
) -> _Checked:
    """Add the faults of the data that a policy names; of one with errors, of every dataset that can be read nevertheless."""
    from privrelease.cli.progress import world_of
    from privrelease.pipeline.data_faults import data_faults
    from privrelease.plan.build import build_plan
    from privrelease.plan.sources import declared_sources

    if checked.loaded is not None:
        if any(finding.code == "P615" for finding in checked.findings):
            return checked  # this engine does not read what a release asks for
        planned, declared = build_plan(checked.loaded), declared_sources(checked.loaded)
        return replace(checked, data=data_faults(planned, world_of(settings, console), declared))
    from privrelease.policy.loader import sorted_findings
    from privrelease.policy.sound_part import sound_part

    root, log = settings.data_root, console.log
    part = sound_part(given.path, env=environment, data_root=root, content=given.content, log=log)
    if part is None:
        return _unread(checked)
    findings = sorted_findings((*checked.findings, *part.passed_over))
    if not part.loaded.policy.datasets:
        return replace(checked, findings=findings)
    planned, declared = build_plan(part.loaded), declared_sources(part.loaded, part.bounded)
    return replace(checked, findings=findings, data=data_faults(planned, world_of(settings, console), declared))


def _unread(checked: _Checked) -> _Checked:
    """Say that no data was read: what the policy says of it cannot be taken from its text."""
    first = next((finding.location for finding in checked.findings if finding.severity is Severity.ERROR), None)
    message, hint = "no data was read: the text of the policy has errors", "correct them and validate again"
    return replace(checked, findings=(*checked.findings, Finding("P108", message, Severity.INFO, first, hint)))


def _outside(loaded: LoadedPolicy) -> Iterator[Finding]:
    """Report what a run would meet outside the policy's text: approvers who cannot sign, and waivers that have expired.

    A list of approvers with which any run is refused is an error; where there is no such file here, it may be where the policy is run.
    """
    if loaded.policy.approvals is not None:
        from privrelease.pipeline.publishing import approvers_of
        from privrelease.plan.build import build_plan

        approvals = build_plan(loaded).approvals
        assert approvals is not None
        try:
            approvers_of(approvals)
        except InputError as error:
            place = (
                error.location if error.location is not None and error.location.line else loaded.location("approvals", "keys")
            )
            severity, hint = Severity.ERROR, error.hint
            if not approvals.keys.exists():
                severity, hint = Severity.WARN, f"{error.hint}: without this file every run is refused"
            yield Finding(error.code, error.message, severity, place, hint, subject="approvals.keys")
    today = datetime.now(UTC).date()
    for number, waiver in enumerate(loaded.policy.waivers):
        if waiver.expires < today:
            message = f"the waiver of {waiver.check} expired on {waiver.expires} and does not count"
            place = loaded.location("waivers", number, "expires")
            yield Finding(
                "P611", message, Severity.WARN, place, "remove it, or have it approved again", subject=f"waivers.{number}"
            )


def _print(one: _Checked, profile: Profile | None, console: Console, *, named: bool) -> None:
    if named:
        console.data(f"{one.path}: {_said(one)}")
    for finding in (*one.findings, *(one.data or ())):
        console.data(str(finding))
    if one.loaded is not None and one.valid:
        _explain(one.loaded, console)
        _explain_profile(profile, one.missing or (), console)


def _ending(checked: Sequence[_Checked], fail_on: FailOn) -> Ending:
    broken = [one for one in checked if not one.valid]
    warned = [one for one in checked if one.warnings]
    many = f"{pluralise(len(checked), 'policy', 'policies')}: " if len(checked) != 1 else ""
    if broken:
        which = f"{many}{len(broken)} cannot be used, first {broken[0].path}: " if many else f"{_at_fault(broken[0])} "
        also = f", and its data has {counted(broken[0].data_errors, 'error')}" if broken[0].data_errors else ""
        return Ending(
            3 if all(map(_by_surroundings, broken)) else 2, which + counted(broken[0].of(Severity.ERROR), "error") + also
        )
    wrong = [one for one in checked if one.data_errors]
    if wrong:
        which = f"{many}the data of {len(wrong)} is not as declared, first {wrong[0].path}: " if many else "the data has "
        return Ending(3, which + counted(wrong[0].data_errors, "error"))
    if warned and fail_on is FailOn.WARN:
        which = (
            f"{many}{len(warned)} with warnings, first {warned[0].path}" if many else f"{_whose(warned[0])} {_warnings(warned)}"
        )
        return Ending(1, f"{which}, and --fail-on warn was asked for")
    if not checked:
        return Ending(0, "no release policy was named: nothing was checked")
    said = "every one is valid" if many else "the policy is valid"
    said += ", and the data is as declared" if any(one.data is not None for one in checked) else ""
    return Ending(0, many + said + (f", with {_warnings(warned)}" if warned else ""))


def _warnings(checked: Sequence[_Checked]) -> str:
    return counted([finding for one in checked for finding in one.warnings], "warning")


def _by_surroundings(one: _Checked) -> bool:
    """Return True if every error of a policy is about files that it names: a run ends with exit code 3."""
    return all(finding.code.startswith("R") for finding in one.of(Severity.ERROR))


def _at_fault(one: _Checked) -> str:
    return "the list of approvers has" if _by_surroundings(one) else "the policy has"


def _whose(one: _Checked) -> str:
    return "the policy has" if one.data is None else "the policy and its data have"


def _said(one: _Checked) -> str:
    """Say in short how a policy is."""
    if not one.valid:
        data = f", its data {counted(one.data_errors, 'error')}" if one.data_errors else ""
        return counted(one.of(Severity.ERROR), "error") + data
    if one.data_errors:
        return f"the data has {counted(one.data_errors, 'error')}"
    return "valid" + (f", with {_warnings([one])}" if one.warnings else "")


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
