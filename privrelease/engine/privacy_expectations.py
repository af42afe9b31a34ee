"""The figures of privacy and utility as expectations of Great Expectations, for suites of one's own on any SQL data source.

Importing this module registers them, as the library does. Each takes ``columns`` (what an attacker knows) or a ``reference`` table of the same
database, and its limit. They give a boolean and one figure, never a value of a cell; a table without rows meets none of them. The command
line does not load them: it measures the same figures itself, and a test holds both together.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import sqlalchemy as sa

from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.risk.l_diversity import distinct_l, entropy_l, is_diverse, recursive_l
from privrelease.disclosure.risk.prosecutor import prosecutor_risk
from privrelease.disclosure.risk.sensitive import SensitiveCounts
from privrelease.disclosure.risk.t_closeness import t_closeness
from privrelease.lean_imports import silence

with silence():
    from great_expectations.execution_engine import SqlAlchemyExecutionEngine
    from great_expectations.expectations.expectation import BatchExpectation
    from great_expectations.expectations.metrics.metric_provider import metric_value
    from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider
    from great_expectations.validator.metric_configuration import MetricConfiguration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "EXPECTATIONS",
    "ExpectColumnDistributionShiftToBeAtMost",
    "ExpectTableAverageRiskToBeAtMost",
    "ExpectTableHighestRiskToBeAtMost",
    "ExpectTableMarginalErrorToBeAtMost",
    "ExpectTableRowLossToBeAtMost",
    "ExpectTableSuppressedCellsToBeAtMost",
    "ExpectTableToBeKAnonymous",
    "ExpectTableToBeLDiverse",
    "ExpectTableToBeTClose",
]


# -------------------------------------------------------------------------------------------------------------- counting groups


class GroupCounts(TableMetricProvider):  # type: ignore[misc]  # the library is read as untyped
    """Counts by group, with codes for values: codes of one column ascend with its values, 0 is missing. No value is kept."""

    metric_name = "table.privrelease_groups"
    value_keys = ("columns", "reference")

    @metric_value(engine=SqlAlchemyExecutionEngine)  # type: ignore[untyped-decorator]  # the library is read as untyped
    def _sqlalchemy(
        cls,  # noqa: N805  the library passes the class
        execution_engine: Any,  # noqa: ANN401  the library's own
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        metrics: dict[str, Any],  # noqa: ARG002  the library's signature
        runtime_configuration: dict[str, Any],  # noqa: ARG002
    ) -> list[tuple[list[list[int]], list[int]]]:
        rows = execution_engine.get_domain_records(domain_kwargs=metric_domain_kwargs)
        names = list(metric_value_kwargs["columns"])
        tables = [rows]
        if metric_value_kwargs.get("reference") is not None:
            tables.append(sa.table(metric_value_kwargs["reference"]))
        found = [_grouped(execution_engine, table, names) for table in tables]
        return _coded([groups for groups, _ in found], [counts for _, counts in found], len(names))


def _grouped(engine: Any, table: Any, names: Sequence[str]) -> tuple[list[tuple[Any, ...]], list[int]]:  # noqa: ANN401  SQLAlchemy's own
    columns: list[Any] = [sa.column(name) for name in names]
    query = sa.select(*columns, sa.func.count()).select_from(table)
    found = engine.execute_query(query.group_by(*columns) if columns else query).fetchall()
    return [tuple(row[:-1]) for row in found], [int(row[-1]) for row in found]


def _coded(
    tables: Sequence[Sequence[tuple[Any, ...]]], counts: Sequence[list[int]], width: int
) -> list[tuple[list[list[int]], list[int]]]:
    """Groups as codes, in one coding over the tables. These are groups, not rows."""
    ranks = []
    for place in range(width):
        values = {group[place] for groups in tables for group in groups if group[place] is not None}
        ranks.append({value: rank for rank, value in enumerate(sorted(values), start=1)})
    return [
        ([[0 if cell is None else ranks[place][cell] for place, cell in enumerate(group)] for group in groups], number)
        for groups, number in zip(tables, counts, strict=True)
    ]


def _arrays(found: tuple[list[list[int]], list[int]], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    codes, counts = found
    return np.array(codes, np.int64).reshape(len(counts), width), np.array(counts, np.int64)


def _classes(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The class of each group, and how many there are."""
    if not len(codes):
        return np.zeros(0, np.int64), 0
    _, group = np.unique(codes, axis=0, return_inverse=True)
    return group.reshape(-1).astype(np.int64), int(group.max()) + 1


