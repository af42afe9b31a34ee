"""Two short paragraphs in plain words: what is released and about whom; who could find whom, what was done, and what remains.

Every sentence is made of figures that the edition shows; one whose figure is withheld or was not measured is left out.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp
from typing import TYPE_CHECKING

from privrelease.report.view import numbers
from privrelease.report.view.page import exact

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult, ColumnFacts, ThreatResult
    from privrelease.report.view.page import Context, Sentence

__all__ = ["plain_words", "worst_threat"]

#: Columns that are named; of more, their number.
_MOST_NAMED = 8


def plain_words(context: Context) -> tuple[tuple[Sentence, ...], ...]:
    """Return the paragraphs, as sentences each."""
    audit = context.audit
    if audit.statistics is not None:
        second = _noise(audit)
    elif audit.table is not None:
        second = _hidden(audit)
    else:
        second = _found(audit)
    return tuple(paragraph for paragraph in (tuple(_leaves(context)), tuple(second)) if paragraph)


def worst_threat(audit: AuditResult) -> ThreatResult | None:
    """Return the threat with the smallest class; None where no class may be shown."""
    known = [(k, place) for place, threat in enumerate(audit.threats) if (k := exact(threat.after.k)) is not None]
    return audit.threats[min(known)[1]] if known else None


# ----------------------------------------------------------------------------------------------------------------------- leaves


def _leaves(context: Context) -> list[Sentence]:
    audit = context.audit
    data = audit.data
    rows = exact(data.released_rows)
    released = [column for column in data.columns if column.leaves]
    said: list[Sentence] = []
    if rows is not None:
        values = {"rows": numbers.number(rows), "dataset": data.dataset}
        values |= {"columns": numbers.count(len(released)), "names": _named(released)}
        own = f"plain.leaves.{audit.kind}"
        said.append((own if context.catalogue.has(own) else "plain.leaves", values))
    if audit.table is not None:
        said.append(("plain.by", {"by": ", ".join(audit.table.by)}))
    persons = exact(data.source_persons)
    if persons is not None and data.unit is not None:
        said.append(("plain.about", {"persons": numbers.number(persons)}))
    elif data.unit is None:
        said.append(("plain.about_rows", {}))
    special = [column for column in released if column.category == "special"]
    if special:
        said.append(("plain.special", {"columns": _named(special)}))
    if data.recipients:
        said.append(("plain.recipients", {"recipients": ", ".join(data.recipients)}))
    return said


def _named(columns: list[ColumnFacts]) -> str:
    more = ", …" if len(columns) > _MOST_NAMED else ""
    return ", ".join(column.name for column in columns[:_MOST_NAMED]) + more


# ------------------------------------------------------------------------------------------------------------------------ found


def _found(audit: AuditResult) -> list[Sentence]:
    said: list[Sentence] = []
    threat = worst_threat(audit)
    if threat is not None:
        said += _attacker(threat)
    said += _done(audit)
    expected = [
        (records * average, records, one.name)
        for one in audit.threats
        if (records := exact(one.after.records if one.after.persons is None else one.after.persons))
        and (average := exact(one.after.average)) is not None
    ]
    if expected:
        right, records, name = max(expected)
        values = {"n": numbers.number(Fraction(round(right * 10), 10)), "records": numbers.number(records), "threat": name}
        said.append(("plain.expected", values))
    return said


def _attacker(threat: ThreatResult) -> list[Sentence]:
    k = exact(threat.after.k)
    assert k is not None  # it was chosen by its smallest class
    values = {"columns": ", ".join(threat.columns), "k": numbers.number(k)}
    said: list[Sentence] = [("plain.alone" if k == 1 else "plain.found", values)]
    before, records = (None, None) if threat.before is None else (exact(threat.before.uniques), exact(threat.before.records))
    if before is not None and records is not None:
        key = "plain.before_by_class" if threat.before is not None and threat.before.persons is not None else "plain.before"
        said.append((key, {"uniques": numbers.part_of(int(before), int(records))}))
    return said


def _done(audit: AuditResult) -> list[Sentence]:
    """Say what was done to the columns, by the code of their treatment."""
    said: list[Sentence] = []
    for code in ("removed", "pseudonym", "recoded", "perturbed", "synthetic"):
        columns = [column for column in audit.data.columns if column.treated == code]
        if columns:
            said.append((f"plain.done.{code}", {"columns": _named(columns)}))
    utility = audit.utility
    share, rows = (None, None) if utility is None else (exact(utility.cells_share), exact(utility.rows_dropped))
    if share is not None and rows is not None:
        said.append(("plain.lost", {"share": numbers.percent(share), "rows": numbers.number(rows)}))
    return said


# ------------------------------------------------------------------------------------------------------------ noise and tables


def _noise(audit: AuditResult) -> list[Sentence]:
    facts = audit.statistics
    assert facts is not None  # the caller has looked
    if facts.noise != "secret":
        return [(f"dp.noise.{facts.noise}", {})]
    factor = numbers.number(numbers.rounded_up(Fraction(exp(float(Fraction(facts.epsilon)))), 3))
    said: list[Sentence] = [("plain.noise" if audit.synthetic is None else "plain.noise_model", {"factor": factor})]
    if Fraction(facts.delta):
        delta = float(numbers.rounded_up(Fraction(facts.delta), 1))
        said.append(("plain.noise_delta", {"delta": f"{delta:.1g}".replace("e-0", "e-")}))
    if facts.budget is not None and facts.budget.cap_epsilon is not None:
        spent, cap = Fraction(facts.budget.after_epsilon), Fraction(facts.budget.cap_epsilon)
        said.append(("plain.spent", {"spent": numbers.number(spent), "cap": numbers.number(cap)}))
    return said


def _hidden(audit: AuditResult) -> list[Sentence]:
    table = audit.table
    assert table is not None  # the caller has looked
    hidden, secondary = exact(table.suppressed), exact(table.secondary)
    said: list[Sentence] = []
    if hidden is not None and secondary is not None:
        numbers_said = {"n": numbers.number(hidden), "primary": numbers.number(hidden - secondary)}
        said.append(("plain.hidden", numbers_said | {"secondary": numbers.number(secondary)}))
    exposed = [exact(one.exposed) for one in table.intervals]
    if exposed and all(one is not None for one in exposed):
        most = max(one for one in exposed if one is not None)
        said.append(("plain.exposed", {"n": numbers.number(most)}) if most else ("plain.uncertain", {}))
    return said
