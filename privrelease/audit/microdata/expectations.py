"""The policy's own checks, measured here: one line each in :data:`MEASURES`. Those by names of Great Expectations: see ``standard``.

A check whose figure cannot be measured, or that this table does not know, is not evaluated: with severity ``error`` it fails.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.check import POLICY_CHECK, CheckOutcome, result_of
from privrelease.audit.checks.findings import per_cent
from privrelease.audit.checks.great_expectations import Places, standard_checks
from privrelease.audit.document.model import Figure, Outcome, Visibility
from privrelease.audit.document.visibility import Audience, minimum_of
from privrelease.audit.microdata.integrity.cells import cells_lost
from privrelease.audit.microdata.recoding import VERIFIERS, in_released_values, recoded_columns
from privrelease.audit.microdata.risk.declared_order import compared_by, domain_counts
from privrelease.audit.microdata.risk.diversity import Judged, l_diversity, t_closeness_of
from privrelease.audit.microdata.utility.distribution import distribution_shift, marginal_error
from privrelease.audit.microdata.utility.labels import label_columns
from privrelease.audit.microdata.utility.value_counts import ValueCounts, column_counts
from privrelease.texts.sentences import Said, listed, of_key, say, share_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Literal

    from privrelease.audit.document.model import CheckResult, RiskFacts, ThreatResult
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.audit.microdata.risk.declared_order import ComparedBy
    from privrelease.audit.microdata.utility.labels import LabelCounts
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.plan.model import CheckPlan
    from privrelease.texts.sentences import Value

    Unit = Literal["count", "share", "risk", "number"]

__all__ = ["MEASURES", "Measure", "policy_checks"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Inputs of a measure: the evidence, the threats it is about, the column it is about, the engine for one more count."""

    evidence: Evidence
    threats: tuple[ThreatResult, ...]
    column: str | None
    engine: AuditEngine
    check: CheckPlan
    verifiers: Verifiers = VERIFIERS


@dataclass(frozen=True, slots=True)
class Measure:
    """``of`` gives the figure, None where it cannot be measured, or why not; ``of_source``: it counts the source, so it stays internal."""

    unit: Unit
    of: Callable[[_Asked], Fraction | int | Judged | Said | None]
    of_source: bool = False


def _exact(figure: Figure | None) -> Fraction | None:
    return None if figure is None or figure.exact is None else Fraction(figure.exact)


def _worst(asked: _Asked, figure: Callable[[RiskFacts], Fraction | None], *, largest: bool = True) -> Fraction | None:
    values = [figure(threat.after) for threat in asked.threats]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return max(known) if largest else min(known)


def _prosecutor(measure: str) -> Callable[[RiskFacts], Fraction | None]:
    """Read the prosecutor's figure, also where the threat's attacker is another."""

    def read(facts: RiskFacts) -> Fraction | None:
        named = facts.further.get(f"prosecutor_{measure}")
        return _exact(named if named is not None else getattr(facts, measure))

    return read


def _unique_share(facts: RiskFacts) -> Fraction | None:
    uniques, records = _exact(facts.uniques), _exact(facts.records)
    return None if uniques is None or not records else uniques / records


def _suppressed_cells(asked: _Asked) -> Fraction | None:
    lost, source = cells_lost(asked.evidence), asked.evidence.source
    if lost is None or source is None or (asked.column is not None and asked.column not in lost):
        return None
    chosen = lost if asked.column is None else {asked.column: lost[asked.column]}
    cells = source.n_rows * len(chosen)
    return Fraction(sum(nulled + dropped for nulled, dropped in chosen.values()), cells) if cells else Fraction(0)


def _dropped_rows(asked: _Asked) -> Fraction | None:
    left, source = asked.evidence.left, asked.evidence.source
    if left is None or source is None:
        return None
    dropped = left.rows + source.dropped_outside  # rows that a domain leaves out are dropped too
    return Fraction(dropped, source.file_rows) if source.file_rows else Fraction(0)


def _rows(asked: _Asked) -> int | None:
    return None if asked.evidence.main is None else asked.evidence.main.n_rows


def _missing_cells(asked: _Asked) -> Fraction | None:
    main, column = asked.evidence.main, asked.column
    if main is None or column is None or not main.n_rows or not asked.evidence.measurable([column]):
        return None
    return Fraction(asked.engine.size_histogram(main, [column], residual=True).residual, main.n_rows)


