"""A table compared with tables of the same persons that were published before it: cells that one prints and the other hides,
and small differences.

A cell is known by the keys that it is of, in whatever table it appears; a table without totals prints a total where it prints
all of its parts. Tables agree where they print the same figures for the cells that both print: they are of one state of the
data, and what the earlier one prints is known in this one too. Its suppressed cells are then judged again, with the rules and
the attacker of the table itself. Where tables do not agree, the data changed, or they left out other rows: then the differences
of what both print are counts of those rows, and a difference below the minimum count is a cell that must not be printed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from privrelease.audit.checks.aggregate_checks import cells_of_file, number_text
from privrelease.audit.comparison.combine import across_kinds, compared, earlier_check, named, set_aside, together
from privrelease.audit.comparison.earlier.nested_versions import added_up, in_coarser_keys, used_pairs, with_coarser
from privrelease.audit.comparison.earlier.table_changes import shared_key_differences, small_differences, unchanged
from privrelease.audit.comparison.previous_release import UnreadableRelease
from privrelease.audit.document.visibility import count
from privrelease.audit.tables.two_states import Together
from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.errors import PrivreleaseError
from privrelease.texts.sentences import every, listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.comparison.combine import PreviousReleaseFindings
    from privrelease.audit.comparison.earlier.nested_versions import NestedVersion
    from privrelease.audit.comparison.earlier.rows_and_table import TableVerdict
    from privrelease.audit.comparison.earlier.table_changes import Changes
    from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases
    from privrelease.audit.document.model import CheckResult
    from privrelease.audit.document.previous_releases import ComparedRelease
    from privrelease.disclosure.tables.figures import ProtectedTable
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.schema import Sink
    from privrelease.texts.sentences import Listed, Said

__all__ = ["CellKeys", "PrintedCells", "beside_tables", "given_back", "printed_in"]

#: What a cell is of: (column, key) pairs; a column that is summed over has none.
CellKeys: TypeAlias = "frozenset[tuple[str, str]]"

#: Figures of cells by name; None where one is suppressed.
PrintedCells: TypeAlias = "Mapping[CellKeys, Mapping[str, Fraction | None]]"

_TOTAL, _STATUS, _COUNT = "total_over", "status", "count"
_CELLS, _DIFFERENCE = "AUDIT-EARLIER-CELLS", "AUDIT-EARLIER-DIFFERENCE"


def printed_in(sink: Sink) -> tuple[tuple[str, ...], dict[CellKeys, dict[str, Fraction | None]]]:
    """Read a table that this tool made: its group columns and its cells. Raises OSError, ValueError (not valid)."""
    names, lines = cells_of_file(sink)
    if _TOTAL not in names or names[-1:] != [_STATUS]:
        message = "no table of this tool"
        raise ValueError(message)
    by = tuple(names[: names.index(_TOTAL)])
    figures = names[len(by) + 1 : -1]
    found: dict[CellKeys, dict[str, Fraction | None]] = {}
    for line in lines:
        totals = str(line[len(by)] or "").split(" ")
        keys = frozenset((name, str(key)) for name, key in zip(by, line, strict=False) if name not in totals)
        cells = [number_text(cell, sink) for cell in line[len(by) + 1 : -1]]
        found[keys] = {name: None if cell is None else Fraction(cell) for name, cell in zip(figures, cells, strict=True)}
    return by, found


@dataclass(frozen=True, slots=True)
class _Found:
    beside: ComparedRelease
    given: tuple[Said, ...] = ()
    small: tuple[Said, ...] = ()
    remaining: tuple[Said, ...] = ()
    undecided: Said | None = None
    """Something that the policy does not decide about, so that a person has to."""


def beside_tables(
    plan: TablePlan,
    printed: PrintedCells,
    judged: ProtectedTable | None,
    suppressed: NDArray[np.bool_] | None,
    earlier: EarlierReleases,
    linked: Collection[str] = (),
    changes: Mapping[str, Changes] | None = None,
    rows: Sequence[tuple[EarlierRelease, TableVerdict]] = (),
    complete: Collection[str] = (),
    elsewhere: Collection[str] = (),
    nested: Mapping[str, Sequence[NestedVersion]] | None = None,
    with_others: Mapping[str, Together] | None = None,
) -> PreviousReleaseFindings:
    """Compare a table with every earlier one.

    ``printed``: its cells in the order of its layout. ``judged``, ``suppressed``: what its own audit made of it; None where the source was
    not read: cells that are given back are then those that the earlier table prints, and what follows from them is not known. ``linked``: names of
    those that the table's own audit looked at together with it: without a cell in common there is nothing more to compare, and their differences
    were judged as cells that no table prints. ``changes``: what changed since the earlier tables whose rows can still be read,
    by their names. ``rows``: earlier releases of rows, and what each gives back. ``complete``: columns added up of which no row lacks a value.
    ``elsewhere``: those ``linked`` whose cells are of other persons than those with the same keys here, and that nothing more can be asked of.
    ``nested``: of those that are of another state, the columns of one table that determine one of the other, and the changes once they are added up.
    ``with_others``: by the name of an earlier version, which differences are unsafe that follow with other tables of both states.
    """
    known = changes or {}
    apart = [one for one, _ in rows]
    compared_with = [one for one in earlier.releases if one not in apart]
    found = [
        _compared(
            plan,
            {} if one.name in elsewhere else printed,
            judged,
            suppressed,
            one,
            known.get(one.name),
            complete,
            linked=one.name in linked,
            nested=(nested or {}).get(one.name, ()),
            with_others=(with_others or {}).get(one.name, Together()),
        )
        for one in compared_with
    ]
    combined = [one for one in found if one.beside.looked == "combined" and one.beside.figures]
    checks: tuple[CheckResult, ...] = ()
    if combined:
        names = named([one.beside.told_release for one in combined])
        given = [fault for one in found for fault in one.given]
        small = [fault for one in found for fault in one.small]
        checks = (
            earlier_check(_CELLS, given, say("no_cell_follows", names=names)),
            earlier_check(_DIFFERENCE, small, say("no_small_difference", names=names)),
        )
    undecided = [
        UnreadableRelease(one.name, None, one_of.undecided, must=True)
        for one, one_of in zip(compared_with, found, strict=True)
        if one_of.undecided is not None
    ]
    earlier = replace(earlier, unlooked=(*earlier.unlooked, *undecided))
    by_rows = across_kinds(rows, say("this_table"))
    return together(
        [*(one.beside for one in found), *by_rows.looked],
        (*checks, *by_rows.checks),
        [*(text for one in found for text in one.remaining), *by_rows.remaining],
        earlier,
    )


def _compared(
    plan: TablePlan,
    printed: PrintedCells,
    judged: ProtectedTable | None,
    suppressed: NDArray[np.bool_] | None,
    one: EarlierRelease,
    changes: Changes | None,
    complete: Collection[str],
    *,
    linked: bool,
    nested: Sequence[NestedVersion] = (),
    with_others: Together = Together(),  # noqa: B008 -- frozen
) -> _Found:
    aside = set_aside(one, "table")
    if aside is not None:
        return _Found(aside[0], remaining=tuple(aside[1]))
    try:
        by, before = printed_in(one.file)
    except (OSError, ValueError, PrivreleaseError):
        why = say("discloses_with_table", name=one.name, why=say("file_unread"))
        return _Found(compared(one, "unreadable"), remaining=(why,))
    if one.run is None and plan.by and not set(plan.by) & set(by):
        why = say("discloses_with_table", name=one.name, why=say("no_column_nothing"))
        return _Found(compared(one, "unreadable", say("no_column_of_this")), remaining=(why,))
    known = _known(plan, printed, by, before)
    if linked:
        known = _without_other_totals(plan, known, by, before)
    both = [
        (cell, name, figure, known[cell][name])
        for cell, figures in printed.items()
        for name, figure in figures.items()
        if figure is not None and known[cell].get(name) is not None
    ]
    differ = _few(plan, both) if linked else _unsafe(plan, printed, by, before, changes, complete)
    differ_words = {_words(plan, group): None for group in differ}
    for version in () if linked else nested:
        differ_words |= dict.fromkeys(_nested_differences(plan, printed, by, before, complete, version))
    if not any(known.values()) and linked:
        return _Found(compared(one, "combined", say("one_state")))
    if not any(known.values()) and not differ_words and with_others == Together() and not set(plan.by) & set(by):
        why = say("no_common_cell", name=one.name)
        return _Found(compared(one, "nothing_shared"), remaining=(why,))
    agree = all(ours == theirs for _, _, ours, theirs in both)
    if not agree:  # what it prints of cells in which nobody changed is still so
        known = {cell: {} for cell in printed} if changes is None else unchanged(changes, known)
    given = tuple(given_back(plan, list(printed), known, judged, suppressed))
    faults: tuple[Said, ...] = ()
    if differ_words:
        unsafe = say("difference_unsafe", name=one.name, cells=named([*differ_words]))
        whose = [] if changes is not None else [say("difference_rows_gone")]
        faults = (every((unsafe, *whose)) or unsafe,)
    faults += () if with_others.small is None else (with_others.small,)
    rest = say("cells_only_there", name=one.name)
    remaining = () if linked else (rest,)
    beside = compared(one, "combined", say("one_state") if agree else say("another_state")).model_copy(
        update={"figures": {"cells_in_both": count(len(both)), "small_differences": count(len(differ_words))}}
    )
    shared = () if linked or plan.class_check != "checked" else shared_key_differences(plan, printed, by, before)
    undecided = say("changes_share_key", cells=named([_words(plan, group) for group in shared])) if shared else None
    return _Found(
        beside,
        (
            *(say("with_release", name=one.name, fault=fault) for fault in given),
            *(() if with_others.given is None else (with_others.given,)),
        ),
        faults,
        remaining,
        undecided,
    )


def _nested_differences(
    plan: TablePlan,
    printed: PrintedCells,
    by: Sequence[str],
    before: PrintedCells,
    complete: Collection[str],
    version: NestedVersion,
) -> list[Said]:
    """Say which differences are unsafe once the tables by the finer columns are added up to the coarser ones."""
    for one in used_pairs(version.pairs, plan.by, tuple(by)):
        if one.ours:
            keys = tuple(dict.fromkeys(key for cell in before for column, key in cell if column == one.coarser))
            plan, printed = in_coarser_keys(plan, printed, one, keys)
        else:
            by, before = with_coarser(by, one), added_up(before, one)
    return [_words(plan, group) for group in _unsafe(plan, printed, by, before, version.changes, complete)]


def _unsafe(
    plan: TablePlan,
    printed: PrintedCells,
    by: Sequence[str],
    before: PrintedCells,
    changes: Changes | None,
    complete: Collection[str],
) -> list[tuple[CellKeys, ...]]:
    """Return the differences that break a rule of the table, class disclosure among them where the policy asks for it."""
    found = small_differences(plan, printed, by, before, changes, complete)
    return [*found, *(shared_key_differences(plan, printed, by, before) if plan.rules.class_disclosure else ())]


def _known(
    plan: TablePlan, printed: PrintedCells, by: Sequence[str], before: PrintedCells
) -> dict[CellKeys, dict[str, Fraction]]:
    """Return the earlier table's figures of each cell: printed as such, or as the sum of parts that are all printed."""
    keys_of = {name: {key for cell in before for column, key in cell if column == name} for name in by}
    sizes = {name: len(keys) for name, keys in keys_of.items()} | {
        name: len(keys) for name, keys in zip(plan.by, plan.keys, strict=True) if name in keys_of
    }
    parts: dict[frozenset[str], dict[CellKeys, list[Mapping[str, Fraction | None]]]] = {}
    known: dict[CellKeys, dict[str, Fraction]] = {}
    for cell in printed:
        columns = frozenset(name for name, _ in cell)
        known[cell] = {}
        if not columns <= set(by):
            continue
        if columns not in parts:
            groups = parts[columns] = {}
            for keys, figures in before.items():
                if len(keys) == len(by):
                    groups.setdefault(frozenset(pair for pair in keys if pair[0] in columns), []).append(figures)
        known[cell] = {name: figure for name, figure in before.get(cell, {}).items() if figure is not None}
        found = parts[columns].get(cell, [])
        if len(found) != prod(size for name, size in sizes.items() if name not in columns):
            continue
        for name in found[0] if found else ():
            values = [figures[name] for figures in found]
            if name not in known[cell] and all(value is not None for value in values):
                known[cell][name] = sum((value for value in values if value is not None), Fraction(0))
    return known


