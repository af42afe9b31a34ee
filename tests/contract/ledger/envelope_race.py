"""``envelope_race.py URL FOLDER N EPSILON [REPEATS]``: as ``race.py``, with envelopes in place of claims of draws."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def ask(url: str, folder: Path, epsilon: str, number: int, gate: int) -> int:
    from conftest import whole_claim

    from privrelease.errors import BudgetError
    from privrelease.ledger.open import open_ledger

    claim = whole_claim(epsilon, run=f"r{number}")
    os.read(gate, 1)  # returns for all at once, when the parent closes its end
    try:
        ledger = open_ledger(url, folder=folder)
        ledger.commit(ledger.reserve(claim), {"q1": str(number).encode()}, ())
    except BudgetError as error:
        return 4 if error.code == "L120" else 5
    return 0


if __name__ == "__main__":
    import race

    race.ask = ask
    race.main()
