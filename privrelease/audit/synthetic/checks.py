"""Checks of synthetic rows. All that decide look at the file, the claim, the ledger and the plan: none of them at the source.

Written apart from what makes the rows: domains, grids, patterns and rules are tried on the values of the file.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privrelease.audit.check import Check, fault
from privrelease.audit.checks.aggregate_checks import digest_mismatches
from privrelease.audit.checks.charges import ledger_faults
from privrelease.relational.coded_columns import BinnedCells, DiscoveredCells, DiscoveredRange, step_of
from privrelease.relational.filters import Among, Both, Comparison, Either, Missing, Negated, columns_of
from privrelease.relational.schema import ColumnType, Role
from privrelease.texts.sentences import Number, every, listed, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

    from privrelease.audit.synthetic.evidence import SyntheticEvidence
    from privrelease.policy.synthetic.columns import MadeColumn
    from privrelease.relational.coded_columns import CellsOf
    from privrelease.relational.filters import Filter, Value
    from privrelease.texts.sentences import Said

__all__ = ["SYNTHETIC_CHECKS"]


def _files(evidence: SyntheticEvidence) -> Said | None:
    faults = [
        say("left_over", file=sink.label, what=read.fault)
        for sink, read in zip(evidence.target.files, evidence.files, strict=True)
        if read.fault is not None
    ]
    return every(faults) or (None if evidence.files else say("no_files"))


def _same(evidence: SyntheticEvidence) -> Said | None:
    """The digests, and whether all files hold the same rows."""
    import numpy as np

    wrong = digest_mismatches(evidence.target.files, evidence.target.manifest, evidence.target.altered)
    if wrong is not None:
        return wrong
    read = [one.staged for one in evidence.files if one.staged is not None]
    if len(read) < 2:
        return None
    names = [column.name for column in read[0].columns]
    tables = evidence.engine.class_tables(read, names)
    counted = [sorted(zip(map(tuple, np.asarray(one.codes).tolist()), one.counts.tolist(), strict=True)) for one in tables]
    return None if all(one == counted[0] for one in counted) else say("other_rows")


def _values(evidence: SyntheticEvidence, column: str) -> list[Any]:
    """The distinct values of a column of the file, missing ones left out."""
    assert evidence.first is not None
    blocks = evidence.engine.value_rows(evidence.first, evidence.name(column))
    return [value for block in blocks for value in _plain(block.values) if value is not None]


def _plain(values: pa.Array) -> list[Any]:
    return list(values.to_pylist())


def _domain(evidence: SyntheticEvidence) -> Said | None:
    if evidence.first is None:
        return say("no_file")
    outside = [one.column for one in evidence.cells() if not _inside(one, _values(evidence, one.column))]
    if outside:
        return say("outside_grid", columns=listed(outside))
    return None


def _inside(cells: CellsOf, values: Iterable[Any]) -> bool:
    if isinstance(cells, DiscoveredCells | DiscoveredRange):
        return not list(values)  # of a file of unknown origin no one can tell
    if isinstance(cells, BinnedCells):
        return all(_on_grid(cells, value) for value in values)
    known = set(cells.values)
    return all(_text(value) in known for value in values)


def _on_grid(cells: BinnedCells, value: Any) -> bool:  # noqa: ANN401  a cell of any type
    text = value.isoformat() if cells.type in {ColumnType.DATE, ColumnType.DATETIME} else str(value)
    step = step_of(text, cells.type, cells.grid)
    return step.denominator == 1 and cells.starts[0] <= step <= cells.end


def _text(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _made(evidence: SyntheticEvidence) -> Said | None:
    if evidence.first is None:
        return say("no_file")
    for one in evidence.plan.made:
        wrong = _made_wrong(evidence, one)
        if wrong is not None:
            return wrong
    return None


def _made_wrong(evidence: SyntheticEvidence, one: MadeColumn) -> Said | None:
    """Every text after the pattern, none missing; with ``unique`` as many different ones as rows."""
    assert evidence.first is not None
    seen, rows = 0, 0
    for block in evidence.engine.value_rows(evidence.first, evidence.name(one.name)):
        texts = _plain(block.values)
        if any(not isinstance(text, str) or not one.pattern.matches(text) for text in texts):
            return say("pattern_broken", column=one.name)
        seen, rows = seen + len(texts), rows + int(block.rows.sum())
    if rows != evidence.first.n_rows:
        return say("made_missing", column=one.name)
    if one.unique and seen != rows:
        return say("made_twice", column=one.name)
    return None


def _zeros(evidence: SyntheticEvidence) -> Said | None:
    if evidence.first is None:
        return say("no_file")
    broken = [
        text
        for rule, text in zip(evidence.plan.impossible, evidence.plan.rules, strict=True)
        if any(_truth(rule, row) for row in _rows(evidence, sorted(columns_of(rule))))
    ]
    return say("impossible_made", rules=listed(broken, "semicolon")) if broken else None


def _rows(evidence: SyntheticEvidence, columns: list[str]) -> Iterable[Mapping[str, Value | None]]:
    """The distinct tuples of some columns of the file."""
    assert evidence.first is not None
    table = evidence.engine.class_table(evidence.first, [evidence.name(one) for one in columns])
    values = [sorted(set(_values(evidence, one))) for one in columns]  # codes are by ascending value
    for codes in table.codes.tolist():
        yield {
            name: None if code == 0 else values[at][code - 1]
            for at, (name, code) in enumerate(zip(columns, codes, strict=True))
        }


def _truth(rule: Filter, row: Mapping[str, Value | None]) -> bool | None:
    """The truth of a filter for a row of the file, as in SQL; None: unknown."""
    match rule:
        case Negated(inner):
            found = _truth(inner, row)
            return found if found is None else not found
        case Both(left, right):
            return _all_of(_truth(left, row), _truth(right, row))
        case Either(left, right):
            first, second = _truth(left, row), _truth(right, row)
            found = _all_of(None if first is None else not first, None if second is None else not second)
            return None if found is None else not found
        case _:
            return _leaf(rule, row[rule.column])


def _leaf(rule: Missing | Among | Comparison, value: Value | None) -> bool | None:
    """The truth of a test of one column; of a missing value only that it is missing is known."""
    if isinstance(rule, Missing):
        return value is None
    if value is None:
        return None
    if isinstance(rule, Among):
        return any(_ordered(value, one) == 0 for one in rule.values)
    order = _ordered(value, rule.value)
    return {"=": order == 0, "<>": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[
        rule.operator
    ]


def _all_of(first: bool | None, second: bool | None) -> bool | None:
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def _ordered(left: Any, right: Any) -> int:  # noqa: ANN401  cells and literals of one type
    if isinstance(left, int | float | Decimal) and not isinstance(left, bool):
        left, right = Fraction(left), Fraction(right)
    return int(left > right) - int(left < right)


def _count(evidence: SyntheticEvidence) -> Said | None:
    if evidence.first is None:
        return say("no_file")
    plan, claim, rows = evidence.plan, evidence.claim, evidence.first.n_rows
    if plan.rows is not None and rows != plan.rows:
        return say("rows_asked", n=rows, asked=plan.rows)
    if claim is not None:
        total = dict(claim.figures).get("noisy_total")
        if claim.noisy_rows != (plan.rows is None) or claim.rows != rows or (plan.rows is None and total != rows):
            return say("rows_stated")
    return None


def _direct(evidence: SyntheticEvidence) -> Said | None:
    made = {one.name for one in evidence.plan.made}
    direct = [one.name for one in evidence.plan.columns if one.role is Role.DIRECT and one.name not in made]
    return say("direct_modelled", columns=listed(direct)) if direct else None


def _secret(evidence: SyntheticEvidence) -> Said | None:
    claim = evidence.privacy
    if (claim is not None and not claim.private) or evidence.marked:
        return say("seeded")
    return None


def _budget(evidence: SyntheticEvidence) -> Said | None:
    """The draws within what was reserved, that within the budget, and the claim as the plan has it; composed again from the records alone."""
    plan = evidence.plan
    wrong = _claimed(evidence)
    if wrong is not None:
        return wrong
    if not plan.reserved.within(plan.budget):
        return say("reserved_over")
    if not evidence.draws:
        return say("no_valid_draw")
    if not plan.reserved.covers(evidence.draws):
        return say("draws_over_reserved")
    return _sensitivities(evidence)


def _claimed(evidence: SyntheticEvidence) -> Said | None:
    plan, claim, stated = evidence.plan, evidence.privacy, evidence.claim
    if claim is None or stated is None:
        return say("no_claim_of_rows")
    if (claim.epsilon, claim.delta) != (str(plan.budget.epsilon), str(plan.budget.delta)):
        return say("claims_other_budget", epsilon=Number(claim.epsilon), delta=Number(claim.delta))
    who = ("row" if plan.unit is None else plan.unit.column, plan.setting.neighbours.value, plan.setting.contribution.max_rows)
    if (claim.unit, claim.neighbours, claim.max_rows) != who or claim.accountant != plan.reserved.accountant:
        return say("protects_others")
    holdout = None if plan.holdout is None else str(plan.holdout)
    if (stated.method, stated.holdout) != (plan.method, holdout):
        return say("other_method")
    return None


def _sensitivities(evidence: SyntheticEvidence) -> Said | None:
    """A measurement of rows moves by what one person holds, whatever the run says."""
    from privrelease.dp.envelope import marginal_name
    from privrelease.dp.sensitivity import of_group_counts, of_group_persons

    setting = evidence.plan.setting
    least = {
        "cells": of_group_counts(setting.contribution, setting.neighbours),
        "keys": of_group_persons(setting.contribution, setting.neighbours),
    }
    for draw in evidence.draws or ():
        wanted = least.get(draw.figure)
        if wanted is not None and draw.sensitivity != wanted:
            return say("other_sensitivity", query=draw.query[:80])
        if draw.figure == "choice" and draw.sensitivity.l1 < least["cells"].l1 / draw.grid:
            return say("smaller_sensitivity")
    draws, discoveries = evidence.draws or (), evidence.plan.discoveries
    keys = sum(draw.figure == "keys" for draw in draws)
    bounds = {
        f"bounds {number} of {marginal_name([one.column])}" for number in (1, 2) for one in discoveries if one.failure is None
    }
    found = [draw.query for draw in draws if draw.query.startswith(("bounds 1 of ", "bounds 2 of "))]
    same = keys == sum(one.failure is not None for one in discoveries) and sorted(found) == sorted(bounds)
    return None if same else say("other_discoveries")


def _charged(evidence: SyntheticEvidence) -> Said | None:
    target = evidence.target
    return ledger_faults(target.manifest, target.charges, target.ledger_fault)


#: In the order in which they are reported.
SYNTHETIC_CHECKS: tuple[Check[SyntheticEvidence], ...] = (
    Check("A241", "AUDIT-SYN-FILES", fault(_files)),
    Check("A242", "AUDIT-SYN-SAME", fault(_same)),
    Check("A243", "AUDIT-SYN-DOMAIN", fault(_domain)),
    Check("A244", "AUDIT-SYN-MADE", fault(_made)),
    Check("A245", "AUDIT-SYN-ZEROS", fault(_zeros)),
    Check(
        "A246",
        "AUDIT-SYN-ROWS",
        fault(_count),
    ),
    Check(
        "A247",
        "AUDIT-SYN-DIRECT",
        fault(_direct),
        promised=True,
    ),
    Check(
        "A248",
        "AUDIT-SYN-NOISE",
        fault(_secret),
        needs="manifest",
        promised=True,
    ),
    Check(
        "A249",
        "AUDIT-SYN-BUDGET",
        fault(_budget),
        needs="manifest",
        promised=True,
    ),
    Check(
        "A250",
        "AUDIT-SYN-LEDGER",
        fault(_charged),
        needs="ledger",
    ),
)
