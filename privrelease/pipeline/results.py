"""Results of running a policy: for each release what became of it, its audit, and where its files are."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from privrelease.audit.document.model import Outcome
from privrelease.findings import pluralise
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult, ThreatResult

__all__ = ["Became", "ReleaseResult", "RunResult", "not_made", "warned"]

Became = Literal["published", "parked", "quarantined", "failed", "rehearsed"]


@dataclass(frozen=True, slots=True)
class ReleaseResult:
    """Result of one release: ``published``, ``parked`` until a person decides, ``quarantined`` as its audit fails, ``failed``, or ``rehearsed`` by a
    dry run.
    """

    release: str
    became: Became
    reason: str
    """One sentence that says why."""
    run: str | None = None
    """The run's id; None where the release was stopped before its audit was complete."""
    audit: AuditResult | None = None
    files: dict[str, str] = field(default_factory=dict)
    """Paths by name: ``report``, ``audit``, and where it was published its outputs and the ``manifest``."""
    kept: tuple[tuple[str, str], ...] = ()
    """Files that were at output paths before, each with the place where it is kept."""
    removed: tuple[str, ...] = ()
    """Output paths of the run before it that show nothing any more."""
    error: Exception | None = None
    """The error that stopped the release, or kept it from being published."""
    would: Became | None = None
    """The state that a release would have reached that was rehearsed; None where that cannot be known before a draw."""

    @property
    def decision(self) -> str:
        """The outcome of the audit in a word, ``stopped`` where there is none."""
        return "stopped" if self.audit is None else self.audit.decision.outcome.value

    def __str__(self) -> str:
        """Return its decision, and each threat with the smallest class that an attacker meets, a line each."""
        return "\n".join((f"release {self.release}: {self.decision}, {self.became}", *(f"  {line}" for line in self._lines())))

    def _lines(self) -> tuple[str, ...]:
        if self.audit is None:
            return (self.reason, *(() if self.error is None else str(self.error).splitlines()[:1]))
        decision = self.audit.decision
        checks = f"{decision.checks_passed} of {pluralise(decision.checks_total, 'check')} passed{not_made(self.audit)}"
        threats = map(_threat, self.audit.threats)
        return (checks, *threats, f"report: {self.files['report']}" if "report" in self.files else self.reason)

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        return _page((self,))


@dataclass(frozen=True, slots=True)
class RunResult:
    """The releases of a policy that were run, in the order of the policy."""

    policy: str
    version: str
    releases: tuple[ReleaseResult, ...]

    def __getitem__(self, release: str) -> ReleaseResult:
        """Return the result of one release. Raises KeyError."""
        for one in self.releases:
            if one.release == release:
                return one
        raise KeyError(release)

    @property
    def published(self) -> bool:
        """Return True if every release was published."""
        return all(one.became == "published" for one in self.releases)

    def __str__(self) -> str:
        """Return a few lines for each release."""
        return "\n".join((f"{self.policy} {self.version}", *map(str, self.releases)))

    def _repr_html_(self) -> str:
        """Return a table with a row for each release, for a notebook."""
        return _page(self.releases, f"{self.policy} {self.version}")


def warned(audit: AuditResult) -> bool:
    """Return whether a check or a finding of the audit warns; one that nothing may depend on is passed over."""
    return any(check.outcome is Outcome.WARN and not check.private for check in audit.checks) or any(
        finding.severity == "warn" for finding in audit.findings
    )


def not_made(audit: AuditResult) -> str:
    """Say after a verdict how many checks could not be made, and how many were not asked for; nothing where all were made."""
    n, others = audit.decision.checks_not_made, audit.decision.checks_not_asked
    said = f"; {pluralise(n, 'check')} could not be made" if n else ""
    return said + (f"; {pluralise(others, 'check')} not asked for" if others else "")


def _threat(threat: ThreatResult) -> str:
    """Say whether a threat holds, and the smallest class that its attacker meets.

    ``holds``: every limit is kept.
    """
    before = "" if threat.before is None or threat.before.k.exact is None else f" (before: {threat.before.k.exact})"
    k = "" if threat.after.k.exact is None else f", k {threat.after.k.exact}{before}"
    return f"threat {threat.name}: {'holds' if threat.holds else 'does not hold'}{k}"


def _page(releases: tuple[ReleaseResult, ...], title: str = "") -> str:
    """A table of results, every text of policy or data escaped."""
    from html import escape

    heads = "".join(f'<th scope="col">{head}</th>' for head in ("Release", "Decision", "Result", "Checks and threats"))
    rows = "".join(
        f'<tr><th scope="row">{escape(one.release)}</th><td>{escape(one.decision)}</td><td>{escape(one.became)}</td>'
        f"<td>{'<br>'.join(map(escape, one._lines()))}</td></tr>"  # noqa: SLF001 -- of the same module
        for one in releases
    )
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
