"""Hierarchies of columns: which labels represent which values, from the finest level to the coarsest."""

from typing import Annotated, Literal

from pydantic import Field

from privrelease.policy.changes import hierarchy_changes as coarser
from privrelease.policy.language.keys import Judged
from privrelease.policy.language.number_values import Combined, Count, Exact, Positive
from privrelease.policy.language.values import CHOICE, Flag, Frozen, LabelText, PathText, Separator

__all__ = ["HierarchySpec", "SmallSpec", "ThenSpec"]

_Levels = Field(min_length=1, max_length=20)


class SmallSpec(Frozen):
    """Areas with few persons, which are written as one label at every level."""

    file: Annotated[PathText, Judged(coarser.elsewhere)]
    """A CSV file with a heading: the area, as long as the first prefix, and its persons."""
    above: Annotated[Count, Judged(coarser.more)]
    """An area keeps its label where it has more persons than this."""
    label: Annotated[LabelText, Judged(coarser.renamed)]
    """The text that is written for the others."""


class ThenSpec(Frozen):
    """Levels above the shortest prefixes."""

    parents: Annotated[PathText, Judged(coarser.elsewhere)]
    """A file with lines of a child and its parent."""
    delimiter: Annotated[Separator, Judged(coarser.elsewhere)] = ";"
    """Between the two."""
    heading: Annotated[Flag, Judged(coarser.elsewhere)] = False
    """The file begins with a heading."""


class HierarchySpec(Frozen):
    """The labels of a column by level: one of `widths`, `edges`, `date`, `prefix`, `csv` and `parents`."""

    widths: Annotated[Annotated[tuple[Positive, ...], _Levels] | None, Judged(coarser.elsewhere)] = None
    """Widths of intervals, one a level; each divides the next. Intervals begin at multiples."""
    edges: Annotated[
        Annotated[tuple[Annotated[tuple[Exact, ...], Field(min_length=2)], ...], _Levels] | None, Judged(coarser.elsewhere)
    ] = None
    """Edges of intervals, ascending, one list a level; each next level leaves out some of the inner ones."""
    bottom: Annotated[Exact | None, Judged(coarser.lower_end)] = None
    """Values below are one interval at every level."""
    top: Annotated[Exact | None, Judged(coarser.upper_end)] = None
    """Values from here on are one interval at every level."""
    date: Annotated[
        Annotated[tuple[Annotated[Literal["hour", "day", "week", "month", "quarter", "year", "decade"], CHOICE], ...], _Levels]
        | None,
        Judged(coarser.elsewhere),
    ] = None
    """Units of the calendar, one a level, from the finest; a week (ISO 8601) is the last."""
    prefix: Annotated[Annotated[tuple[Combined, ...], _Levels] | None, Judged(coarser.elsewhere)] = None
    """Characters that are kept from the start, one number a level, descending."""
    fill: Annotated[LabelText | None, Judged(coarser.renamed)] = None
    """The text that is written after the kept characters."""
    small: Annotated[SmallSpec | None, Judged(coarser.more_of_them)] = None
    """Areas with few persons, by their first characters."""
    then: Annotated[ThenSpec | None, Judged(coarser.elsewhere)] = None
    """Levels above the shortest prefixes."""
    csv: Annotated[PathText | None, Judged(coarser.elsewhere)] = None
    """A file as ARX writes it: a value and its labels in each line, the value first."""
    parents: Annotated[PathText | None, Judged(coarser.elsewhere)] = None
    """A file with lines of a child and its parent."""
    delimiter: Annotated[Separator, Judged(coarser.elsewhere)] = ";"
    """Between the cells of `csv` or `parents`."""
    heading: Annotated[Flag, Judged(coarser.elsewhere)] = False
    """The file of `csv` or `parents` begins with a heading."""
