"""The distance of the cells that a release loses from the fewest that would do: its threats, the bound of each, and the gap.

The bound is a function of the source's classes alone (:mod:`privrelease.disclosure.cell_bound`). `plan --data` and the audit each compute it
from the classes that they counted themselves.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.plan.model import MicrodataPlan, ThreatPlan

__all__ = ["CellBound", "WhyNot", "bound_of_release"]

#: Reasons for which no bound is known: column weights, rows of persons that stay linkable, no threat with a highest risk of the prosecutor under
#: ``category``, none of whose columns was measured, and too many classes.
WhyNot: TypeAlias = Literal["weights", "linkable", "model", "columns", "classes"]


@dataclass(frozen=True, slots=True)
class CellBound:
    """Cells that any suppression must take, for ``threat``; or the reason why no bound is known (``cells`` and ``threat`` are then None)."""

    cells: int | None = None
    threat: str | None = None
    why_not: WhyNot | None = None

    def gap(self, lost: int) -> Fraction | None:
        """Return by which share ``lost`` cells can exceed the minimum at most; None where no bound is known, or it is not a share.

        Fewer lost cells than the bound mean that some threat does not hold: None.

        >>> CellBound(8, "neighbour").gap(10), CellBound(0, "neighbour").gap(0), CellBound(0, "neighbour").gap(1)
        (Fraction(1, 4), Fraction(0, 1), None)
        """
        if self.cells is None or lost < self.cells or (lost and not self.cells):
            return None
        return Fraction(lost, self.cells) - 1 if lost else Fraction(0)


def bound_of_release(plan: MicrodataPlan, table: ClassTable, *, linkable: bool) -> CellBound | None:
    """Return the largest bound of the threats of ``plan``; None where it has no suppress step.

    ``table``: classes of the source as the release would show them, over those quasi-identifiers that could be measured. Fewer columns give a
    smaller bound, which holds too. Only prosecutors with a highest risk under ``category`` have one; what else a policy demands never
    lowers the minimum. ``linkable``: rows of one person stay linkable, and classes are of persons.
    """
    step = plan.suppress
    if step is None:
        return None
    if step.weights:
        return CellBound(why_not="weights")
    if linkable:
        return CellBound(why_not="linkable")
    threats = tuple(one for one in plan.threats if _bounded(one))
    measured = tuple(one for one in threats if _columns(one, table))
    if not measured:
        return CellBound(why_not="columns" if threats else "model")
    from privrelease.disclosure.cell_bound import fewest_cells

    best = CellBound(why_not="classes")
    for threat in measured:
        cells = fewest_cells(table, _columns(threat, table), threat.thresholds.k, share=len(measured))
        if cells is not None and (best.cells is None or cells > best.cells):
            best = CellBound(cells, threat.name)
    return best


def _bounded(threat: ThreatPlan) -> bool:
    return threat.attacker == "prosecutor" and threat.missing == "category" and threat.thresholds.k > 1


def _columns(threat: ThreatPlan, table: ClassTable) -> tuple[str, ...]:
    return tuple(column for column in dict.fromkeys(threat.columns) if column in table.columns)
