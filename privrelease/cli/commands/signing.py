"""``privrelease keygen``, ``sign`` and ``verify`` on the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.errors import InputError, UsageError
from privrelease.findings import pluralise
from privrelease.pipeline import signing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.cli.console import Console

__all__ = ["keygen", "sign", "verify"]


def keygen(output: Path, console: Console, *, unnamed: str | None = None) -> Ending:
    """Write a new key pair. ``unnamed``: a file that was written without ``-o``; refused (C125), since ``keygen KEY`` may as well be meant
    to read it.
    """
    if unnamed is not None:
        hint = f"write `privrelease keygen -o {unnamed}`"
        raise UsageError(code="C125", message="the file of the key is named with -o", hint=hint)
    made = signing.keygen(output)
    if console.json:
        console.document({"key": str(made.private), "public": str(made.public), "id": made.id})
    else:
        console.data(f"private key  {made.private}\npublic key   {made.public}\nkey id       {made.id}")
    return Ending(0, "the key pair is written; keep the private key to yourself")


def sign(
    audit: Path, file: Path | None, variable: str | None, output: Path | None, console: Console, *, force: bool = False
) -> Ending:
    """Sign the attestation of an audit as a DSSE envelope: which data, manifest and recipients' report passed which policy.

    The audit of files that no run made has neither manifest nor report: the data alone is attested, and the ending says so.
    """
    from privrelease.cli.output_files import Kept, Writer, kept_of_audit

    key = signing.signing_key(file, variable)
    writer = Writer((*kept_of_audit(audit), *(Kept(path, "the private key") for path in (file,) if path is not None)), force)
    writer.check(output)
    signed = signing.sign(audit, key)
    if signed.changed:
        return Ending(1, f"nothing was signed: {signed.changed[0].message}", str(signed.changed[0]), signed.changed)
    if output is None:
        sys.stdout.buffer.write(signed.envelope)
    else:
        writer.write(output, signed.envelope)
        console.log(f"wrote {output}")
    alone = "" if signed.companions else ", for the data alone: no run's manifest and report are known"
    return Ending(0, f"signed by key {key.public.id}{alone}")


def verify(
    envelope: Path, keys: Sequence[Path], files: Sequence[Path], console: Console, *, state: Path | None = None
) -> Ending:
    """Verify an attestation: who signed it, and that the files are those it speaks of. A file that is not fails by its name.

    ``envelope``: also the folder of a run, or its id. ``state``: the state folder in which the id is looked up.
    """
    if not envelope.exists():
        envelope = signing.run_named(envelope, state)
    if envelope.is_dir():
        return _verify_run(envelope, keys, console)
    try:
        found = signing.verify(envelope, keys, files)
    except InputError as error:
        if error.code != "R146":
            raise
        return Ending(1, f"{envelope.name}: {error.message}", str(error))
    wrong = found.wrong
    value = {
        "result": found.result,
        "signed_by": list(found.signers),
        "files": list(found.files),
        "altered": [one.name for one in wrong],
        "compared": [{"name": one.name, "state": one.state} for one in found.compared],
    }
    if console.json:
        console.document(value)
    else:
        compared = (f"file       {one}" for one in found.compared)
        console.data("\n".join([f"result     {found.result}", f"signed by  {', '.join(found.signers)}", *compared]))
    if wrong:
        names = "; ".join(str(one) for one in wrong)
        hint = (
            "get the files again from whoever published them; an attestation of version 0.1 is about the data alone: sign again"
        )
        return Ending(1, f"the attestation does not hold: {names}", f"R147 {names}\nhint: {hint}")
    if found.result == "FAILED":
        return Ending(1, "the signature holds, and attests that the audit failed")
    rest = [one.name for one in found.compared if one.state == "not given"]
    held = f" for {pluralise(len(files), 'file')}" if files else ", and no file was compared with it"
    return Ending(0, f"the attestation holds{held}" + (f"; not given: {', '.join(rest)}" if files and rest else ""))


def _verify_run(folder: Path, keys: Sequence[Path], console: Console) -> Ending:
    """Verify a run's folder: manifest, outputs and audit against the decision, and approvals against the keys named.

    An approval by a key that was not named is reported and neither verified nor altered; a named key that approved nothing
    fails.
    """
    found = signing.verify_run(folder, keys)
    if console.json:
        made = [{"role": one.role, "approver": one.approver, "key": key} for one, key in found.verified]
        others = [{"role": one.role, "approver": one.approver, "key": one.key or None} for one in found.unverified]
        console.document(
            {
                "run": found.run,
                "state": found.state,
                "outcome": found.outcome,
                "approvals": made,
                "unverified": others,
                "keys_without_approval": [str(path) for path in found.silent],
                "altered": [finding.message for finding in found.changed],
            }
        )
    else:
        console.data(f"state      {found.state}\ndecision   {found.outcome or 'none'}")
        for approval, key in found.verified:
            console.data(f"approved as {approval.role} by {approval.approver}, key {key}")
        for one in found.unverified:
            by = f"key {one.key}, which was not given" if one.key else "a key that was not given"
            console.data(f"not verified: approval as {one.role} by {one.approver}, as it says, with {by}")
    for finding in found.changed:
        console.say(str(finding))
    if found.changed:
        return Ending(1, f"run {found.run}: {found.changed[0].message}", findings=found.changed)
    if found.silent:
        names = ", ".join(path.name for path in found.silent)
        what = f"no approval of run {found.run} is signed by {names}"
        return Ending(1, what, f"R148 {what}\nhint: name the keys of those who approved it")
    held = f"run {found.run} ({found.state}, decision {found.outcome}) is as it was decided upon"
    return Ending(0, f"{held}; {_said(len(found.verified), len(found.unverified))}")


def _said(verified: int, others: int) -> str:
    """Say how many approvals hold, and how many were not checked.

    >>> _said(1, 1)
    '1 approval verified by the keys given, 1 approval by keys that were not given is not verified'
    >>> _said(0, 0), _said(0, 2)
    ('no one approved it', '2 approvals by keys that were not given are not verified')
    """
    parts = [f"{pluralise(verified, 'approval')} verified by the keys given"] if verified else []
    if others:
        parts.append(
            f"{pluralise(others, 'approval')} by keys that were not given {'is' if others == 1 else 'are'} not verified"
        )
    return ", ".join(parts) or "no one approved it"
