"""Rules of output paths: each file has a place of its own, and so has what is written next to it.

Next to the first output of a release are its manifest and its report (:func:`~privrelease.policy.validation.paths.companions`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.policy.text.messages import shown
from privrelease.policy.validation.paths import PathFault, companions
from privrelease.relational.schema import SinkKind
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.language.kinds import Release
    from privrelease.policy.language.releases import OutputSpec
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["output_rules"]

_ELSEWHERE = "publish somewhere else"
_DELIMITERS = (",", ";", "|", "\t")
_BESIDE = ("manifest", "report")


@dataclass(frozen=True, slots=True)
class _Output:
    """An output: its place in the policy, as written, where it goes, and of which release."""

    path: tuple[str | int, ...]
    written: str
    target: Path
    release: str
    first: bool


def output_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with where releases go."""
    sources = _sources(reading)
    seen: list[_Output] = []
    for number, release in enumerate(reading.policy.releases):
        for index, spec in enumerate(release.output):
            path = ("releases", number, "output", index, "path")
            try:
                kind, target = reading.roots.sink(spec)
            except PathFault as fault:
                yield reading.error(fault.code, fault.message, *path, hint=fault.hint)
                continue
            output = _Output(path, spec.path, target, release.id, index == 0)
            found = [*_among(reading, output, seen), *_overwrites(reading, output, sources)]
            yield from found or _on_disk(reading, output)
            yield from _signs(reading, spec, kind, path[:-1])
            if kind is SinkKind.CSV:
                yield from _blank_lines(reading, release, path)
            seen.append(output)
    yield from _beside(reading, seen)


def _signs(reading: RuleContext, spec: OutputSpec, kind: SinkKind, place: tuple[str | int, ...]) -> Iterator[Finding]:
    """Yield a finding where the signs of a CSV file are those of another kind of file, or one sign has two meanings."""
    given = [key for key in ("delimiter", "decimal") if key in spec.model_fields_set]
    if kind is not SinkKind.CSV:
        for key in given:
            message = f"a {kind.value} file has no {key}"
            yield reading.error("P745", message, *place, key, hint=f"remove `{key}`, or publish a CSV file")
    elif spec.delimiter not in _DELIMITERS:
        message = f"no CSV file is cut into cells by {shown(spec.delimiter)}"
        yield reading.error("P744", message, *place, "delimiter", hint='write "," or ";" or "|" or "\\t"')
    elif spec.delimiter == spec.decimal:
        message = f"delimiter and decimal sign are both {shown(spec.decimal)}"
        yield reading.error("P744", message, *place, given[-1], hint='write `delimiter: ";"` where the decimal sign is a comma')


def _blank_lines(reading: RuleContext, release: Release, path: tuple[str | int, ...]) -> Iterator[Finding]:
    """Yield a warning where a missing cell is a blank line. It cannot be written in quotes: that is how an empty text is told from it."""
    dataset = reading.policy.datasets.get(release.from_)
    kind = reading.kind(release)
    if any(item[:2] == ("columns", release.from_) for item in reading.broken):
        return  # how many columns there are is not known
    if dataset is None or (kind.rows is None and not (kind.comparable and kind.comparable(release, dataset))):
        return  # figures, and made-up columns, have no missing cell
    if len(kind.columns(release, dataset)) == 1:
        message = "in a CSV file of one column a missing cell is a blank line, which many readers skip (pandas, R)"
        hint = "publish Parquet, or a second column; or tell recipients to read blank lines (`skip_blank_lines=False`, `blank.lines.skip = FALSE`)"
        yield reading.warning("P747", message, *path, hint=hint)


def _among(reading: RuleContext, output: _Output, seen: list[_Output]) -> Iterator[Finding]:
    for other in seen:
        if _same(output.target, other.target):
            message = f"two outputs go to {shown(other.written)}"
            if _only_in_case(output.target, other.target):
                message = (
                    f"{shown(output.written)} and {shown(other.written)} differ only in case, so some systems take them for one"
                )
            yield reading.error("P405", message, *output.path, hint="give each a path of its own")
        elif output.target.is_relative_to(other.target) or other.target.is_relative_to(output.target):
            message = f"{shown(output.written)} and {shown(other.written)} lie inside each other"
            yield reading.error("P405", message, *output.path, hint=_ELSEWHERE)


