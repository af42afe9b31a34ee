"""``envelope_serve.py URL FOLDER [WORD [FIRST]]``: one run of a method that looks, through the door that serves what is stored.

Prints ``reserved N`` where it was charged, ``measured`` after its answers, and at the end ``committed`` or ``free`` with the answers. At WORD it
waits for a line. ``loop`` for WORD: run after run, each of another version of the method from FIRST on, until it is killed.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

PAUSE = sys.argv[3] if len(sys.argv) > 3 else ""


def said(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201 -- what the test reads
    if words[0] == PAUSE:
        sys.stdin.readline()


def main() -> None:
    from conftest import Ones, looks, served_asking, whole_claim

    from privrelease.ledger.open import open_ledger

    ledger = open_ledger(sys.argv[1], folder=Path(sys.argv[2]))
    claim = whole_claim("0.4", snapshot="2026", content="k1:aa")
    for version in itertools.count(int(sys.argv[4]) if len(sys.argv) > 4 else 1):
        asking = served_asking(version)
        seen, lent = looks(ledger, asking, Ones(asking), claim, said)
        said("free" if lent.served else "committed", version, json.dumps(seen))
        if PAUSE != "loop":
            return


if __name__ == "__main__":
    main()