def _without_other_totals(
    plan: TablePlan, known: Mapping[CellKeys, dict[str, Fraction]], by: Sequence[str], before: PrintedCells
) -> dict[CellKeys, dict[str, Fraction]]:
    """Leave out totals over a column of which the tables list other keys: they are of other persons."""
    theirs: dict[str, set[str]] = {name: set() for name in by}
    for cell in before:
        for name, key in cell:
            theirs[name].add(key)
    otherwise = {name for name, keys in zip(plan.by, plan.keys, strict=True) if name in theirs and theirs[name] != {*keys}}
    return {cell: figures if otherwise <= {name for name, _ in cell} else {} for cell, figures in known.items()}


def given_back(
    plan: TablePlan,
    cells: Sequence[CellKeys],
    known: Mapping[CellKeys, Collection[str]],
    judged: ProtectedTable | None,
    suppressed: NDArray[np.bool_] | None,
    words: tuple[str, str] = ("prints_hidden", "prints_give"),
) -> Iterator[Said]:
    """Say which suppressed cells an earlier release gives: those of which it shows figures (``known``, by name) and that are unsafe, and those that
    follow from what it shows. ``words``: the keys of the sentences for either.
    """
    if judged is None or suppressed is None:
        return
    every = [one.name for one in plan.measures]
    primary = judged.primaries()
    counted = np.array([_COUNT in known[cell] for cell in cells], np.bool_)
    summed = np.array([bool(set(known[cell]) - {_COUNT}) for cell in cells], np.bool_)
    printed = {"min_count": counted | summed}
    direct = [
        int(cell)
        for rule, unsafe in primary.items()
        for cell in np.flatnonzero(unsafe & suppressed & printed.get(rule, summed))
    ]
    if direct:
        yield say(words[0], cells=_named(plan, [cells[cell] for cell in dict.fromkeys(direct)]))
    whole = np.array([all(name in known[cell] for name in every) for cell in cells], np.bool_)
    for table, seen in ((judged, whole), (replace(judged, sums=()), counted)):
        learnt = suppressed & ~seen
        if not (suppressed & seen).any() or not table.figures:
            continue
        alone = {weak.cells for weak in weaknesses(table, suppressed)}
        more = [weak.cells for weak in weaknesses(table, learnt) if weak.cells not in alone]
        if more:
            names = _named(plan, [cells[cell] for cell in dict.fromkeys(cell for weak in more for cell in weak)])
            yield say(words[1], cells=names)
            return


def _few(plan: TablePlan, both: Sequence[tuple[CellKeys, str, Fraction, Fraction | None]]) -> list[tuple[CellKeys, ...]]:
    """Differences of counts below the minimum, of tables of one state: one is made of other rows. All else of them was judged together."""
    gaps = [(cell, abs(ours - theirs)) for cell, name, ours, theirs in both if name == _COUNT and theirs is not None]
    return [(cell,) for cell, gap in gaps if 0 < gap < plan.rules.min_count and plan.round_up == 1]


def _words(plan: TablePlan, group: Sequence[CellKeys]) -> Said:
    """Name a difference by the keys of its cells."""
    names = listed((_keys(plan, cell) for cell in group[:3]), "with")
    return say("names_more", names=names, n=len(group) - 3) if len(group) > 3 else say("names", names=names)


def _keys(plan: TablePlan, cell: CellKeys) -> Listed:
    keys = dict(cell)
    return listed((keys[name] if name in keys else say("total") for name in plan.by), "slash")


def _named(plan: TablePlan, cells: Sequence[CellKeys]) -> Said:
    return named([_keys(plan, cell) for cell in cells])
