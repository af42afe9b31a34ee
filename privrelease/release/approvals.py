"""Approvals of a parked release: signatures over the digests of policy, outputs, audit and report.

An approval is a DSSE envelope in ``internal/approvals``. It counts where a listed key made it, for a role of its approver, while the key
was valid, over exactly what is parked; never by the owner of an open waiver; and a person counts for one role, with whichever of several
keys. The moment is stated by the
signer, so it must lie between the parking and now, and a revoked key counts for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, ValidationError

from privrelease.documents import Document
from privrelease.errors import InputError
from privrelease.findings import Finding
from privrelease.release.approvers import approver_with
from privrelease.release.digests import sha256_of
from privrelease.release.files import canonical_json, os_errors, write_atomically
from privrelease.release.manifest import Moment, Sha256  # noqa: TC001  pydantic reads annotations at run time
from privrelease.release.signing import opened, sealed, unverified
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from privrelease.release.approvers import Approver
    from privrelease.release.runs import RunFolder
    from privrelease.release.signing import SigningKey, VerifyingKey

__all__ = [
    "PAYLOAD_TYPE",
    "Approval",
    "Approvals",
    "Digests",
    "Signatures",
    "UnverifiedApproval",
    "approvals_of",
    "approve",
    "digests_of",
    "signed_by",
]

PAYLOAD_TYPE = "application/vnd.privrelease.approval+json"


class Digests(Document):
    """Subject of an approval: SHA-256 of the resolved policy, of the manifest, of every output, of ``audit.json`` and of the
    report that is published with the data.
    """

    policy: Sha256
    manifest: Sha256
    outputs: dict[str, Sha256]
    audit: Sha256
    beside: dict[str, str] = Field(default_factory=dict)


class Approval(Document):
    """Document that is signed."""

    format: Literal["privrelease/approval"] = "privrelease/approval"
    version: Literal[1] = 1
    run: str
    release: str
    role: str
    approver: str
    digests: Digests
    signed_at: Moment


@dataclass(frozen=True, slots=True)
class Approvals:
    """The approvals of a run: those that count, why others do not, and what was altered after a signature."""

    counting: tuple[tuple[Approval, str], ...]
    """(approval, id of the key that made it)"""
    discounted: tuple[Finding, ...]
    altered: tuple[Finding, ...]

    def missing(self, required: Iterable[str]) -> tuple[str, ...]:
        """Return the required roles that no one signed for."""
        signed = {approval.role for approval, _ in self.counting}
        return tuple(role for role in required if role not in signed)


@dataclass(frozen=True, slots=True)
class UnverifiedApproval:
    """An approval over what is parked by none of the available keys. ``claimed``: ids of the keys that it says signed it."""

    file: str
    approval: Approval
    claimed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Signatures:
    """The approvals of a run by the available keys: (approval, id of the key that made it), those by other keys, and what was
    altered.
    """

    verified: tuple[tuple[Approval, str], ...]
    unverified: tuple[UnverifiedApproval, ...]
    altered: tuple[Finding, ...]


def digests_of(run: RunFolder) -> Digests:
    """Digest what is parked, as it is now. Raises InputError (R101 to R105, R125)."""
    manifest = run.manifest()
    with os_errors("reading a parked release"):
        return Digests(
            policy=manifest.policy.sha256,
            manifest=manifest.digest(),
            outputs={output.file: sha256_of(run.output(output.file)) for output in manifest.outputs},
            audit=sha256_of(run.audit),
            beside=run.beside(),
        )


def approve(
    run: RunFolder, role: str, key: SigningKey, approvers: Sequence[Approver], owners: Sequence[str], at: datetime
) -> Approval:
    """Sign the digests of a parked release for ``role``. ``owners``: of its open waivers, who cannot approve it.

    Raises InputError (R153): the key is not that of an approver with that role, or may not sign (now, or this release).
    """
    approver = approver_with(key.public, approvers)
    if approver is None:
        raise _refused(message="the key is not an approver's", hint="list its public key in the file of approvers' keys")
    if role not in approver.roles:
        raise _refused(
            message=f"{approver.name} does not sign for {role}", hint=f"roles of this key: {', '.join(approver.roles)}"
        )
    why = approver.refusal(at.date(), at.date())
    if why is not None:
        raise _refused(message=why, hint="sign with a valid key")
    if approver.owns(owners):
        raise _refused(message=f"{approver.name} owns an open waiver of this release", hint="somebody else must approve it")
    folder = _folder(run)
    earlier = approvals_of(run, approvers, owners, at)
    before = next((one for one, signer in earlier.counting if one.role != role and approver.is_holder(signer, approvers)), None)
    if before is not None:
        raise _refused(
            message=f"{approver.name} signed already for {before.role}",
            hint="every role is signed for by a person of its own: somebody else with this role must approve it",
        )
    approval = Approval(
        run=run.id, release=run.record().release, role=role, approver=approver.name, digests=digests_of(run), signed_at=at
    )
    payload = canonical_json(approval.model_dump(mode="json"))
    with os_errors("writing an approval"):
        folder.mkdir(mode=0o700, exist_ok=True)
        write_atomically(folder / f"{role}-{key.public.id[:16]}.dsse.json", sealed(payload, PAYLOAD_TYPE, (key,)))
    return approval


def _refused(*, message: str, hint: str) -> InputError:
    return InputError(code="R153", message=f"no approval was made: {message}", hint=hint)


def _folder(run: RunFolder) -> Path:
    return run.internal / "approvals"


def approvals_of(run: RunFolder, approvers: Sequence[Approver], owners: Sequence[str], at: datetime) -> Approvals:
    """Read every approval of a run and say which count.

    R164: not signed by a listed key, or the envelope was changed. R165: about other bytes than those that are parked. Both are
    alterations. R166: the key or its holder may not approve this.
    """
    signed = signed_by(run, [one.key for one in approvers])
    counting: list[tuple[Approval, str]] = []
    discounted: list[Finding] = []
    for approval, key in signed.verified:
        approver = next(one for one in approvers if one.key.id == key)
        why = _discount(approval, approver, owners, run, at)
        if why is None and any(one.role != approval.role and approver.is_holder(other, approvers) for one, other in counting):
            why = f"{approver.name} signed for another role already"
        if why is None:
            counting.append((approval, key))
        else:
            discounted.append(Finding("R166", f"the approval as {approval.role} does not count: {why}"))
    foreign = (_no_signature(one.file, "is not signed by a listed key, or was changed") for one in signed.unverified)
    return Approvals(tuple(counting), tuple(discounted), (*signed.altered, *foreign))


def signed_by(run: RunFolder, keys: Sequence[VerifyingKey]) -> Signatures:
    """Read every approval of a run: those that one of ``keys`` made over what is parked, those that say they are by other keys, and
    those that were altered.
    """
    folder = _folder(run)
    verified: list[tuple[Approval, str]] = []
    others: list[UnverifiedApproval] = []
    altered: list[Finding] = []
    for path in sorted(folder.glob("*.dsse.json")) if folder.is_dir() else ():
        try:
            envelope = path.read_bytes()
            payload, claimed = unverified(envelope, PAYLOAD_TYPE)
            approval = Approval.model_validate_json(payload)
        except (OSError, InputError, ValidationError):
            altered.append(_no_signature(path.name, "is not a signed approval, or was changed"))
            continue
        try:
            signers = opened(envelope, PAYLOAD_TYPE, keys)[1]
        except InputError:
            signers = ()
        different = _different(approval, run)
        if not signers and any(key.id in claimed for key in keys):
            altered.append(_no_signature(path.name, "says that a given key signed it, which did not, or was changed"))
        elif different:
            message = f"approval {path.name} is about another {' and '.join(different)}: altered after signing"
            altered.append(Finding("R165", message, hint="run the release again"))
        elif signers:
            verified.append((approval, signers[0]))
        else:
            others.append(UnverifiedApproval(path.name, approval, claimed))
    return Signatures(tuple(verified), tuple(others), tuple(altered))


def _no_signature(file: str, what: str) -> Finding:
    return Finding("R164", f"approval {file} {what}", hint="remove it, or list the signer's key")


def _different(approval: Approval, run: RunFolder) -> list[str]:
    """Return the parts of the approval that differ from what is parked."""
    try:
        now = digests_of(run)
    except InputError:
        return ["manifest"]
    names = [name for name in ("policy", "manifest", "audit") if getattr(approval.digests, name) != getattr(now, name)]
    if approval.digests.beside != now.beside:
        names.append("report")
    signed = approval.digests.outputs
    names += [f"output {file}" for file in sorted(signed.keys() | now.outputs) if signed.get(file) != now.outputs.get(file)]
    return names if approval.run == run.id else ["run", *names]


def _discount(
    approval: Approval,
    approver: Approver,
    owners: Sequence[str],
    run: RunFolder,
    at: datetime,
) -> str | None:
    if approval.role not in approver.roles:
        return f"{approver.name} does not sign for {approval.role}"
    if not run.manifest().created_at <= approval.signed_at <= at:
        return "its moment is not between the run and now"
    if approver.owns(owners):
        return f"{approver.name} owns an open waiver of this release"
    return approver.refusal(approval.signed_at.date(), at.date())
