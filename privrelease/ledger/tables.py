"""The tables of a ledger, their version, and how older versions become the present one.

Entries are stored as the texts that are hashed, and as nothing else: there is no second column that could say something different.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, String, Table, Text, select, update

from privrelease.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy.engine import Connection

__all__ = ["ANSWERS", "ENTRIES", "FORMAT", "LEDGER", "METADATA", "MIGRATIONS", "check_readable", "found_format", "migrate"]

#: Version of the tables and entries that this program writes. 2: totals of other accountants and parts, answers that were let go, caps of
#: datasets that are set again. 3: claims say whose epsilon they spend, answers are kept by what determines them.
#: 4: envelopes, whose commits list their draws.
FORMAT: Final = 4

#: Versions that can be read as they are.
_READABLE: Final = frozenset({1, 2, 3, 4})

METADATA: Final = MetaData()

#: One row: which version, which ledger. Writers lock it.
LEDGER: Final = Table(
    "privrelease_ledger",
    METADATA,
    Column("one", Integer, primary_key=True, autoincrement=False),
    Column("format", Integer, nullable=False),
    Column("ledger", String(64), nullable=False),
)

ENTRIES: Final = Table(
    "privrelease_entries",
    METADATA,
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("entry", Text, nullable=False),
)

#: Stored answers by query key; their digests stand in the entries, so that answers can be let go without breaking the chain.
ANSWERS: Final = Table(
    "privrelease_answers",
    METADATA,
    Column("query", String(200), primary_key=True),
    Column("answer", LargeBinary, nullable=False),
)

#: By version: what makes the next one of it, within the transaction that found it.
MIGRATIONS: Final[Mapping[int, Callable[[Connection], None]]] = {1: lambda _: None, 2: lambda _: None, 3: lambda _: None}


def migrate(
    connection: Connection,
    found: int,
    *,
    target: int = FORMAT,
    migrations: Mapping[int, Callable[[Connection], None]] = MIGRATIONS,
) -> None:
    """Bring tables of version ``found`` to ``target``. Raises BudgetError (L105) where they are newer, or too old to be known."""
    if found > target:
        raise BudgetError(
            code="L105",
            message=f"the ledger has format {found}, and this version of privrelease knows {target}",
            hint="install the version that wrote it, or a newer one",
        )
    for version in range(found, target):
        if version not in migrations:
            raise BudgetError(code="L105", message=f"the ledger has the unknown format {found}", hint="was it changed by hand?")
        migrations[version](connection)
        connection.execute(update(LEDGER).values(format=version + 1))


def check_readable(found: int) -> None:
    """Raise BudgetError (L105) where tables of version ``found`` cannot be read as they are."""
    if found not in _READABLE:
        raise BudgetError(
            code="L105",
            message=f"the ledger has format {found}, and this version of privrelease knows {FORMAT}",
            hint="install the version that wrote it, or a newer one" if found > FORMAT else "was it changed by hand?",
        )


def found_format(connection: Connection) -> int:
    """Return the version of the tables. Raises BudgetError (L103) where the one row that says it is not there."""
    rows = connection.execute(select(LEDGER.c.format)).all()
    if len(rows) != 1:
        raise BudgetError(
            code="L103", message="the database holds no ledger", hint="name the ledger's database in `ledger.url`"
        )
    return int(rows[0][0])
