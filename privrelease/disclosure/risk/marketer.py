"""Marketer risk: the attacker links the whole file with the population and wants to be right often, not for one person.

The expected share of records re-identified is (1/n) Σ f/F over classes. Without a population, F = f, and it is J/n.
Source: Dankar and El Emam, A method for evaluating marketer re-identification risk (2010); `reference/arx.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.disclosure.risk.verdict import RiskMeasures, judge

if TYPE_CHECKING:
    from privrelease.disclosure.risk.journalist import PopulationSizes
    from privrelease.disclosure.risk.thresholds import Thresholds
    from privrelease.disclosure.risk.verdict import Verdict

__all__ = ["marketer_risk", "marketer_verdict"]


def marketer_risk(sizes: PopulationSizes) -> RiskMeasures:
    """Measure marketer risk; it has an average only, of persons where they are in several classes.

    >>> import numpy as np
    >>> from privrelease.disclosure.risk.journalist import PopulationSizes
    >>> marketer_risk(PopulationSizes.of(np.array([2, 1]), np.array([10, 4]))).average
    Fraction(3, 20)
    """
    if not sizes.n_records:
        return RiskMeasures("marketer", 0, None, None)
    average = sizes.own.mean_reciprocal()
    return RiskMeasures("marketer", sizes.n_records, None, average.value, average.rounded_up, population_short=sizes.short)


def marketer_verdict(sizes: PopulationSizes, thresholds: Thresholds) -> Verdict:
    """Judge marketer risk against thresholds; a limit on the highest risk or on records at risk is a ValueError."""
    return judge(marketer_risk(sizes), thresholds)
