"""Places where a policy may read and write: below its own folder or the configured data root, symbolic links followed.

A policy is untrusted input. A relative source is looked for below the policy's folder, then below the data root; an output is always
relative to the policy's folder.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.relational.schema import SinkKind, SourceKind
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.releases import OutputSpec

__all__ = ["STATE_FOLDER", "PathFault", "Roots", "SourcePlace", "companions", "odd_name", "silent"]

#: The folder of parked releases, keys of digests and the like, next to the policy.
STATE_FOLDER = ".privrelease"

_GLOB = frozenset("*?[")
_COMPRESSED = (".gz", ".zst")
_SOURCE_SUFFIXES: dict[str, SourceKind] = {
    ".csv": SourceKind.CSV,
    ".tsv": SourceKind.CSV,
    ".txt": SourceKind.CSV,
    ".parquet": SourceKind.PARQUET,
    ".pq": SourceKind.PARQUET,
    ".duckdb": SourceKind.DUCKDB,
    ".sqlite": SourceKind.SQLITE,
    ".sqlite3": SourceKind.SQLITE,
}
_SINK_SUFFIXES: dict[str, SinkKind] = {
    ".csv": SinkKind.CSV,
    ".parquet": SinkKind.PARQUET,
    ".duckdb": SinkKind.DUCKDB,
}
#: What a published file's name ends in, so that manifest and report next to it are named by what is before.
_DATA_ENDINGS = (".csv.gz", ".csv.zst", ".csv", ".parquet", ".duckdb", ".db")
_COMPANION_ENDINGS = (".manifest.json", ".report.html")
#: Bytes of a file's name: 255 is what file systems take, and companions, drafts and numbers need some.
_LONGEST_NAME = 200


def companions(first: Path) -> tuple[Path, Path]:
    """Return where manifest and report of a release are shown, whose first output is at ``first``.

    >>> [path.name for path in companions(Path("out/a.b.csv.gz"))], [path.name for path in companions(Path(".csv"))]
    (['a.b.manifest.json', 'a.b.report.html'], ['.csv.manifest.json', '.csv.report.html'])
    """
    name = first.name
    ending = next((one for one in _DATA_ENDINGS if name.lower().endswith(one) and len(name) > len(one)), "")
    stem = name.removesuffix(name[len(name) - len(ending) :]) if ending else name
    manifest, report = (first.with_name(stem + one) for one in _COMPANION_ENDINGS)
    return manifest, report


def odd_name(part: str) -> str | None:
    r"""Return what is wrong with a name that a reader could not see or a file system not take; None where nothing is.

    >>> odd_name("r\u202evsc.csv")
    'holds an invisible character (U+202E)'
    >>> odd_name("r.csv")
    """
    unseen = next((one for one in part if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}), None)
    if unseen is not None:
        return f"holds an invisible character (U+{ord(unseen):04X})"
    size = len(part.encode("utf-8", "surrogatepass"))
    return f"has a name of {size} bytes, more than {_LONGEST_NAME}" if size > _LONGEST_NAME else None


class PathFault(Exception):  # noqa: N818  becomes a finding where it is caught
    """Why a path cannot be used: rule, words, hint."""

    def __init__(self, message: str, hint: str | None = None, *, code: str = "P404") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A source resolved: kind, absolute path or pattern, path as written, table of a database."""

    kind: SourceKind
    path: str
    label: str
    table: str | None = None


def silent(line: str) -> None:
    """Take no note of a line of progress."""
    del line


