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
from privrelease.engine.duckdb.auditing.row_map import opened_map
from privrelease.engine.duckdb.auditing.rows import kept_links
from privrelease.engine.duckdb.measuring.dictionaries import encoded
from privrelease.engine.identifier_runs import hexadecimal, identifiers_of, runs_of
from privrelease.engine.protocol.audit import SameCells
from privrelease.engine.protocol.identifiers import FORMS, IdentifierMatches, OwnMatches
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.identifier_runs import Form, Identifiers, Runs

__all__ = ["identifier_matches", "own_identifiers", "same_cells"]

Expr = exp.Expr

#: Rows of the source in which other forms are looked for row by row: what half of the rows hold shows in far fewer.
_SAMPLE = 20_000
#: Cells that are read at once, and bytes of the texts that are folded at once.
_CELLS = 1 << 18
_BYTES = 1 << 19


@dataclass(frozen=True, eq=False, slots=True)
class _Block:
    """Cells of some rows: ``codes``: (columns, rows) places among the distinct ``texts``, -1 missing; ``first``: the first row."""

    first: int
    codes: NDArray[np.int64]
    texts: Any

    @property
    def rows(self) -> slice:
        """The rows of the table."""
        return slice(self.first, self.first + self.codes.shape[1])


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


def _cells(of: Opened, names: Sequence[str], step: int) -> exp.Select:
    """Select columns as texts, enumerations as they are, of every ``step``-th row."""
    cells = [of.key(name, "t") if name in of.texts else sql.cast(of.key(name, "t"), "VARCHAR") for name in names]
    rows = exp.select(*(sql.aliased(cell, f"k{place}") for place, cell in enumerate(cells))).from_(of.rows("t", step > 1))
    place = exp.Mod(this=sql.column(of.row_number, "t"), expression=sql.integer(step))
    return rows if step == 1 else rows.where(exp.EQ(this=place, expression=sql.integer(0)))


