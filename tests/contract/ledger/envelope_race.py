"""``envelope_race.py URL FOLDER N EPSILON [REPEATS [same]]``: as ``race.py``, with envelopes in place of claims of draws.

``same``: all ask one question of one snapshot, through the door that serves what is stored; who is served ends with 3.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def ask(url: str, folder: Path, epsilon: str, number: int, gate: int) -> int:
    from conftest import Ones, looks, served_asking, whole_claim

    from privrelease.errors import BudgetError
    from privrelease.ledger.open import open_ledger

    claim, asking = whole_claim(epsilon, run=f"r{number}", snapshot="2026", content="k1:aa"), served_asking(epsilon=epsilon)
    os.read(gate, 1)  # returns for all at once, when the parent closes its end
    try:
        ledger = open_ledger(url, folder=folder)
        if len(sys.argv) > 6:
            return 3 if looks(ledger, asking, Ones(asking), claim)[1].served else 0
        ledger.commit(ledger.reserve(claim), {"q1": str(number).encode()}, ())
    except BudgetError as error:
        return 4 if error.code == "L120" else 5
    return 0


if __name__ == "__main__":
    import race

    import privrelease.dp.randomness
    import privrelease.execute.common.envelopes  # noqa: F401 -- what a run needs is there before the processes part

    race.ask = ask
    race.main()
