"""The threat's own attacker: prosecutor, journalist or marketer, with the population that each one needs.

An unknown population is not replaced by the sample in silence: where only its size and an estimator are given, or the weights of released
rows cannot be found, or rows of one person stay linkable (a table of the population holds no sets of rows), the prosecutor's
figure applies, which is never below the journalist's, and the result says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from privrelease.audit.document.model import Figure
from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.classes.grouping import is_residual
from privrelease.disclosure.population.class_sizes import sizes_from_population, sizes_from_weights, weight_sums
from privrelease.disclosure.risk.individual import global_risk, individual_risk
from privrelease.disclosure.risk.journalist import journalist_risk
from privrelease.disclosure.risk.marketer import marketer_risk
from privrelease.disclosure.risk.prosecutor import prosecutor_risk
from privrelease.disclosure.risk.verdict import RiskMeasures

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import PopulationSide
    from privrelease.audit.microdata.risk.class_sizes import Residual
    from privrelease.audit.microdata.risk.figures import Measured, Reading
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.disclosure.risk.journalist import PopulationSizes
    from privrelease.plan.model import ThreatPlan

__all__ = ["SETS_STAND_IN", "STANDS_IN", "attacker_risk"]

_METHODS: Final[tuple[Literal["exact", "approximate"], ...]] = ("exact", "approximate")
STANDS_IN = "the prosecutor's figure: class sizes in the population are not known, and are at least those in the file"
SETS_STAND_IN = (
    "the prosecutor's figure: the population's persons are not known by their sets of rows, and are at least those in the file"
)


def _population_sizes(
    threat: ThreatPlan, table: ClassTable | None, outside: PopulationSide | None, reading: Reading, residual: Residual
) -> PopulationSizes | None:
    if outside is None or table is None:
        return None
    columns = list(threat.columns)
    if outside.population is not None:
        return sizes_from_population(table, outside.population, columns, missing=reading, residual=residual)
    return sizes_from_weights(table, columns, missing=reading, residual=residual)


def attacker_risk(
    threat: ThreatPlan, size: Measured, table: ClassTable | None, outside: PopulationSide | None, residual: Residual
) -> tuple[RiskMeasures, dict[str, Figure]]:
    """Measure the threat's attacker on one side; also the figures of the others, by name.

    ``table``: that side's class table in ``outside``. Figures of the population count the source: they are internal.
    """
    above = None if threat.thresholds.at_risk is None else threat.thresholds.at_risk.above
    prosecutor = prosecutor_risk(size.sizes, above=above)
    further = _estimated(threat, size)
    if threat.attacker == "prosecutor":
        return prosecutor, further
    further["prosecutor_highest"] = Figure.of(prosecutor.highest, "risk")
    further["prosecutor_average"] = Figure.of(prosecutor.average, "risk")
    linked = size.counted in {"person_sets", "person_multisets"}
    sizes = None if linked else _population_sizes(threat, table, outside, size.reading, residual)
    if sizes is None:
        average = RiskMeasures("marketer", prosecutor.n_records, None, prosecutor.average, prosecutor.average_rounded_up)
        further["population"] = Figure.of(None, note=SETS_STAND_IN if linked else STANDS_IN)
        return (average if threat.attacker == "marketer" else prosecutor), further
    journalist, marketer = journalist_risk(sizes, above=above), marketer_risk(sizes)
    further["journalist_highest"] = Figure.of(journalist.highest, "risk")
    further["journalist_average"] = Figure.of(journalist.average, "risk")
    further["marketer"] = Figure.of(marketer.average, "risk")
    if table is not None and table.weights is not None and size.reading == "category":
        further |= _reidentifications(table, residual)
    if sizes.short:
        note = "classes for which the population has fewer than the file itself: counted as in the file"
        further["population_short"] = Figure.of(sizes.short, "count", note=note)
    return (marketer if threat.attacker == "marketer" else journalist), further


def _reidentifications(table: ClassTable, residual: Residual) -> dict[str, Figure]:
    """Expected re-identifications from sampling weights: the exact form, and sdcMicro's approximation, each by its name (case k09)."""
    kept = ~is_residual(table.codes) if residual == "lost" else np.ones(table.n_classes, np.bool_)
    counts = table.counts[kept]
    sums = weight_sums(table)[kept]
    found = {}
    for method in _METHODS:
        expected = global_risk(individual_risk(counts, sums, method), counts).expected if len(counts) else 0.0
        name = "approximation" if method == "approximate" else method
        found[f"expected_reidentifications_{name}"] = Figure.of(expected, "number")
    return found


def _estimated(threat: ThreatPlan, size: Measured) -> dict[str, Figure]:
    known = threat.population
    if known is None or known.size is None or known.estimator is None or not isinstance(size.sizes, ClassSizes):
        return {}
    if known.size < max(size.sizes.n_records, 1):
        return {"population_uniques": Figure.of(None, note="the stated population is smaller than the file")}
    from privrelease.disclosure.population.uniqueness import estimate_population_uniqueness

    found = estimate_population_uniqueness(size.sizes, known.size, known.estimator)
    return {
        f"population_uniques_{found.estimator}": Figure.of(
            found.uniques, note=None if found.uniques is not None else "no solution"
        ),
        f"population_unique_share_{found.estimator}": Figure.of(found.share, "share"),
    }
