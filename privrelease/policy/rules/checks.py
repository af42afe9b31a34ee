"""Rules of checks and of the legal fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.language.checks import CHECKS
from privrelease.policy.rules.expectations import is_standard
from privrelease.policy.rules.required_legal_fields import missing_legal_fields
from privrelease.policy.text.messages import did_you_mean, shown
from privrelease.relational.hierarchies import Generalised, Unread
from privrelease.relational.schema import ColumnType
from privrelease.relational.treatments import CellRelation, declaration_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from privrelease.findings import Finding
    from privrelease.policy.language.checks import Check, CheckKind
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.kinds import Release
    from privrelease.policy.rules.rule_context import Leaving, RuleContext

__all__ = ["check_rules"]

_KINDS = {kind.name: kind for kind in CHECKS}


def check_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with checks, and the legal fields that are missing."""
    checks = reading.policy.checks
    for number, check in enumerate(checks):
        if is_standard(check.expect):
            continue  # see meaning_expectations
        kind = _KINDS.get(check.expect)
        if kind is None:
            hint = did_you_mean(check.expect, _KINDS) or f"checks: {', '.join(_KINDS)}"
            yield reading.error("P305", f"check {shown(check.expect)} does not exist", "checks", number, "expect", hint=hint)
            continue
        yield from _limits(reading, number, check, kind)
        yield from _keys(reading, number, check, kind)
        yield from _target(reading, number, check, kind)
        yield from _order(reading, number, check, kind)
    missing = [name for name in missing_legal_fields(reading.policy) if not reading.left_out("legal", name.partition(".")[0])]
    if missing:
        message = f"the profile gdpr requires fields that are missing in legal: {', '.join(missing)}"
        yield reading.warning("P606", message, "legal", key=True, hint="without them the decision is `review`, not `pass`")


def _limits(reading: RuleContext, number: int, check: Check, kind: CheckKind) -> Iterator[Finding]:
    if check.max is None and check.min is None:
        message = f"{check.id} has no limit: nothing would be checked"
        yield reading.error("P418", message, "checks", number, hint="write `max` or `min`")
    for key in ("max", "min"):
        limit: Decimal | None = getattr(check, key)
        if limit is None:
            continue
        if kind.only is not None and key != kind.only:
            message, hint = f"{kind.name} is limited by {kind.only}, not by {key}", f"write `{kind.only}`"
            yield reading.error("P418", message, "checks", number, key, key=True, hint=hint)
        elif kind.measures == "number" and limit < 0:
            yield reading.error("P418", f"{key} of {kind.name} must be at least 0, got {limit}", "checks", number, key)
        elif kind.measures == "number":
            continue
        elif kind.measures == "count" and (limit < 0 or limit != limit.to_integral_value()):
            yield reading.error(
                "P418", f"{key} of {kind.name} must be a whole number of at least 0, got {limit}", "checks", number, key
            )
        elif kind.measures != "count" and not 0 <= limit <= 1:
            per_cent = f"write {(limit / 100).normalize():f} for {limit} %" if 1 < limit <= 100 else None
            yield reading.error(
                "P104", f"{key} of {kind.name} must be in [0, 1], got {limit}", "checks", number, key, hint=per_cent
            )
    if check.max is not None and check.min is not None and check.min > check.max:
        yield reading.error(
            "P418", f"min {check.min} is above max {check.max}: {check.id} could never pass", "checks", number, "min"
        )


def _keys(reading: RuleContext, number: int, check: Check, kind: CheckKind) -> Iterator[Finding]:
    for key in ("threat", "column", "columns", "kind", "c", "distance"):
        taken = key in kind.takes or getattr(kind, key, False)
        if getattr(check, key) is not None and not taken:
            yield reading.error("P418", f"{kind.name} takes no {key}", "checks", number, key, key=True, hint="remove it")
    for key in kind.needs:
        if getattr(check, key) is None:
            what = "columns" if key == "columns" else f"a {key}"
            yield reading.error("P418", f"{kind.name} needs {what}", "checks", number, hint=f"write `{key}`")
    if (check.kind == "recursive") != (check.c is not None) and "c" in kind.takes:
        message = "recursive l-diversity needs c" if check.c is None else "c belongs to recursive l-diversity alone"
        yield reading.error("P418", message, "checks", number, hint="write `kind: recursive` and `c`, or neither")


def _target(reading: RuleContext, number: int, check: Check, kind: CheckKind) -> Iterator[Finding]:
    release = next((release for release in reading.policy.releases if release.id == check.release), None)
    if release is None:
        return
    own = reading.kind(release)
    dataset = reading.policy.datasets.get(release.from_)
    if kind.name in own.measures:
        yield from _informing(reading, number, check, release)
        return
    if own.rows is None:
        message = f"{kind.name} measures rows about persons, and release {release.id} is of kind {release.kind}"
        yield reading.error("P418", message, "checks", number, "release", hint="name a release of kind microdata")
        return
    if dataset is None:
        return
    protected = own.protected(release)
    yield from _leaving(reading, number, check, kind, dataset, own.rows(release, dataset))
    if kind.threat and check.threat is None and not protected:
        message = f"{kind.name} needs a threat: release {release.id} protects against none"
        yield reading.error("P418", message, "checks", number, hint="write `threat`")
    threat = reading.policy.threats.get(check.threat) if check.threat is not None else None
    if threat is not None and threat.dataset != release.from_:
        message = f"{check.threat} is about dataset {threat.dataset}, the release is made of {release.from_}"
        yield reading.error("P413", message, "checks", number, "threat", hint="name a threat of that dataset")
    elif threat is not None and kind.threat and check.threat not in protected:
        message = f"release {release.id} does not protect against {check.threat}"
        yield reading.error("P418", message, "checks", number, "threat", hint="add it to `protect`, or name a protected threat")


