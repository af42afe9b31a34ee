"""The study of noise that a paper on medical data prints, on synthetic patients: no one is in them, so no budget is needed.

10,000 patients, 1,500 of them positive: their number, the mean glucose of the positive ones in [50, 400] mg/dL, and a histogram of all ages in
bins of ten years; Laplace and Gaussian noise at delta 1e-5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.dp.domains import Bins, NumericDomain
from privrelease.dp.queries import Count, Histogram, Mean, Setting
from privrelease.dp.sensitivity import Contribution
from privrelease.execute.statistics.simulation import Made, repeated
from privrelease.plan.statistics.simulated import Simulation
from privrelease.units import Delta

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.dp.randomness import Randomness
    from privrelease.units import Epsilon

__all__ = ["DELTA", "PATIENTS", "study"]

PATIENTS: Final = 10_000
POSITIVE: Final = 1_500
DELTA: Final = Delta("1e-5")
#: The synthetic patients are the same each time; the noise is not.
_SEED: Final = 20260101
_WHERE: Final = "diagnosis = 'positive'"


def study(epsilons: Sequence[Epsilon], *, repetitions: int, randomness: Randomness, delta: Delta = DELTA) -> Simulation:
    """Repeat the study; see :class:`~privrelease.plan.statistics.simulated.Simulated`."""
    import numpy as np

    patients = np.random.default_rng(_SEED)
    age = np.clip(np.rint(patients.normal(54, 17, PATIENTS)), 18, 85).astype(np.int64)
    glucose = np.clip(np.rint(patients.normal(1500, 300, POSITIVE)), 500, 4000).astype(np.int64)  # steps of 0.1 mg/dL
    domain = NumericDomain("50", "400", grid="0.1")
    bins = Bins.of_width(NumericDomain(18, 85), 10)
    starts = np.array([int(edge) for edge in bins.edges])
    made = (
        Made(Count("positives", where=_WHERE), {"rows": (POSITIVE,)}),
        Made(
            Mean("glucose_of_positives", "glucose", domain, where=_WHERE),
            {"sum": (int((glucose - domain.centre).sum()),), "rows": (POSITIVE,)},
        ),
        Made(Histogram("ages", "age", bins), {"rows": tuple(np.histogram(age, starts)[0].tolist())}),
    )
    setting = Setting(Contribution(1))
    found = [one for each in made for one in repeated(each, setting, epsilons, delta, repetitions, randomness)]
    return Simulation("study", None, PATIENTS, repetitions, tuple(found))
