"""``privrelease report``: an audit as a page, text, JSON or a form for machines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.errors import UsageError
from privrelease.pipeline.rendering import FORMS, REGISTRY, STATEMENT, html_page, known_standing, registry, statement
from privrelease.texts.catalogue import LANGUAGES
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.report.view.edition import Edition

__all__ = ["Asked", "report"]


@dataclass(frozen=True, slots=True)
class Asked:
    """Request for a report: one audit or the index over a folder, for whom, in which form, and where to."""

    audit: Path | None
    index: Path | None
    edition: str
    form: str
    output: Path | None
    force: bool = False
    language: str | None = None


def report(asked: Asked, console: Console) -> Ending:
    """Render an ``audit.json``, or that of a run's folder, or the index over many."""
    from privrelease.report.view.edition import Edition

    if asked.edition not in set(Edition):
        raise UsageError(code="C105", message="--edition is internal or recipient", hint="write --edition recipient")
    if asked.form not in {*FORMS, REGISTRY}:
        raise UsageError(
            code="C106", message=f"--format of a report is one of {', '.join((*FORMS, REGISTRY))}", hint="write --format html"
        )
    if asked.language is not None and asked.language not in LANGUAGES:
        raise UsageError(
            code="C188", message=f"--language is one of {', '.join(LANGUAGES)}", hint="write --language de, or leave it out"
        )
    if (asked.audit is None) is (asked.index is None):
        raise UsageError(code="C118", message="either one audit or --index FOLDER is rendered", hint="name one of the two")
    if asked.index is not None:
        from privrelease.cli.commands.report_index import report_index

        if asked.form != "html":
            raise UsageError(code="C118", message="the index is a page: --format html", hint="leave --format out")
        return report_index(
            asked.index, Edition(asked.edition), asked.output, console, language=asked.language, force=asked.force
        )
    assert asked.audit is not None  # one of the two was named
    return _one(asked.audit, Edition(asked.edition), asked, console)


def _one(audit: Path, edition: Edition, asked: Asked, console: Console) -> Ending:
    from privrelease.audit.document.signoff import SignoffFacts, with_signoff
    from privrelease.cli.output_files import Writer, kept_of_audit
    from privrelease.pipeline.publishing import signoff_of
    from privrelease.report.forms.json_report import read_audit

    writer = Writer(kept_of_audit(audit), asked.force)
    writer.check(asked.output)
    path = audit / "internal" / "audit.json" if audit.is_dir() else audit
    result = read_audit(path)
    if asked.language is not None:
        result = result.model_copy(update={"language": asked.language})
    recorded = signoff_of(audit) if audit.is_dir() else None
    if recorded is not None:
        result = with_signoff(result, SignoffFacts.model_validate(recorded))
    if asked.form == REGISTRY:
        content = registry(audit, result)
    elif asked.form == STATEMENT:
        content = statement(audit, result)
    elif asked.form == "html":
        content = html_page(result, edition, known_standing(path))
    else:
        content = FORMS[asked.form](result, edition)
    if asked.output is None:
        sys.stdout.buffer.write(content)
    else:
        writer.write(asked.output, content)
        console.log(f"wrote {asked.output}")
    return Ending(0, "the report is rendered")
