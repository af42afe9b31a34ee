"""Changes in the sections of an audit that only some kinds of release have: differential privacy, tables, attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.comparison.difference import figures, flags, fraction, texts
from privrelease.audit.document.model import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.audit.comparison.difference import Judged
    from privrelease.audit.document.attacks import AttackFacts, BoundedFacts
    from privrelease.audit.document.model import AuditResult
    from privrelease.audit.document.previous_releases import Difference
    from privrelease.audit.document.privacy import PrivacyFacts

__all__ = ["attack_differences", "privacy_differences", "table_differences"]


def privacy_differences(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    """Yield what changed of the claim of differential privacy, of what is asked, and of what the population has spent."""
    before, after = old.statistics, new.statistics
    if before is None or after is None:
        return
    for name in ("epsilon", "delta"):
        yield from figures(name, _exact(getattr(before, name)), _exact(getattr(after, name)), "worse")
    yield from texts("noise", before.noise, after.noise, "better" if after.noise == "secret" else "worse")
    for name in ("neighbours", "composition"):
        yield from texts(name, getattr(before, name), getattr(after, name))
    yield from figures("max_rows", _count(before.max_rows), _count(after.max_rows), "changed")
    yield from figures("masked_below", _count(before.min_count), _count(after.min_count), "better")
    queries = [{query.id for query in facts.queries} for facts in (before, after)]
    for name in sorted(queries[0] ^ queries[1]):
        one, other = (name if name in names else None for names in queries)
        yield from texts("query", one, other, "worse" if one is None else "changed", name)
    yield from _query_costs(before, after)
    if before.budget is not None and after.budget is not None:
        yield from figures("spent", _exact(before.budget.after_epsilon), _exact(after.budget.after_epsilon), "changed")


def _query_costs(old: PrivacyFacts, new: PrivacyFacts) -> Iterator[Difference]:
    before = {query.id: query.epsilon for query in old.queries}
    for query in new.queries:
        if query.id in before:
            yield from figures("query_epsilon", _exact(before[query.id]), _exact(query.epsilon), "worse", query.id)


def _exact(text: str) -> Figure:
    return Figure.of(fraction(text))


def _count(value: int | None) -> Figure | None:
    return None if value is None else Figure.of(value, "count")


# --------------------------------------------------------------------------------------------------------------- tables


#: Shares and bounds as text; what a larger one means.
_RULES: Final[tuple[tuple[str, Judged], ...]] = (("p_percent", "better"), ("interval", "better"))


def table_differences(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    """Yield what changed of a table: its rules, what is suppressed, and how well the best attacker knows a suppressed figure."""
    before, after = old.table, new.table
    if before is None or after is None:
        return
    for name in ("by", "figures"):
        yield from texts(f"table_{name}", ", ".join(getattr(before, name)), ", ".join(getattr(after, name)))
    yield from figures("min_count", _count(before.min_count), _count(after.min_count), "better")
    yield from texts("dominance", before.dominance, after.dominance, "worse" if after.dominance is None else "changed")
    for name, higher in _RULES:
        one, other = getattr(before, name), getattr(after, name)
        if one is not None and other is not None:
            yield from figures(name, _exact(one), _exact(other), higher)
        else:
            yield from texts(name, one, other, "worse" if other is None else "better")
    yield from figures("round_up", _count(before.round_up), _count(after.round_up), "changed")
    for name, shown in (("margins", 1), ("zeros_shown", 1), ("class_disclosure", -1)):
        sides = getattr(before, name), getattr(after, name)
        words = ["true" if side else "false" for side in sides]
        yield from texts(name, words[0], words[1], flags(shown * int(sides[0]), shown * int(sides[1])))
    yield from figures("suppressed", before.suppressed, after.suppressed, "worse")
    known = {one.figure: one for one in before.intervals}
    for one in after.intervals:
        if one.figure in known:
            yield from figures("exposed", known[one.figure].exposed, one.exposed, "worse", one.figure)
            yield from figures("narrowest", known[one.figure].narrowest, one.narrowest, "better", one.figure)


# -------------------------------------------------------------------------------------------------------------- attacks


def attack_differences(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    """Yield what changed of attacks: one that is no longer tried, and success that no check limits."""
    before, after = _attacks(old), _attacks(new)
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        if one is None or other is None:
            effect: Judged = "worse" if other is None else "better"
            yield from texts("attack", None if one is None else "tried", None if other is None else "tried", effect, name)
            continue
        if one.max_risk is None or other.max_risk is None:  # else the figure of its check is compared
            yield from figures("attack_risk", _middle(one.risk), _middle(other.risk), "worse", name)
        if one.max_advantage is None or other.max_advantage is None:
            yield from figures("attack_advantage", _middle(one.advantage), _middle(other.advantage), "worse", name)
        for limit in ("max_risk", "max_advantage"):
            if getattr(one, limit) is not None and getattr(other, limit) is None:
                yield from figures(f"attack_{limit.removeprefix('max_')}_limit", getattr(one, limit), None, "worse", name)


def _attacks(audit: AuditResult) -> dict[str, AttackFacts]:
    facts = audit.attacks
    return {} if facts is None else {_named(one): one for one in facts.attacks}


def _named(one: AttackFacts) -> str:
    name = one.attack.replace("_", " ")
    return name if one.target is None else f"{name} {one.target}"


def _middle(bounds: BoundedFacts | None) -> Figure | None:
    return None if bounds is None else bounds.value
