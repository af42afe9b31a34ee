"""``spend.py URL FOLDER EPSILON``: reserves EPSILON again and again and prints a line after each, until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    from conftest import count_claim

    from privrelease.ledger.open import open_ledger

    ledger = open_ledger(sys.argv[1], folder=Path(sys.argv[2]))
    while True:
        print(ledger.reserve(count_claim(sys.argv[3])).id, flush=True)  # noqa: T201 -- what the test reads


if __name__ == "__main__":
    main()