def _compared(asked: _Asked, columns: tuple[str, ...]) -> tuple[ClassTable, ClassTable] | None:
    """Class tables of source and release in one coding, on columns that are released as they are, or compared at the released level."""
    evidence = asked.evidence
    if evidence.source is not None and evidence.main is not None and evidence.measurable(columns):
        coarser = [column for column in evidence.usable if column.name in columns and column.name in recoded_columns([column])]
        if coarser:
            source, carried = in_released_values(coarser, evidence.source, evidence.main, asked.engine, asked.verifiers)
            if set(carried) != {column.name for column in coarser}:
                return None
            first, second = asked.engine.class_tables((source, evidence.main), columns)
            return first, second
    plain = {column.name for column in evidence.usable if column.treatment.relation.own_values}
    if evidence.source is None or evidence.main is None or not set(columns) <= plain:
        return None
    if evidence.before is not None and evidence.after is not None and set(columns) <= set(evidence.before.columns):
        return evidence.before, evidence.after
    before, after = asked.engine.class_tables((evidence.source, evidence.main), columns)
    return before, after


def _marginal_error(asked: _Asked) -> Fraction | Said | None:
    columns = dict(asked.check.options)["columns"]
    assert isinstance(columns, tuple)
    tables = _compared(asked, columns)
    if tables is None:
        return None
    error = marginal_error(*tables, columns)
    return say("no_records") if error is None else error


def _distribution_shift(asked: _Asked) -> Fraction | Said | None:
    evidence, column = asked.evidence, asked.column
    tables = None if column is None else _compared(asked, (column,))
    if tables is None or column is None or evidence.source is None or evidence.main is None:
        return None
    by = compared_by(evidence, asked.check, column)
    if not by.measurable:
        return say("no_order")
    if by.order is None:
        counts = next(counts for counts in column_counts(*tables) if counts.column == column)
    else:
        sides = [domain_counts(asked.engine, side, column, by.order) for side in (evidence.source, evidence.main)]
        known = [side for side in sides if side is not None]
        if len(known) < len(sides):
            return say("outside_domain")
        before, after = (np.concatenate((np.zeros(1, np.int64), side)) for side in known)
        counts = ValueCounts(column, before, after)  # missing cells are not asked for here
    shift = distribution_shift(counts, ordered=by.distance == "ordered")
    return say("no_value_to_compare") if shift is None else shift


def _labelled(asked: _Asked) -> tuple[LabelCounts, ...]:
    """Return the columns that are written coarser, or the one that is asked for."""
    found = label_columns(asked.evidence, asked.engine, asked.verifiers)
    return tuple(one for one in found if asked.column in {None, one.column})


def _generalised_cells(asked: _Asked) -> Fraction | Said | None:
    """Return the share of known released cells of coarser columns whose label covers more than one value of the domain."""
    columns = _labelled(asked)
    cells = sum(one.known_after for one in columns)
    if not columns:
        return say("none_coarser")
    wide = sum(int(one.after[1:][one.cover.leaves.of[1:] > 1].sum()) for one in columns)
    return Fraction(wide, cells) if cells else say("no_value_left")


def _precision(asked: _Asked) -> Fraction | Said | None:
    """Return 1 - Σ level / height over known cells of the source; a lost cell is at the top of its hierarchy (Sweeney 2002, section 4)."""
    columns = _labelled(asked)
    known = sum(one.known_before for one in columns)
    if not columns or any(one.cover.height is None for one in columns):
        return say("no_hierarchy")
    if any(not one.only_lost for one in columns):
        return say("values_other")
    levels = [Fraction(one.known_after * one.cover.levels[0], one.cover.height or 1) for one in columns]
    lost = sum(levels, Fraction(sum(one.known_before - one.known_after for one in columns)))
    return 1 - lost / known if known else say("source_no_value")


def _diverse(asked: _Asked) -> Judged | Said | None:
    return l_diversity(asked.engine, asked.evidence, asked.check, asked.column)


def _close(asked: _Asked) -> Judged | Said | None:
    return t_closeness_of(asked.engine, asked.evidence, asked.check, asked.column)


