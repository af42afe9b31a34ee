"""The locked connection: it reads and writes inside the named folders only, and its errors carry no cell.

An error of DuckDB may quote the line, the value or the SQL it stumbled over. None of that passes: every error becomes one of ours,
with the kind of the fault and nothing of its text.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import duckdb

from privrelease.engine.duckdb.errors import fault, refusal
from privrelease.engine.duckdb.sql import render
from privrelease.interruption import heed, is_interruption

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray
    from sqlglot import exp

    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.errors import PrivreleaseError

__all__ = ["Connection"]

#: How the names of spill folders begin, and the file by which their owner is known to live.
_SPILL = "privrelease-engine-"
_OWNER = "owner.lock"


class Connection:
    """A DuckDB connection over an in-memory database that spills into a private folder of its own.

    Raises InputError D120 where the memory limit or the temporary folder does not suffice, D121 where a file cannot be read or
    written, InternalError for everything that is a fault of ours.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        base = settings.temp_folder
        try:
            if base is not None:
                base.mkdir(parents=True, exist_ok=True)
            _clear_abandoned(Path(tempfile.gettempdir()) if base is None else base)
            self.temp = Path(tempfile.mkdtemp(prefix=_SPILL, dir=base)).resolve()
            self._owned = _owned(self.temp)
        except OSError as error:
            message = f"the temporary folder cannot be used: {error.strerror}"
            raise refusal(message, "D121", hint="name a writable folder as the engine's temporary folder") from None
        self._roots = tuple(root.resolve() for root in (*settings.readable, *settings.writable))
        self._writable = tuple(root.resolve() for root in settings.writable)
        self._names = 0
        self._registered: set[str] = set()
        try:
            self._connection = self._open(settings)
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        shutil.rmtree(self.temp, ignore_errors=True)
        self._owned.close()

    def _open(self, settings: EngineSettings) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(
            ":memory:",
            config={
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "allow_community_extensions": False,
            },
        )
        folders = [f"{root}{os.sep}" for root in dict.fromkeys((*self._roots, self.temp))]
        values: list[tuple[str, str | int | bool | list[str]]] = [
            ("memory_limit", settings.memory_limit),
            ("temp_directory", str(self.temp)),
            ("preserve_insertion_order", True),
            ("python_enable_replacements", False),
            ("enable_progress_bar", False),
            ("default_collation", "binary"),
            ("TimeZone", "UTC"),
        ]
        if settings.max_temp_size is not None:
            values.append(("max_temp_directory_size", settings.max_temp_size))
        if settings.threads is not None:
            values.append(("threads", settings.threads))
        values += [("allowed_directories", folders), ("enable_external_access", False), ("lock_configuration", True)]
        try:
            for name, value in values:
                connection.execute(f"SET {name} = $1", [value])
        except duckdb.Error:
            connection.close()
            message = f"the engine does not accept its setting {name}"
            raise refusal(message, "D122", hint="sizes are written like 1GiB, threads as a whole number") from None
        return connection

    def single_threaded(self) -> Connection:
        """Return another database under the same limits, with one thread: what it writes has the same bytes every time."""
        return Connection(replace(self._settings, threads=1))

    def close(self) -> None:
        """Free the database and remove the spill folder."""
        self._connection.close()
        self._leave()

    def fresh(self, prefix: str) -> str:
        """Return a name that no table, type or view of this connection has."""
        self._names += 1
        return f"{prefix}{self._names}"

    def readable(self, path: Path) -> bool:
        """Tell whether the file, links followed, lies in a folder that may be read."""
        return _inside(path, (*self._roots, self.temp))

    def writable(self, path: Path) -> bool:
        """Tell whether the file, links followed, lies in a folder that may be written."""
        return _inside(path, (*self._writable, self.temp))

    # running
    def run(self, tree: exp.Expr, parameters: Sequence[Any] = ()) -> None:
        """Run a statement."""
        with _ours():
            self._connection.execute(render(tree), parameters or None)

    def row(self, tree: exp.Expr, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Return the only row of a query of figures."""
        rows = self.rows(tree, parameters)
        assert len(rows) == 1
        return rows[0]

    def rows(self, tree: exp.Expr, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the few rows of a query of figures."""
        with _ours():
            return self._connection.execute(render(tree), parameters or None).fetchall()

    def arrays(self, tree: exp.Expr, parameters: Sequence[Any] = ()) -> dict[str, NDArray[Any]]:
        """Return the columns of a query as numpy arrays (masked arrays where a cell is NULL)."""
        with _ours():
            return dict(self._connection.execute(render(tree), parameters or None).fetchnumpy())

    def arrow(self, tree: exp.Expr, parameters: Sequence[Any] = ()) -> pa.Table:
        """Return the result of a query as an Arrow table."""
        with _ours():
            return self._connection.sql(render(tree), params=parameters or None).to_arrow_table()

    def side_blocks(self, tree: exp.Expr, rows: int, parameters: Sequence[Any] = ()) -> pa.RecordBatchReader:
        """Return the result of a query as a stream of Arrow blocks of about ``rows`` rows, over a cursor of its own, so that it may
        feed a statement of this connection.
        """
        with _ours():
            return self._connection.cursor().sql(render(tree), params=parameters or None).to_arrow_reader(rows)

    def blocks(self, tree: exp.Expr, rows: int, parameters: Sequence[Any] = ()) -> Iterator[pa.RecordBatch]:
        """Yield the blocks of :meth:`side_blocks`; the query runs while they are read, and its errors become ours then."""
        reader = self.side_blocks(tree, rows, parameters)
        while True:
            with _ours():
                try:
                    block = reader.read_next_batch()
                except StopIteration:
                    return
                except OSError as error:  # Arrow hands on the driver's errors as texts, which begin with their kind
                    raise _KINDS.get(str(error).partition(":")[0], duckdb.Error)(str(error)) from None
            yield block

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return another connection to the same locked database, for a library that speaks to it itself. Its errors hold cells."""
        return self._connection.cursor()

    def attempt(self, tree: exp.Expr, parameters: Sequence[Any] = ()) -> duckdb.Error | None:
        """Run a statement that may fail on the data; the error is returned for classification by its type, never for its text."""
        with _ours():
            try:
                self._connection.execute(render(tree), parameters or None)
            except (duckdb.OutOfMemoryException, duckdb.InterruptException):
                raise
            except duckdb.Error as error:
                if isinstance(error, duckdb.IOException) and _spill_is_full(str(error)):
                    raise
                return error
        return None

    def stored(self) -> int:
        """Return the number of rows that the statement just run has stored in a table."""
        with _ours():
            ((rows,),) = self._connection.fetchall()
        return int(rows)

    # tables
    def register(self, name: str, columns: Mapping[str, NDArray[Any]] | pa.RecordBatchReader | pa.Table) -> None:
        """Make numpy columns or an Arrow stream readable as a table of that name."""
        self._connection.register(name, columns)
        self._registered.add(name)

    def unregister(self, name: str) -> None:
        """Forget what was registered under the name."""
        if name in self._registered:
            self._registered.discard(name)
            self._connection.unregister(name)

    def drop(self, kind: str, name: str) -> None:
        """Drop a table, view or type of ours if it is there."""
        from sqlglot import exp

        self.run(exp.Drop(tables=[exp.Table(this=exp.to_identifier(name, quoted=True))], kind=kind, exists=True))


_SPILL_FULL = (
    "the engine's temporary folder is full",
    "free space on its disk, point the temporary folder to another one, or raise the memory limit so that less is put there",
)
#: How a system says that a file cannot grow: no space, a quota, a limit.
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MEMORY_FULL = ("the engine ran out of memory", "raise the memory limit, or use fewer threads")
_KINDS: dict[str, type[duckdb.Error]] = {
    "Out of Memory Error": duckdb.OutOfMemoryException,
    "IO Error": duckdb.IOException,
    "INTERRUPT Error": duckdb.InterruptException,
}


def _owned(folder: Path) -> BinaryIO:
    """Lock a file in a spill folder for as long as this process lives: whoever finds it unlocked knows that its owner is dead."""
    handle = (folder / _OWNER).open("wb")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # a file system without locks: its folders are never cleared up by others
        (folder / _OWNER).unlink()
    return handle


def _clear_abandoned(base: Path) -> None:
    """Remove the spill folders of processes of the same user that were killed. What cannot be determined, or removed, stays."""
    for folder in base.glob(f"{_SPILL}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            with (folder / _OWNER).open("r+b") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # its owner lives, or it is another's
            continue


def _inside(path: Path, roots: tuple[Path, ...]) -> bool:
    resolved = path.resolve()
    return any(resolved == root or root in resolved.parents for root in roots)


def _spill_is_full(said: str) -> bool:
    """Return True if an input/output error says that a file of a spill folder found no space: others may fill the disk while we run, below
    any limit of ours.
    """
    return _SPILL in said and any(os.strerror(number) in said for number in _NO_SPACE)


@contextlib.contextmanager
def _ours() -> Iterator[None]:
    """Turn an error of DuckDB into one of ours, of the same kind and without its text."""
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        heed()  # a query that was interrupted may say anything
        raise _as_ours(error) from None
    except RuntimeError as error:
        if is_interruption(error):  # how the driver reports Ctrl-C while it waits
            raise KeyboardInterrupt from None
        raise


def _as_ours(error: duckdb.Error) -> PrivreleaseError:
    """Return the error of ours that says as much as may be said."""
    if isinstance(error, duckdb.OutOfMemoryException):
        message, hint = _SPILL_FULL if "offload" in str(error) else _MEMORY_FULL
        return refusal(message, "D120", hint=hint)
    if not isinstance(error, duckdb.IOException):
        return fault(f"a query of the engine failed ({type(error).__name__})")
    if _spill_is_full(str(error)):
        return refusal(_SPILL_FULL[0], "D120", hint=_SPILL_FULL[1])
    return refusal("a file could not be read or written", "D121", hint="check space and permissions of the folders")
