"""Direct identifiers under other names and in other forms, over the cells of a source and of a released file. See
:mod:`privrelease.engine.protocol.identifiers`.

Cells come as blocks of columns in one Arrow dictionary, so that a value that many cells have is folded and hashed once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.auditing.identifier_blocks import (
    Block,
    CellFacts,
    blocks_of,
    cell_facts,
    cells_of,
    rows_holding,
    runs_by_slice,
)
from privrelease.engine.duckdb.auditing.row_map import opened_map
from privrelease.engine.duckdb.auditing.rows import kept_links
from privrelease.engine.duckdb.measuring.dictionaries import encoded
from privrelease.engine.identifier_forms import hexadecimal, identifiers_of
from privrelease.engine.protocol.audit import SameCells
from privrelease.engine.protocol.identifiers import FORMS, IdentifierMatches, OwnMatches
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.identifier_forms import Form, Identifiers

__all__ = ["identifier_matches", "own_identifiers", "same_cells"]

Expr = exp.Expr
#: Rows of the source in which other forms are looked for row by row: what half of the rows hold shows in far fewer.
_SAMPLE = 20_000


@dataclass(frozen=True, eq=False, slots=True)
class _Named:
    """A direct identifier: ``codes``: (n,) the place of each row's own among the distinct ones, -1 missing."""

    codes: NDArray[np.int64]
    distinct: Identifiers

    def keys(self, form: str) -> NDArray[np.int64]:
        """Return each row's key in a form, -1 none."""
        return np.append(self.distinct.forms[form].keys, -1)[self.codes]


@dataclass(eq=False, slots=True)
class _Counted:
    """Figures of each column, added up over blocks, (columns,)."""

    columns: int
    compared: NDArray[np.int64] = field(init=False)
    same: NDArray[np.int64] = field(init=False)
    strong: NDArray[np.int64] = field(init=False)
    expected: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.compared, self.same, self.strong = (np.zeros(self.columns, np.int64) for _ in range(3))
        self.expected = np.zeros(self.columns)


def _named(
    connection: Connection, source: Opened, names: Iterable[str], forms: Sequence[str], step: int = 1
) -> dict[str, _Named]:
    """Read direct identifiers and prepare them for being looked for in these forms."""
    import pyarrow as pa

    named = {}
    for name in dict.fromkeys(names):
        codes, texts = encoded(connection.arrow(cells_of(source, [name], step)).column(0))
        texts = texts.cast(pa.string())
        hashes = _hashes(connection, texts) if "hashed" in forms else ()
        named[name] = _Named(codes.astype(np.int64) - 1, identifiers_of(texts, forms, hashes))
    return named


def _hashes(connection: Connection, texts: Any) -> Sequence[Any]:  # noqa: ANN401 - Arrow has no types
    """Return the hashes of texts in hexadecimal, for each kind of hash."""
    import pyarrow as pa

    table = connection.fresh("names")
    connection.register(table, pa.table({"t": texts}))
    try:
        hashes = (sql.aliased(sql.call(one, sql.column("t")), one) for one in ("md5", "sha1", "sha256"))
        columns: Sequence[Any] = connection.arrow(exp.select(*hashes).from_(sql.table(table), copy=False)).columns
        return columns
    finally:
        connection.unregister(table)


def _hits(block: Block, named: dict[str, _Named], forms: Sequence[str]) -> dict[tuple[str, str], tuple[Any, Any]]:
    """Return, for each direct identifier and form, the (text, key) pairs of a block, ascending and each once."""
    found: dict[tuple[str, str], list[tuple[Any, Any]]] = defaultdict(list)
    for first, runs in runs_by_slice(block.texts):
        for name, of in named.items():
            for form in forms:
                texts, keys = of.distinct.hits(runs, form)
                if len(texts):
                    found[name, form].append((texts + first, keys))
    return {
        key: (np.concatenate([one for one, _ in parts]), np.concatenate([two for _, two in parts]))
        for key, parts in found.items()
    }


