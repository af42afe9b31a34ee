"""Small builders over sqlglot trees: every name and every literal of the engine's SQL is a node, none is formatted into text.

A chain that begins with ``exp.select`` adds to its own tree (``copy=False``): sqlglot copies a tree at each step otherwise, which took a third of the
time of building. A tree that is kept, to be added to in several ways, is copied there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "aliased",
    "all_of",
    "any_of",
    "call",
    "cast",
    "cast_enum",
    "column",
    "copy_to",
    "count_all",
    "create_enum",
    "create_table",
    "create_view",
    "integer",
    "one_of",
    "positional",
    "read_csv",
    "render",
    "scan",
    "table",
    "text",
    "try_cast",
    "try_cast_enum",
    "when",
]

Expr = exp.Expr

#: Bytes of the longest line of a CSV file.
LONGEST_LINE = 16 << 20


def render(tree: Expr) -> str:
    """Return the tree as DuckDB's SQL. The tree is not copied before, which would take as long again: of the nodes that this engine builds the
    generator changes none.
    """
    return tree.sql(dialect="duckdb", copy=False)


def _quoted(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def column(name: str, of: str | None = None) -> Expr:
    """Return a quoted column, of a quoted table where one is given.

    >>> render(column('a"b', "t"))
    '"t"."a""b"'
    """
    return exp.Column(this=_quoted(name), table=_quoted(of) if of else None)


def table(name: str, *, alias: str | None = None, catalogue: str | None = None, schema: str | None = None) -> exp.Table:
    """Return a quoted table, inside a catalogue and a schema where given."""
    return exp.Table(
        this=_quoted(name),
        catalog=_quoted(catalogue) if catalogue else None,
        db=_quoted(schema) if schema else None,
        alias=exp.TableAlias(this=_quoted(alias)) if alias else None,
    )


def text(value: str) -> Expr:
    """Return a text literal.

    >>> render(text("it's"))
    "'it''s'"
    """
    return exp.Literal.string(value)


def integer(value: int) -> Expr:
    """Return an integer literal."""
    return exp.Literal.number(value)


def call(name: str, *arguments: Expr) -> Expr:
    """Return a call of a function of DuckDB by its name."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def count_all(*, where: Expr | None = None) -> Expr:
    """Return ``count(*)``, of the rows that meet a condition where one is given."""
    count = exp.Count(this=exp.Star())
    return count if where is None else exp.Filter(this=count, expression=exp.Where(this=where))


@lru_cache(maxsize=256)
def _built_in(type_: str) -> exp.DataType:
    """Return the node of a built-in type, of which there are few: each is parsed once."""
    return exp.DataType.build(type_, dialect="duckdb")


def cast(value: Expr, type_: str) -> Expr:
    """Return ``CAST(value AS type)`` for a built-in type.

    >>> render(cast(column("a"), "DECIMAL(18, 2)"))
    'CAST("a" AS DECIMAL(18, 2))'
    """
    return exp.Cast(this=value, to=_built_in(type_).copy())


def try_cast(value: Expr, type_: str) -> Expr:
    """Return ``TRY_CAST(value AS type)`` for a built-in type: NULL where it does not convert."""
    return exp.TryCast(this=value, to=_built_in(type_).copy(), safe=True)


def cast_enum(value: Expr, type_: str) -> Expr:
    """Return ``CAST(value AS type)`` for an enumeration of ours: an error where the value is not in it."""
    return exp.Cast(this=value, to=exp.DataType.build(type_, dialect="duckdb", udt=True))


def try_cast_enum(value: Expr, type_: str) -> Expr:
    """Return ``TRY_CAST(value AS type)`` for an enumeration of ours: NULL where the value is not in it."""
    return exp.TryCast(this=value, to=exp.DataType.build(type_, dialect="duckdb", udt=True), safe=True)


def when(*branches: tuple[Expr, Expr], otherwise: Expr | None = None) -> Expr:
    """Return ``CASE WHEN condition THEN value … ELSE otherwise END``."""
    case = exp.Case()
    for condition, value in branches:
        case = case.when(condition, value, copy=False)
    return case if otherwise is None else case.else_(otherwise, copy=False)


def one_of(value: Expr, texts: Iterable[str]) -> Expr:
    """Return ``value IN (texts)``."""
    return exp.In(this=value, expressions=[text(item) for item in texts])


