"""Steps towards the requirements: a search proposes, exact measurement decides, and what does not hold is repaired.

Cells and records are only ever taken away, so repairing ends, at the latest with every cell suppressed, where everything holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from privrelease.disclosure.classes.persons import pair_times, times_of
from privrelease.disclosure.suppression.arrays import packed_bytes, unpacked_bits
from privrelease.disclosure.suppression.class_counting import RecordCrowd, crowd_of
from privrelease.disclosure.suppression.evaluation import take_standing, tallied_standing
from privrelease.disclosure.suppression.joint_moves import regroup_jointly, restore_jointly
from privrelease.disclosure.suppression.layered_greedy import PartItems, layered_greedy
from privrelease.disclosure.suppression.linkable_persons import Links, PersonItems, take_linked_standing
from privrelease.disclosure.suppression.partition import Parts, cut_alike, factorise, first_members, stable_order
from privrelease.disclosure.suppression.record_search import MOST_COLUMNS, hide_rare_values, search_records
from privrelease.disclosure.suppression.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from privrelease.disclosure.suppression.cell_costs import CellCosts
    from privrelease.disclosure.suppression.evaluation import RiskState
    from privrelease.disclosure.suppression.problem import Problem

__all__ = ["PartRepair", "PersonRepair", "Repair", "settle"]

#: Parts that are searched for one of several requirements, all searches together, before only the classes that fail are. Small tables are searched
#: whole until all requirements hold, which takes no time and finds a few cells less to suppress.
_MOST_SEARCHED = 400_000


class Repair(Protocol):
    """The parts as they are, and what moves them towards one requirement."""

    parts: Parts
    #: Whether only failing classes were searched at some time.
    narrowed: bool

    def measure(self, number: int) -> RiskState:
        """Measure requirement ``number`` on the parts."""
        ...

    def search(self, number: int, standing: RiskState | None, *, exactly: bool = False) -> None:
        """Take cells away so that requirement ``number`` comes to hold, or closer to it."""
        ...

    def protect_union(self) -> bool:
        """Search once for an attacker who knows the columns of all requirements, if that can help; return whether that was done."""
        ...

    def refine(self) -> bool:
        """Once all requirements hold, give cells back that are not needed; return whether any came back."""
        ...

    def regroup(self) -> bool:
        """Once all requirements hold, let groups of records lose fewer cells; return whether any do."""
        ...


def settle(repair: Repair, number: int, *, first: bool) -> bool:
    """Take steps until requirement ``number`` holds; return whether it held already.

    On the ``first`` visit a search goes ahead of measuring: where all holds it changes nothing, and measuring is not free.
    """
    if first:
        repair.search(number, None)
    steps, searched = 0, first
    while True:
        standing = repair.measure(number)
        if standing.holds:
            return not (first or steps)
        steps += 1
        if standing.stray.any():
            # Residual records that elimination would find.
            repair.parts.drop(standing.stray)
        else:
            # A second search in a row means that the first was deceived by folded keys.
            repair.search(number, standing, exactly=searched)
            searched = True


class _Targets:
    """The aim of each requirement, and what cells cost, in whole numbers."""

    def __init__(self, problem: Problem, costs: CellCosts) -> None:
        self._targets = [Target.of(requirement.thresholds) for requirement in problem.requirements]
        self.all_costs = costs

    def costs(self, columns: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.all_costs.column[column] for column in columns)

    def target(self, number: int) -> Target:
        return self._targets[number]

    def need(self, number: int, standing: RiskState | None) -> int:
        """Return the class size to ask for; once only average or share fail, the one that implies all limits."""
        if standing is not None and not standing.below.any():
            self._targets[number] = self._targets[number].sufficient()
        return self._targets[number].need


class PartRepair:
    """Records in classes; a class is split only where every record is its own person and only classes of records are counted."""

    def __init__(self, problem: Problem, costs: CellCosts) -> None:
        self._problem = problem
        self._targets = _Targets(problem, costs)
        self.parts = Parts.untouched(problem.classes)
        #: Parts that were searched for each requirement; beyond ``_MOST_SEARCHED`` only failing classes are.
        self._searched = [0] * len(problem.requirements)
        self.narrowed = False
        self._splits = problem.classes.pairs_class is None and not any(
            requirement.use_weights and requirement.attacker != "prosecutor" for requirement in problem.requirements
        )

    def measure(self, number: int) -> RiskState:
        """Measure requirement ``number``."""
        requirement = self._problem.requirements[number]
        crowd = crowd_of(self.parts, requirement)
        limits = requirement.thresholds
        # Counts of several requirements are kept: most of what is measured changed little since.
        several = len(self._searched) > 1
        if several and isinstance(crowd, RecordCrowd) and limits.average is None and limits.at_risk is None:
            tally = self.parts.tally(number, requirement.columns)
            if tally.fits:
                return tallied_standing(self.parts, tally, limits, self._problem.residual)
        return take_standing(self.parts, requirement, crowd, self._problem.residual)

    def _narrow(self, number: int) -> bool:
        """Return True if all parts were searched often enough for a requirement."""
        return len(self._searched) > 1 and self._searched[number] >= _MOST_SEARCHED

    def search(self, number: int, standing: RiskState | None, *, exactly: bool = False) -> None:
        """Search all records that still show something to the requirement; ``exactly``: by the search that folds no keys."""
        requirement = self._problem.requirements[number]
        columns = requirement.columns
        crowd = crowd_of(self.parts, requirement)
        plain = self._splits and isinstance(crowd, RecordCrowd) and len(columns) <= MOST_COLUMNS and not exactly
        if plain and standing is not None and standing.below.any() and self._narrow(number):
            self.narrowed = True
            self._split(columns, np.flatnonzero(standing.below).astype(np.int32), self._targets.target(number))
            return
        shown = self.parts.codes(columns)
        members = np.flatnonzero(~self.parts.dropped & shown.any(axis=1))
        self._searched[number] += len(members)
        if not len(members):
            return
        if plain:
            del shown, crowd  # as long as the parts
            members = members.astype(np.int32)
            self._split(columns, members, self._targets.target(number))
            return
        need = self._targets.need(number, standing) * crowd.scale
        items = PartItems(crowd, members, shown[members], self.parts.records[members], need)
        where = np.zeros(self.parts.suppressed.shape, np.bool_)
        where[np.ix_(members, np.array(columns, np.int64))] = layered_greedy(items, self._targets.costs(columns))
        self.parts.suppress(where)

    def refine(self) -> bool:
        """Give cells back that several requirements together turned out not to need; return whether any came back."""
        return self._move_jointly(restore_jointly)

    def regroup(self) -> bool:
        """Let groups of records lose fewer cells; return whether any do."""
        return self._move_jointly(regroup_jointly)

    def _move_jointly(self, move: Callable[..., bool]) -> bool:
        requirements = self._problem.requirements
        if len(requirements) < 2 or not self._plain():
            return False
        targets = [self._targets.target(number) for number in range(len(requirements))]
        drops = self._problem.residual == "drop"
        return move(self.parts, requirements, targets, self._targets.all_costs, drops=drops)

    def protect_union(self) -> bool:
        """Search once, where requirements overlap, for an attacker who knows the columns of all; return whether that was done.

        Classes of at least the largest class size on all columns are as large on any of them, so every highest risk then holds.
        """
        requirements = self._problem.requirements
        seen = [column for one in requirements for column in one.columns]
        columns = tuple(sorted(set(seen)))
        if not self._plain() or len(seen) == len(columns) or len(columns) > MOST_COLUMNS:
            return False
        members = np.flatnonzero(self.parts.codes(columns).any(axis=1))
        need = max(self._targets.target(number).need for number in range(len(requirements)))
        if need > 1 and len(members):
            self._split(columns, members, Target(need))
        return True

    def _plain(self) -> bool:
        requirements = self._problem.requirements
        return self._splits and all(isinstance(crowd_of(self.parts, one), RecordCrowd) for one in requirements)

    def _split(self, columns: tuple[int, ...], members: NDArray[np.integer[Any]], target: Target) -> None:
        origin, sizes, suppressed = self._pieces(columns, members, target)
        self.parts.replace(members, origin, sizes, suppressed)

    def _pieces(
        self, columns: tuple[int, ...], members: NDArray[np.integer[Any]], target: Target
    ) -> tuple[NDArray[np.integer[Any]], NDArray[np.int64], NDArray[np.bool_]]:
        """Search the records of ``members``; return the part, the records and the lost cells (m, q) of every piece that they are cut into."""
        own = self.parts.records[members]
        codes = hide_rare_values(self.parts.codes(columns, members), own, target.need)
        item = factorise(codes).astype(
            np.int32
        )  # what is held while the search goes on is as long as the classes, and so kept narrow
        first = first_members(item)
        records = np.zeros(len(first), np.int64)
        np.add.at(records, item, own)
        distinct, hidden = [codes.take(first, axis=0)], packed_bytes(codes == 0)
        cell_cost = self._targets.all_costs.of_classes(self.parts.table, columns, self.parts.class_index[members[first]])
        del codes, first, own
        found = search_records(distinct.pop(), records, target=target, costs=self._targets.costs(columns), cell_cost=cell_cost)
        del records, cell_cost
        line = stable_order(item)
        del item
        assigned_line = stable_order(found.item)
        origin, assigned, sizes = cut_alike(self.parts.records[members[line]], found.records[assigned_line])
        origin = line[origin]
        lost = unpacked_bits(hidden.take(origin, axis=0), len(columns))
        lost |= found.suppressed.take(assigned_line[assigned], axis=0)
        if columns == tuple(range(self.parts.suppressed.shape[1])):
            return members[origin], sizes, lost
        suppressed = np.zeros((len(sizes), self.parts.suppressed.shape[1]), np.bool_)
        suppressed[:, np.array(columns, np.int64)] = lost
        return members[origin], sizes, suppressed


class PersonRepair:
    """Persons whose rows stay linkable. By person where the rows of each pair are known, else by whole classes."""

    narrowed = False

    def __init__(self, problem: Problem, costs: CellCosts) -> None:
        table = problem.classes
        if table.pairs_class is None or table.pairs_person is None:
            msg = "linkable persons need the pairs of classes and persons"
            raise ValueError(msg)
        by_person = problem.pair_rows is not None
        rows = np.ones(len(table.pairs_class), np.int64) if problem.pair_rows is None else problem.pair_rows
        if int((rows * pair_times(table)).sum()) != table.n_records and (by_person or problem.knows_rows):
            msg = "the rows of the (class, person) pairs do not make up the records"
            raise ValueError(msg)
        self._problem = problem
        self._targets = _Targets(problem, costs)
        self.parts = Parts.by_pair(table, rows) if by_person else Parts.untouched(table)
        numbers, codes = np.unique(table.pairs_person, return_inverse=True)
        person = codes.astype(np.int64)
        order = np.argsort(person, kind="stable")
        pair = np.arange(len(person)) if by_person else table.pairs_class.astype(np.int64)
        times = times_of(table, numbers.astype(np.int64))
        self._links = Links(pair[order], person[order], rows[order], problem.knows_rows, times)

    def measure(self, number: int) -> RiskState:
        """Measure requirement ``number``."""
        return take_linked_standing(self.parts, self._links, self._problem.requirements[number], self._problem.residual)

    def protect_union(self) -> bool:
        """Requirements on linkable persons are settled one by one."""
        return False

    def refine(self) -> bool:
        """Nothing comes back."""
        return False

    def regroup(self) -> bool:
        """No one is regrouped."""
        return False

    def search(self, number: int, standing: RiskState | None, *, exactly: bool = False) -> None:
        """Search all persons that still show something to the requirement; it is always exact."""
        del exactly
        links = self._links
        columns = self._problem.requirements[number].columns
        codes = self.parts.codes(columns)
        shows = np.zeros(links.persons, np.bool_)
        shows[links.person[~self.parts.dropped[links.part] & (codes[links.part] > 0).any(axis=1)]] = True
        chosen = np.flatnonzero(shows[links.person] & ~self.parts.dropped[links.part])
        if not len(chosen):
            return
        named, person = np.unique(links.person[chosen], return_inverse=True)
        times = links.times[named]
        start = np.searchsorted(person, np.arange(int(person[-1]) + 2))
        rows = links.rows[chosen]
        items = PersonItems(
            codes=codes[links.part[chosen]],
            start=start,
            rows=rows if links.multiset else None,
            records=np.add.reduceat(rows, start[:-1]) * times,
            times=times,
            need=self._targets.need(number, standing),
        )
        masks = layered_greedy(items, self._targets.costs(columns))
        where = np.zeros(self.parts.suppressed.shape, np.bool_)
        for place, column in enumerate(columns):
            where[links.part[chosen[masks[person, place]]], column] = True
        self.parts.suppress(where)