def _overwrites(reading: RuleContext, output: _Output, sources: list[tuple[Path, str]]) -> Iterator[Finding]:
    target, written = output.target, shown(output.written)
    for other, label in sources:
        if _same(target, other) or other.is_relative_to(target):
            case = ", which differs only in case" if _only_in_case(target, other) else ""
            yield reading.error(
                "P405", f"{written} would overwrite the source {shown(label)}{case}", *output.path, hint=_ELSEWHERE
            )
        elif any(sign in str(other) for sign in "*?[") and target.match(str(other)):
            yield reading.error(
                "P405", f"{written} would become part of the source {shown(label)}", *output.path, hint=_ELSEWHERE
            )
        elif target.is_relative_to(other):
            yield reading.error("P405", f"{written} lies inside the source {shown(label)}", *output.path, hint=_ELSEWHERE)
    for file in reading.files:
        if _same(target, file) or file.is_relative_to(target):
            yield reading.error("P405", f"{written} would overwrite the policy", *output.path, hint=_ELSEWHERE)


def _on_disk(reading: RuleContext, output: _Output) -> Iterator[Finding]:
    """Yield a finding where what exists there already makes it impossible: a folder at the place, or a file where a folder must
    be.
    """
    if output.target.is_dir():
        yield reading.error("P404", f"{shown(output.written)} is a folder", *output.path, hint="name a file")
    above = next((folder for folder in output.target.parents if os.path.lexists(folder)), None)
    if above is not None and not above.is_dir():
        message = f"{shown(output.written)} would lie inside {shown(above.name)}, which is a file"
        yield reading.error("P404", message, *output.path, hint=_ELSEWHERE)


def _beside(reading: RuleContext, outputs: list[_Output]) -> Iterator[Finding]:
    """Yield manifests and reports that would be another file: an output, a source, a file of the policy, or another's."""
    firsts = [output for output in outputs if output.first]
    read = [*(source for source, _ in _sources(reading)), *reading.files]
    for number, first in enumerate(firsts):
        for what, place in zip(_BESIDE, companions(first.target), strict=True):
            for output in outputs:
                name = output.release == first.release and output.target.name.casefold() == place.name.casefold()
                if name or _same(output.target, place) or output.target.is_relative_to(place):
                    message = f"{shown(output.written)} is where the {what} of release {first.release} goes"
                    yield reading.error("P422", message, *output.path, hint="give it another name")
            for precious in read:
                if _same(precious, place):
                    message = f"the {what} of release {first.release} would overwrite {shown(place.name)}"
                    yield reading.error("P422", message, *first.path, hint=_ELSEWHERE)
        manifest = companions(first.target)[0]
        for other in firsts[:number]:
            theirs = companions(other.target)[0]
            if _same(manifest, theirs) and not _same(first.target, other.target):
                case = ", but for case" if _only_in_case(manifest, theirs) else ""
                message = f"releases {other.release} and {first.release} would both have {shown(theirs.name)} beside them{case}"
                yield reading.error("P422", message, *first.path, hint="let the names differ before the suffix, or the folders")


def _sources(reading: RuleContext) -> list[tuple[Path, str]]:
    found = []
    for dataset in reading.policy.datasets.values():
        try:
            source = reading.roots.source(dataset)
        except PathFault:
            continue
        found.append((Path(source.path), source.label))
    return found


def _only_in_case(one: Path, other: Path) -> bool:
    return str(one) != str(other) and str(one).casefold() == str(other).casefold()


def _same(one: Path, other: Path) -> bool:
    """One file by its name (in any case of letters, as some file systems fold it) or by its links."""
    return str(one).casefold() == str(other).casefold() or os.path.realpath(one) == os.path.realpath(other)
