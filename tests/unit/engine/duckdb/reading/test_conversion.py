"""What fits a declared type, cell by cell: the storage type follows the declaration, never the content."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Domain, Role

I, N, D, T, B, S = (  # noqa: E741 - one letter a type keeps the table readable
    ColumnType.INTEGER,
    ColumnType.NUMBER,
    ColumnType.DATE,
    ColumnType.DATETIME,
    ColumnType.BOOLEAN,
    ColumnType.STRING,
)


def column(type_, grid=None, **form):
    return Column("x", type_, Role.INSENSITIVE, grid=Decimal(grid) if grid else None, format=ColumnFormat(**form))


FITS = [
    (column(I), "5", 5),
    (column(I), "-0012", -12),
    (column(I), "+7", 7),
    (column(I), "9223372036854775807", 2**63 - 1),
    (column(I), "-9223372036854775808", -(2**63)),
    (column(I, thousands="."), "1.250", 1250),
    (column(I, thousands="."), "1250", 1250),
    (column(I, missing=("-9", "")), "-9", None),
    (column(N), "1.50", 1.5),
    (column(N), "80", 80.0),
    (column(N), "-.5", -0.5),
    (column(N), "5.", 5.0),
    (column(N), "1e-7", 1e-7),
    (column(N), "100000000000000000000", 1e20),
    (column(N), "0.0000000000000000000000001", 1e-25),
    (column(N), "123456789.012345", 123456789.012345),
    (column(N), "0", 0.0),
    (column(N), "0.000", 0.0),
    (column(N), "nan", None),
    (column(N), "NaN", None),
    (column(N), "-inf", None),
    (column(N), "Infinity", None),
    (column(N, decimal=",", thousands="."), "1.250,50", 1250.5),
    (column(N, decimal=","), "7,5", 7.5),
    (column(N, decimal=",", thousands=" "), "1 234 567,5", 1234567.5),
    (column(N, "0.1"), "0.3", Decimal("0.3")),
    (column(N, "0.1"), "1.50", Decimal("1.5")),
    (column(N, "0.25"), "1.75", Decimal("1.75")),
    (column(N, "5"), "15", Decimal(15)),
    (column(N, "5"), "15.0", Decimal(15)),
    (column(N, "0.1"), "1e1", Decimal(10)),
    (column(N, "0.01", decimal=",", thousands="."), "1.250,50", Decimal("1250.50")),
    (column(D), "2021-04-03", date(2021, 4, 3)),
    (column(D, date="%d/%m/%Y"), "03/04/2021", date(2021, 4, 3)),
    (column(D, date="%d/%m/%Y"), "3/4/2021", date(2021, 4, 3)),
    (column(T), "2021-04-03T10:11:12", datetime(2021, 4, 3, 10, 11, 12)),  # noqa: DTZ001 - no zone is the claim
    (column(T), "2021-04-03 10:11:12.123456", datetime(2021, 4, 3, 10, 11, 12, 123456)),  # noqa: DTZ001
    (column(T), "2021-04-03T10:11", datetime(2021, 4, 3, 10, 11)),  # noqa: DTZ001
    (column(T, date="%d.%m.%Y %H:%M"), "03.04.2021 10:11", datetime(2021, 4, 3, 10, 11)),  # noqa: DTZ001
    (column(B), "true", True),
    (column(B), "false", False),
    (column(B, aliases=(("yes", "true"), ("no", "false"))), "yes", True),
    (column(S, missing=("?", "")), "?", None),
    (column(S, normalise=("trim",)), " a\u00a0", "a"),
    (column(S, normalise=("nfc",)), "e\u0301", "é"),
    (column(S, normalise=("trim",), missing=("-",)), " - ", None),
    (column(S, aliases=(("10-20", "10-20%"),)), "10-20", "10-20%"),
    (column(S, aliases=(("n/a", "?"),), missing=("?",)), "n/a", None),
    (column(S, aliases=(("", "none"),)), "", "none"),
    (column(S, missing=()), "", ""),
]


@pytest.mark.parametrize(("declared", "cell", "value"), FITS, ids=[f"{c.type.value} {t!r}" for c, t, _ in FITS])
def test_a_cell_that_fits_is_stored_exactly(engine, csv_source, values, declared, cell, value):
    (found,) = values(engine.stage(csv_source(f'x,y\n"{cell}",1\n', declared, "y")))
    assert found[0] == value
    assert type(found[0]) is type(value)


UNFIT = [
    (column(I), "5.0", "D201"),
    (column(I), "1e3", "D201"),
    (column(I), " 5", "D201"),
    (column(I), "1_000", "D201"),
    (column(I), "0x10", "D201"),
    (column(I), "", "D201"),
    (column(I), "٣", "D201"),
    (column(I), "9223372036854775808", "D202"),
    (column(I, thousands="."), "1.25", "D201"),
    (column(N), "1,5", "D203"),
    (column(N), "1.250,50", "D203"),
    (column(N), "1e", "D203"),
    (column(N), "1e999", "D203"),
    (column(N), "1e-999", "D203"),
    (column(N), "1234567890.1234567", "D204"),
    (column(N), "9007199254740993", "D204"),
    (column(N, decimal=",", thousands="."), "1.25", "D203"),
    (column(N, decimal=",", thousands="."), "1.2500,5", "D203"),
    (column(N, "0.1"), "0.15", "D205"),
    (column(N, "0.25"), "0.3", "D205"),
    (column(N, "5"), "12", "D205"),
    (column(N, "0.1"), "123456789012345678901234567890", "D204"),
    (column(N, "0.1"), "1,5", "D203"),
    (column(D), "2021-4-3", "D206"),
    (column(D), "03/04/2021", "D206"),
    (column(D), "2021-02-30", "D206"),
    (column(D), "infinity", "D206"),
    (column(D), "2021-04-03 00:00:00", "D206"),
    (column(D, date="%d/%m/%Y"), "12/25/2021", "D206"),
    (column(D, date="%d/%m/%Y"), "3/4/21", "D206"),
    (column(D, date="%d/%m/%Y %H"), "03/04/2021 10", "D206"),
    (column(T), "2021-04-30", "D207"),
    (column(T), "2021-04-03T10:11:12Z", "D207"),
    (column(T), "2021-04-03T10:11:12+02:00", "D207"),
    (column(T), "2021-04-03T25:11:12", "D207"),
    (column(B), "True", "D208"),
    (column(B), "1", "D208"),
]


@pytest.mark.parametrize(("declared", "cell", "code"), UNFIT, ids=[f"{c.type.value} {t!r}" for c, t, _ in UNFIT])
def test_a_cell_that_does_not_fit_is_refused_and_not_shown(csv_source, refused, declared, cell, code):
    if not cell:
        declared = Column("x", declared.type, Role.INSENSITIVE, format=ColumnFormat(missing=()))
    (found,) = refused(csv_source(f'x,y\n"{cell}",a\n', declared, "y"))
    assert (found.code, found.location.line, found.location.column) == (code, 2, 1)
    if len(cell) > 3:
        assert cell not in str(found)


def test_a_suppression_mark_is_missing_and_counted_apart(engine, csv_source, values):
    declared = (column(I, suppression_mark="*"), Column("y", S, Role.QUASI, format=ColumnFormat(suppression_mark="*")))
    staged = engine.stage(csv_source("x,y\n*,*\n1,*\n,a\n", *declared))
    assert values(staged) == [(None, None), (1, None), (None, "a")]
    assert staged.suppressed_marks == (("x", 1), ("y", 2))


@pytest.mark.parametrize(
    ("declared", "inside", "outside"),
    [
        (Column("x", ColumnType.CATEGORY, Role.QUASI, Domain(values=("F", "M"))), "F", "f"),
        (Column("x", I, Role.QUASI, Domain(low="18", high="85")), "18", "86"),
        (Column("x", I, Role.QUASI, Domain(values=("1", "2"))), "2", "3"),
        (Column("x", N, Role.SENSITIVE, Domain(low="50", high="400"), Decimal("0.1")), "400.0", "400.1"),
        (Column("x", N, Role.SENSITIVE, Domain(low="0.5")), "0.5", "0.4"),
        (Column("x", I, Role.QUASI, Domain(low="17.5", high="85.5")), "85", "86"),
        (Column("x", I, Role.QUASI, Domain(values=("1.0", "2.5"))), "1", "2"),
        (Column("x", I, Role.QUASI, Domain(values=("2.5",))), "", "2"),
        (Column("x", N, Role.SENSITIVE, Domain(low="0.05", high="1e3"), Decimal("0.1")), "0.1", "0.0"),
        (Column("x", D, Role.QUASI, Domain(low="2021-01-01", high="2021-12-31")), "2021-12-31", "2022-01-01"),
    ],
)
def test_a_value_outside_the_domain_is_refused_or_its_row_is_dropped(
    engine, csv_source, refused, values, declared, inside, outside
):
    data = f"x,y\n{inside},a\n{outside},b\n,c\n{outside},d\n"
    (found,) = refused(csv_source(data, declared, "y"))
    assert (found.code, found.location.line) == ("D209", 3)
    assert "2 cells in all" in found.message
    assert declared.domain is not None
    bounds = Domain(declared.domain.values, declared.domain.low, declared.domain.high, "drop")
    dropping = Column("x", declared.type, declared.role, bounds, declared.grid)
    staged = engine.stage(csv_source(data, dropping, "y", name="again.csv"))
    assert (staged.n_rows, staged.dropped_outside) == (2, 2)
    assert [row[1] for row in values(staged)] == ["a", "c"]
    assert engine.classes(staged, ["x", "y"]).table.n_records == 2


def test_texts_that_look_alike_are_told_and_kept_apart(engine, csv_source):
    data = "city\nOrl\u00e9ans\nOrl\u00e9ans\nOrle\u0301ans\nOrle\u0301ans\nOrl\u00e9ans \n"
    city = Column("city", ColumnType.CATEGORY, Role.QUASI)
    staged = engine.stage(csv_source(data, city))
    (warning,) = staged.warnings
    assert (warning.code, warning.severity.value) == ("D210", "warn")
    assert "column city holds 3 distinct texts that become 1" in warning.message
    assert sorted(engine.classes(staged, ["city"]).table.counts.tolist()) == [1, 2, 2]
    clean = Column("city", ColumnType.CATEGORY, Role.QUASI, format=ColumnFormat(normalise=("nfc", "trim")))
    staged = engine.stage(csv_source(data, clean, name="again.csv"))
    assert staged.warnings == ()
    assert engine.classes(staged, ["city"]).table.counts.tolist() == [5]