def _informing(reading: RuleContext, number: int, check: Check, release: Release) -> Iterator[Finding]:
    """Check what is measured of rows that are no one's: columns with values of the source, and a result that decides nothing."""
    own, dataset = reading.kind(release), reading.policy.datasets.get(release.from_)
    if check.severity != "warn":
        message = f"{check.id} compares a release under differential privacy with its source: what it finds must not decide"
        hint = "write `severity: warn`: it is reported in the internal edition only"
        yield reading.error("P452", message, "checks", number, "expect", hint=hint)
    if dataset is None or own.comparable is None:
        return
    there = own.comparable(release, dataset)
    for place, name in enumerate(check.columns or ()):
        if name in dataset.columns and name not in there:
            message = f"{shown(name)} has no value of the source in release {check.release}"
            yield reading.error("P418", message, "checks", number, "columns", place, hint="name a modelled column")


def _order(reading: RuleContext, number: int, check: Check, kind: CheckKind) -> Iterator[Finding]:
    """Ordered distance needs an order, and a list of integers does not say whether it has one."""
    release = next((release for release in reading.policy.releases if release.id == check.release), None)
    dataset = None if release is None else reading.policy.datasets.get(release.from_)
    spec = None if dataset is None or check.column is None else dataset.columns.get(check.column)
    if spec is None or "distance" not in kind.takes:
        return
    assert release is not None
    assert dataset is not None
    rows = reading.kind(release).rows
    out = None if rows is None else rows(release, dataset)
    treatment = None if out is None else out.treatment(check.column or "")
    listed = spec.domain is not None and spec.domain.values is not None
    if (
        treatment is not None
        and treatment.relation is CellRelation.MAPPED
        and treatment.released_type(spec.type) is ColumnType.CATEGORY
    ):
        if check.distance == "ordered":
            message = (
                f"{shown(check.column or '')} is released as labels, whose alphabet is not the order of what they stand for"
            )
            hint = "write `distance: equal`, or let the step write a number (`write: low`)"
            yield reading.error("P540", message, "checks", number, "distance", hint=hint)
    elif check.distance == "ordered" and spec.type in {ColumnType.CATEGORY, ColumnType.STRING} and not listed:
        message = f"{shown(check.column or '')} has no declared order: the alphabet is not one"
        hint = "write `domain: [lowest, …, highest]` at the column, or `distance: equal`"
        yield reading.error("P540", message, "checks", number, "distance", hint=hint)
    elif check.distance is None and spec.type is ColumnType.INTEGER and listed:
        message = f"{check.id} does not say whether the listed integers of {shown(check.column or '')} are codes or an order"
        hint = "write `distance: equal` for codes, `distance: ordered` where their numbers order them"
        yield reading.error("P541", message, "checks", number, hint=hint)


def _leaving(
    reading: RuleContext, number: int, check: Check, kind: CheckKind, dataset: Dataset, out: Leaving
) -> Iterator[Finding]:
    """Columns that are measured are released, and unchanged where they are compared with the source."""
    named: list[tuple[tuple[str | int, ...], str]] = []
    if kind.column and check.column is not None:
        named.append((("column",), check.column))
    if "columns" in kind.takes:
        named += [(("columns", place), name) for place, name in enumerate(check.columns or ())]
    for path, name in named:
        if name in dataset.columns and name not in out.columns:
            message = f"{shown(name)} does not leave in release {check.release}"
            yield reading.error("P418", message, "checks", number, *path, hint="name a released column")
        elif name in out.changed - (out.contained if kind.name == "marginal_error" else frozenset()) and kind.name in {
            "marginal_error",
            "distribution_shift",
        }:
            what = "is released as a pseudonym, which" if name in out.pseudonyms else "is recoded: what is released"
            message = f"{shown(name)} {what} cannot be compared with the source"
            yield reading.error("P418", message, "checks", number, *path, hint="name another column")
    if kind.name in {"generalised_cells", "precision"}:
        yield from _coarser(reading, number, check, kind, out)
    threat = reading.policy.threats.get(check.threat or "")
    known = {*threat.knows} if threat is not None else set()
    if kind.name in {"l_diversity", "t_closeness"} and check.column in known:
        message = f"{shown(check.column)} is what the attacker of {check.threat} knows already"
        yield reading.error("P418", message, "checks", number, "column", hint="name a sensitive column")


def _coarser(reading: RuleContext, number: int, check: Check, kind: CheckKind, out: Leaving) -> Iterator[Finding]:
    """Check that there is a column whose cells could be generalised."""
    if check.column is not None and check.column in out.columns and check.column not in out.contained:
        message = f"{shown(check.column)} is released as it is in {check.release}: no cell of it is generalised"
        yield reading.error("P582", message, "checks", number, "column", hint="name a column that a step writes coarser")
    elif check.column is None and not out.contained:
        message = f"{kind.name} measures columns that are written coarser, and release {check.release} has none"
        yield reading.error("P582", message, "checks", number, hint="add a step such as `generalise`, or remove the check")
    elif kind.name == "precision":
        levelled = (Unread, Generalised)
        flat = [name for name in out.columns if name in out.contained and not isinstance(_map_of(out, name), levelled)]
        if flat:
            message = f"precision measures levels, and {', '.join(map(shown, flat))} {'has' if len(flat) == 1 else 'have'} none: `code` and `round` use no hierarchy"
            hint = "generalise the column by a hierarchy, or measure `generalised_cells`"
            yield reading.error("P583", message, "checks", number, "expect", hint=hint)


def _map_of(out: Leaving, column: str) -> object:
    treatment = out.treatment(column)
    return declaration_of(treatment) if treatment.relation is CellRelation.MAPPED else None
