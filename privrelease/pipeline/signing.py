"""Keys, and attestations of audits as DSSE envelopes: made, signed and verified.

What an attestation is about: the released files, their manifest and the recipients' report; and how files compare with it.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from privrelease.errors import InputError, UsageError
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.audit.document.model import AuditResult
    from privrelease.findings import Finding
    from privrelease.release.approvals import Approval
    from privrelease.release.runs import RunFolder
    from privrelease.release.signing import SigningKey, VerifyingKey

__all__ = [
    "Attestation",
    "Compared",
    "KeyPair",
    "Signed",
    "Unverified",
    "VerifiedRun",
    "companion_subjects",
    "compared",
    "keygen",
    "public_key",
    "run_named",
    "run_of",
    "sign",
    "signing_key",
    "verify",
    "verify_run",
]


def run_of(audit: Path) -> RunFolder | None:
    """Return the run whose audit it is, by its folder or its ``audit.json``; None where the audit belongs to no run that is here."""
    from privrelease.release.runs import RunFolder

    path = audit.resolve()
    home = path if path.is_dir() else path.parent.parent
    inside = path.is_dir() or (path.parent.name == "internal" and path.name == "audit.json")
    return RunFolder(home) if inside and (home / "internal" / "state.json").is_file() else None


def companion_subjects(run: RunFolder | None, audit: AuditResult) -> tuple[tuple[str, str], ...]:
    """Return name and SHA-256 of the manifest and of the recipients' report, where the run has them; named as next to the first output."""
    from privrelease.release.digests import sha256_of
    from privrelease.release.files import os_errors

    if run is None or not audit.identity.outputs:
        return ()
    beside = PurePosixPath(audit.identity.outputs[0].label)
    with os_errors("reading the manifest and the recipients' report"):
        files = [path for path in (run.manifest_path, run.recipient_report) if path.is_file()]
        return tuple((str(beside.with_name(path.name)), sha256_of(path)) for path in files)


@dataclass(frozen=True, slots=True)
class Compared:
    """A file, or an attested name for which no file was given, compared with an attestation."""

    name: str
    state: Literal["same", "differs", "not attested", "not given"]

    @property
    def wrong(self) -> bool:
        """Return True if the attestation does not hold for it."""
        return self.state in {"differs", "not attested"}

    def __str__(self) -> str:
        words = {
            "same": "is what was attested",
            "differs": "differs from what was attested",
            "not attested": "is not among what was attested",
            "not given": "was not given, and not compared",
        }
        return f"{self.name} {words[self.state]}"


def compared(attested: Mapping[str, str], files: Sequence[Path]) -> tuple[Compared, ...]:
    """Compare files with what was attested (SHA-256 by name). A file that has an attested name must be that one; another name may hold any.

    >>> [str(one) for one in compared({"out/r.csv": "00"}, ())]
    ['out/r.csv was not given, and not compared']
    """
    from privrelease.release.digests import sha256_of

    found: list[Compared] = []
    seen: set[str] = set()
    for file in files:
        digest = sha256_of(file)
        named = [name for name in attested if PurePosixPath(name).name == file.name]
        equal = [name for name, sha256 in attested.items() if sha256 == digest and (not named or name in named)]
        seen.update(equal or named)
        found.append(Compared(str(file), "same" if equal else "differs" if named else "not attested"))
    return (*found, *(Compared(name, "not given") for name in attested if name not in seen))


_PUBLIC = ".pub"


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Files of a new key pair, and the key's id."""

    private: Path
    public: Path
    id: str


def keygen(output: Path) -> KeyPair:
    """Write a new private key (mode 0600) and the public one next to it; neither overwrites anything.

    A folder that is not there is made, for its owner alone (mode 0700).
    """
    from privrelease.release.files import os_errors, write_atomically
    from privrelease.release.signing import SigningKey

    public = output.with_name(output.name + _PUBLIC)
    if os.path.lexists(public):
        raise InputError(code="R141", message=f"{public.name} exists", hint="name another file: a key is never overwritten")
    key = SigningKey.generate()
    with os_errors("making the folder of the key"):
        _made(output.parent)
    key.save(output)
    with os_errors("writing the public key"):
        write_atomically(public, key.public.pem.encode(), mode=0o644)
    return KeyPair(output, public, key.public.id)


