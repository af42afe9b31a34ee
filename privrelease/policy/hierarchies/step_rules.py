"""Rules of hierarchies and of the steps that write values coarser: all faults at once, each at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.findings import Finding, Location
from privrelease.policy.hierarchies.forms import inexact, resolve, step_of
from privrelease.policy.hierarchies.levels import level_names, level_number, written_names
from privrelease.policy.text.messages import shown
from privrelease.relational.hierarchies import Dates, Intervals
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from privrelease.policy.language.datasets import ColumnSpec
    from privrelease.policy.language.generalisation import CodeStep, GeneraliseStep, RoundStep
    from privrelease.policy.rules.rule_context import RuleContext
    from privrelease.relational.hierarchies import Form

__all__ = ["code_faults", "generalise_faults", "hierarchy_rules", "round_faults"]

_Path = tuple[str | int, ...]


def hierarchy_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with hierarchies of columns, the lines of their files included."""
    for name, dataset in reading.policy.datasets.items():
        for column, spec in dataset.columns.items():
            if spec.hierarchy is None:
                continue
            _, faults = resolve(spec, reading.roots)
            for one in faults:
                path = ("datasets", name, "columns", column, "hierarchy", *one.path)
                message = f"hierarchy of {shown(column)}: {one.message}"
                if one.file is None:
                    yield reading.error(one.code, message, *path, hint=one.hint)
                else:
                    subject = ".".join(map(str, path))
                    yield Finding(one.code, message, location=Location(one.file, one.line), hint=one.hint, subject=subject)


def _at(step: GeneraliseStep | CodeStep | RoundStep, path: _Path, name: str) -> _Path:
    """The place of a column in its step."""
    listed = step.listed()
    return (*path, step.named) if len(listed) == 1 else (*path, step.named, listed.index(name))


def generalise_faults(
    step: GeneraliseStep, reading: RuleContext, path: _Path, columns: Mapping[str, ColumnSpec]
) -> Iterator[Finding]:
    """Yield columns without a hierarchy, levels that it lacks, and what cannot be written of a level."""
    for name in step.listed():
        if name not in columns:
            continue
        spec = columns[name]
        if spec.hierarchy is None:
            hint = "write `hierarchy: {…}` at the column: widths, edges, date, prefix, csv or parents"
            yield reading.error("P574", f"{shown(name)} has no hierarchy", *_at(step, path, name), hint=hint)
            continue
        form, _ = resolve(spec, reading.roots)
        if form is None:
            continue  # reported at the hierarchy
        names = level_names(form)
        number = level_number(form, step.level)
        if number is None:
            message = f"{shown(name)} has no level {shown(step.level)}"
            hint = f"levels: {', '.join(f'{one} ({what})' for one, what in enumerate(names, 1))}"
            where = (*path, "level") if "level" in step.model_fields_set else _at(step, path, name)
            yield reading.error("P575", message, *where, hint=hint)
        elif (why := _unwritten(form, step.write)) is not None:
            message = f"{step.write} cannot be written of {shown(name)}: {why}"
            yield reading.error("P576", message, *path, "write", hint="write `write: label`")
        elif step.write == "label" and written_names(form, number) & _marks(spec, reading, columns):
            message = f"{shown(name)} has a label at level {number} that means a missing or suppressed value by its `format`"
            yield reading.error("P573", message, *_at(step, path, name), hint="give the label another name, or remove the mark")


def _marks(spec: ColumnSpec, reading: RuleContext, columns: Mapping[str, ColumnSpec]) -> set[str]:
    """Return the texts that mean a missing or suppressed value of a column."""
    whole = next((one.format for one in reading.policy.datasets.values() if one.columns is columns), None)
    forms = [one for one in (spec.format, whole) if one is not None]
    missing: tuple[str, ...] = next((one.missing for one in forms if one.missing is not None), ())
    mark = next((one.suppression_mark for one in forms if one.suppression_mark is not None), None)
    return {*missing, *(() if mark is None else (mark,))}


def _unwritten(form: Form, write: str) -> str | None:
    """Return why a value cannot be written so; None where it can."""
    if write == "label" or isinstance(form, Dates):
        return None
    if not isinstance(form, Intervals):
        return "its labels are names"
    if form.bottom is not None:
        return f"what is below {form.bottom} has no lowest and no middle value"
    if form.top is not None and write == "middle":
        return f"what is from {form.top} on has no middle"
    return None


def code_faults(step: CodeStep, reading: RuleContext, path: _Path, columns: Mapping[str, ColumnSpec]) -> Iterator[Finding]:
    """Yield ends that are none, or that a column's values cannot have."""
    if step.top is None and step.bottom is None:
        yield reading.error("P577", "code draws nothing together", *path, "code", hint="write `top: …` or `bottom: …`")
    if step.top is not None and step.bottom is not None and step.bottom >= step.top:
        yield reading.error("P577", "top is not above bottom", *path, "top", hint="write a larger one")
    if step.bottom is not None and step.write == "low":
        message = f"low cannot be written: what is below {step.bottom} has no lowest value"
        yield reading.error("P576", message, *path, "write", hint="write `write: label`, or remove `bottom`")
    for name in step.listed():
        spec = columns.get(name)
        if spec is None or spec.type not in {ColumnType.INTEGER, ColumnType.NUMBER}:
            continue
        for key, end in (("bottom", step.bottom), ("top", step.top)):
            if end is not None and (why := inexact(spec, end)) is not None:
                yield reading.error("P577", f"{key} {shown(end)} of {shown(name)} {why}", *path, key)
            elif end is not None and spec.domain is not None and spec.domain.range is not None:
                low, high = spec.domain.range
                if _outside(str(end), low, high):
                    message = f"{key} {shown(end)} is outside the domain [{shown(low)}, {shown(high)}] of {shown(name)}"
                    yield reading.error("P577", message, *path, key, hint="write a number within the domain")


def _outside(end: str, low: str, high: str) -> bool:
    from decimal import Decimal, InvalidOperation

    try:
        return not Decimal(low) < Decimal(end) <= Decimal(high)
    except InvalidOperation:
        return False  # that is a fault of the domain


def round_faults(step: RoundStep, reading: RuleContext, path: _Path, columns: Mapping[str, ColumnSpec]) -> Iterator[Finding]:
    """Yield a step that rounds nothing, and numbers that are not exact."""
    for name in step.listed():
        spec = columns.get(name)
        if spec is None or spec.type not in {ColumnType.INTEGER, ColumnType.NUMBER}:
            continue
        grid = step_of(spec)
        if grid is None:
            hint = "write `grid: …` at the column, the step on which its numbers are exact"
            yield reading.error(
                "P578", f"{shown(name)} has no grid: halves would not be exact", *_at(step, path, name), hint=hint
            )
        elif step.to <= grid:
            yield reading.error(
                "P578", f"to {shown(step.to)} rounds nothing of {shown(name)}", *path, "to", hint="write a larger step"
            )
        elif (why := inexact(spec, step.to)) is not None:
            yield reading.error("P578", f"to {shown(step.to)} {why}", *path, "to")
