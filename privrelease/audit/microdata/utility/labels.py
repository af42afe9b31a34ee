"""The cost of labels: counts by value and by the label that each value is released under, for the measures of utility.

With a row map, the rows of each pair of a value and a label are counted. Without one, a label that is released as often as its values occur in the
source lost none of them; of one that is released less often, nothing says which of its values were lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.audit.microdata.recoding import counted, verifier_of
from privrelease.audit.microdata.utility.entropy import EntropyLoss, bits
from privrelease.audit.microdata.utility.granularity import Coarseness, coarseness
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.relational.treatments import CellRelation, declaration_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.attacks.cover import Cover
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.recoding import Counted, Pairs, Verifiers
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.model import ReleasedColumn

__all__ = ["LabelCounts", "class_codes", "in_order", "label_columns", "label_entropy", "label_granularity"]


@dataclass(frozen=True, eq=False, slots=True)
class LabelCounts:
    """A column that is released as labels, v of them, over t values in ascending order.

    ``before``: (t + 1,) rows by value, place 0 missing. ``after``: (v + 1,) rows by label. ``shown``: (t + 1,) rows of each value that are released
    under its label; None: not known. ``clean``: no released cell represents a value that is not its own. ``values``, ``labels``: what they are,
    Arrow arrays, in the coding of ``cover``. ``pairs``: (3, m) value, label and rows of each pair, both known; None: not known.
    """

    column: str
    cover: Cover
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    shown: NDArray[np.int64] | None
    clean: bool
    values: Any
    labels: Any
    pairs: NDArray[np.int64] | None = None

    @property
    def known_before(self) -> int:
        """Cells of the source that hold a value."""
        return int(self.before[1:].sum())

    @property
    def known_after(self) -> int:
        """Cells of the release that hold a label."""
        return int(self.after[1:].sum())

    @property
    def only_lost(self) -> bool:
        """Return True if no label is more frequent than the values under it are in the source."""
        under = np.bincount(self.cover.under[0], self.before, len(self.after))
        return self.clean and self.cover.single and bool((self.after[1:] <= under[1:]).all())


def label_entropy(counts: LabelCounts) -> EntropyLoss | None:
    """Return what labels and suppression cost a column; None where it is not known which values were lost.

    A value under a label costs what it lacks to be known among those under it, by frequencies of the whole column; a lost one costs what it does in
    :func:`~privrelease.audit.microdata.utility.entropy.entropy_loss`.
    """
    if counts.shown is None or not counts.only_lost:
        return None
    known, shown = counts.before[1:], counts.shown[1:]
    under = counts.cover.under[0]
    of_label = np.bincount(under, counts.before, len(counts.after)).astype(np.int64)[under[1:]]
    lost = known - shown
    labels = bits(shown, known, of_label)
    return EntropyLoss(
        whole_file=labels + bits(lost, known, known.sum()),
        suppressed=labels + bits(lost, lost, lost.sum()),
        most=bits(known, known, known.sum()),
    )


def label_granularity(counts: LabelCounts) -> Coarseness | None:
    """Return the coarseness of a column: of a label by the values of the domain under it, a lost cell may be any of them."""
    if not counts.only_lost:
        return None
    leaves = counts.cover.leaves
    lost = counts.known_before - counts.known_after
    records = np.concatenate((counts.after[1:], [lost]))
    return coarseness(records, np.concatenate((np.maximum(leaves.of[1:], 1), [leaves.domain])), leaves.domain)


def label_columns(evidence: Evidence, engine: MeasuringEngine, verifiers: Verifiers) -> tuple[LabelCounts, ...]:
    """Count every usable column that is released as labels, but those of which nothing says what they represent."""
    source, main, found = evidence.source, evidence.main, []
    for column in evidence.usable if source is not None and main is not None else ():
        assert source is not None
        assert main is not None
        if column.treatment.relation is not CellRelation.MAPPED or verifier_of(column, verifiers).covers is None:
            continue
        found.append(_counted(evidence, column, source, main, engine, verifiers))
    return tuple(found)


def _of_source(evidence: Evidence, column: str, labels: Any, pairs: Pairs | None) -> Counted | None:  # noqa: ANN401
    """Return the values of the source with the rows of each, by its class table; None where some value is in no released row, or nothing tells."""
    import pyarrow.compute as pc

    table = evidence.before
    if pairs is None or table is None or evidence.after is None or column not in table.columns:
        return None
    values = pc.unique(pairs.source.drop_null())
    values = values.take(pc.sort_indices(values))
    codes = class_codes((values, labels))
    place = table.columns.index(column)
    most = max(int(one.codes[:, place].max(initial=0)) for one in (table, evidence.after))
    if codes is None or most != len(np.union1d(*codes)):
        return None
    rows = np.bincount(table.codes[:, place], table.counts, most + 1).astype(np.int64)
    return values, rows[codes[0]]


def _counted(
    evidence: Evidence,
    column: ReleasedColumn,
    source: Staged,
    main: ReleasedFile,
    engine: MeasuringEngine,
    verifiers: Verifiers,
) -> LabelCounts:
    import pyarrow as pa

    pairs = evidence.pairs.get(column.name)
    labels, after = evidence.labels.get(column.name) or counted(list(engine.value_rows(main, column.name)))
    values, before = _of_source(evidence, column.name, labels, pairs) or counted(list(engine.value_rows(source, column.name)))
    covers = verifier_of(column, verifiers).covers
    assert covers is not None
    cover, order = covers(declaration_of(column.treatment), values, labels, evidence.plan.source.column(column.name).domain)
    labels, after = labels.take(pa.array(order)), after[order]
    ours = np.concatenate(([source.n_rows - int(before.sum())], before))
    theirs = np.concatenate(([main.n_rows - int(after.sum())], after))
    if pairs is None:
        return LabelCounts(column.name, cover, ours, theirs, _shown(cover, ours, theirs), True, values, labels)
    listed = _listed(pairs, values, labels)
    fits = cover.holds(listed[1], listed[0])
    shown = np.bincount(listed[0][fits], listed[2][fits], len(ours)).astype(np.int64)
    made_up = (listed[0] == 0) & (listed[1] > 0)
    both = (listed[0] > 0) & (listed[1] > 0)
    clean = not (made_up.any() or (both & ~fits).any())
    return LabelCounts(column.name, cover, ours, theirs, shown, clean, values, labels, listed[:, both])


def _listed(pairs: Pairs, values: Any, labels: Any) -> NDArray[np.int64]:  # noqa: ANN401  Arrow has no types
    """Return value, label and rows of each pair: (3, m), 0 where one is missing."""
    import pyarrow.compute as pc

    codes = [
        np.asarray(pc.index_in(side, of).fill_null(-1), np.int64) + 1
        for side, of in ((pairs.source, values), (pairs.released, labels))
    ]
    return np.stack([*codes, pairs.rows])


def _shown(cover: Cover, before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the rows of each value that are released, by counts alone; None where a label lost some of its rows."""
    under = cover.under[0]
    whole = np.bincount(under, before, len(after)).astype(np.int64)
    if not ((after[1:] == whole[1:]) | (after[1:] == 0)).all():
        return None
    return np.where((under > 0) & (after[under] > 0), before, 0)


