"""What changed from one audit to another: verdicts, figures, checks, waivers, policy and files."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from privrelease.audit.differences_model import Difference, SinceFacts
from privrelease.audit.model import Figure
from privrelease.audit.privacy_model import privacy_facts
from privrelease.audit.waivers_model import waiver_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.audit.model import AuditResult

__all__ = ["differences", "since"]

_Effect = Literal["better", "worse", "changed"]
_RANKS = {"pass": 0, "warn": 1, "review": 2, "not_evaluated": 3, "fail": 4}


def differences(old: AuditResult, new: AuditResult) -> tuple[Difference, ...]:
    """Return what differs, in the report's order. ``worse``: a higher risk or loss, a smaller class, a check that holds no more."""
    return tuple(_differences(old, new))


def since(old: AuditResult, new: AuditResult) -> SinceFacts:
    """Return what changed since the audit of the previous release."""
    return SinceFacts(run=old.identity.run, audited_at=old.identity.audited_at, changes=differences(old, new))


def _differences(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    before, after = old.decision.outcome.value, new.decision.outcome.value
    yield from _texts("decision", before, after, _by_rank(before, after))
    for name in ("policy_id", "policy_version", "policy_sha256", "release", "environment"):
        yield from _texts(name, getattr(old.identity, name), getattr(new.identity, name))
    yield from _texts("snapshot", old.data.snapshot, new.data.snapshot)
    yield from _files(old, new)
    yield from _figures("released_rows", old.data.released_rows, new.data.released_rows, "changed")
    yield from _columns(old, new)
    yield from _epsilon(old, new)
    yield from _threats(old, new)
    if old.utility is not None and new.utility is not None:
        yield from _figures("cells_lost", old.utility.cells_share, new.utility.cells_share, "worse")
        yield from _figures("rows_dropped", old.utility.rows_dropped, new.utility.rows_dropped, "worse")
    yield from _checks(old, new)
    yield from _waivers(old, new)


def _by_rank(before: str, after: str) -> _Effect:
    return "changed" if before == after else "worse" if _RANKS[after] > _RANKS[before] else "better"


def _texts(
    what: str, before: str | None, after: str | None, effect: _Effect = "changed", about: str = ""
) -> Iterator[Difference]:
    if before != after:
        yield Difference(what=what, about=about, before=before, after=after, effect=effect)


def _number(figure: Figure | None) -> Fraction | None:
    if figure is None or figure.value is None:
        return None
    return Fraction(figure.exact) if figure.exact is not None else Fraction(figure.value)


def _figures(what: str, before: Figure | None, after: Figure | None, higher: _Effect, about: str = "") -> Iterator[Difference]:
    """Compare two figures; ``higher``: what a larger one means."""
    old, new = _number(before), _number(after)
    if old == new:
        return
    effect: _Effect = "changed"
    if old is not None and new is not None and higher != "changed":
        opposite: _Effect = "better" if higher == "worse" else "worse"
        effect = higher if new > old else opposite
    yield Difference(what=what, about=about, before_figure=before, after_figure=after, effect=effect)


def _files(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    before = {output.label: output.sha256 for output in old.identity.outputs}
    after = {output.label: output.sha256 for output in new.identity.outputs}
    for label in dict.fromkeys((*before, *after)):
        yield from _texts("file", before.get(label), after.get(label), about=label)


def _columns(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    """Compare which columns leave, and how each is treated; one more that leaves tells more."""
    before = {column.name: column.treatment for column in old.data.columns if column.leaves}
    after = {column.name: column.treatment for column in new.data.columns if column.leaves}
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        effect: _Effect = "worse" if one is None else "better" if other is None else "changed"
        yield from _texts("column", one, other, effect, name)


def _epsilon(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    """Compare what the releases with differential privacy spend; an older section that cannot be read is passed over."""
    spent: list[Fraction | None] = []
    for audit in (old, new):
        try:
            facts = privacy_facts(audit)
        except ValueError:
            return
        spent.append(None if facts is None else Fraction(facts.epsilon))
    if spent[0] is not None and spent[1] is not None:
        yield from _figures("epsilon", Figure.of(spent[0]), Figure.of(spent[1]), "worse")


def _threats(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    before = {threat.name: threat for threat in old.threats}
    after = {threat.name: threat for threat in new.threats}
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        if one is None or other is None:
            effect: _Effect = "worse" if other is None else "better"
            yield from _texts("threat", None if one is None else name, None if other is None else name, effect, name)
            continue
        yield from _texts("knows", ", ".join(one.columns), ", ".join(other.columns), about=name)
        yield from _figures("k", one.after.k, other.after.k, "better", name)
        limits = {verdict.measure: verdict for verdict in one.verdicts}
        for verdict in other.verdicts:
            earlier = limits.pop(verdict.measure, None)
            if earlier is None:
                yield from _figures(f"{verdict.measure}_limit", None, verdict.threshold, "changed", name)
                continue
            rising: _Effect = "better" if verdict.measure == "subsets" else "worse"
            yield from _figures(verdict.measure, earlier.figure, verdict.figure, rising, name)
            yield from _figures(f"{verdict.measure}_limit", earlier.threshold, verdict.threshold, rising, name)
        for measure, earlier in limits.items():
            yield Difference(what=f"{measure}_limit", about=name, before_figure=earlier.threshold, effect="worse")


def _checks(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    before = {check.id: check.outcome.value for check in old.checks}
    after = {check.id: check.outcome.value for check in new.checks}
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        effect: _Effect = "worse" if other is None else "better" if one is None else _by_rank(one, other)
        yield from _texts("check", one, other, effect, name)


def _waivers(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    opened = []
    for audit in (old, new):
        facts = waiver_facts(audit)
        opened.append({one.check for one in facts.waivers if one.counts} if facts is not None else set())
    for name in sorted(opened[1] - opened[0]):
        yield Difference(what="waiver", about=name, after="open", effect="worse")
    for name in sorted(opened[0] - opened[1]):
        yield Difference(what="waiver", about=name, before="open", effect="better")
