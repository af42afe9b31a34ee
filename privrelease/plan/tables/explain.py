"""A table in words: its cells, figures and rules."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from privrelease.plan.checks import check_words
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.plan.tables.plan import TablePlan

__all__ = ["TableExplanation", "explain_table"]


@dataclass(frozen=True, slots=True)
class TableExplanation:
    """A table before it is run."""

    id: str
    kind: str
    source: str
    unit: str
    by: tuple[str, ...]
    figures: tuple[str, ...]
    cells: int
    rules: tuple[str, ...]
    rows: str
    outputs: tuple[str, ...]
    checks: tuple[str, ...] = ()

    def as_data(self) -> dict[str, object]:
        """Return it as dictionaries, tuples, texts and numbers, for JSON."""
        return asdict(self)

    def as_lines(self) -> tuple[str, ...]:
        """Return it as lines of text."""
        lines = [f"release {self.id}", f"  source  {self.source}", f"  unit    {self.unit}"]
        lines.append(f"  table   {', '.join(self.figures)} by {', '.join(self.by)}: {self.cells} cells{self.rows}")
        lines += [f"  rule    {rule}" for rule in self.rules]
        lines += [f"  check   {check}" for check in self.checks]
        lines += [f"  output  {output}" for output in self.outputs]
        return tuple(lines)

    def in_short(self) -> tuple[str, ...]:
        """Return its size and first rule, in one line."""
        return (f"release {self.id}: {self.cells} cells, {self.rules[0]}",)


def explain_table(plan: TablePlan) -> TableExplanation:
    """Return what the table will hold and what protects it. Reads no row."""
    return TableExplanation(
        id=plan.id,
        kind=plan.kind,
        source=f"{plan.source.dataset}: {plan.source.label} ({plan.source.kind.value})",
        unit="every row is a person of its own" if plan.unit is None else f"persons by {plan.unit.column}",
        by=plan.by,
        figures=tuple(one.name for one in plan.measures),
        cells=plan.layout.size,
        rules=tuple(_rules(plan)),
        rows="" if plan.where is None else ", of the rows where the filter holds",
        outputs=tuple(sink.words for sink in plan.sinks),
        checks=tuple(map(check_words, plan.checks)),
    )


#: What is done about groups that share one key; nothing is said where no group column is sensitive.
_CLASSES: Final = {
    "repaired": "no one can be sure that all members of a group share one key",
    "checked": "groups that share one key are looked for; one that is found parks the release",
    "declined": "groups that share one key are not looked for",
}


def _rules(plan: TablePlan) -> list[str]:
    rules = plan.rules
    empty = "empty cells are printed as 0" if rules.zeros_shown else "empty cells are suppressed too"
    words = [f"at least {rules.min_count} contributors in a printed cell; {empty}"]
    if rules.dominance is not None:
        most, share = rules.dominance
        words.append(f"the {most} largest contributors make up at most {float(share):g} of a printed sum")
    if rules.p_percent is not None:
        words.append(f"no one can estimate another's contribution within {float(rules.p_percent):g} of its value")
    if plan.margins:
        few = ", as few as possible," if plan.prefer == "cells" else ""
        words.append(
            "totals are printed"
            + (f"; further cells{few} are suppressed, so that they give nothing back" if plan.secondary else "")
        )
    if rules.interval:
        words.append(f"a suppressed figure stays uncertain by at least {float(rules.interval):g} of its value")
    words += [_CLASSES[plan.class_check]] if plan.class_check in _CLASSES else []
    if plan.impossible is not None:
        words.append("cells that are empty by nature are printed as 0")
    if plan.round_up > 1:
        words.append(f"printed counts are rounded up to multiples of {plan.round_up}")
    return words
