"""``privrelease approve``, ``publish`` and ``withdraw``: what a person decides about a parked release, on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.cli.exit import INTERRUPTED, Ending
from privrelease.pipeline import publishing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.findings import Finding
    from privrelease.pipeline.settings import Settings

__all__ = ["approve", "publish", "say_kept", "say_removed", "withdraw"]


def _altered(run: str, findings: Sequence[Finding], console: Console) -> Ending:
    for finding in findings:
        console.say(str(finding))
    return Ending(1, f"run {run}: {findings[0].message}", findings=tuple(findings))


def approve(
    policy: Path, settings: Settings, run_id: str, role: str, key: tuple[Path | None, str | None], console: Console
) -> Ending:
    """Sign the digests of a parked release in a role. Publishes nothing."""
    made = publishing.approve(policy, settings, run_id, role, key)
    if made.changed:
        return _altered(made.run, made.changed, console)
    console.data(f"approved   run {made.run} as {made.role}, by {made.approver}")
    console.data(f"missing    {', '.join(made.missing) or 'none: it can be published'}")
    return Ending(0, f"run {made.run} is approved as {role}")


def publish(policy: Path, settings: Settings, run_id: str, console: Console) -> Ending:
    """Publish a parked release after verifying digests and signatures."""
    found = publishing.publishable(policy, settings, run_id)
    if found.changed:
        return _altered(found.run, found.changed, console)
    if found.unreviewed:
        hint = "state what is missing in the policy, or let it require approvals"
        return Ending(5, f"run {found.run} needs review, and the policy names no one who could approve it ({hint})")
    for finding in found.discounted:
        console.say(str(finding))
    if found.missing:
        return Ending(5, f"run {found.run} is not approved by: {', '.join(found.missing)}")
    try:
        published = publishing.publish(found)
    except KeyboardInterrupt:
        if not found.shown:
            raise
        return Ending(INTERRUPTED.code, f"interrupted; release {found.release} was published, as run {found.run}")
    say_kept(published.kept, console)
    say_removed(published.removed, console)
    for output in published.outputs:
        console.data(f"published  {output}")
    return Ending(0, f"release {published.release} is published")


def say_kept(kept: Iterable[tuple[str, str]], console: Console) -> None:
    """Say which files were at output paths before a release was published there, and where they are kept."""
    for output, place in kept:
        console.say(f"{output} was there before and is kept at {place}")


def say_removed(removed: Iterable[str], console: Console) -> None:
    """Say which output paths the release had before and has no longer."""
    for output in removed:
        console.say(
            f"{output} is removed: the release was published there before, and its policy names that path no longer; whoever has a copy keeps it"
        )


def withdraw(policy: Path, settings: Settings, release: str, reason: str, console: Console) -> Ending:
    """Take the current release back; its output paths show nothing any more."""
    record, unlogged = publishing.withdraw(policy, settings, release, reason)
    console.data(f"withdrawn  run {record.run}: {reason.strip()}")
    if unlogged is not None:
        said = f"{unlogged}\nthe release is withdrawn; the next command that can write the log of publications records it there"
        reason = f"release {record.release} is withdrawn, and the log of publications lacks it ({unlogged.code})"
        return Ending(unlogged.exit_code, reason, said)
    return Ending(0, f"release {record.release} is withdrawn; whoever has a copy keeps it")
