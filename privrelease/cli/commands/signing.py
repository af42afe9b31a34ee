"""``privrelease keygen``, ``sign`` and ``verify``: keys, and attestations of audits as DSSE envelopes."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.errors import InputError, UsageError
from privrelease.findings import pluralise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.cli.console import Console
    from privrelease.release.signing import SigningKey, VerifyingKey

__all__ = ["keygen", "public_key", "sign", "signing_key", "verify"]

_PUBLIC = ".pub"


def keygen(output: Path, console: Console, *, unnamed: str | None = None) -> Ending:
    """Write a new private key (mode 0600) and the public one beside it; neither overwrites anything.

    A folder that is not there is made, for its owner alone (mode 0700). ``unnamed``: a file that was written without ``-o``; refused
    (C125), since ``keygen KEY`` may as well be meant to read it.
    """
    if unnamed is not None:
        hint = f"write `privrelease keygen -o {unnamed}`"
        raise UsageError(code="C125", message="the file of the key is named with -o", hint=hint)
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
    if console.json:
        console.document({"key": str(output), "public": str(public), "id": key.public.id})
    else:
        console.data(f"private key  {output}\npublic key   {public}\nkey id       {key.public.id}")
    return Ending(0, "the key pair is written; the private key belongs to nobody else")


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


def sign(
    audit: Path, file: Path | None, variable: str | None, output: Path | None, console: Console, *, force: bool = False
) -> Ending:
    """Sign the attestation of an audit: which files passed which policy, as a DSSE envelope."""
    from privrelease.cli.output_files import Kept, Writer, kept_of_audit
    from privrelease.release.runs import RunFolder
    from privrelease.release.signing import sealed
    from privrelease.release.tamper_check import alterations
    from privrelease.report.forms.intoto import PAYLOAD_TYPE, render_statement
    from privrelease.report.forms.json_report import read_audit

    key = signing_key(file, variable)
    writer = Writer((*kept_of_audit(audit), *(Kept(path, "the private key") for path in (file,) if path is not None)), force)
    writer.check(output)
    if audit.is_dir():
        findings = alterations(RunFolder(audit.resolve()))
        if findings:
            return Ending(1, f"nothing was signed: {findings[0].message}", str(findings[0]), findings)
    statement = render_statement(read_audit(audit / "internal" / "audit.json" if audit.is_dir() else audit))
    envelope = sealed(statement, PAYLOAD_TYPE, (key,))
    if output is None:
        sys.stdout.buffer.write(envelope)
    else:
        writer.write(output, envelope)
        console.log(f"wrote {output}")
    return Ending(0, f"signed by key {key.public.id}")


def verify(envelope: Path, keys: Sequence[Path], files: Sequence[Path], console: Console) -> Ending:
    """Verify an attestation: who signed it, and that the files are those it speaks of. A file that is not fails by its name."""
    from privrelease.release.digests import sha256_of
    from privrelease.release.files import os_errors
    from privrelease.release.signing import opened
    from privrelease.report.forms.intoto import PAYLOAD_TYPE

    if envelope.is_dir():
        return _verify_run(envelope, keys, console)
    if not keys:
        raise UsageError(code="C111", message="no public key is named", hint="name the signer's with --key FILE")
    with os_errors("reading the attestation"):
        content = envelope.read_bytes()
    try:
        payload, signers = opened(content, PAYLOAD_TYPE, [public_key(path) for path in keys])
    except InputError as error:
        if error.code != "R146":
            raise
        return Ending(1, f"{envelope.name}: {error.message}", str(error))
    statement = json.loads(payload)
    attested = {subject["digest"]["sha256"]: subject["name"] for subject in statement["subject"]}
    with os_errors("reading the files"):
        unknown = [file for file in files if sha256_of(file) not in attested]
    result = str(statement["predicate"]["result"])
    value = {
        "result": result,
        "signed_by": list(signers),
        "files": sorted(attested.values()),
        "altered": [str(file) for file in unknown],
    }
    if console.json:
        console.document(value)
    else:
        console.data(f"result     {result}\nsigned by  {', '.join(signers)}\nfiles      {', '.join(sorted(attested.values()))}")
    if unknown:
        names = ", ".join(Path(file).name for file in unknown)
        return Ending(1, f"not what was attested: {names}", f"R147 {names}: the bytes are not those that were signed for")
    if result == "FAILED":
        return Ending(1, "the signature holds, and attests that the audit failed")
    return Ending(0, "the attestation holds" + (f" for {pluralise(len(files), 'file')}" if files else ""))


def _verify_run(folder: Path, keys: Sequence[Path], console: Console) -> Ending:
    """Verify a run's folder: manifest, outputs and audit against the decision, and approvals against the keys named.

    An approval by a key that was not named is told and neither verified nor altered; a named key that approved nothing fails.
    """
    from privrelease.release.approvals import signed_by
    from privrelease.release.runs import RunFolder
    from privrelease.release.tamper_check import alterations

    run = RunFolder(folder.resolve())
    known = [(path, public_key(path)) for path in keys]
    signed = signed_by(run, [key for _, key in known])
    findings = (*alterations(run), *signed.altered)
    signers = {key for _, key in signed.verified}
    silent = [path for path, key in known if key.id not in signers]
    if console.json:
        made = [{"role": one.role, "approver": one.approver, "key": key} for one, key in signed.verified]
        others = [
            {"role": one.approval.role, "approver": one.approval.approver, "key": _claimed(one.claimed) or None}
            for one in signed.unverified
        ]
        console.document(
            {
                "run": run.id,
                "approvals": made,
                "unverified": others,
                "keys_without_approval": [str(path) for path in silent],
                "altered": [finding.message for finding in findings],
            }
        )
    else:
        for approval, key in signed.verified:
            console.data(f"approved as {approval.role} by {approval.approver}, key {key}")
        for one in signed.unverified:
            key = _claimed(one.claimed)
            by = f"key {key}, which was not given" if key else "a key that was not given"
            console.data(f"not verified: approval as {one.approval.role} by {one.approval.approver}, as it says, with {by}")
    for finding in findings:
        console.say(str(finding))
    if findings:
        return Ending(1, f"run {run.id}: {findings[0].message}", findings=findings)
    if silent:
        names = ", ".join(path.name for path in silent)
        what = f"no approval of run {run.id} is signed by {names}"
        return Ending(1, what, f"R148 {what}\nhint: name the keys of those who approved it")
    return Ending(0, f"run {run.id} is as it was decided upon; {_said(len(signed.verified), len(signed.unverified))}")


def _claimed(ids: Sequence[str]) -> str:
    """The key that an approval says it is signed with, where that is the id of a key at all."""
    return next((name for name in ids if re.fullmatch(r"[0-9a-f]{64}", name)), "")


def _said(verified: int, others: int) -> str:
    """Say how many approvals hold, and how many nobody looked at.

    >>> _said(1, 1)
    '1 approval verified by the keys given, 1 approval by keys that were not given is not verified'
    >>> _said(0, 0), _said(0, 2)
    ('nobody approved it', '2 approvals by keys that were not given are not verified')
    """
    parts = [f"{pluralise(verified, 'approval')} verified by the keys given"] if verified else []
    if others:
        parts.append(
            f"{pluralise(others, 'approval')} by keys that were not given {'is' if others == 1 else 'are'} not verified"
        )
    return ", ".join(parts) or "nobody approved it"
