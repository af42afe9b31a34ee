"""Files of the plain engine: CSV and Parquet as lists of cells, and back."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq

from privrelease.errors import InputError
from privrelease.findings import Location
from privrelease.relational.schema import ColumnType

__all__ = ["ARROW", "array_of", "csv_cells", "csv_records", "from_text", "moments", "parquet_cells", "write_csv"]

ARROW = {
    ColumnType.STRING: pa.string(),
    ColumnType.CATEGORY: pa.string(),
    ColumnType.INTEGER: pa.int64(),
    ColumnType.NUMBER: pa.float64(),
    ColumnType.DATE: pa.date32(),
    ColumnType.DATETIME: pa.timestamp("us"),
    ColumnType.BOOLEAN: pa.bool_(),
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moments(column):
    """Cells of an Arrow column of moments as nanoseconds."""
    scale = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[column.type.unit]
    return [None if cell is None else cell * scale for cell in column.cast(pa.int64()).to_pylist()]


def from_text(cell, type_):
    """A cell of a CSV file in its declared type."""
    if type_ is ColumnType.INTEGER:
        return int(cell)
    if type_ is ColumnType.NUMBER:
        return float(cell)
    if type_ is ColumnType.BOOLEAN:
        return {"true": True, "false": False}[cell.lower()]
    if type_ is ColumnType.DATE:
        return date.fromisoformat(cell)
    if type_ is ColumnType.DATETIME:
        return (datetime.fromisoformat(cell).replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1) * 1000
    return cell


def csv_records(content):
    """Records of a CSV file: None for a field without quotes and letters, a text otherwise."""
    records, record, field, quoted, inside, place = [], [], io.StringIO(), False, False, 0
    while place < len(content):
        sign = content[place]
        if inside:
            if sign == '"' and content[place + 1 : place + 2] == '"':
                field.write('"')
                place += 1
            elif sign == '"':
                inside = False
            else:
                field.write(sign)
        elif sign == '"':
            quoted = inside = True
        elif sign in ",\n":
            record.append(field.getvalue() if quoted or field.getvalue() else None)
            field, quoted = io.StringIO(), False
            if sign == "\n":
                records.append(record)
                record = []
        elif sign != "\r":
            field.write(sign)
        place += 1
    return records


def parquet_cells(sink, declared):
    read = pq.read_table(sink.path)
    types = {}
    for field in read.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        own = declared[field.name].type if field.name in declared else None
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
            types[field.name] = own if own in {ColumnType.STRING, ColumnType.CATEGORY} else ColumnType.STRING
        elif pa.types.is_integer(kind):
            types[field.name] = ColumnType.INTEGER
        elif pa.types.is_timestamp(kind):
            types[field.name] = ColumnType.DATETIME
        else:
            types[field.name] = (
                ColumnType.DATE
                if pa.types.is_date(kind)
                else ColumnType.BOOLEAN
                if pa.types.is_boolean(kind)
                else ColumnType.NUMBER
            )
    cells = {
        name: moments(read.column(name)) if kind is ColumnType.DATETIME else read.column(name).to_pylist()
        for name, kind in types.items()
    }
    return cells, types, read.num_rows


def csv_cells(sink, declared):
    content = sink.path.read_bytes().decode()
    if not content:
        raise InputError("D104", f"{sink.label} has no header")
    header, *records = csv_records(content)
    if declared and not declared.keys() & set(header):
        raise InputError(
            "D107", f"no column of the release is in the first line of {sink.label}", hint="has the file a header line?"
        )
    types = {name: declared[name].type if name in declared else ColumnType.STRING for name in header}
    cells = {}
    for place, (name, type_) in enumerate(types.items()):
        cells[name] = []
        for line, row in enumerate(records, start=2):
            try:
                cells[name].append(None if row[place] is None else from_text(row[place], type_))
            except (ValueError, KeyError):
                at = Location(sink.label, line, place + 1)
                raise InputError("D201", f"a cell of {name} is no {type_.value}", location=at) from None
    return cells, types, len(records)


def array_of(cells, type_):
    if type_ is ColumnType.DATETIME:
        return pa.array([None if one_ is None else one_ // 1000 for one_ in cells], pa.int64()).cast(pa.timestamp("us"))
    return pa.array(cells, ARROW[type_])


def write_csv(path, table):
    with path.open("x", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerow(table.column_names)
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            words = [
                "" if one_ is None else '""' if one_ == "" else str(one_).lower() if isinstance(one_, bool) else str(one_)
                for one_ in row
            ]
            quoted = [
                word if word == '""' or not set(word) & set(',"\n') else '"' + word.replace('"', '""') + '"' for word in words
            ]
            stream.write(",".join(quoted) + "\n")
