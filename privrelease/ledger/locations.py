"""The location of a ledger: a SQLite file or a PostgreSQL database, by URL; and its failures said in words.

``sqlite:///file`` is relative to the policy's folder, ``sqlite:////file`` absolute. ``postgresql://user@host/database``: a password is
never written there; a name in capitals instead of a URL is that of an environment variable that holds the whole URL.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from privrelease.errors import BudgetError
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sqlalchemy.engine import Connection, Engine


__all__ = ["Place", "db_errors", "place_of"]

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,127}")
_SQLITE = "sqlite:///"

#: Seconds that a run waits for others that are writing.
PATIENCE: Final = 60.0

_REACH = (
    "if nothing was ever spent on these persons, make it: `privrelease ledger init POLICY`. Otherwise reach it: mount or restore "
    "its file at this path, or set `ledger.url` to where the team keeps it"
)
_RESTORE = "restore it from its last backup; a new ledger would forget what was spent"


@dataclass(frozen=True, slots=True)
class Place:
    """``path``: the file of a SQLite ledger; ``url``: that of a PostgreSQL one, never shown. ``shown``: what may be shown."""

    shown: str
    path: Path | None = None
    url: str | None = field(default=None, repr=False)

    @property
    def is_sqlite(self) -> bool:
        """Return True if the ledger is a file."""
        return self.path is not None

    def check_there(self) -> None:
        """Raise BudgetError (L102, L103) where a file is needed and there is none, or an empty one: none is made on the way."""
        if self.path is None:
            return
        try:
            size = self.path.stat().st_size if self.path.is_file() else None
        except OSError:
            size = None
        if size is None:
            raise BudgetError(code="L102", message=f"there is no ledger at {self.shown}", hint=_REACH)
        if size == 0:
            raise BudgetError(
                code="L103", message=f"the ledger at {self.shown} is empty (0 bytes): it was damaged", hint=_RESTORE
            )

    def engine(self, *, patience: float = PATIENCE) -> Engine:
        """Return an engine whose transactions are explicit, exclusive where they write, and durable when they end.

        ``BEGIN IMMEDIATE`` lets one writer in at a time. A rollback journal with synchronous EXTRA is one file after each commit, so a
        copy of it is whole, and is on disk with its folder's entry before the commit returns. Raises BudgetError (L106).
        """
        import sqlalchemy
        from sqlalchemy.pool import NullPool

        if self.path is not None:
            path = self.path

            def connect() -> sqlite3.Connection:
                raw = sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, isolation_level=None, timeout=patience)
                raw.execute("PRAGMA synchronous=EXTRA")
                raw.execute("PRAGMA trusted_schema=OFF")
                raw.execute("PRAGMA secure_delete=ON")
                return raw

            engine = sqlalchemy.create_engine("sqlite://", creator=connect, poolclass=NullPool)
            sqlalchemy.event.listen(engine, "begin", _begin_sqlite)
            return engine
        assert self.url is not None
        try:
            url = sqlalchemy.make_url(self.url).set(drivername="postgresql+psycopg")
            options = {"connect_timeout": 15, "application_name": "privrelease"}
            engine = sqlalchemy.create_engine(url, poolclass=NullPool, connect_args=options, hide_parameters=True)
        except ImportError:
            raise BudgetError(
                code="L106", message="a PostgreSQL ledger needs psycopg", hint="install it: pip install 'privrelease[postgres]'"
            ) from None
        except (sqlalchemy.exc.ArgumentError, ValueError):
            raise BudgetError(
                code="L106", message="the ledger's URL cannot be read", hint="write postgresql://user@host/database"
            ) from None
        milliseconds = int(patience * 1000)

        def begin(connection: Connection) -> None:
            if not connection.get_execution_options().get("reading"):
                connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")

        sqlalchemy.event.listen(engine, "begin", begin)
        return engine


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN" if connection.get_execution_options().get("reading") else "BEGIN IMMEDIATE")


def place_of(url: str, folder: Path, environment: Mapping[str, str]) -> Place:
    """Return the place that a URL names. Raises BudgetError (L106).

    >>> from pathlib import Path
    >>> place_of("sqlite:///ledger.db", Path("/policies"), {}).path.as_posix()
    '/policies/ledger.db'
    >>> place_of("LEDGER_URL", Path("/"), {"LEDGER_URL": "postgresql://dpo:made-up@db/ledger"}).shown
    'the URL in LEDGER_URL'
    """
    if _VARIABLE.fullmatch(url):
        found = environment.get(url)
        if not found:
            raise BudgetError(
                code="L106",
                message=f"the environment variable {url}, which names the ledger, is not set",
                hint="set it to the ledger's URL",
            )
        return _place(found, folder, shown=f"the URL in {url}")
    return _place(url, folder, shown=None)


def _place(url: str, folder: Path, shown: str | None) -> Place:
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE) and "?" not in url and "\0" not in url:
        path = folder / url.removeprefix(_SQLITE)
        return Place(shown or str(path), path=path)
    if re.match(r"postgres(ql)?(\+psycopg)?://", url):
        return Place(shown or _without_secrets(url), url=url)
    raise BudgetError(
        code="L106",
        message=f"{shown or 'ledger.url'} is not the URL of a ledger",
        hint="write sqlite:///FILE, postgresql://USER@HOST/DATABASE, or the name of an environment variable that holds it",
    )


def _without_secrets(url: str) -> str:
    """Return a URL without its password and parameters.

    >>> _without_secrets("postgresql://dpo:made-up@db/ledger?password=x")
    'postgresql://dpo@db/ledger'
    """
    return re.sub(r"(://[^/@:]*):[^/@]*@", r"\1@", url.partition("?")[0])


@contextmanager
def db_errors(place: Place) -> Iterator[None]:
    """Turn a database's failure into a BudgetError that says what to do; its own text, which may name secrets, is not shown."""
    from sqlalchemy.exc import DBAPIError

    try:
        yield
    except DBAPIError as error:
        raise _said(place, error.orig) from None
    except (sqlite3.Error, OSError) as error:
        raise _said(place, error) from None


def _said(place: Place, error: Any) -> BudgetError:  # noqa: ANN401 -- drivers share no base
    name = str(getattr(error, "sqlite_errorname", "") or "")
    state = str(getattr(error, "sqlstate", "") or "")
    nothing = "nothing was spent"
    if name.startswith("SQLITE_READONLY") or state in {"25006", "42501"}:
        return BudgetError(
            code="L104",
            message=f"the ledger at {place.shown} can only be read",
            hint=f"make its file and folder writable; {nothing}",
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or state in {"55P03", "40P01", "40001"}:
        return BudgetError(
            code="L108", message=f"the ledger at {place.shown} is busy with other runs", hint=f"run again; {nothing}"
        )
    if name.startswith("SQLITE_FULL") or state.startswith("53"):
        return BudgetError(
            code="L109", message=f"there is no room for the ledger at {place.shown}", hint=f"free some space; {nothing}"
        )
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_IOERR")):
        return BudgetError(
            code="L107", message=f"the ledger at {place.shown} cannot be opened", hint="check the path, its owner and its mode"
        )
    if place.is_sqlite or state.startswith(("42", "XX")):
        return BudgetError(code="L103", message=f"what is at {place.shown} is not a ledger, or it is damaged", hint=_RESTORE)
    return BudgetError(
        code="L107",
        message=f"the ledger at {place.shown} cannot be reached" + (f" (SQLSTATE {state})" if state else ""),
        hint="check host, database, user and network; whether something was spent is in `privrelease ledger history`",
    )
