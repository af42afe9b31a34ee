"""Prosecutor risk: the attacker knows that the person is in the data, so a class of size f gives the person away with chance 1/f.

highest: 1 / min f. average: (1/n) Σ over records of 1/f, which is J/n where records fall into classes. records at risk: those with 1/f
strictly above a level. Source: El Emam, Guide to the De-Identification of Personal Health Information (2013), chapter 16; Prasser et
al., Flexible data anonymization using ARX (2020).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.risk.ratios import RatioSum, sum_of_ratios
from privrelease.disclosure.risk.verdict import RiskMeasures, judge

if TYPE_CHECKING:
    from privrelease.disclosure.classes.class_sizes import SizeHistogram
    from privrelease.disclosure.risk.thresholds import Thresholds
    from privrelease.disclosure.risk.verdict import Verdict

__all__ = ["prosecutor_risk", "prosecutor_verdict"]


def prosecutor_risk(sizes: SizeHistogram, *, above: Fraction | None = None) -> RiskMeasures:
    """Measure prosecutor risk on class sizes, or on match sizes where missing matches anything.

    Where persons are in several classes, average and share are of persons, each as much at risk as in the smallest: more rows never lower them.
    ``above``: the level for records at risk, if any. Without a record, highest and average are None.

    >>> risk = prosecutor_risk(ClassSizes.from_arrays([2, 3], [2, 1]), above=Fraction("0.4"))
    >>> (risk.highest, risk.average, risk.records_at_risk)
    (Fraction(1, 2), Fraction(3, 7), 4)
    """
    n_records = sizes.n_records
    own = sizes if sizes.least is None else sizes.least
    at_risk = None if above is None else own.records_at_risk(above)
    if sizes.smallest is None:
        return RiskMeasures("prosecutor", 0, None, None, above=above, records_at_risk=at_risk)
    if own is sizes and isinstance(sizes, ClassSizes):
        average = RatioSum(Fraction(sizes.n_classes, n_records), rounded_up=False)
    else:
        total = sum_of_ratios(own.records.tolist(), [size * own.n_records for size in own.sizes.tolist()])
        average = total
    highest, among = Fraction(1, sizes.smallest), None if own is sizes else own.n_records
    return RiskMeasures("prosecutor", n_records, highest, average.value, average.rounded_up, above, at_risk, among=among)


def prosecutor_verdict(sizes: SizeHistogram, thresholds: Thresholds) -> Verdict:
    """Judge prosecutor risk against thresholds.

    >>> from privrelease.disclosure.risk.thresholds import Thresholds
    >>> prosecutor_verdict(ClassSizes.from_counts([5, 6]), Thresholds(highest=Fraction("0.2"))).holds
    True
    >>> prosecutor_verdict(ClassSizes.from_counts([]), Thresholds(highest=Fraction("0.2"))).holds
    False
    """
    above = None if thresholds.at_risk is None else thresholds.at_risk.above
    return judge(prosecutor_risk(sizes, above=above), thresholds)
