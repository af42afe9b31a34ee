"""``envelope_serve.py URL FOLDER [WORD]``: one run of a method that looks, through the door that serves what is stored.

Prints ``reserved N`` where it was charged, ``measured`` after its answers, and at the end ``committed`` or ``free`` with the answers. At WORD it
waits for a line. ``forks`` for WORD: for each line that it reads, a process of its own whose id it prints, and which makes run after run, each of
another version of the method from that of the line on, until it is killed; then ``ended``.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PAUSE = sys.argv[3] if len(sys.argv) > 3 else ""


def said(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())  # at once, whenever the process is killed
    if words[0] == PAUSE:
        sys.stdin.readline()


def runs(versions: Iterable[int]) -> None:
    from conftest import Ones, looks, served_asking, whole_claim

    from privrelease.ledger.open import open_ledger

    ledger = open_ledger(sys.argv[1], folder=Path(sys.argv[2]))
    claim = whole_claim("0.4", snapshot="2026", content="k1:aa")
    for version in versions:
        asking = served_asking(version)
        seen, lent = looks(ledger, asking, Ones(asking), claim, said)
        said("free" if lent.served else "committed", version, json.dumps(seen))


def forks() -> None:
    from conftest import Ones, looks, served_asking, whole_claim

    from privrelease.ledger.memory import MemoryLedger
    from privrelease.ledger.open import open_ledger

    # what a run needs is loaded once, before the processes part
    open_ledger(sys.argv[1], folder=Path(sys.argv[2])).book()
    looks(MemoryLedger(), served_asking(), Ones(served_asking()), whole_claim("0.4"))
    for first in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            said("pid", os.getpid())
            runs(itertools.count(int(first)))
        os.waitpid(child, 0)
        said("ended")


if __name__ == "__main__":
    forks() if PAUSE == "forks" else runs((1,))