def _row_by_row(
    blocks: Iterator[Block], columns: int, named: dict[str, _Named], forms: Sequence[str]
) -> dict[tuple[str, str], _Counted]:
    """Count the cells that hold their own row's identifier, by identifier and form."""
    counted = {(name, form): _Counted(columns) for name in named for form in forms}
    keys = {(name, form): named[name].keys(form) for name, form in counted}
    times = {key: np.bincount(keys[key][keys[key] >= 0], minlength=1) for key in counted}
    for block in blocks:
        there = block.codes >= 0
        hashes = np.append(np.asarray(hexadecimal(block.texts)), False)[block.codes] if "hashed" in forms else there
        hits = _hits(block, named, forms)
        compared = {name: (there & (of.codes[block.rows] >= 0)).sum(axis=1) for name, of in named.items()}
        for (name, form), figures in counted.items():
            figures.compared += (
                (hashes & (named[name].codes[block.rows] >= 0)).sum(axis=1) if form == "hashed" else compared[name]
            )
            if (name, form) in hits:
                _count(figures, block, hits[name, form], keys[name, form], times[name, form], named[name].distinct.forms[form])
    return counted


def _count(
    figures: _Counted,
    block: Block,
    hits: tuple[NDArray[np.int64], NDArray[np.int64]],
    keys: NDArray[np.int64],
    times: NDArray[np.int64],
    form: Form,
) -> None:
    texts, found = hits
    columns, rows = rows_holding(block, texts)
    codes, own = block.codes[columns, rows], keys[block.rows][rows]
    meetings = np.bincount(
        texts, weights=times[np.minimum(found, len(times) - 1)] * (found < len(times)), minlength=len(block.texts)
    )
    figures.expected += np.bincount(columns, weights=meetings[codes], minlength=figures.columns) / max(1, len(keys))
    pairs, asked = texts * len(form.weak) + found, codes * len(form.weak) + own
    place = np.minimum(np.searchsorted(pairs, asked), len(pairs) - 1)
    same = (own >= 0) & (pairs[place] == asked)
    figures.same += np.bincount(columns[same], minlength=figures.columns)
    strong = same & ~np.append(form.weak, True)[own]
    figures.strong += np.bincount(columns[strong], minlength=figures.columns)