def in_order(table: ClassTable, codes: Mapping[int, NDArray[np.int64]]) -> ClassTable:
    """Return a table with some columns, by their places, in the coding of distinct values, 1 for the first of them, that have these ``codes`` in it."""
    changed = table.codes.copy()
    for place, of_values in codes.items():
        to = np.zeros(int(table.codes[:, place].max(initial=0)) + 1, np.int32)
        there = of_values < len(to)
        to[of_values[there]] = np.flatnonzero(there) + 1
        changed[:, place] = to[table.codes[:, place]]
    return ClassTable(table.columns, changed, table.counts)


def class_codes(sides: Sequence[Any]) -> list[NDArray[np.int64]] | None:
    """Return the codes that two sets of distinct values have in class tables of one coding, which hold exactly these; None where nothing tells.

    Values of one kind ascend; values of two kinds are compared as texts, but doubles with texts that all are numbers as doubles.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not any(map(len, sides)):
        return None
    together = _of_one_kind([side for side in sides if len(side)])
    distinct = pc.unique(pa.chunked_array(together))
    distinct = distinct.take(pc.sort_indices(distinct))
    alike = iter(together)
    return [
        np.asarray(pc.index_in(next(alike), distinct), np.int64) + 1 if len(side) else np.zeros(0, np.int64) for side in sides
    ]


def _of_one_kind(sides: Sequence[Any]) -> list[Any]:
    """Cast values of two kinds to the kind that class tables compare them in."""
    import pyarrow as pa

    kinds = {side.type for side in sides}
    if len(kinds) == 1:
        return list(sides)
    if any(map(pa.types.is_floating, kinds)):
        try:
            return [side.cast(pa.float64()) for side in sides]
        except pa.ArrowInvalid:  # a label that is not a number
            pass
    if not any(pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in kinds):
        wide = pa.concat_tables([pa.table({"c": side}) for side in sides], promote_options="permissive").column("c").type
        return [side.cast(wide) for side in sides]
    return [side.cast(pa.string()) for side in sides]