# ----------------------------------------------------------------------------------------------------------------- expectations


class _Measured(BatchExpectation):  # type: ignore[misc]  # the library is read as untyped
    """An expectation with one figure of groups. ``columns``: over which groups are formed, in the order of :meth:`_names`."""

    metric_dependencies: ClassVar[tuple[str, ...]] = ("table.privrelease_groups",)
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id", "table")
    columns: list[str] = []  # noqa: RUF012  a field
    reference: str | None = None

    def get_validation_dependencies(self, execution_engine: Any = None, runtime_configuration: Any = None) -> Any:  # noqa: ANN401  the library's own
        """Ask for the groups of the columns that this expectation names."""
        needed = super().get_validation_dependencies(execution_engine, runtime_configuration)
        groups = MetricConfiguration(
            metric_name="table.privrelease_groups",
            metric_domain_kwargs={"batch_id": self.configuration.kwargs.get("batch_id")},
            metric_value_kwargs={"columns": tuple(self._names()), "reference": self.reference},
        )
        needed.set_metric_configuration("table.privrelease_groups", groups)
        return needed

    def _names(self) -> list[str]:
        return list(self.columns)

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: Any = None,  # noqa: ANN401, ARG002  the library's signature
        execution_engine: Any = None,  # noqa: ANN401, ARG002
    ) -> dict[str, Any]:
        tables = [_arrays(one, len(self._names())) for one in metrics["table.privrelease_groups"]]
        if not sum(int(counts.sum()) for _, counts in tables[:1]):
            return {"success": False, "result": {"observed_value": None}}
        holds, figure = self._judged(tables)
        return {"success": bool(holds), "result": {"observed_value": figure}}

    @abstractmethod
    def _judged(self, tables: Any) -> tuple[bool, float | None]:  # noqa: ANN401  arrays
        """Return whether the class tables hold what is expected, and the figure found."""


def _sizes(tables: Any) -> ClassSizes:  # noqa: ANN401  arrays
    codes, counts = tables[0]
    lost = ~codes.any(axis=1) if codes.shape[1] else np.zeros(len(counts), np.bool_)
    return ClassSizes.from_counts(counts[~lost], residual=int(counts[lost].sum()))


class ExpectTableToBeKAnonymous(_Measured):
    """Every class of records over ``columns`` has at least ``k``."""

    k: int

    def _judged(self, tables: Any) -> tuple[bool, float | None]:  # noqa: ANN401
        smallest = _sizes(tables).smallest
        return smallest is not None and smallest >= self.k, smallest


class ExpectTableHighestRiskToBeAtMost(_Measured):
    """The highest prosecutor risk over ``columns`` is at most ``most``, compared exactly as the decimal that is written."""

    most: float

    def _judged(self, tables: Any) -> tuple[bool, float | None]:  # noqa: ANN401
        return _at_most(prosecutor_risk(_sizes(tables)).highest, self.most)


class ExpectTableAverageRiskToBeAtMost(_Measured):
    """The average prosecutor risk over ``columns`` is at most ``most``."""

    most: float

    def _judged(self, tables: Any) -> tuple[bool, float | None]:  # noqa: ANN401
        return _at_most(prosecutor_risk(_sizes(tables)).average, self.most)


def _at_most(figure: Fraction | None, most: float) -> tuple[bool, float | None]:
    return figure is not None and figure <= Fraction(str(most)), None if figure is None else float(figure)


class _Sensitive(_Measured):
    """An expectation on the values of ``sensitive`` within classes over ``columns``; known values only."""

    sensitive: str

    def _names(self) -> list[str]:
        return [*self.columns, self.sensitive]

    def _counts(self, tables: Any) -> SensitiveCounts:  # noqa: ANN401  arrays
        codes, counts = tables[0]
        lost = ~codes[:, :-1].any(axis=1) if codes.shape[1] > 1 else np.zeros(len(counts), np.bool_)
        group, size = _classes(codes[~lost, :-1])
        return SensitiveCounts.of(group, codes[~lost, -1], counts[~lost], size)


