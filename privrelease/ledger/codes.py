"""Codes of what a ledger refuses; append-only. They end a command with exit code 4, since nothing may be spent.

What only asks for something that cannot be done ends with 2: L101, L125, and L124 where the ledger has no owners at all.
"""

from __future__ import annotations

__all__ = ["CODES"]

CODES: dict[str, str] = {
    "L101": "a policy that names no ledger",
    "L102": "a ledger that is not there",
    "L103": "a ledger that is empty, damaged, or none",
    "L104": "a ledger that can only be read",
    "L105": "a format of a newer version, or an unknown one",
    "L106": "a URL that names no ledger, or a variable that is not set",
    "L107": "a ledger that cannot be opened or reached",
    "L108": "a ledger that others keep busy",
    "L109": "no room for another entry",
    "L110": "an entry or an answer that was altered, removed or moved",
    "L111": "a ledger that lacks an entry which a manifest names: an older copy",
    "L112": "another ledger than the one that a population was charged to",
    "L113": "a clock that went backwards",
    "L114": "a population or a dataset without a budget",
    "L115": "a dataset under another population than its own",
    "L120": "a budget that does not cover a release",
    "L121": "a snapshot with another content than when it was first used",
    "L122": "data that was used before, under another population",
    "L123": "answers to a reservation that does not wait for them",
    "L124": "a cap that is set without the signature it needs",
    "L125": "a ledger that is there already",
    "L126": "a new ledger where releases were charged to one that is not here",
    "L128": "a server that does not keep what is committed",
    "L129": "data that was used before, as another dataset of the same population",
    "L131": "a stored answer about other data than what is there now",
    "L132": "a reservation that stored no answers: its budget stays spent",
    "L133": "a population that was charged under another unit",
    "L134": "a stored answer whose data could not be compared with what is there now",
}
