"""Entries of a ledger: canonical JSON texts, each naming the hash of the one before, so that none can change alone.

The text is what is hashed and what is stored; numbers in it are texts of exact decimals (or fractions), never floats.
Contents of data are compared by keyed digests (``key:digest``, joined by commas).
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privrelease.dp.budget import Budget
from privrelease.dp.composition import Apart, Part
from privrelease.dp.draws import Draw
from privrelease.dp.envelope_records import EnvelopeDraw, Reserved
from privrelease.dp.sensitivity import Neighbours
from privrelease.ledger.protocol import Claim
from privrelease.relational.filter_records import filter_record, read_filter_record
from privrelease.units import Delta, Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "NOTHING",
    "Entry",
    "budget_record",
    "claim_record",
    "commit_record",
    "differ",
    "digests_of",
    "read_budget",
    "read_claim",
    "read_envelope_draws",
    "written",
]

#: What the first entry names as the hash before it.
NOTHING = "0" * 64

_MOMENT = "%Y-%m-%dT%H:%M:%S.%fZ"


def written(value: object) -> str:
    """Return a value as canonical JSON on one line: sorted keys, no spaces, ASCII.

    >>> written({"b": 1, "a": "0.1"})
    '{"a":"0.1","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. ``kind``: ledger, population, dataset, cap, reserve, commit or forget; ``body``: what it says.

    >>> first = Entry(0, NOTHING, datetime(2026, 1, 2, tzinfo=UTC), "ledger", {"ledger": "a"})
    >>> Entry.read(first.text) == first, len(first.hash)
    (True, 64)
    """

    sequence: int
    previous: str
    at: datetime
    kind: str
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The entry as it is stored and hashed."""
        return written(
            {
                "at": self.at.strftime(_MOMENT),
                "body": self.body,
                "kind": self.kind,
                "previous": self.previous,
                "sequence": self.sequence,
            }
        )

    @property
    def hash(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @classmethod
    def read(cls, text: str, *, hashed: bool = False) -> Entry:
        """Return the entry of a text; raises ValueError where it is not one, or not written as this program writes it.

        ``hashed``: the caller compares the text's hash with the one on record, so that writing it again would show nothing
        more.
        """
        try:
            found = json.loads(text)
            at = datetime.fromisoformat(found["at"]).astimezone(UTC)
            entry = cls(found["sequence"], found["previous"], at, found["kind"], found["body"])
            same = hashed or entry.text == text
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            msg = "not an entry"
            raise ValueError(msg) from error
        if not same:
            msg = "not written as entries are"
            raise ValueError(msg)
        return entry


def budget_record(budget: Budget) -> dict[str, str]:
    """Return a budget as exact texts.

    >>> budget_record(Budget(Epsilon("0.10"), Delta("1e-5")))
    {'epsilon': '0.1', 'delta': '0.00001'}
    """
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def read_budget(record: Mapping[str, str]) -> Budget:
    """Return the budget of a record; raises ValueError or KeyError where it is not valid."""
    return Budget(Epsilon(Fraction(record["epsilon"])), Delta(Fraction(record["delta"])))


def claim_record(claim: Claim) -> dict[str, Any]:
    """Return a claim as plain data: every draw with mechanism, sensitivity, scale and grid."""
    apart = {} if not claim.apart else {"apart": [_apart_record(one) for one in claim.apart]}
    return {
        "population": claim.population,
        "dataset": claim.dataset,
        "release": claim.release,
        "policy_sha256": claim.policy_sha256,
        "draws": [draw.record() for draw in claim.draws],
        "cost": budget_record(claim.cost),
        "snapshot": claim.snapshot,
        "content": claim.content,
        "accountant": claim.accountant,
        "run": claim.run,
        "queries": list(claim.queries),
        **({} if claim.unit is None else {"unit": claim.unit}),
        **({} if claim.envelope is None else {"envelope": claim.envelope.record()}),
        **apart,
    }


def _apart_record(apart: Apart) -> dict[str, Any]:
    parts = [{"queries": list(part.queries), "where": filter_record(part.where)} for part in apart.parts]
    return {"max_rows": apart.max_rows, "neighbours": apart.neighbours.value, "parts": parts}


def _read_apart(record: Mapping[str, Any]) -> Apart:
    parts = tuple(Part(tuple(map(str, part["queries"])), read_filter_record(part["where"])) for part in record["parts"])
    return Apart(parts, int(record["max_rows"]), Neighbours(record["neighbours"]))


def read_claim(record: Mapping[str, Any], *, draws: bool = True) -> Claim:
    """Return the claim of a record; raises ValueError where it is not valid, or a draw in it claims less than it costs.

    ``draws`` False leaves them out: building one recomputes its cost, which takes its time.
    """
    try:
        rest = dict(record)
        drawn = rest.pop("draws")
        cost = read_budget(rest.pop("cost"))
        queries = tuple(rest.pop("queries"))
        apart = tuple(_read_apart(one) for one in rest.pop("apart", ()))
        envelope = rest.pop("envelope", None)
        reserved = None if envelope is None else Reserved.from_record(envelope)
        built = tuple(Draw.from_record(draw) for draw in drawn) if draws else ()
        return Claim(draws=built, cost=cost, queries=queries, apart=apart, envelope=reserved, **rest)
    except (KeyError, TypeError) as error:
        msg = "not the record of a claim"
        raise ValueError(msg) from error


def commit_record(number: int, answers: Mapping[str, bytes], draws: tuple[EnvelopeDraw, ...] | None = None) -> dict[str, Any]:
    """Return the commit of a reservation as plain data: the digests of its answers, and the draws where it was an envelope."""
    digests = {key: hashlib.sha256(answer).hexdigest() for key, answer in answers.items()}
    drawn = {} if draws is None else {"draws": [draw.record() for draw in draws]}
    return {"reservation": number, "answers": digests, **drawn}


def read_envelope_draws(body: Mapping[str, Any]) -> tuple[EnvelopeDraw, ...] | None:
    """Return the draws that a commit lists, None where it is not of an envelope; raises ValueError where one is not valid."""
    return None if "draws" not in body else tuple(EnvelopeDraw.from_record(draw) for draw in body["draws"])


def digests_of(content: str | None) -> tuple[tuple[str, ...], ...]:
    """Return the parts of a content: (key id, digest) of each file; a content without keys is one digest under the empty key.

    >>> digests_of("k1:aa,k1:bb")
    (('k1', 'aa'), ('k1', 'bb'))
    """
    if not content:
        return ()
    return tuple(tuple(part.split(":", 1)) if ":" in part else ("", part) for part in content.split(","))


def differ(before: str | None, after: str | None) -> bool:
    """Return True if two contents under the same keys differ, in whatever order their files are; under other keys no one can
    tell.

    >>> differ("k1:aa", "k1:bb"), differ("k1:aa", "k2:bb"), differ("k1:aa", "k1:aa"), differ("k1:aa,k1:bb", "k1:bb,k1:aa")
    (True, False, False, False)
    """
    one, other = digests_of(before), digests_of(after)
    if not one or not other:
        return False
    if {part[0] for part in one} != {part[0] for part in other}:
        return False
    return sorted(one) != sorted(other)