def _made(folder: Path) -> None:
    """Make a folder and those above it that are not there, each of mode 0700."""
    if not folder.exists():
        _made(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def signing_key(file: Path | None, variable: str | None) -> SigningKey:
    """Return the private key from a file of mode 0600 or from the environment variable of that name. Raises UsageError (C110)."""
    from privrelease.release.signing import SigningKey

    if (file is None) == (variable is None):
        raise UsageError(
            code="C110",
            message="one private key is needed",
            hint="name its file with --key, or the environment variable that holds it with --key-env",
        )
    if variable is not None:
        return SigningKey.from_environment(variable, os.environ)
    assert file is not None
    return SigningKey.load(file)


def public_key(path: Path) -> VerifyingKey:
    """Read a public key. Raises InputError (R140, R1xx)."""
    from privrelease.release.files import os_errors
    from privrelease.release.signing import VerifyingKey

    with os_errors("reading a public key"):
        text = path.read_bytes()
    return VerifyingKey.from_pem(text.decode("utf-8", errors="replace"))


@dataclass(frozen=True, slots=True)
class Signed:
    """A signed attestation. ``changed``: what of the run is not as it was decided upon, so that nothing was signed.

    ``companions``: name and SHA-256 of the manifest and the recipients' report, where they are attested besides the data.
    """

    envelope: bytes = b""
    changed: tuple[Finding, ...] = ()
    companions: tuple[tuple[str, str], ...] = ()


def sign(audit: Path, key: SigningKey) -> Signed:
    """Sign the attestation of an audit as a DSSE envelope: which data, manifest and recipients' report passed which policy.

    The audit of files that no run made has neither manifest nor report: the data alone is attested.
    """
    from privrelease.release.signing import sealed
    from privrelease.release.tamper_check import alterations
    from privrelease.report.forms.intoto import PAYLOAD_TYPE, render_statement
    from privrelease.report.forms.json_report import read_audit

    run = run_of(audit)
    if run is not None:
        findings = alterations(run)
        if findings:
            return Signed(changed=findings)
    result = read_audit(audit / "internal" / "audit.json" if audit.is_dir() else audit)
    companions = companion_subjects(run, result)
    return Signed(sealed(render_statement(result, companions), PAYLOAD_TYPE, (key,)), companions=companions)


@dataclass(frozen=True, slots=True)
class Attestation:
    """A verified attestation: its result, the keys that signed it, the names it attests, and how files compare with them."""

    result: str
    signers: tuple[str, ...]
    files: tuple[str, ...]
    compared: tuple[Compared, ...]

    @property
    def wrong(self) -> tuple[Compared, ...]:
        """Files for which it does not hold."""
        return tuple(one for one in self.compared if one.wrong)


def verify(envelope: Path, keys: Sequence[Path], files: Sequence[Path]) -> Attestation:
    """Verify an attestation: who signed it, and that the files are those it names. Raises InputError (R146): a signature fails."""
    from privrelease.release.files import os_errors
    from privrelease.release.signing import opened
    from privrelease.report.forms.intoto import PAYLOAD_TYPE

    if not keys:
        raise UsageError(code="C111", message="no public key is named", hint="name the signer's with --key FILE")
    with os_errors("reading the attestation"):
        content = envelope.read_bytes()
    payload, signers = opened(content, PAYLOAD_TYPE, [public_key(path) for path in keys])
    statement = json.loads(payload)
    attested = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    with os_errors("reading the files"):
        looked = compared(attested, files)
    result = "FAILED" if any(one.wrong for one in looked) else str(statement["predicate"]["result"])
    return Attestation(result, tuple(signers), tuple(sorted(attested)), looked)


@dataclass(frozen=True, slots=True)
class VerifiedRun:
    """A run's folder, compared with its decision and with the keys that were named.

    ``state``: of the run, as ``list`` shows it; ``outcome``: of its audit, None where the run ended before a decision.
    ``verified``: approvals with the key that signed each; ``unverified``: those by keys that were not named; ``silent``: keys that approved
    nothing.
    """

    run: str
    state: str
    outcome: str | None
    verified: tuple[tuple[Approval, str], ...]
    unverified: tuple[Unverified, ...]
    silent: tuple[Path, ...]
    changed: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Unverified:
    """An approval that no named key signed. ``key``: the id it names, empty where that is not valid."""

    role: str
    approver: str
    key: str


def run_named(name: Path, state: Path | None) -> Path:
    """Return the folder of a run that is named by its id: in ``state``, else in the state folder of the working folder.

    Raises UsageError (C174): there is no such run, and no such file or folder.
    """
    from privrelease.release.store import ReleaseStore

    home = Path(".privrelease") if state is None else state
    try:
        return ReleaseStore(home).folder(str(name)).path
    except InputError as error:
        if error.code != "R123":
            raise
        raise UsageError(
            code="C174",
            message=f"{name} is no file, no folder and no run of the state folder {home}",
            hint="name an attestation, the folder of a run, or a run by its id with the state folder that has it (--state)",
        ) from None


def verify_run(folder: Path, keys: Sequence[Path]) -> VerifiedRun:
    """Verify a run's folder: manifest, outputs and audit against the decision, and approvals against the keys named."""
    from privrelease.release.approvals import signed_by
    from privrelease.release.listing import state_of
    from privrelease.release.publications import Layout
    from privrelease.release.runs import RunFolder
    from privrelease.release.tamper_check import alterations

    run = RunFolder(folder.resolve())
    record = run.record()
    layout = Layout(run.path.parents[1])
    own = run.path.parent in {layout.runs, layout.quarantine}  # else a copy, of which only its record is known
    known = [(path, public_key(path)) for path in keys]
    signed = signed_by(run, [key for _, key in known])
    findings = (*alterations(run), *signed.altered)
    signers = {key for _, key in signed.verified}
    return VerifiedRun(
        run.id,
        (state_of(run, record, layout) if own else record.state).value,
        None if record.decided is None else record.decided.outcome,
        tuple(signed.verified),
        tuple(Unverified(one.approval.role, one.approval.approver, _claimed(one.claimed)) for one in signed.unverified),
        tuple(path for path, key in known if key.id not in signers),
        findings,
    )


def _claimed(ids: Sequence[str]) -> str:
    """The key that an approval says it is signed with, where that is the id of a key at all."""
    return next((name for name in ids if re.fullmatch(r"[0-9a-f]{64}", name)), "")
