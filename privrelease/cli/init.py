"""``privrelease init``: a commented starter policy from the header of a data file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from privrelease.cli.ending import Ending
from privrelease.errors import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console

__all__ = ["init"]

_ENDINGS = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".txt", ".parquet", ".pq")


def init(data_file: Path, output: Path, console: Console) -> Ending:
    """Write the starter, never over a file that exists. Reads names and declared types of columns, no row."""
    from privrelease.engine.duckdb.header import read_header
    from privrelease.policy.starter import starter_policy

    if os.path.lexists(output):
        raise _taken(output)
    if not data_file.is_file():
        raise InputError(code="C111", message=f"{data_file} is no file", hint="name a csv or parquet file")
    if not data_file.name.lower().endswith(_ENDINGS):
        raise UsageError(code="C112", message=f"the kind of {data_file.name} is not known", hint="name a csv or parquet file")
    columns = read_header(data_file)
    source = os.path.relpath(data_file.resolve(), output.resolve().parent)
    types = {name: kind for name, kind in columns if kind is not None}
    text = starter_policy([name for name, _ in columns], source, types=types)
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise _taken(output) from None
    console.log(f"wrote {output} with {len(columns)} columns; every role in it is open")
    console.log(f"next: decide each role, then `privrelease validate {output}`")
    return Ending(0, f"{output} is a starting point; nothing in it was judged")


def _taken(output: Path) -> UsageError:
    return UsageError(code="C110", message=f"{output} exists already", hint="name another file with -o, or move it away")