MEASURES: Mapping[str, Measure] = {
    "suppressed_cells": Measure("share", _suppressed_cells, of_source=True),
    "generalised_cells": Measure("share", _generalised_cells, of_source=True),
    "precision": Measure("share", _precision, of_source=True),
    "dropped_rows": Measure("share", _dropped_rows, of_source=True),
    "highest_risk": Measure("risk", lambda asked: _worst(asked, _prosecutor("highest"))),
    "average_risk": Measure("risk", lambda asked: _worst(asked, _prosecutor("average"))),
    "k": Measure("count", lambda asked: _worst(asked, lambda facts: _exact(facts.k), largest=False)),
    "unique_records": Measure("share", lambda asked: _worst(asked, _unique_share)),
    "classes": Measure("count", lambda asked: _worst(asked, lambda facts: _exact(facts.classes))),
    "rows": Measure("count", _rows),
    "missing_cells": Measure("share", _missing_cells),
    "l_diversity": Measure("number", _diverse),
    "t_closeness": Measure("share", _close),
    "marginal_error": Measure("share", _marginal_error, of_source=True),
    "distribution_shift": Measure("share", _distribution_shift, of_source=True),
}


def _text(value: Fraction | float, unit: str) -> str:
    """Write a share or a risk as per cent, as it appears next to its limit in a report; anything else as the number it is.

    >>> _text(Fraction(352, 100_000), "share"), _text(12, "count")
    ('0.352 %', '12')
    """
    exact = Fraction(value)
    if unit in {"share", "risk"}:
        return per_cent(exact)
    return str(exact.numerator) if exact.denominator == 1 else f"{float(exact):.6g}"


def _texts(value: Fraction | float, limits: Iterable[Fraction], unit: str) -> list[str]:
    """Write a figure and its limits; with as many more digits as tell apart what differs and would print alike.

    >>> _texts(Fraction(1, 3), [Fraction(333333, 10**6)], "share"), _texts(Fraction(1, 3), [Fraction(1, 5)], "share")
    (['33.33333 %', '33.3333 %'], ['33.3333 %', '20 %'])
    """
    exact = [Fraction(value), *limits]
    texts = [_text(one, unit) for one in exact]
    for digits in range(7, 60):
        if all(text != texts[0] for one, text in zip(exact[1:], texts[1:], strict=True) if one != exact[0]):
            break
        texts = [_with_digits(one, unit, digits) for one in exact]
    return texts


def _with_digits(value: Fraction, unit: str, digits: int) -> str:
    """Write a figure with so many significant digits, of a share in per cent."""
    shown = value * 100 if unit in {"share", "risk"} else value
    number = Context(prec=digits).divide(Decimal(shown.numerator), Decimal(shown.denominator))
    return f"{number.normalize(Context(prec=digits)):f}{' %' if unit in {'share', 'risk'} else ''}"


def _looked_at(check: CheckPlan, by: ComparedBy | None) -> Value:
    """Name the columns of a check, and for distributions the distance and how missing values are read."""
    options = dict(check.options)
    column, columns = options.get("column"), options.get("columns")
    named = [str(column)] if column is not None else list(columns) if isinstance(columns, tuple) else []
    if by is not None:
        return of_key("fragment.distance", what=check.expect, column=listed(named), distance=by.words)
    if check.expect == "l_diversity":
        return of_key("fragment.known", what=check.expect, column=listed(named))
    return of_key("fragment.of", what=check.expect, column=listed(named)) if named else check.expect


def _sentence(check: CheckPlan, value: Fraction | float, unit: str, by: ComparedBy | None) -> Said:
    limits = [(word, limit) for word, limit in (("at_least", check.minimum), ("at_most", check.maximum)) if limit is not None]
    figure, *texts = _texts(value, [limit for _, limit in limits], unit)
    bounds = [of_key(f"fragment.{word}", n=share_of(text)) for (word, _), text in zip(limits, texts, strict=True)]
    return say("asks", what=_looked_at(check, by), figure=share_of(figure), bounds=listed(bounds, "and"))


def _distance(asked: _Asked) -> ComparedBy | None:
    """Return the distance of a check that compares distributions of a column; None for any other."""
    if asked.check.expect not in {"t_closeness", "distribution_shift"} or asked.column is None:
        return None
    return compared_by(asked.evidence, asked.check, asked.column)


