"""CSV files as bytes and lines: opening, transcoding, the header, and the exact place of a fault.

The engine reads the cells; what is here runs before (the header, one pass over the bytes for what the engine would let pass) and,
where something is wrong, after (which line).
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import errno
import gzip
import io
import itertools
import re
import sys
import zlib
from collections import deque
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, cast

from privrelease.engine.duckdb.errors import refusal
from privrelease.engine.duckdb.reading.csv_structure import Structure, structure_of
from privrelease.errors import InputError
from privrelease.findings import Location, pluralise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from privrelease.relational.schema import FileFormat

__all__ = ["check_format", "fault_of", "header_of", "line_of_record", "mixed_line_breaks", "structure", "transcode"]

_BLOCK = 8 << 20


def _open(path: Path) -> IO[bytes]:
    """Open for reading, decompressed by the name."""
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.suffix == ".zst":
        import pyarrow as pa

        return cast("IO[bytes]", pa.input_stream(str(path), compression="zstd"))
    return path.open("rb")


@contextlib.contextmanager
def _opened(path: Path, label: str) -> Iterator[IO[bytes]]:
    """Open for reading; a compressed file that ends too early or is damaged is an InputError D103, wherever that shows."""
    try:
        with _open(path) as stream:
            yield stream
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:  # a transcoded copy did not fit
            message, hint = "the temporary folder is full", "point the temporary folder to a disk with more space"
            raise refusal(message, "D120", hint=hint) from None
        message = "the file cannot be read or decompressed: it is damaged, cut off, or not compressed as its name says"
        hint = "copy or write it again; the name's ending (.gz, .zst) says how it is compressed"
        raise refusal(message, "D103", hint=hint, location=Location(label)) from None


def _records(stream: IO[bytes], format_: FileFormat) -> tuple[io.TextIOWrapper, Any]:
    csv.field_size_limit(sys.maxsize)
    encoding = "utf-8-sig" if _is_utf8(format_.encoding) else format_.encoding
    lines = io.TextIOWrapper(io.BufferedReader(cast("Any", stream), _BLOCK), encoding=encoding, newline="")
    if format_.quote:
        reader = csv.reader(lines, delimiter=format_.delimiter, quotechar=format_.quote, strict=True)
    else:
        reader = csv.reader(lines, delimiter=format_.delimiter, quoting=csv.QUOTE_NONE)
    return lines, reader


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name in {"utf-8", "utf-8-sig", "ascii"}
    except LookupError:
        return False


#: Python's names for what is text only in part: names of hosts, and letters written as escapes.
_NO_FILES = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"})


def _is_text(encoding: str) -> bool:
    """Return True for an encoding of texts. Python also knows some of bytes (`hex`, `zip`), which it marks, and some that no file is written in."""
    try:
        known = codecs.lookup(encoding)
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        return False
    return known._is_text_encoding and known.name.replace("-", "_") not in _NO_FILES  # noqa: SLF001 -- as `open` itself asks


def check_format(format_: FileFormat, label: str) -> None:
    """Raise InputError D110 for an encoding no one knows, D109 for a delimiter or quote that is not one character."""
    if not _is_text(format_.encoding):
        message = f"the encoding {format_.encoding} is not known"
        raise refusal(message, "D110", hint="write utf-8, latin-1, cp1252, utf-16, …", location=Location(label)) from None
    if len(format_.delimiter) != 1 or len(format_.quote) > 1 or format_.delimiter == format_.quote:
        message = "delimiter and quote are one character each, and not the same"
        raise refusal(message, "D109", hint='for a tab write `delimiter: "\\t"`', location=Location(label))


def transcode(path: Path, format_: FileFormat, label: str, target: Path) -> Path:
    """Return the path of the file as UTF-8: itself, or a transcoded copy written to ``target`` as a stream.

    Raises InputError D110 where a byte is not valid in the declared encoding, with its line.
    """
    if _is_utf8(format_.encoding):
        return path
    line = 1
    decoder = codecs.getincrementaldecoder(format_.encoding)()
    with target.open("wb") as sink, _opened(path, label) as source:
        while True:
            block = source.read(_BLOCK)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                good = block[: max(0, error.start)].decode(format_.encoding, "ignore")
                message = f"a byte is not valid {format_.encoding}"
                place = Location(label, line + good.count("\n"))
                raise refusal(message, "D110", hint="declare the file's `format: {encoding: …}`", location=place) from None
            except UnicodeError:
                raise _no_byte_order(format_, label) from None
            line += text.count("\n")
            sink.write(text.removeprefix("\ufeff").encode() if sink.tell() == 0 else text.encode())
            if not block:
                return target


def header_of(path: Path, format_: FileFormat, label: str) -> list[str]:
    """Return the names in the first line. Raises InputError D104 for an empty file or first line, D109, D110, D112."""
    check_format(format_, label)
    try:
        with _opened(path, label) as stream:
            _, reader = _records(stream, format_)
            names = next(reader, None)
    except UnicodeDecodeError:
        raise _encoding(path, label, format_, _bad_line(path, label)) from None
    except UnicodeError:
        raise _no_byte_order(format_, label) from None
    except csv.Error:
        raise _of_another_delimiter(path, format_, label) or _quotes(label, 1) from None
    if not names:
        message = "the file is empty" if names is None else "the first line is empty"
        raise refusal(message, "D104", hint="a CSV file begins with a line of column names", location=Location(label, 1))
    return [str(name) for name in names]


def _of_another_delimiter(path: Path, format_: FileFormat, label: str) -> InputError | None:
    """Return the error of a header whose quotes are sound at another delimiter, None where they are at none: ``"id";"age"`` read at commas."""
    for sign in (";", "\t", "|", ","):
        try:
            with _opened(path, label) as stream:
                _, reader = _records(stream, replace(format_, delimiter=sign))
                names: list[str] = next(reader, [])
        except csv.Error:
            continue
        if len(names) > 1 and sign != format_.delimiter:
            shown = {"\t": "\\t"}
            there, other = shown.get(format_.delimiter, format_.delimiter), shown.get(sign, sign)
            message = f'the header does not split at the delimiter "{there}": a quoted name ends before "{other}"'
            return refusal(message, "D109", hint=f'declare `format: {{delimiter: "{other}"}}`', location=Location(label, 1))
    return None


def structure(path: Path, format_: FileFormat, label: str) -> Structure:
    """Count the structure of a UTF-8 file. Raises InputError D103 where it is damaged."""
    with _opened(path, label) as stream:
        return structure_of(stream, format_)


def line_of_record(path: Path, format_: FileFormat, record: int, n_columns: int) -> int:
    """Return the line (from 1) on which the record (from 0, the header not counted) begins; exact with quoted line breaks."""
    with _open(path) as stream:
        _, reader = _records(stream, format_)
        rows: Iterator[list[str]] = reader if n_columns == 1 else filter(None, reader)
        deque(itertools.islice(rows, record + 1), maxlen=0)
        before = int(reader.line_num)
        for row in reader:
            if row or n_columns == 1:
                break
            before = int(reader.line_num)
        return before + 1


def fault_of(path: Path, format_: FileFormat, label: str, n_columns: int) -> InputError | None:
    """Read the file record by record, as RFC 4180 says, and return its first fault; None where there is none."""
    line = 1
    spaced = re.compile(" +" + re.escape(format_.quote)) if format_.quote else None
    with _opened(path, label) as stream:
        _, reader = _records(stream, format_)
        try:
            for row in reader:
                if "\0" in "".join(row):
                    return _nul(label, line)
                if len(row) != n_columns and (row or n_columns == 1) and not (n_columns == 1 and not row):
                    message = f"the record has {pluralise(len(row), 'field', 'fields')}, the header has {n_columns}"
                    hint = "quote fields that hold the delimiter or a line break"
                    return refusal(message, "D111", hint=hint, location=Location(label, line))
                if spaced is not None and any(spaced.match(cell) for cell in row):
                    message = "a field has blanks before its opening quote, which readers take in different ways"
                    return InputError(
                        "D112", message, hint="remove the blanks between delimiter and quote", location=Location(label, line)
                    )
                line = int(reader.line_num) + 1
        except UnicodeDecodeError:
            return _encoding(path, label, format_, _bad_line(path, label))
        except csv.Error:
            return _quotes(label, line)
    return None


def _bad_line(path: Path, label: str) -> int:
    line = 1
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _opened(path, label) as stream:
        for block in stream:
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                return line
            line += 1
    return 0


def mixed_line_breaks(path: Path, format_: FileFormat, label: str) -> InputError:
    """Return the error of a file whose records end in several ways, with the first line that ends otherwise than those before it."""
    line = _first_other_end(path, format_, label)
    if line is None:
        message = "the file cannot be read as CSV: its line breaks may be of several kinds, or a line is longer than 16 MiB"
    else:
        message = "the line breaks are of several kinds: this line ends otherwise than the lines before it"
    return refusal(message, "D112", hint="write all line breaks the same way", location=Location(label, line or 0))


def _first_other_end(path: Path, format_: FileFormat, label: str) -> int | None:
    """Return the first line whose end, outside of quotes, is of another kind than the first end; None where all are alike."""
    quote = re.escape(format_.quote.encode())
    signs = re.compile((quote + b"|" if quote else b"") + rb"\r\n|\r|\n")
    line, inside, usual = 1, False, b""
    with _opened(path, label) as stream:
        while block := stream.read(_BLOCK):
            if block.endswith(b"\r"):
                block += stream.read(1)
            for found in signs.finditer(block):
                sign = found[0]
                if sign[0] not in b"\r\n":
                    inside = not inside
                    continue
                if not inside and sign != (usual := usual or sign):
                    return line
                line += 1
    return None


def _nul(label: str, line: int) -> InputError:
    hint = "remove it; a file full of them may be UTF-16: declare `format: {encoding: utf-16}`"
    return refusal("the file holds a NUL character", "D113", hint=hint, location=Location(label, line))


def _encoding(path: Path, label: str, format_: FileFormat, line: int) -> InputError:
    message = f"a byte is not valid {format_.encoding}"
    with _opened(path, label) as stream:
        marked = stream.read(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}
    if marked:
        message += ": the file begins with the byte order mark of utf-16"
    hint = (
        f"declare the file's encoding{':' if marked else ', e.g.'} `format: {{encoding: {'utf-16' if marked else 'latin-1'}}}`"
    )
    return refusal(message, "D110", hint=hint, location=Location(label, line))


def _no_byte_order(format_: FileFormat, label: str) -> InputError:
    """Return the error of a file that does not begin with the mark that its encoding asks for."""
    family = "utf-32" if "32" in format_.encoding else "utf-16"
    message = f"the file does not begin with a byte order mark, which {format_.encoding} needs"
    return refusal(message, "D110", hint=f"declare its order: {family}-le or {family}-be", location=Location(label, 1))


def _quotes(label: str, line: int) -> InputError:
    message = "a quote is not closed, or text follows a closing quote"
    hint = "double a quote inside a quoted field; declare `format: {quote: …}` if another sign quotes"
    return refusal(message, "D112", hint=hint, location=Location(label, line))
