"""``envelope_run.py URL FOLDER EPSILON``: reserves envelopes, measures and commits again and again, until it is killed.

Prints ``reserved N`` after each reservation, ``measured`` after each answer and ``committed N`` after each commit.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    from conftest import Ones, whole_claim

    from privrelease.dp.envelope import Envelope, Marginal
    from privrelease.dp.queries import Setting
    from privrelease.dp.randomness import SystemRandomness
    from privrelease.dp.sensitivity import Contribution
    from privrelease.ledger.open import open_ledger
    from privrelease.units import Rho

    ledger = open_ledger(sys.argv[1], folder=Path(sys.argv[2]))
    claim = whole_claim(sys.argv[3])
    assert claim.envelope is not None
    number = 0
    while True:
        number += 1
        made = []
        envelope = Envelope(
            claim.envelope,
            Setting(Contribution(1)),
            Ones(),
            lambda _: made.append(ledger.reserve(claim)),  # noqa: B023 -- called at once
            SystemRandomness(),
        )
        print("reserved", made[0].id, flush=True)  # noqa: T201 -- what the test reads
        answers = [envelope.measure(Marginal("n", (3,)), Rho(claim.envelope.rho.value / 4)).tobytes() for _ in range(3)]
        print("measured", flush=True)  # noqa: T201
        ledger.commit(made[0], {"q1": answers[-1]}, envelope.close())
        print("committed", made[0].id, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