def one_in_place(value: Expr, constants: Sequence[Expr]) -> Expr:
    """Return whether a value is one of the constants, asked row by row; false where it is missing.

    Of ``IN`` and ``list_contains`` with five constants and more DuckDB makes a join, after which the rows that several threads store have lost
    their order. For few constants, where rows are stored in their order.

    >>> print(render(one_in_place(column("c"), [integer(1), integer(2)])))
    COALESCE(LIST_POSITION([1, 2], "c"), 0) > 0
    """
    place = call("list_position", exp.Array(expressions=list(constants)), value)
    return exp.GT(this=call("coalesce", place, integer(0)), expression=integer(0))


def all_of(conditions: Sequence[Expr]) -> Expr:
    """Return the conjunction; true where there is none."""
    return exp.and_(*conditions) if conditions else exp.true()


def any_of(conditions: Sequence[Expr]) -> Expr:
    """Return the disjunction; false where there is none."""
    return exp.or_(*conditions) if conditions else exp.false()


def aliased(value: Expr, name: str) -> Expr:
    """Return ``value AS "name"``.

    >>> render(aliased(column("a"), "b"))
    '"a" AS "b"'
    """
    if "alias" in value.arg_types:  # a table or a query, which carries its name itself
        return exp.alias_(value, _quoted(name), copy=value.parent is not None)
    return exp.Alias(this=value if value.parent is None else value.copy(), alias=_quoted(name))


def positional(select: exp.Select, other: exp.Table) -> exp.Select:
    """Add ``POSITIONAL JOIN other``: rows meet by their position."""
    select.append("joins", exp.Join(this=other, method="POSITIONAL"))
    return select


def scan(function: str, arguments: Sequence[Expr], *, alias: str | None = None, **options: Expr) -> exp.Table:
    """Return a table function with named options, usable in FROM.

    >>> print(render(exp.select("*").from_(scan("read_parquet", [text("a.parquet")], file_row_number=exp.true()))))
    SELECT * FROM READ_PARQUET('a.parquet', "file_row_number" = TRUE)
    """
    named = [exp.EQ(this=column(key), expression=value) for key, value in options.items()]
    return exp.Table(
        this=exp.Anonymous(this=function, expressions=[*arguments, *named]),
        alias=exp.TableAlias(this=_quoted(alias)) if alias else None,
    )


def read_csv(path: str, names: Sequence[str], *, delimiter: str, quote: str, quoted_missing: bool) -> exp.Table:
    """Return a strict scan of a CSV file whose header was read before: every cell is text, nothing is guessed."""
    types = exp.Struct(expressions=[exp.PropertyEQ(this=text(name), expression=text("VARCHAR")) for name in names])
    return scan(
        "read_csv",
        [text(path)],
        auto_detect=exp.false(),
        header=exp.true(),
        columns=types,
        delim=text(delimiter),
        quote=text(quote),
        escape=text(quote),
        nullstr=text(""),
        allow_quoted_nulls=exp.Boolean(this=quoted_missing),
        strict_mode=exp.true(),
        null_padding=exp.false(),
        max_line_size=integer(LONGEST_LINE),
        buffer_size=integer(2 * LONGEST_LINE),
    )


def create_table(name: str, rows: Expr, *, catalogue: str | None = None) -> Expr:
    """Return ``CREATE TABLE name AS rows``."""
    return exp.Create(this=table(name, catalogue=catalogue), kind="TABLE", expression=rows)


def create_view(name: str, rows: Expr) -> Expr:
    """Return ``CREATE VIEW name AS rows``."""
    return exp.Create(this=table(name), kind="VIEW", expression=rows)


def create_enum(name: str, values: Expr) -> Expr:
    """Return ``CREATE TYPE name AS ENUM (query)``: the values stay in the database, none appears in the SQL."""
    return exp.Create(this=table(name), kind="TYPE", expression=exp.Anonymous(this="ENUM", expressions=[values]))


def copy_to(rows: exp.Query, path: str, options: Mapping[str, Expr]) -> Expr:
    """Return ``COPY (rows) TO path WITH (options)``."""
    return exp.Copy(
        this=exp.Subquery(this=rows),
        kind=False,
        files=[text(path)],
        params=[exp.CopyParameter(this=exp.var(key), expression=value) for key, value in options.items()],
    )
