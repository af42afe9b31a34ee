"""The log of publications where the ledger's database keeps it: texts in their order; what they say is the release's matter.

The table is no part of the ledger's own format: it is made when the first line is written, so that a ledger of any version can keep one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, insert, inspect, select

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

__all__ = ["AppendingTexts", "stored_texts"]

_PUBLICATIONS: Final = Table(
    "privrelease_publications",
    MetaData(),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("line", Text, nullable=False),
)


def stored_texts(connection: Connection) -> tuple[str, ...]:
    """Return every line in its order; none where no line was ever written."""
    if not inspect(connection).has_table(_PUBLICATIONS.name):
        return ()
    found = connection.execute(select(_PUBLICATIONS.c.line).order_by(_PUBLICATIONS.c.sequence))
    return tuple(str(text) for text in found.scalars())


class AppendingTexts:
    """The log within a writing transaction of the ledger: its lines are durable once that is committed."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        _PUBLICATIONS.create(connection, checkfirst=True)
        self._texts = list(stored_texts(connection))

    @property
    def texts(self) -> list[str]:
        """Every line, those appended included."""
        return self._texts

    def append(self, text: str) -> None:
        """Write one line."""
        self._connection.execute(insert(_PUBLICATIONS).values(sequence=len(self._texts), line=text))
        self._texts.append(text)
