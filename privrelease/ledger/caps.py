"""Caps: the stricter of two, and the statement that an owner signs to set one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from privrelease.dp.budget import Budget
from privrelease.ledger.entries import budget_record, written
from privrelease.units import Delta, Epsilon

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CAP_STATEMENT", "Verifier", "cap_statement", "stricter"]

#: Returns the payload of a signed envelope where one of the keys (PEM) signed it; raises otherwise.
Verifier: TypeAlias = "Callable[[bytes, tuple[str, ...]], bytes]"

#: Type of the signed statement that sets a cap.
CAP_STATEMENT: Final = "application/vnd.privrelease.ledger-cap.v1+json"


def stricter(one: Budget | None, other: Budget | None) -> Budget | None:
    """Return the lower of two caps in each number; None is no cap.

    >>> low = stricter(Budget(Epsilon(1), Delta("1e-5")), Budget(Epsilon(2), Delta(0)))
    >>> str(low.epsilon), str(low.delta)
    ('1', '0')
    """
    if one is None or other is None:
        return one if other is None else other
    return Budget(Epsilon(min(one.epsilon.value, other.epsilon.value)), Delta(min(one.delta.value, other.delta.value)))


def cap_statement(
    ledger: str, name: str, cap: Budget, replaces: str, *, of: Literal["population", "dataset"] = "population"
) -> bytes:
    """Return what an owner signs to set a cap: good for one ledger, one population or dataset, and in place of one entry's cap (its hash)."""
    says = {
        "format": CAP_STATEMENT,
        "ledger": ledger,
        of: name,
        "cap": budget_record(cap),
        "replaces": replaces,
    }
    return written(says).encode()