@dataclass(frozen=True, slots=True)
class Roots:
    """The policy's folder and the data root, both absolute. ``log``: takes a line of progress where reading a file takes long."""

    folder: Path
    data_root: Path | None = None
    log: Callable[[str], None] = field(default=silent, compare=False, repr=False)

    @property
    def allowed(self) -> tuple[Path, ...]:
        """The folders below which every path must stay."""
        return (self.folder,) if self.data_root is None else (self.folder, self.data_root)

    def source(self, dataset: Dataset) -> SourcePlace:
        """Resolve a dataset's source; raises PathFault."""
        spec = dataset.source
        if spec.path is not None:
            written, kind = spec.path, _kind_of(spec.path)
        else:
            kind = next(kind for kind in SourceKind if getattr(spec, kind.value) is not None)
            written = str(getattr(spec, kind.value))
        if spec.table is not None and dataset.table is not None:
            message = "the table is named twice"
            raise PathFault(message, "keep one of the two")
        table = spec.table if spec.table is not None else dataset.table
        database = kind in {SourceKind.DUCKDB, SourceKind.SQLITE}
        if database and table is None:
            message = f"a {kind.value} file needs `table`"
            raise PathFault(message, f"write `source: {{{kind.value}: {written}, table: …}}`")
        if not database and table is not None:
            message = f"a {kind.value} file has no tables"
            raise PathFault(message, "remove `table`")
        if database and _GLOB & set(written):
            message = "a pattern of files is possible for csv and parquet only"
            raise PathFault(message)
        return SourcePlace(kind, str(self._found(written)), written, table)

    def file(self, written: str) -> SourcePlace:
        """Resolve a single CSV or Parquet file of rows; raises PathFault."""
        kind = _kind_of(written)
        if kind not in {SourceKind.CSV, SourceKind.PARQUET} or _GLOB & set(written):
            message = f"{written} is not a single file of rows"
            raise PathFault(message, "name one csv or parquet file")
        return SourcePlace(kind, str(self._found(written)), written)

    def sink(self, output: OutputSpec) -> tuple[SinkKind, Path]:
        """Resolve an output to kind and absolute path; raises PathFault."""
        suffix = Path(output.path).suffix.lower()
        kind = SinkKind(output.format) if output.format is not None else _SINK_SUFFIXES.get(suffix)
        if kind is None:
            message = f"the kind of file does not follow from the suffix of {output.path}"
            raise PathFault(message, "write `format: csv`, `parquet` or `duckdb`")
        if output.path.endswith(("/", os.sep)):
            message = f"{output.path} is a folder"
            raise PathFault(message, "name a file")
        path = Path(os.path.normpath(self.folder / output.path))
        self._check(path.parent if _shows_release(path) else path, output.path)
        if any(part.casefold() == STATE_FOLDER for part in path.parts[len(self._root_of(path).parts) :]):
            message = f"{output.path} is inside the state folder {STATE_FOLDER}"
            raise PathFault(message, "publish somewhere else", code="P405")
        for part in path.parts[len(self._root_of(path).parts) :]:
            if (wrong := odd_name(part)) is not None:
                message = f"{_seen(output.path)} {wrong}"
                raise PathFault(message, "give it a short name of letters that can be seen", code="P420")
            if part.startswith("."):
                message = f"{output.path} is hidden: {part} begins with a dot"
                raise PathFault(message, "publish where it is seen", code="P421")
        return kind, path

    def inside(self, written: str, base: Path) -> Path:
        """Resolve a file that a policy reads as policy (``extends``); raises PathFault."""
        path = Path(os.path.normpath(base / written))
        self._check(path, written)
        return path

    def _found(self, written: str) -> Path:
        if any(_GLOB & set(str(root)) for root in self.allowed):
            message = (
                "the policy's folder or the data root has one of * ? [ in its name: sources below it would be read as patterns"
            )
            raise PathFault(message, "rename the folder", code="P403")
        first = Path(os.path.normpath(self.folder / written))
        if Path(written).is_absolute() or self.data_root is None:
            self._check(_fixed_part(first), written)
            return first
        second = Path(os.path.normpath(self.data_root / written))
        below = [path for path in (first, second) if self._is_below(_fixed_part(path))]
        if not below:
            self._check(_fixed_part(first), written)
        there = [path for path in below if _exists(path)]
        return (there or below)[0]

    def _is_below(self, path: Path) -> bool:
        real = Path(os.path.realpath(path))
        return any(path.is_relative_to(root) for root in self.allowed) and any(
            real.is_relative_to(os.path.realpath(root)) for root in self.allowed
        )

    def _root_of(self, path: Path) -> Path:
        return next((root for root in self.allowed if path.is_relative_to(root)), self.folder)

    def _check(self, path: Path, written: str) -> None:
        if not self._is_below(path):
            message = f"{written} is outside the policy's folder{'' if self.data_root is None else ' and the data root'}"
            hint = (
                "move it below, or name its folder with --data-root" if self.data_root is None else "move it below one of them"
            )
            raise PathFault(message, hint, code="P403")


def _shows_release(path: Path) -> bool:
    """Return whether a path is a link to a release that was published there: into ``current/POLICY/RELEASE/FILE`` of a state folder.

    Such a link is replaced and never written through, so the state folder may be elsewhere: only the folder of the link has to be below a root.
    """
    return path.is_symlink() and path.readlink().parts[-4:-3] == ("current",)


def _seen(text: str) -> str:
    """A text without what cannot be seen, in the length that a message takes."""
    plain = "".join("?" if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else one for one in text)
    return plain if len(plain) <= 40 else f"{plain[:37]}..."


def _exists(path: Path) -> bool:
    fixed = _fixed_part(path)
    return path.exists() if fixed == path else any(fixed.glob(str(path.relative_to(fixed))))


def _fixed_part(path: Path) -> Path:
    """The path before its first part with a pattern."""
    parts: list[str] = []
    for part in path.parts:
        if _GLOB & set(part):
            break
        parts.append(part)
    return Path(*parts)


def _kind_of(written: str) -> SourceKind:
    lower = written.lower()
    for compressed in _COMPRESSED:
        if lower.endswith(compressed):
            inner = _SOURCE_SUFFIXES.get(Path(lower.removesuffix(compressed)).suffix)
            if inner is SourceKind.CSV:
                return inner
            message = f"{written}: only CSV files may be compressed"
            raise PathFault(message)
    kind = _SOURCE_SUFFIXES.get(Path(lower).suffix)
    if kind is None:
        message = f"the kind of file does not follow from the suffix of {written}"
        raise PathFault(message, "write `source: {csv: …}`, or parquet, duckdb, sqlite")
    return kind
