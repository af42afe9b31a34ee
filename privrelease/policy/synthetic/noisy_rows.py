"""`rows: noisy` where the noise alone decides the number of rows: a warning before any budget is charged.

It is computed from the policy alone: budget, method, declared domain, and a number of rows that the policy itself states. The true number of rows
is private, and a warning that depended on it would disclose it outside the budget.

With noise X, symmetric about 0 and falling on both sides, and N rows, the noisy number is not positive, or above the most rows M of a release, unless
-N < X <= M - N. Of all intervals of length M the one around 0 has the most mass, so whatever N is, that happens with at least P(|X| > M/2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.dp.count_noise import chance_beyond
from privrelease.policy.language.synthetic import MOST_ROWS
from privrelease.policy.statistics.query_errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.policy.language.synthetic import SyntheticRelease
    from privrelease.policy.rules.rule_context import RuleContext
    from privrelease.policy.synthetic.resolve import Synthesis

__all__ = ["chance_without_rows", "noisy_rows", "stated_rows"]

#: From which chance on it is worth a warning.
_WORTH_SAYING: Final = 0.01


def stated_rows(reading: RuleContext, dataset: str) -> int | None:
    """Return the most rows that the policy says a mean over the whole dataset is about of; None where it says nothing."""
    from privrelease.policy.kind_statistics import STATISTICS

    stated = (
        query.expected_rows
        for _, release in reading.releases(STATISTICS)
        for query in release.queries
        if release.from_ == dataset and query.expected_rows is not None and query.filter is None and not query.by
    )
    return max(stated, default=None)


def chance_without_rows(found: Synthesis, rows: int | None) -> float:
    """Return the chance that a noisy number of rows is not positive or above `MOST_ROWS`: of so many rows, or (None) the least over all numbers."""
    if found.forecast.counted is None:
        return 0.0
    loss, cells = found.forecast.counted
    if rows is None or rows > MOST_ROWS:
        return chance_beyond(found.setting, loss, cells, MOST_ROWS // 2)
    below, above = rows - 1, MOST_ROWS - rows
    return (chance_beyond(found.setting, loss, cells, below) + chance_beyond(found.setting, loss, cells, above)) / 2


def noisy_rows(release: SyntheticRelease, found: Synthesis | None, rows: int | None) -> Iterator[Fault]:
    """Yield a warning where that chance is 1 % or more."""
    if release.rows != "noisy" or found is None:
        return
    chance = chance_without_rows(found, rows)
    if chance < _WORTH_SAYING:
        return
    about = "whatever the number of rows is" if rows is None else f"of about {rows} rows, as `expected_rows` states"
    message = f"with this budget the noisy number of rows is not positive or above {MOST_ROWS} with a chance of {chance:.0%} or more, {about}"
    hint = "write a number of rows, raise the budget, or choose coarser bins: such a run stops (D274) or draws no rows after its budget was charged"
    yield Fault("P783", message, ("rows",), hint, warn=True)