def _visibility(measure: Measure, value: Fraction | int, rows: int, audience: Audience) -> Visibility:
    if measure.of_source:
        return Visibility.INTERNAL
    if measure.unit == "count":
        return audience.of(int(value))
    if measure.unit == "risk":
        return audience.of(int(1 / Fraction(value)) if value else 0)
    return audience.of(round(Fraction(value) * rows), rows)


def policy_checks(
    evidence: Evidence, threats: Iterable[ThreatResult], engine: AuditEngine, verifiers: Verifiers = VERIFIERS
) -> tuple[CheckResult, ...]:
    """Make every check of the policy on this release, in the policy's order."""
    results, checks = tuple(threats), evidence.plan.checks
    usable = frozenset(column.name for column in evidence.usable)
    places = Places(evidence.main, usable, evidence.source, minimum_of(evidence.plan.threats))
    standard = [check for check in checks if check.expectation is not None]
    made = {result.id: result for result in standard_checks(standard, places, engine)}
    return tuple(
        made[check.id] if check.id in made else _checked(check, evidence, results, engine, verifiers) for check in checks
    )


def _checked(
    check: CheckPlan, evidence: Evidence, threats: tuple[ThreatResult, ...], engine: AuditEngine, verifiers: Verifiers
) -> CheckResult:
    options = dict(check.options)
    named, column = options.get("threat"), options.get("column")
    chosen = tuple(threat for threat in threats if named is None or threat.name == named)
    asked = _Asked(evidence, chosen, column if isinstance(column, str) else None, engine, check, verifiers)
    made = replace(
        POLICY_CHECK,
        id=check.id,
        words=(check.expect, POLICY_CHECK.hint),
        judge=_measured,
        severity=check.severity,
        location=check.location,
    )
    return result_of(made, made.judge(asked))


def _measured(asked: _Asked) -> CheckOutcome:
    """Measure what a check of the policy names, and check it against its limits."""
    check, measure = asked.check, MEASURES.get(asked.check.expect)
    if measure is None:
        return _unmade(say("measure_unknown", what=check.expect))
    value = measure.of(asked)
    if isinstance(value, Judged):
        return _judged(check, value, measure.unit, _distance(asked))
    if isinstance(value, Said):
        return _unmade(say("measure_unmade_why", what=check.expect, why=value))
    if value is None or (check.minimum is None and check.maximum is None):
        return _unmade(say("measure_unmade", what=check.expect))
    exact = Fraction(value)
    holds = (check.minimum is None or exact >= check.minimum) and (check.maximum is None or exact <= check.maximum)
    audience = Audience(minimum_of(asked.evidence.plan.threats))
    shown = _visibility(measure, value, _rows(asked) or 0, audience)
    figure = int(exact) if measure.unit == "count" and exact.denominator == 1 else exact
    return CheckOutcome(
        Outcome.PASS if holds else _failing(check),
        _sentence(check, value, measure.unit, _distance(asked)),
        observed=Figure.of(figure, measure.unit, shown),
        limit=_limit(check, measure.unit),
        visibility=shown,
    )


def _judged(check: CheckPlan, found: Judged, unit: Unit, by: ComparedBy | None) -> CheckOutcome:
    """A figure that was judged exactly where it was measured. Recipients see that it holds; how it fails names small classes."""
    shown = Visibility.RECIPIENT if found.holds else Visibility.INTERNAL
    said = _sentence(check, found.value, unit, by)
    return CheckOutcome(
        Outcome.PASS if found.holds else _failing(check),
        said if found.holds or found.beside is None else say("with_beside", what=said, beside=found.beside),
        observed=Figure.of(found.value, unit, shown),
        limit=_limit(check, unit),
        visibility=shown,
    )


def _unmade(why: Said) -> CheckOutcome:
    return CheckOutcome(Outcome.NOT_EVALUATED, why, visibility=Visibility.RECIPIENT)


def _failing(check: CheckPlan) -> Outcome:
    return Outcome.FAIL if check.severity == "error" else Outcome.WARN


def _limit(check: CheckPlan, unit: Unit) -> Figure:
    return Figure.of(check.maximum if check.maximum is not None else check.minimum, unit, Visibility.RECIPIENT)