class ExpectTableToBeLDiverse(_Sensitive):
    """Every class leaves at least ``least`` sensitive values open; ``kind``: distinct, entropy or recursive (with ``c``)."""

    least: float
    kind: str = "distinct"
    c: float | None = None

    def _judged(self, tables: Any) -> tuple[bool, float | None]:  # noqa: ANN401
        counts = self._counts(tables)
        if not counts.n_classes:
            return False, None
        c = None if self.c is None else Fraction(str(self.c))
        diverse = is_diverse(counts, Fraction(str(self.least)), self.kind, c=c)  # type: ignore[arg-type]  # one of the kinds
        if self.kind == "entropy":
            return bool(diverse.all()), float(entropy_l(counts).min())
        found = distinct_l(counts) if c is None else recursive_l(counts, c)
        return bool(diverse.all()), int(found.min())


class ExpectTableToBeTClose(_Sensitive):
    """Every class is within ``most`` of all records; ``distance``: equal or ordered."""

    most: float
    distance: str = "equal"

    def _judged(self, tables: Any) -> tuple[bool, float | None]:  # noqa: ANN401
        return _at_most(t_closeness(self._counts(tables), self.distance).largest, self.most)  # type: ignore[arg-type]  # one of both


class ExpectTableMarginalErrorToBeAtMost(_Measured):
    """The total variation between this table's and the ``reference`` table's joint distribution of ``columns`` is at most ``most``."""

    most: float

    def _judged(self, tables: Any) -> tuple[bool, float | None]:  # noqa: ANN401
        after, before = _shares(tables, missing=True)
        return _at_most(sum((abs(a - b) for a, b in zip(after, before, strict=True)), Fraction(0)) / 2, self.most)


class ExpectColumnDistributionShiftToBeAtMost(_Measured):
    """The known values of ``columns`` (one) are at most ``most`` from those of ``reference``; ``distance``: equal or ordered."""

    most: float
    distance: str = "ordered"

    def _judged(self, tables: Any) -> tuple[bool, float | None]:  # noqa: ANN401
        after, before = _shares(tables, missing=False)
        if not after:
            return False, None
        gaps = [a - b for a, b in zip(after, before, strict=True)]
        if self.distance == "equal":
            return _at_most(sum(map(abs, gaps), Fraction(0)) / 2, self.most)
        reached, largest = Fraction(0), Fraction(0)
        for gap in gaps:
            reached += gap
            largest = max(largest, abs(reached))
        return _at_most(largest, self.most)


def _shares(tables: Any, *, missing: bool) -> tuple[list[Fraction], list[Fraction]]:  # noqa: ANN401  arrays
    """Shares by group of both tables, in the order of the values; empty where a side has no record to compare."""
    kept = [(codes[keep], counts[keep]) for codes, counts in tables for keep in [(codes > 0).all(axis=1) | missing]]
    group, size = _classes(np.concatenate([codes for codes, _ in kept]))
    parts = np.split(group, [len(kept[0][0])])
    sums = [
        np.bincount(part, weights=counts, minlength=size).astype(np.int64)
        for part, (_, counts) in zip(parts, kept, strict=True)
    ]
    totals = [int(one.sum()) for one in sums]
    if not all(totals):
        return [], []
    first, second = ([Fraction(int(n), total) for n in one] for one, total in zip(sums, totals, strict=True))
    return first, second


class ExpectTableRowLossToBeAtMost(_Measured):
    """At most a share ``most`` of the rows of ``reference`` is missing here."""

    most: float

    def _names(self) -> list[str]:
        return []

    def _judged(self, tables: Any) -> tuple[bool, float | None]:  # noqa: ANN401
        here, there = (int(counts.sum()) for _, counts in tables)
        return _at_most(Fraction(there - here, there) if there else None, self.most)


class ExpectTableSuppressedCellsToBeAtMost(_Measured):
    """At most a share ``most`` of the cells of ``columns`` in ``reference`` is lost: it held a value there and none is here."""

    most: float

    def _judged(self, tables: Any) -> tuple[bool, float | None]:  # noqa: ANN401
        held = [int((counts[:, None] * (codes > 0)).sum()) for codes, counts in tables]
        cells = int(tables[1][1].sum()) * len(self.columns)
        return _at_most(Fraction(held[1] - held[0], cells) if cells else None, self.most)


#: Every expectation of this module.
EXPECTATIONS: Final = (
    ExpectTableToBeKAnonymous,
    ExpectTableHighestRiskToBeAtMost,
    ExpectTableAverageRiskToBeAtMost,
    ExpectTableToBeLDiverse,
    ExpectTableToBeTClose,
    ExpectTableSuppressedCellsToBeAtMost,
    ExpectTableRowLossToBeAtMost,
    ExpectTableMarginalErrorToBeAtMost,
    ExpectColumnDistributionShiftToBeAtMost,
)
