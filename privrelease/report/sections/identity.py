"""Section 1: what was audited, under which policy, by which software."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition
from privrelease.report.view.page import Fact, Shown, shown
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.report.view.page import Context

__all__ = ["IdentityBody", "OutputRow", "build"]


@dataclass(frozen=True, slots=True)
class OutputRow:
    """A released file."""

    label: str
    kind: str
    rows: Shown
    size: str
    sha256: str


@dataclass(frozen=True, slots=True)
class IdentityBody:
    """Facts, files and (name, version) of the software."""

    facts: tuple[Fact, ...]
    outputs: tuple[OutputRow, ...]
    versions: tuple[tuple[str, str], ...]


def build(context: Context) -> IdentityBody:
    """Show identity; the input's digest and the run are internal."""
    identity, catalogue = context.audit.identity, context.catalogue
    stated: list[tuple[str, str | None, bool]] = [
        ("policy", f"{identity.policy_id} {identity.policy_version}", True),
        ("policy_file", identity.policy_file, True),
        ("policy_sha256", identity.policy_sha256, True),
        ("commit", identity.commit, True),
        ("environment", identity.environment, True),
        ("release", identity.release, True),
        ("audited_at", identity.audited_at, False),
    ]
    if context.edition is Edition.INTERNAL:
        stated[6:6] = [("run", identity.run, True), ("input_digest", identity.input_digest, True)]
    none = catalogue.text("word.none")
    return IdentityBody(
        facts=tuple(
            Fact(catalogue.text(f"identity.{name}"), (value or none,), gap=False, code=code and bool(value))
            for name, value, code in stated
        ),
        outputs=tuple(
            OutputRow(
                output.label,
                output.kind,
                shown(output.rows, catalogue),
                catalogue.plain("units.bytes", n=numbers.count(output.bytes)),
                output.sha256,
            )
            for output in identity.outputs
        ),
        versions=tuple(sorted(identity.versions.items())),
    )
