"""Tables that someone has with rows: those that may be of one state of the data are judged together, and what each of them gives away is said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from privrelease.audit.comparison.earlier.rows_and_table import COUNT
from privrelease.audit.comparison.earlier.rows_and_tables import cells_together
from privrelease.texts.sentences import listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from privrelease.audit.comparison.earlier.rows_and_table import Cell, CellsByRows, RowsOut, TableShown, TableVerdict
    from privrelease.audit.comparison.earlier.rows_and_tables import JointCells
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.relational.schema import TableSource
    from privrelease.texts.sentences import Said

__all__ = ["BesideRows", "OutTable", "with_others"]

#: Figures of cells that are known, by name.
Known: TypeAlias = "Mapping[Cell, frozenset[str]]"


@dataclass(frozen=True, eq=False, slots=True)
class OutTable:
    """A table that someone has. ``given``: says which suppressed cells known figures give away, in the words of these keys. ``source``: that of its plan,
    where a policy has it. ``source_rows``: how many rows it is made of, where that was counted.
    """

    shown: TableShown
    given: Callable[[Known, tuple[str, str]], tuple[Said, ...]]
    source: TableSource | None = None
    source_rows: int | None = None
    name: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class BesideRows:
    """A table and what follows from it and the rows alone. ``same``: it is known that both are of one source."""

    table: OutTable
    alone: CellsByRows
    same: bool


def with_others(
    beside: Sequence[BesideRows], verdicts: Sequence[TableVerdict], rows: RowsOut, engine: MeasuringEngine
) -> list[TableVerdict]:
    """Add to the verdicts about the first of these tables what all of them disclose together with the rows. ``rows``: as of tables of one source."""
    found = list(verdicts)
    for family, of in _families(beside, len(verdicts), rows, engine):
        for joint in _joint(beside, family, of, engine):
            numbers = [family[place] for place in joint.tables]
            own = [number for number in numbers if number < len(verdicts)]
            if not own:
                continue
            faults = _faults(beside, numbers, joint, len(verdicts), of, engine) if joint.agree else {}
            unjudged = _unjudged(beside, numbers, joint)
            by = frozenset[str]().union(*(beside[number].table.shown.by for number in numbers))
            for number in own:
                one = found[number]
                mine = tuple(fault for fault in faults.get(number, ()) if fault not in one.faults)
                found[number] = replace(
                    one,
                    faults=(*one.faults, *mine),
                    by=one.by | by,
                    unjudged=one.unjudged if one.unjudged is not None else unjudged,
                )
    return found


def _families(
    beside: Sequence[BesideRows], judged: int, rows: RowsOut, engine: MeasuringEngine
) -> Iterator[tuple[list[int], RowsOut]]:
    """Yield the tables that are of the source of the rows, and then those that may be of one state with one of the ``judged``."""
    fits = [number for number, one in enumerate(beside) if one.alone.agree]
    same = [number for number in fits if beside[number].same]
    if len(same) > 1:
        yield same, rows
    if len(same) == len(fits):
        return
    of = replace(rows, left_out=None)
    covered = set[int]()
    for first in fits:
        if first >= judged or first in covered:
            continue
        family = [first]
        for other in fits:
            if other != first and not any(_differ(beside[one].table.shown, beside[other].table.shown) for one in family):
                family.append(other)
        if any(one.agree is False for one in _joint(beside, family, of, engine)):
            family = _fitting(beside, family, of, engine)
        covered |= {*family}
        if not {*family} <= {*same}:
            yield family, of


def _fitting(beside: Sequence[BesideRows], family: Sequence[int], of: RowsOut, engine: MeasuringEngine) -> list[int]:
    """Return the first table of a family with as many others as fit one after the other."""
    found = [family[0]]
    for other in family[1:]:
        if all(one.agree is not False for one in _joint(beside, [*found, other], of, engine)):
            found.append(other)
    return found


def _joint(beside: Sequence[BesideRows], family: Sequence[int], of: RowsOut, engine: MeasuringEngine) -> tuple[JointCells, ...]:
    source = of.source
    for number in family if source is not None else ():
        more = beside[number].table.source
        source = source if more is None or source is None else source.also(more)
    return cells_together([beside[number].table.shown for number in family], replace(of, source=source), engine)


def _differ(one: TableShown, other: TableShown) -> bool:
    """Return True if two tables print other counts of a cell that is of the same rows: they are of two states of the data."""
    if (one.by, one.keys, one.where, one.round_up) != (other.by, other.keys, other.where, other.round_up):
        return False
    return any(
        None not in {figures.get(COUNT), other.printed[cell].get(COUNT)} and figures[COUNT] != other.printed[cell][COUNT]
        for cell, figures in one.printed.items()
        if cell in other.printed
    )


def _faults(
    beside: Sequence[BesideRows], numbers: Sequence[int], joint: JointCells, judged: int, of: RowsOut, engine: MeasuringEngine
) -> dict[int, list[Said]]:
    """Say what the tables give away together and not each alone, by the table that is judged. Of cells of a table that is out already, that is what they
    did not give away without the table that is judged.
    """
    words = ("rows_give", "rows_give")
    found: dict[int, list[Said]] = {}
    before: dict[int, Known] | None = None
    for number, learnt in zip(numbers, joint.learnt, strict=True):
        table, alone = beside[number].table, beside[number].alone.known
        if not any(figures - alone.get(cell, frozenset()) for cell, figures in learnt.known.items()):
            continue
        if number >= judged:
            if before is None:
                before = _before(beside, [one for one in numbers if one >= judged], of, engine)
            alone = _both(alone, before.get(number, {}))
        earlier = table.given(alone, words)
        for fault in table.given(_both(alone, learnt.known), words):
            if fault not in earlier:
                names = [beside[one].table.name for one in numbers if one != number and beside[one].table.name]
                told = say("with_tables", names=listed(names, "and"), fault=fault) if names else fault
                if number < judged:
                    found.setdefault(number, []).append(told)
                    continue
                told = say("cells_of_table", name=table.name, fault=fault)
                for one in numbers:
                    if one < judged:
                        found.setdefault(one, []).append(told)
    return found


def _before(beside: Sequence[BesideRows], numbers: Sequence[int], of: RowsOut, engine: MeasuringEngine) -> dict[int, Known]:
    found: dict[int, Known] = {}
    for joint in _joint(beside, numbers, of, engine):
        if joint.agree:
            found |= {numbers[place]: learnt.known for place, learnt in zip(joint.tables, joint.learnt, strict=True)}
    return found


def _both(one: Known, other: Known) -> dict[Cell, frozenset[str]]:
    return {cell: one.get(cell, frozenset()) | other.get(cell, frozenset()) for cell in one.keys() | other.keys()}


def _unjudged(beside: Sequence[BesideRows], numbers: Sequence[int], joint: JointCells) -> Said | None:
    """Say why a person has to decide about tables together; None where all was judged."""
    names = listed([beside[one].table.name for one in numbers if beside[one].table.name], "and")
    if joint.agree is None:
        return say("tables_large", names=names)
    if joint.agree is False:
        return say("tables_unfit", names=names)
    return say("tables_summed", names=names, figures=listed(sorted(joint.summed))) if joint.summed else None
