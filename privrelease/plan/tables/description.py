"""The plan of a table as a description that is kept, and the plan of a table of which only its description is there."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.disclosure.tables.rules import CellRules
from privrelease.plan.model import UnitPlan
from privrelease.plan.tables.plan import MeasurePlan, TablePlan
from privrelease.relational.filter_records import filter_record, read_filter_record
from privrelease.relational.filters import columns_of
from privrelease.relational.schema import Column, ColumnFormat, Domain, FileFormat, TableSource
from privrelease.release.table_description import (
    DescribedColumn,
    DescribedDomain,
    DescribedFormat,
    DescribedMeasure,
    DescribedRules,
    DescribedSource,
    DescribedUnit,
    TableDescription,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.relational.filters import Filter

__all__ = ["described", "plan_described", "plan_of_same_source"]


def described(plan: TablePlan) -> TableDescription:
    """Return the description of a table: all that its judge reads of the plan."""
    rules, unit = plan.rules, plan.unit
    return TableDescription(
        release=plan.id,
        source=_source(plan.source),
        by=plan.by,
        keys=plan.keys,
        measures=tuple(
            DescribedMeasure(kind=one.kind, name=one.name, column=one.column, grid=str(one.grid), low=one.low, high=one.high)
            for one in plan.measures
        ),
        margins=plan.margins,
        rules=DescribedRules(
            min_count=rules.min_count,
            dominance=None if rules.dominance is None else (rules.dominance[0], str(rules.dominance[1])),
            p_percent=None if rules.p_percent is None else str(rules.p_percent),
            interval=str(rules.interval),
            zeros_shown=rules.zeros_shown,
            class_disclosure=plan.class_disclosure,
        ),
        round_up=plan.round_up,
        unit=None if unit is None else DescribedUnit(column=unit.column, max_rows=unit.max_rows),
        rows_are_persons=plan.rows_are_persons,
        where=None if plan.where is None else filter_record(plan.where),
        impossible=None if plan.impossible is None else filter_record(plan.impossible),
    )


def _source(source: TableSource) -> DescribedSource:
    return DescribedSource(
        dataset=source.dataset,
        kind=source.kind,
        columns=tuple(_column(one, read=one in source.columns) for one in source.declared),
        table=source.table,
        delimiter=source.format.delimiter,
        quote=source.format.quote,
        encoding=source.format.encoding,
        unlisted_columns=source.unlisted_columns,
        unit=source.unit,
    )


def _column(column: Column, *, read: bool) -> DescribedColumn:
    domain, of = column.domain, column.format
    return DescribedColumn(
        name=column.name,
        type=column.type,
        role=column.role,
        domain=None
        if domain is None
        else DescribedDomain(values=domain.values, low=domain.low, high=domain.high, outside=domain.outside),
        grid=None if column.grid is None else str(column.grid),
        format=DescribedFormat(
            missing=of.missing,
            suppression_mark=of.suppression_mark,
            aliases=of.aliases,
            normalise=of.normalise,
            date=of.date,
            pivot=of.pivot,
            decimal=of.decimal,
            thousands=of.thousands,
        ),
        read=read,
    )


def plan_described(of: TableDescription, path: Path | str) -> TablePlan:
    """Return the plan of a described table, made of the source at ``path``. It has no output: no one runs it again."""
    where, impossible = (None if one is None else read_filter_record(one) for one in (of.where, of.impossible))
    rules = of.rules
    return TablePlan(
        id=of.release,
        source=_planned_source(of.source, str(path)),
        by=of.by,
        keys=of.keys,
        measures=_measures(of),
        margins=of.margins,
        rules=CellRules(
            min_count=rules.min_count,
            dominance=None if rules.dominance is None else (rules.dominance[0], Fraction(rules.dominance[1])),
            p_percent=None if rules.p_percent is None else Fraction(rules.p_percent),
            interval=Fraction(rules.interval),
            zeros_shown=rules.zeros_shown,
            class_disclosure=rules.class_disclosure is True,
        ),
        secondary=True,
        round_up=of.round_up,
        sinks=(),
        unit=None if of.unit is None else UnitPlan(of.unit.column, of.unit.max_rows),
        rows_are_persons=of.rows_are_persons,
        where=where,
        impossible=impossible,
        class_disclosure=rules.class_disclosure,
    )


def _measures(of: TableDescription) -> tuple[MeasurePlan, ...]:
    return tuple(MeasurePlan(one.kind, one.name, one.column, Fraction(one.grid), one.low, one.high) for one in of.measures)


def _planned_source(of: DescribedSource, path: str) -> TableSource:
    columns = [(one.read, _planned_column(one)) for one in of.columns]
    return TableSource(
        dataset=of.dataset,
        kind=of.kind,
        path=path,
        label=Path(path).name,
        columns=tuple(column for read, column in columns if read),
        table=of.table,
        format=FileFormat(of.delimiter, of.quote, of.encoding),
        unlisted_columns=of.unlisted_columns,
        unread=tuple(column for read, column in columns if not read),
        unit=of.unit,
    )


def _planned_column(of: DescribedColumn) -> Column:
    domain, form = of.domain, of.format
    return Column(
        of.name,
        of.type,
        of.role,
        None if domain is None else Domain(domain.values, domain.low, domain.high, domain.outside),
        None if of.grid is None else Decimal(of.grid),
        ColumnFormat(
            form.missing,
            form.suppression_mark,
            form.aliases,
            form.normalise,
            form.date,
            form.pivot,
            form.decimal,
            form.thousands,
        ),
    )


def plan_of_same_source(of: TableDescription, like: TablePlan) -> TablePlan | None:
    """Return the plan of a described table that is made of the source of another one, and protected together with it under the rules of that one; None
    where that source does not have its columns, or has them as another type.
    """
    where, impossible = (None if one is None else read_filter_record(one) for one in (of.where, of.impossible))
    needed = {*of.by, *(one.column for one in of.measures if one.column is not None), *_read_by(where), *_read_by(impossible)}
    types = {column.name: column.type for column in of.source.columns}
    declared = {column.name: column.type for column in like.source.declared}
    if any(declared.get(name) is not types.get(name) for name in needed) or not needed <= declared.keys():
        return None
    read: set[str] = needed | {column.name for column in like.source.columns}
    return replace(
        like,
        id=of.release,
        source=replace(like.source, columns=_named(like, read), unread=_named(like, declared.keys() - read)),
        by=of.by,
        keys=of.keys,
        measures=_measures(of),
        margins=of.margins,
        round_up=of.round_up,
        checks=(),
        where=where,
        impossible=impossible,
        lists=(),
    )


def _read_by(of: Filter | None) -> frozenset[str]:
    return frozenset() if of is None else columns_of(of)


def _named(plan: TablePlan, names: Sequence[str] | set[str]) -> tuple[Column, ...]:
    return tuple(column for column in plan.source.declared if column.name in names)