def _blocks(connection: Connection, of: Opened, names: Sequence[str], step: int = 1) -> Iterator[_Block]:
    """Read the cells of columns, blocks of rows in their order."""
    import pyarrow as pa

    if not names:
        return
    first = 0
    for batch in connection.side_blocks(_cells(of, names, step), max(1, _CELLS // len(names))):
        columns = [one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in batch.columns]
        coded = pa.concat_arrays([one.cast(pa.string()) for one in columns]).dictionary_encode()
        codes = np.asarray(coded.indices.fill_null(-1), np.int64).reshape(len(names), batch.num_rows)
        yield _Block(first, codes, coded.dictionary)
        first += batch.num_rows


def _runs(texts: Any) -> Iterator[tuple[int, Runs]]:  # noqa: ANN401 - Arrow has no types
    """Find the runs of texts, some of them at a time; also the place of the first."""
    import pyarrow.compute as pc

    sizes = np.cumsum(np.asarray(pc.binary_length(texts), np.int64))
    low = 0
    while low < len(texts):
        before = int(sizes[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(sizes, before + _BYTES)))
        yield low, runs_of(texts.slice(low, high - low))
        low = high


def _named(connection: Connection, source: Opened, names: Sequence[str], step: int) -> dict[str, _Named]:
    """Read direct identifiers and prepare them for being looked for."""
    import pyarrow as pa

    named = {}
    for name in dict.fromkeys(names):
        codes, texts = encoded(connection.arrow(_cells(source, [name], step)).column(0))
        texts = texts.cast(pa.string())
        table = connection.fresh("names")
        connection.register(table, pa.table({"t": texts}))
        try:
            hashes = (sql.aliased(sql.call(one, sql.column("t")), one) for one in ("md5", "sha1", "sha256"))
            hashed = connection.arrow(exp.select(*hashes).from_(sql.table(table)))
        finally:
            connection.unregister(table)
        named[name] = _Named(codes.astype(np.int64) - 1, identifiers_of(texts, hashed.columns))
    return named


def _hits(block: _Block, named: dict[str, _Named], forms: Sequence[str]) -> dict[tuple[str, str], tuple[Any, Any]]:
    """Return, for each direct identifier and form, the (text, key) pairs of a block, ascending and each once."""
    found: dict[tuple[str, str], list[tuple[Any, Any]]] = defaultdict(list)
    for first, runs in _runs(block.texts):
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
    blocks: Iterator[_Block], columns: int, named: dict[str, _Named], forms: Sequence[str]
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
    block: _Block,
    hits: tuple[NDArray[np.int64], NDArray[np.int64]],
    keys: NDArray[np.int64],
    times: NDArray[np.int64],
    form: Form,
) -> None:
    texts, found = hits
    columns, rows = _held(block, texts)
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


def _held(block: _Block, texts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (column, row) of the cells with one of the texts."""
    some = np.zeros(len(block.texts) + 1, np.bool_)
    some[texts] = True
    columns, rows = np.nonzero(some[block.codes])
    return columns, rows


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
    named = _named(connection, source, [one for one, _ in pairs], step)
    names = list(dict.fromkeys(two for _, two in pairs))
    place = {name: at for at, name in enumerate(names)}
    counted = _row_by_row(_blocks(connection, source, names, step), len(names), named, forms)
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
    named = _named(connection, source, [one for one, _ in pairs], 1)
    most = {name: int(np.bincount(of.codes[of.codes >= 0], minlength=1).max()) for name, of in named.items()}
    at: NDArray[np.signedinteger] = np.full(released.n_rows, -1, np.min_scalar_type(-source.n_rows - 1))
    with opened_map(connection, row_map) as of_map:
        for of_source, of_output in of_map.inside(source.n_rows, released.n_rows):
            at[of_output] = of_source
    mapped = {name: _Named(np.where(at >= 0, of.codes[at], -1), of.distinct) for name, of in named.items()}
    names = list(dict.fromkeys(two for _, two in pairs))
    counted = _row_by_row(_blocks(connection, released, names), len(names), mapped, ["plain"])
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
    named = _named(connection, source, [one for one, _ in pairs], 1)
    names = list(dict.fromkeys(two for _, two in pairs))
    found = _everywhere(_blocks(connection, released, names), names, set(pairs), named, forms)
    cells = {name: _cell_facts(connection, released, name) for name in dict.fromkeys(name for _, name, _ in found)}
    matches = []
    for form in sorted(forms, key=FORMS.index):
        for direct, name in pairs:
            if (direct, name, form) in found:
                keys, rows = found[direct, name, form]
                matches.append(_matches(connection, (direct, name, form), named[direct], keys, rows, cells[name]))
    return tuple(matches)


def _everywhere(
    blocks: Iterator[_Block],
    names: Sequence[str],
    pairs: set[tuple[str, str]],
    named: dict[str, _Named],
    forms: Sequence[str],
) -> dict[tuple[str, str, str], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return, for each (identifier, column, form) that meet, the keys and the rows of the file's cells that hold them."""
    found: dict[tuple[str, str, str], list[tuple[Any, Any]]] = defaultdict(list)
    for block in blocks:
        for (direct, form), (texts, asked) in _hits(block, named, forms).items():
            columns, rows = _held(block, texts)
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


@dataclass(frozen=True, eq=False, slots=True)
class _CellFacts:
    """Distinct cells of a column: all as they are, folded, with a digit, that look like a hash; the numbers that are cells, or in them."""

    plain: int
    folded: int
    digits: int
    hashed: int
    numbers: NDArray[np.int64]
    inside: NDArray[np.int64]

    def of(self, form: str) -> tuple[int, NDArray[np.int64]]:
        """Return the distinct cells that could hold a key of a form, and the numbers that could be one."""
        cells = {"plain": self.plain, "digits": self.digits, "hashed": self.hashed}.get(form, self.folded)
        return cells, self.inside if form in {"digits", "part"} else self.numbers


def _cell_facts(connection: Connection, released: Opened, name: str) -> _CellFacts:
    (plain,) = connection.row(
        exp.select(exp.Count(this=exp.Distinct(expressions=[released.key(name, "t")]))).from_(released.rows("t", False))
    )
    kinds = [_Distinct(np.uint64) for _ in range(3)]
    numbers = [_Distinct(np.int64) for _ in range(2)]
    for block in _blocks(connection, released, [name]):
        for _, runs in _runs(block.texts):
            numerals = np.zeros(len(runs.texts), np.bool_)
            numerals[runs.text_at(runs.numbers[0])] = True
            for known, which in zip(
                kinds, (~runs.empty, numerals & ~runs.empty, np.asarray(hexadecimal(runs.texts))), strict=True
            ):
                known.add(runs.whole[which])
            for known, whole in zip(numbers, (True, False), strict=True):
                known.add(runs.values(whole=whole)[1])
    folded, digits, hashed = (len(known.values()) for known in kinds)
    return _CellFacts(int(plain), folded, digits, hashed, numbers[0].values(), numbers[1].values())


class _Distinct:
    """Distinct values that come in parts: put in order only when as many are new as known, so that all cost one sort or two."""

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 - a type of numpy
        self._known: NDArray[Any] = np.zeros(0, kind)
        self._new: list[NDArray[Any]] = []
        self._waiting = 0

    def add(self, values: NDArray[Any]) -> None:
        """Add values."""
        self._new.append(values)
        self._waiting += len(values)
        if self._waiting > max(len(self._known), _CELLS):
            self.values()

    def values(self) -> NDArray[Any]:
        """Return the distinct values, ascending."""
        self._known = np.unique(np.concatenate([self._known, *self._new]))
        self._new, self._waiting = [], 0
        return self._known


def _matches(
    connection: Connection,
    names: tuple[str, str, str],
    named: _Named,
    keys: NDArray[np.int64],
    rows: NDArray[np.int64],
    cells: _CellFacts,
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
