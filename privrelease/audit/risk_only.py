"""Risk of one file alone: one aggregate query, no source, no row map, no class table.

For a first look at a large file, and for the benchmark: k, highest, average and records at risk cost what counting the classes costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.figures import Audience, minimum_of
from privrelease.audit.risk import Measured, risk_facts
from privrelease.disclosure.class_sizes import ClassSizes

if TYPE_CHECKING:
    from privrelease.audit.model import RiskFacts
    from privrelease.engine.protocol import Engine, ReleasedFile, Staged
    from privrelease.plan.model import ThreatPlan

__all__ = ["audit_risk_only"]


def audit_risk_only(
    of: Staged | ReleasedFile, threat: ThreatPlan, *, engine: Engine, residual_lost: bool = True, unit: str | None = None
) -> RiskFacts:
    """Measure ``threat``'s columns on one file or staged source, missing equal to missing.

    ``residual_lost``: records with every column missing are lost (a step or a mark suppressed them) rather than a class. ``unit``: a column
    of the file that names the person; classes then count persons.
    """
    found = engine.size_histogram(of, threat.columns, unit=unit, residual=residual_lost)
    sizes = ClassSizes.from_arrays(found.sizes, found.classes, residual=found.residual)
    measured = Measured("category", "records" if unit is None else "persons", sizes, sizes.n_classes, sizes.residual)
    above = None if threat.thresholds.at_risk is None else threat.thresholds.at_risk.above
    return risk_facts(measured, k=threat.thresholds.k, above=above, audience=Audience(minimum_of((threat,))))
