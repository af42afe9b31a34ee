"""Risk measures of one attacker, and whether they hold against thresholds. All exact."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.disclosure.risk.thresholds import Thresholds

__all__ = ["Attacker", "Judgement", "RiskMeasures", "Verdict", "judge"]

Attacker = Literal["prosecutor", "journalist", "marketer"]
Measure = Literal["highest_risk", "average_risk", "records_at_risk"]


@dataclass(frozen=True, slots=True)
class RiskMeasures:
    """Risk of re-identification by one attacker.

    ``highest``, ``average``: exact, or None where undefined: there is no record, or the attacker has no such measure.
    ``average_rounded_up``: the average is rounded up to 40 decimals (see :mod:`privrelease.disclosure.risk.ratios`).
    ``above``, ``records_at_risk``: number of records with risk strictly above a level, where a level was asked for.
    ``among``: of how many, where that is not ``n_records``: persons, who may be in several classes.
    ``population_short``: classes for which the population had fewer than the sample itself shows; they count as many as the sample.
    """

    attacker: Attacker
    n_records: int
    highest: Fraction | None
    average: Fraction | None
    average_rounded_up: bool = False
    above: Fraction | None = None
    records_at_risk: int | None = None
    population_short: int = 0
    among: int | None = None

    @property
    def share_at_risk(self) -> Fraction | None:
        """Share of records at risk; None where no level was asked for or there is no record."""
        if self.records_at_risk is None or not self.n_records:
            return None
        return Fraction(self.records_at_risk, self.n_records if self.among is None else self.among)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One threshold: ``value`` (None: undefined) against ``limit``; it holds where value <= limit, and never where undefined."""

    measure: Measure
    value: Fraction | None
    limit: Fraction

    @property
    def holds(self) -> bool:
        """Return True if the threshold is met."""
        return self.value is not None and self.value <= self.limit


@dataclass(frozen=True, slots=True)
class Verdict:
    """Every threshold that was set, judged. ``defined`` is False where no record is left: nothing can then be said to hold."""

    measures: RiskMeasures
    judgements: tuple[Judgement, ...]

    @property
    def defined(self) -> bool:
        """Return True if there are records to judge."""
        return self.measures.n_records > 0

    @property
    def holds(self) -> bool:
        """Return True if there are records and all thresholds are met."""
        return self.defined and all(judgement.holds for judgement in self.judgements)

    @property
    def failures(self) -> tuple[Judgement, ...]:
        """The thresholds that are not met."""
        return tuple(judgement for judgement in self.judgements if not judgement.holds)


def judge(measures: RiskMeasures, thresholds: Thresholds) -> Verdict:
    """Compare measures with thresholds, exactly: a risk equal to its threshold passes.

    Errors: ValueError where ``thresholds.at_risk`` asks for another level than the measures were taken at, and where the attacker
    has no highest risk (the marketer) but the thresholds limit it.

    >>> from fractions import Fraction
    >>> from privrelease.disclosure.risk.thresholds import Thresholds
    >>> measures = RiskMeasures("prosecutor", 10, Fraction(1, 5), Fraction(1, 10))
    >>> judge(measures, Thresholds(highest=Fraction("0.2"), average=Fraction("0.09"))).failures
    (Judgement(measure='average_risk', value=Fraction(1, 10), limit=Fraction(9, 100)),)
    """
    judgements: list[Judgement] = []
    if thresholds.highest is not None:
        if measures.attacker == "marketer":
            msg = "the marketer attacker has an average risk only"
            raise ValueError(msg)
        judgements.append(Judgement("highest_risk", measures.highest, thresholds.highest))
    if thresholds.average is not None:
        judgements.append(Judgement("average_risk", measures.average, thresholds.average))
    if thresholds.at_risk is not None:
        if measures.attacker == "marketer":
            msg = "the marketer attacker has an average risk only"
            raise ValueError(msg)
        if measures.above != thresholds.at_risk.above:
            msg = "records at risk were measured at another level than the threshold's"
            raise ValueError(msg)
        judgements.append(Judgement("records_at_risk", measures.share_at_risk, thresholds.at_risk.share))
    return Verdict(measures, tuple(judgements))
