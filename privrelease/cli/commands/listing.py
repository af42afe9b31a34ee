"""``privrelease list``: the releases of a policy and the state that each is in; and one run with its history."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.findings import pluralise
from privrelease.release.listing import STANDING, list_runs, near
from privrelease.release.runs import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from privrelease.audit.document.signoff import SignoffFacts
    from privrelease.cli.console import Console
    from privrelease.release.listing import ListedRun, Listing

__all__ = ["list_releases"]

_HEADER = ("state", "release", "since", "version", "run", "where")


def list_releases(place: Path, run: str | None, state: Path | None, every: bool, console: Console) -> Ending:
    """List the runs of a policy, or of a state folder; or show one. Changes nothing, and loads no policy.

    ``place``: a policy's file, a state folder or the folder that has one (`.privrelease`), or the folder of a run. ``every``: also what was superseded, failed or abandoned.
    """
    if (place / "internal").is_dir():
        home, policy, run = state or place.resolve().parents[1], None, str(place)
    elif place.is_dir():
        inside = place / ".privrelease"
        home, policy = state or (inside if inside.is_dir() and not (place / "runs").is_dir() else place), None
    else:
        home, policy = state or place.resolve().parent / ".privrelease", _id_of(place)
    found = list_runs(home, policy)
    if run is not None:
        return _show(_named(found, home, run), console)
    return _show_all(found, home, every, console)


def _id_of(policy: Path) -> str:
    """Return the id of a policy, whatever else is wrong with it. Raises PolicyError where it has none."""
    from privrelease.cli.policy_before import id_of
    from privrelease.policy.loader import load_policy

    return id_of(policy) or load_policy(policy).policy.id


def _named(found: Listing, home: Path, run: str) -> ListedRun:
    from privrelease.errors import InputError
    from privrelease.release.store import ReleaseStore

    folder = ReleaseStore(home).named(run)
    listed = next((one for one in found.runs if one.folder.id == folder.id), None)
    if listed is None:
        folder.record()  # says what is wrong with it
        raise InputError(
            code="R123", message=f"run {folder.id} is of another policy", hint="name its own policy, or the state folder"
        )
    return listed


def _show_all(found: Listing, home: Path, every: bool, console: Console) -> Ending:
    shown = [one for one in found.runs if every or one.state in STANDING or one.doubled]
    if console.json:
        console.document(
            {
                "state_folder": near(home),
                "runs": [_value(one) for one in shown],
                "not_shown": len(found.runs) - len(shown),
                "unreadable": [
                    {"folder": near(path), "code": error.code, "message": error.message} for path, error in found.unreadable
                ],
            }
        )
    elif shown:
        _table([_HEADER, *map(_row, shown)], console)
    hidden = Counter(one.state.value for one in found.runs if one not in shown)
    if hidden:
        console.log(
            f"not shown: {', '.join(f'{number} {state}' for state, number in sorted(hidden.items()))}; --all shows them"
        )
    for path, error in found.unreadable:
        console.say(f"{near(path)}: {error}")
    twice = sorted({one.folder.id for one in shown if one.doubled})
    for one in twice:
        console.say(f"run {one} exists twice: move the copy out of the state folder, since nothing can be decided about it")
    if found.unreadable or twice:
        return Ending(3, f"{pluralise(len(found.unreadable) + len(twice), 'run')} cannot be used as they are")
    counted = Counter(one.state.value for one in shown)
    said = ", ".join(f"{number} {state}" for state, number in sorted(counted.items()))
    return Ending(0, said or "no run is published, parked, quarantined or withdrawn")


def _row(one: ListedRun) -> tuple[str, ...]:
    where = ", ".join(one.where)
    return (one.state.value, _release(one), _time(one.since), one.version or "-", one.folder.id, where)


def _release(one: ListedRun) -> str:
    environment = "" if one.record.environment is None else f"@{one.record.environment}"
    return f"{one.record.policy}{environment}/{one.record.release}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}Z"


def _table(rows: Sequence[Sequence[str]], console: Console) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        console.data("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _show(one: ListedRun, console: Console) -> Ending:
    signoff = _signoff(one)
    missing = _missing(one, signoff)
    if console.json:
        given = () if signoff is None else signoff.approvals
        approvals = [{"role": by.role, "approver": by.approver, "signed_at": by.signed_at} for by in given]
        console.document(_value(one) | {"approvals": approvals, "missing": None if missing is None else list(missing)})
    else:
        lines = [("run", one.folder.id), ("release", _release(one)), ("state", one.state.value)]
        if one.manifest is not None:
            policy = one.manifest.policy
            lines.append(("policy", f"{policy.id} {policy.version}, sha256 {policy.sha256}"))
            lines += [("commit", policy.commit)] if policy.commit else []
        if one.record.decided is not None:
            lines.append(("decision", one.record.decided.outcome))
        lines += [("where", near(path)) for path in one.places]
        lines += [(name, near(path)) for name, path in _files(one) if path.exists()]
        for by in () if signoff is None else signoff.approvals:
            lines.append(("approved", f"as {by.role} by {by.approver}, {by.signed_at}"))
        if missing is not None:
            lines.append(("missing", f"approval as {', '.join(missing)}" if missing else "none: it can be published"))
        lines += [
            ("history", f"{_time(step.at)}  {step.state.value}" + (f": {step.reason}" if step.reason else ""))
            for step in one.record.history
        ]
        console.data("\n".join(f"{name:<9} {text}" for name, text in lines))
    still = (
        "" if missing is None else f"; not approved as: {', '.join(missing)}" if missing else ", and approved by all who must"
    )
    return Ending(0, f"run {one.folder.id} is {one.state.value}{still}")


def _signoff(one: ListedRun) -> SignoffFacts | None:
    """Return the approvals that the run needs and has, as recorded when each was made; None where it needs none, or no record can be read.

    Publishing verifies them again.
    """
    from privrelease.audit.document.signoff import SignoffFacts
    from privrelease.pipeline.publishing import signoff_of

    with suppress(OSError, ValueError, AttributeError):  # of a file that is not what was written, ``verify`` says so
        recorded = signoff_of(one.folder.path) or json.loads(one.folder.audit.read_bytes()).get("signoff")
        return None if recorded is None else SignoffFacts.model_validate(recorded)
    return None


def _missing(one: ListedRun, signoff: SignoffFacts | None) -> tuple[str, ...] | None:
    """Return the roles that a run waits for; None where it waits for no approval."""
    return signoff.missing if signoff is not None and one.state is RunState.PARKED else None


def _files(one: ListedRun) -> tuple[tuple[str, Path], ...]:
    return ("folder", one.folder.path), ("audit", one.folder.audit), ("report", one.folder.report)


def _value(one: ListedRun) -> dict[str, object]:
    policy = None if one.manifest is None else one.manifest.policy
    return {
        "run": one.folder.id,
        "policy": one.record.policy,
        "environment": one.record.environment,
        "release": one.record.release,
        "state": one.state.value,
        "since": f"{one.since:%Y-%m-%dT%H:%M:%SZ}",
        "policy_version": one.version,
        "policy_sha256": None if policy is None else policy.sha256,
        "commit": None if policy is None else policy.commit,
        "outcome": None if one.record.decided is None else one.record.decided.outcome,
        "outputs": [near(path) for path in one.places],
        "where": list(one.where),
        "folder": near(one.folder.path),
        "exists_twice": one.doubled,
        "history": [
            {"state": step.state.value, "at": f"{step.at:%Y-%m-%dT%H:%M:%SZ}", "reason": step.reason}
            for step in one.record.history
        ],
    }