def own_identifiers(
    connection: Connection, source: Opened, pairs: Sequence[tuple[str, str]], forms: Sequence[str]
) -> tuple[OwnMatches, ...]:
    """Compare columns in each row; in forms but the plain one in ``_SAMPLE`` rows at regular steps."""
    step = -(-source.n_rows // _SAMPLE) or 1
    if step > 1 and "plain" in forms:
        plain = _own(connection, source, pairs, ["plain"], 1)
        return (*plain, *_own(connection, source, pairs, [form for form in forms if form != "plain"], step))
    return _own(connection, source, pairs, forms, step)


def _own(
    connection: Connection, source: Opened, pairs: Sequence[tuple[str, str]], forms: Sequence[str], step: int
) -> tuple[OwnMatches, ...]:
    if not pairs or not forms:
        return ()
    named = _named(connection, source, (one for one, _ in pairs), forms, step)
    names = list(dict.fromkeys(two for _, two in pairs))
    place = {name: at for at, name in enumerate(names)}
    counted = _row_by_row(blocks_of(connection, source, names, step), len(names), named, forms)
    most = {
        key: int(np.bincount(own[own >= 0], minlength=1).max()) for key in counted if len(own := named[key[0]].keys(key[1]))
    }
    matches = []
    for form in sorted(forms, key=FORMS.index):
        for direct, released in pairs:
            figures, at = counted[direct, form], place[released]
            if figures.same[at]:
                compared, same, strong = (int(one[at]) for one in (figures.compared, figures.same, figures.strong))
                expected = float(figures.expected[at])
                matches.append(OwnMatches(direct, released, form, compared, same, strong, most[direct, form], expected))
    return tuple(matches)


def same_cells(
    connection: Connection, source: Opened, released: Opened, row_map: Path, pairs: Sequence[tuple[str, str]]
) -> tuple[SameCells, ...]:
    """Count, for each pair of columns, rows where both hold a value and rows where the values agree as text."""
    named = _named(connection, source, (one for one, _ in pairs), ["plain"])
    most = {name: int(np.bincount(of.codes[of.codes >= 0], minlength=1).max()) for name, of in named.items()}
    at: NDArray[np.signedinteger] = np.full(released.n_rows, -1, np.min_scalar_type(-source.n_rows - 1))
    with opened_map(connection, row_map) as of_map:
        for of_source, of_output in of_map.inside(source.n_rows, released.n_rows):
            at[of_output] = of_source
    mapped = {name: _Named(np.where(at >= 0, of.codes[at], -1), of.distinct) for name, of in named.items()}
    names = list(dict.fromkeys(two for _, two in pairs))
    counted = _row_by_row(blocks_of(connection, released, names), len(names), mapped, ["plain"])
    cells = []
    for ours, theirs in pairs:
        figures, place = counted[ours, "plain"], names.index(theirs)
        same = int(figures.same[place])
        expected = float(figures.expected[place]) if same else None
        cells.append(SameCells(ours, theirs, int(figures.compared[place]), same, most[ours] if same else 0, expected))
    return tuple(cells)


def identifier_matches(
    connection: Connection, source: Opened, released: Opened, pairs: Sequence[tuple[str, str]], forms: Sequence[str]
) -> tuple[IdentifierMatches, ...]:
    """Look for the identifiers of the source in every cell of the file."""
    if not pairs or not forms:
        return ()
    named = _named(connection, source, (one for one, _ in pairs), forms)
    names = list(dict.fromkeys(two for _, two in pairs))
    found = _everywhere(blocks_of(connection, released, names), names, set(pairs), named, forms)
    cells = {name: cell_facts(connection, released, name) for name in dict.fromkeys(name for _, name, _ in found)}
    matches = []
    for form in sorted(forms, key=FORMS.index):
        for direct, name in pairs:
            if (direct, name, form) in found:
                keys, rows = found[direct, name, form]
                matches.append(_matches(connection, (direct, name, form), named[direct], keys, rows, cells[name]))
    return tuple(matches)


def _everywhere(
    blocks: Iterator[Block],
    names: Sequence[str],
    pairs: set[tuple[str, str]],
    named: dict[str, _Named],
    forms: Sequence[str],
) -> dict[tuple[str, str, str], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return, for each (identifier, column, form) that meet, the keys and the rows of the file's cells that hold them."""
    found: dict[tuple[str, str, str], list[tuple[Any, Any]]] = defaultdict(list)
    for block in blocks:
        for (direct, form), (texts, asked) in _hits(block, named, forms).items():
            columns, rows = rows_holding(block, texts)
            low = np.searchsorted(texts, block.codes[columns, rows], side="left")
            times = np.searchsorted(texts, block.codes[columns, rows], side="right") - low
            which = np.repeat(low - (np.cumsum(times) - times), times) + np.arange(int(times.sum()))
            columns, rows, keys = np.repeat(columns, times), np.repeat(rows, times) + block.first, asked[which]
            cuts = np.searchsorted(columns, np.arange(len(names) + 1))
            for place in map(int, np.flatnonzero(np.diff(cuts))):
                if (direct, names[place]) in pairs:
                    cut = slice(int(cuts[place]), int(cuts[place + 1]))
                    found[direct, names[place], form].append((keys[cut], rows[cut]))
    return {
        key: (np.concatenate([one for one, _ in parts]), np.concatenate([two for _, two in parts]))
        for key, parts in found.items()
    }


def _matches(
    connection: Connection,
    names: tuple[str, str, str],
    named: _Named,
    keys: NDArray[np.int64],
    rows: NDArray[np.int64],
    cells: CellFacts,
) -> IdentifierMatches:
    form = named.distinct.forms[names[2]]
    own = named.keys(names[2])
    n_source = np.bincount(own[own >= 0], minlength=len(form.weak))
    n_released = np.bincount(keys, minlength=len(form.weak))
    shared = n_released > 0
    second, numbers = cells.of(names[2])
    row_of = np.zeros(len(form.weak), np.int64)
    known = np.flatnonzero(own >= 0)
    row_of[own[known]] = known
    alone = n_source[keys] == 1
    links = np.unique(np.stack([row_of[keys[alone]], rows[alone]], axis=1), axis=0)
    return IdentifierMatches(
        *names,
        first=len(form.weak),
        second=second,
        both=int(shared.sum()),
        weak=int((shared & form.weak).sum()),
        matched=int(n_released.sum()),
        own=int(np.minimum(n_source, n_released).sum()),
        expected=_expected(form.numbers, numbers),
        links=len(links),
        handle=kept_links(connection, links),
    )


def _expected(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> float | None:
    """Return the expected shared numbers, were the file's distinct numbers drawn from all whole numbers between their ends."""
    if not len(theirs):
        return None
    low, high = int(theirs[0]), int(theirs[-1])
    inside = int(np.searchsorted(ours, high, side="right") - np.searchsorted(ours, low, side="left"))
    return inside * len(theirs) / (high - low + 1)
