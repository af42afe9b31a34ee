"""Output of ``privrelease ledger status``: caps, what was spent, what is left, by population and by dataset with its own cap.

Next to the sums, which caps are about, it shows the zCDP cost of all draws of a population: a view, as tight as the draws
allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.dp.conversion import epsilon_of_rho
from privrelease.findings import pluralise
from privrelease.ledger.accounts import unit_words
from privrelease.ledger.refusals import left_of
from privrelease.units import Epsilon, Rho
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from privrelease.dp.budget import Budget
    from privrelease.ledger.database import DatabaseLedger
    from privrelease.ledger.protocol import Balance
    from privrelease.ledger.state import Book

__all__ = ["shown", "shown_as_data"]


@dataclass(frozen=True, slots=True)
class _Concentrated:
    """Budget that a population spent by zCDP: ``epsilon`` at the delta of its cap, never below the truth; ``failure`` is inside
    that delta.
    """

    rho: Fraction
    failure: Fraction
    epsilon: Epsilon
    delta: str


def shown(ledger: DatabaseLedger) -> list[str]:
    """Return the lines."""
    book = ledger.book()
    lines = [f"ledger {book.identity} at {ledger.place.shown}, {pluralise(len(book.entries), 'entry', 'entries')}"]
    for name, balance in _populations(ledger, book):
        lines += [f"population {name}", *_budgets(balance, book.populations[name].units)]
        lines += [f"    by {release}: epsilon {cost.epsilon}  delta {cost.delta}" for release, cost in balance.spenders]
        view = _concentrated(book, name, balance)
        if view is not None:
            lines.append(f"  by zCDP epsilon {view.epsilon} at delta {view.delta}, rho {_short(view.rho)}")
    for name, balance in _datasets(ledger, book):
        lines += [f"dataset {name}", *_budgets(balance, book.datasets[name].units)]
    return lines


def shown_as_data(ledger: DatabaseLedger) -> dict[str, object]:
    """Return the same for JSON."""
    book = ledger.book()
    head = book.head
    return {
        "ledger": book.identity,
        "at": ledger.place.shown,
        "sequence": head.sequence,
        "head": head.hash,
        "populations": [
            {
                "population": name,
                "datasets": sorted(one for one, home in book.population_of.items() if home == name),
                **_numbers(balance, book.populations[name].units),
                "spenders": [{"release": release, **_pair(cost)} for release, cost in balance.spenders],
                "zcdp": _view(_concentrated(book, name, balance)),
            }
            for name, balance in _populations(ledger, book)
        ],
        "datasets": [
            {"dataset": name, **_numbers(balance, book.datasets[name].units)} for name, balance in _datasets(ledger, book)
        ],
    }


def _populations(ledger: DatabaseLedger, book: Book) -> Iterator[tuple[str, Balance]]:
    for name in sorted(book.populations):
        yield name, ledger.balance(name)


def _datasets(ledger: DatabaseLedger, book: Book) -> Iterator[tuple[str, Balance]]:
    for name in sorted(book.datasets):
        balance = ledger.dataset_balance(name)
        if balance.cap is not None:
            yield name, balance


def _budgets(balance: Balance, units: Sequence[tuple[str | None, Budget]]) -> Iterator[str]:
    """Cap, what was spent by unit, and what is left; epsilon of rows and of persons is no sum, and the cap covers all of it."""
    assert balance.cap is not None
    spent = [(f"  for {unit_words(unit)}", one) for unit, one in units] or [("", balance.spent)]
    yield f"  {'cap':<6} epsilon {balance.cap.epsilon}  delta {balance.cap.delta}"
    for words, one in spent:
        yield f"  {'spent':<6} epsilon {one.epsilon}  delta {one.delta}{words}"
    left = left_of(balance.cap, balance.spent)
    yield f"  {'left':<6} epsilon {left.epsilon}  delta {left.delta}"
    if len(spent) > 1:
        yield f"  further charges are for {unit_words(units[0][0])} only; the cap counts both"


def _numbers(balance: Balance, units: Sequence[tuple[str | None, Budget]]) -> dict[str, object]:
    """``spent``: for the account's own unit; ``units``: for every one."""
    assert balance.cap is not None
    left = left_of(balance.cap, balance.spent)
    spent = units[0][1] if units else balance.spent
    by_unit = [{"unit": unit_words(unit), **_pair(one)} for unit, one in units]
    return {"cap": _pair(balance.cap), "spent": _pair(spent), "left": _pair(left), "units": by_unit}


def _pair(budget: Budget) -> dict[str, str]:
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def _concentrated(book: Book, population: str, balance: Balance) -> _Concentrated | None:
    """Return the view; None where nothing was spent, or the cap has no delta left over failures to convert at."""
    if balance.cap is None or not balance.spenders:
        return None
    rho, failure = book.concentrated(population)
    left = balance.cap.delta.value - failure
    if left <= 0:
        return None
    return _Concentrated(rho, failure, Epsilon(epsilon_of_rho(rho, left)), str(balance.cap.delta))


def _view(view: _Concentrated | None) -> dict[str, str] | None:
    if view is None:
        return None
    return {"rho": str(Rho(view.rho)), "failure": str(view.failure), "epsilon": str(view.epsilon), "delta": view.delta}


def _short(rho: Fraction) -> str:
    return f"{float(rho):.6g}"
