"""Changes from one audit to another: verdicts, figures, checks, waivers, policy and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.comparison.difference import by_rank, figures, flags, texts
from privrelease.audit.comparison.sections import attack_differences, privacy_differences, table_differences
from privrelease.audit.document.previous_releases import Difference, SinceFacts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.audit.comparison.difference import Judged
    from privrelease.audit.document.model import AuditResult, CheckResult, Figure, ThreatResult
    from privrelease.audit.document.signoff import WaiverRecord

__all__ = ["compare_with_previous", "differences"]

#: From the strictest attacker and reading to the laxest.
_ATTACKERS: Final = {"prosecutor": 0, "journalist": 1, "marketer": 2}
_READINGS: Final = {"category": 0, "wildcard": 1}


def differences(old: AuditResult, new: AuditResult) -> tuple[Difference, ...]:
    """Return what differs, in the report's order. ``worse``: a higher risk or loss, a smaller class, a check that holds no more.

    Releases of different kinds are compared in what all kinds have. Raises ValueError, ArithmeticError: a section or figure is damaged.
    """
    return tuple(_differences(old, new))


def compare_with_previous(old: AuditResult, new: AuditResult) -> SinceFacts:
    """Return what changed since the audit of the previous release."""
    return SinceFacts(run=old.identity.run, audited_at=old.identity.audited_at, changes=differences(old, new))


def _differences(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    before, after = old.decision.outcome.value, new.decision.outcome.value
    yield from texts("decision", before, after, by_rank(before, after))
    for name in ("policy_id", "policy_version", "policy_sha256", "release", "environment"):
        yield from texts(name, getattr(old.identity, name), getattr(new.identity, name))
    kinds = old.kind, new.kind
    yield from texts("kind", *kinds, "worse" if old.identity.release == new.identity.release else "changed")
    for name in ("dataset", "snapshot", "population"):
        yield from texts(name, getattr(old.data, name), getattr(new.data, name))
    yield from texts("unit", old.data.unit, new.data.unit, "worse" if new.data.unit is None else "changed")
    yield from _files(old, new)
    if kinds[0] == kinds[1]:
        yield from _measured(old, new)
    yield from _checks(old, new, alike=kinds[0] == kinds[1])
    yield from _waivers(old, new)


def _measured(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    """Compare what only releases of one kind have in common."""
    yield from figures("released_rows", old.data.released_rows, new.data.released_rows, "changed")
    yield from _columns(old, new)
    yield from privacy_differences(old, new)
    yield from table_differences(old, new)
    yield from _threats(old, new)
    yield from attack_differences(old, new)
    if old.utility is not None and new.utility is not None:
        yield from figures("cells_lost", old.utility.cells_share, new.utility.cells_share, "worse")
        yield from figures("rows_dropped", old.utility.rows_dropped, new.utility.rows_dropped, "worse")


def _files(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    before = {output.label: output.sha256 for output in old.identity.outputs}
    after = {output.label: output.sha256 for output in new.identity.outputs}
    for label in dict.fromkeys((*before, *after)):
        yield from texts("file", before.get(label), after.get(label), about=label)


def _columns(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    """Compare which columns leave, and how each is treated; one more that is released reveals more."""
    before = {column.name: column for column in old.data.columns if column.leaves}
    after = {column.name: column for column in new.data.columns if column.leaves}
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        effect: Judged = "worse" if one is None else "better" if other is None else "changed"
        if one is None or other is None or one.treated != other.treated:
            words, now = (None if column is None else column.treatment for column in (one, other))
            yield from texts("column", words, now, effect, name)


def _threats(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    before = {threat.name: threat for threat in old.threats}
    after = {threat.name: threat for threat in new.threats}
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        if one is None or other is None:
            effect: Judged = "worse" if other is None or not other.holds else "better"
            yield from texts("threat", None if one is None else name, None if other is None else name, effect, name)
            continue
        yield from _threat(one, other)
        yield from _limits(one, other)
    if old.union is not None and new.union is not None:
        yield from _threat(old.union, new.union)


def _threat(old: ThreatResult, new: ThreatResult) -> Iterator[Difference]:
    """Compare what an attacker is taken to know, and the smallest class that results."""
    name, known = new.name, (set(old.columns), set(new.columns))
    if known[0] != known[1]:
        effect: Judged = "worse" if known[1] < known[0] else "better" if known[0] < known[1] else "changed"
        yield from texts("knows", ", ".join(old.columns), ", ".join(new.columns), effect, name)
    yield from texts("attacker", old.attacker, new.attacker, flags(_ATTACKERS[old.attacker], _ATTACKERS[new.attacker]), name)
    yield from texts("missing", old.missing, new.missing, flags(_READINGS[old.missing], _READINGS[new.missing]), name)
    yield from texts("counted", old.after.counted, new.after.counted, about=name)
    # classes of records and of persons, or of other columns, say nothing about each other
    alike = old.after.counted == new.after.counted and known[0] == known[1]
    yield from figures("k", old.after.k, new.after.k, "better" if alike else "changed", name)


def _limits(old: ThreatResult, new: ThreatResult) -> Iterator[Difference]:
    """Compare the figures of a threat, their limits, and whether these hold."""
    limits = {verdict.measure: verdict for verdict in old.verdicts}
    for verdict in new.verdicts:
        earlier = limits.pop(verdict.measure, None)
        holds = "pass" if verdict.holds else "fail"
        if earlier is None:
            yield from figures(f"{verdict.measure}_limit", None, verdict.threshold, "changed", new.name)
            if not verdict.holds:
                yield from texts(f"{verdict.measure}_verdict", None, holds, "worse", new.name)
            continue
        rising: Judged = "better" if verdict.measure == "subsets" else "worse"
        yield from figures(verdict.measure, earlier.figure, verdict.figure, rising, new.name)
        yield from figures(f"{verdict.measure}_limit", earlier.threshold, verdict.threshold, rising, new.name)
        held = "pass" if earlier.holds else "fail"
        yield from texts(f"{verdict.measure}_verdict", held, holds, by_rank(held, holds), new.name)
    for measure, earlier in limits.items():
        yield Difference(what=f"{measure}_limit", about=new.name, before_figure=earlier.threshold, effect="worse")


def _checks(old: AuditResult, new: AuditResult, *, alike: bool) -> Iterator[Difference]:
    """Compare checks; of releases that are not of one kind (not ``alike``) the auditor makes others."""
    before = {check.id: check for check in old.checks}
    after = {check.id: check for check in new.checks}
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        if one is None or other is None:
            if alike or not name.startswith("AUDIT-"):
                yield from _one_check(name, one, other)
            continue
        was, is_now = one.outcome.value, other.outcome.value
        # what could not be made any more, or is not asked for, has not become better than what failed
        unmade = was == "fail" and is_now in {"not_evaluated", "not_asked"}
        effect: Judged = "changed" if unmade else by_rank(was, is_now)
        yield from texts("check", was, is_now, effect, name)
        yield from texts("severity", one.severity, other.severity, "worse" if other.severity == "warn" else "better", name)
        if not name.startswith("AUDIT-") or name.startswith("AUDIT-ATTACK"):
            yield from _observed(one, other)


def _one_check(name: str, old: CheckResult | None, new: CheckResult | None) -> Iterator[Difference]:
    """A check that only one of the audits has: one that was removed is missed, whatever its outcome was."""
    before, after = (None if check is None else check.outcome.value for check in (old, new))
    effect: Judged = "worse" if after is None or after == "fail" else "better" if after == "pass" else "changed"
    yield from texts("check", before, after, effect, name)


def _observed(old: CheckResult, new: CheckResult) -> Iterator[Difference]:
    """Compare the figure and the limit of a check; which way is worse follows from on which side of the limit it holds."""
    rising = _rising(old)
    if rising == "changed":
        rising = _rising(new)
    yield from figures("observed", old.observed, new.observed, rising, new.id)
    yield from figures("check_limit", old.limit, new.limit, rising, new.id)


def _rising(check: CheckResult) -> Judged:
    """Return the meaning of a larger figure of a check; ``changed`` where it is unknown."""
    if check.observed is None or check.limit is None or check.outcome.value not in {"pass", "warn", "fail"}:
        return "changed"
    value, limit = _value(check.observed), _value(check.limit)
    if value is None or limit is None or value == limit:
        return "changed"
    return "worse" if (value < limit) == (check.outcome.value == "pass") else "better"


def _value(figure: Figure) -> float | None:
    return None if figure.value is None else float(figure.value)


#: From what matters most; of several waivers of one check the first counts.
_STATES: Final = ("open", "unused", "expired", "self_approved")


def _waivers(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    """Compare which waivers let a check pass, and until when; one that expired is no improvement: what it let pass fails."""
    before, after = _waived(old), _waived(new)
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        states = [None if waiver is None else waiver.state for waiver in (one, other)]
        effect: Judged = "changed"
        if "open" in states:
            effect = "worse" if states[1] == "open" else "better" if states[1] in {None, "unused"} else "changed"
        yield from texts("waiver", states[0], states[1], effect, name)
        if one is not None and other is not None:
            yield from texts(
                "waiver_until", one.expires, other.expires, "worse" if other.expires > one.expires else "better", name
            )


def _waived(audit: AuditResult) -> dict[str, WaiverRecord]:
    facts = audit.waivers
    found = () if facts is None else sorted(facts.waivers, key=lambda one: _STATES.index(one.state), reverse=True)
    return {one.check: one for one in found}
