"""``privrelease report --index FOLDER``: one page over every audit below a folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from privrelease.cli.exit import Ending
from privrelease.release.rehearsal import DRY_RUN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.audit.document.model import AuditResult
    from privrelease.cli.console import Console
    from privrelease.report.pages.index import Entry
    from privrelease.report.view.edition import Edition
    from privrelease.texts.catalogue import Catalogue

__all__ = ["index_bytes", "report_index"]

#: How deep below the folder audits are looked for (a state folder: runs, the run, internal), and how many are named when unreadable.
_DEEPEST, _MOST_NAMED = 5, 20


def report_index(
    folder: Path, edition: Edition, output: Path | None, console: Console, *, language: str | None = None, force: bool = False
) -> Ending:
    """Write the index; an audit that cannot be read is reported, counted on the page, and makes the exit code 3."""
    from privrelease.cli.output_files import Kept, Writer
    from privrelease.errors import InputError

    audits = tuple(_audits(folder))
    if not audits:
        raise InputError(
            code="C305",
            message=f"there is no audit.json below {folder}",
            hint="name a folder of reports, or a state folder (.privrelease)",
        )
    runs = tuple(Kept(audit.parent.parent, "the folder of a run") for audit in audits if _is_run(audit))
    writer = Writer((*(Kept(audit, "an audit that is read") for audit in audits), *runs), force)
    writer.check(output)
    content, unreadable = index_bytes(folder, edition, (output or folder / "index.html").parent, language)
    for fault in unreadable[:_MOST_NAMED]:
        console.say(fault)
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        writer.write(output, content)
        console.log(f"wrote {output}")
    if unreadable:
        return Ending(3, f"{len(unreadable)} of {len(audits)} audits cannot be read; the index shows the others")
    return Ending(0, f"the index shows {len(audits)} audits" if edition.value == "internal" else "the index is rendered")


def index_bytes(folder: Path, edition: Edition, seen_from: Path, language: str | None = None) -> tuple[bytes, tuple[str, ...]]:
    """Return the index of a folder, with links as seen from another, and what could not be read.

    ``language``: of the page; None: that of the reports where all have one, else English.
    """
    from privrelease.report.pages.html import render_index
    from privrelease.report.pages.index import build_index
    from privrelease.report.view.numbers import written_in

    entries, unreadable, texts = _entries(folder, edition, seen_from, language)
    with written_in(texts):
        page = build_index(entries, edition, texts, len(unreadable) if edition.value == "internal" else 0)
        return render_index(page, texts).encode(), unreadable


def _entries(
    folder: Path, edition: Edition, seen_from: Path, asked: str | None
) -> tuple[list[Entry], tuple[str, ...], Catalogue]:
    """Read audit by audit, and write its figures in the language of the first; once more in English where another has another language."""
    from privrelease.errors import InputError
    from privrelease.report.forms.json_report import read_audit
    from privrelease.report.view.numbers import written_in
    from privrelease.texts.catalogue import catalogue_of

    language = asked
    entries: list[Entry] = []
    unreadable: list[str] = []
    for path in _audits(folder):
        try:
            audit = read_audit(path, str(path.relative_to(folder)))
        except InputError as error:
            unreadable.append(str(error))
            continue
        own = audit.language or "en"
        language = language or own
        if asked is None and own != language:
            return _entries(folder, edition, seen_from, "en")
        with written_in(catalogue_of(language)):
            entry = _entry(audit, path, edition, seen_from, catalogue_of(language))
        if entry is not None:
            entries.append(entry)
    return entries, tuple(unreadable), catalogue_of(language)


def _entry(audit: AuditResult, path: Path, edition: Edition, seen_from: Path, texts: Catalogue) -> Entry | None:
    from privrelease.pipeline.rendering import known_standing
    from privrelease.report.pages.index import entry_of

    if edition.value == "recipient" and not _left(path):
        return None
    page = next((one for one in _pages(path, edition) if one.is_file()), None)
    link = None if page is None else quote(os.path.relpath(page, seen_from).replace(os.sep, "/"))
    return entry_of(audit, edition, texts, link, known_standing(path))


def _is_run(audit: Path) -> bool:
    return (audit.parent / "state.json").is_file()


def _left(audit: Path) -> bool:
    """Return True if a run was published, or if the audit is not a run's: then whoever put it there shows it."""
    from privrelease.release.runs import RunFolder, RunState

    if not _is_run(audit):
        return True
    return RunFolder(audit.parent.parent).record().state in {RunState.PUBLISHED, RunState.SUPERSEDED}


def _pages(audit: Path, edition: Edition) -> Iterator[Path]:
    """Yield the places where the page of an audit may be: next to it, or in the run's folder."""
    if edition.value == "internal":
        yield audit.with_name("report.html")
        return
    yield audit.with_name("report.recipient.html")
    yield from sorted((audit.parent.parent / "outgoing").glob("*.report.html"))


def _audits(folder: Path) -> Iterator[Path]:
    """Every audit below a folder but those of dry runs, in the order of its path; symbolic links are not followed."""
    base = len(folder.parts)
    for place, below, files in os.walk(folder):
        here = Path(place)
        below[:] = sorted(set(below) - {DRY_RUN}) if len(here.parts) - base < _DEEPEST else []
        if "audit.json" in files:
            yield here / "audit.json"
