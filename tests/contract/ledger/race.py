"""``race.py URL FOLDER N EPSILON [REPEATS]``: N processes ask for EPSILON of one ledger at the same moment; prints how each ended.

``{}`` in the URL is the number of the repeat.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def ask(url: str, folder: Path, epsilon: str, number: int, gate: int) -> int:
    from conftest import count_claim

    from privrelease.errors import BudgetError
    from privrelease.ledger.open import open_ledger

    os.read(gate, 1)  # returns for all at once, when the parent closes its end
    try:
        ledger = open_ledger(url, folder=folder)
        made = ledger.reserve(count_claim(epsilon, run=f"r{number}"))
        ledger.commit(made, {"q1": str(number).encode()})
    except BudgetError as error:
        return 4 if error.code == "L120" else 5
    return 0


def race(url: str, folder: Path, many: int, epsilon: str) -> list[int]:
    """How each of ``many`` processes ended."""
    gate, start = os.pipe()
    children = []
    for number in range(many):
        child = os.fork()
        if child == 0:
            os.close(start)
            code = 9
            try:
                code = ask(url, folder, epsilon, number, gate)
            finally:
                os._exit(code)
        children.append(child)
    os.close(start)
    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    os.close(gate)
    return codes


def main() -> None:
    import conftest  # noqa: F401 -- imported once, before the processes part

    from privrelease.ledger.open import open_ledger

    url, folder, many, epsilon = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    for number in range(int(sys.argv[5]) if len(sys.argv) > 5 else 1):
        open_ledger(url.format(number), folder=folder)  # what it imports is there before the processes part
        print(*race(url.format(number), folder, many, epsilon))  # noqa: T201 -- what the test reads


if __name__ == "__main__":
    main()
