"""``privrelease report``: an audit as a page, text, JSON or a form for machines."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from privrelease.audit.document.model import AuditResult
    from privrelease.cli.console import Console
    from privrelease.report.view.edition import Edition

__all__ = ["FORMS", "REGISTRY", "Asked", "report"]


def _html(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.pages.html import render_html

    return render_html(audit, edition).encode()


def _pdf(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.pages.pdf import render_pdf

    return render_pdf(audit, edition)


def _text(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.text import render_text

    return render_text(audit, edition).encode()


def _json(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.json_report import render_json

    return render_json(audit, edition)


def _sarif(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.results import results_of
    from privrelease.report.forms.sarif import render_sarif

    identity = audit.identity
    environment = () if identity.environment is None else (identity.environment,)
    return render_sarif(results_of(audit, edition), (identity.policy_id, *environment, identity.release)).encode()


def _junit(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.junit import render_junit
    from privrelease.report.forms.results import cases_of

    return render_junit(cases_of(audit, edition)).encode()


def _github(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.github import render_annotations
    from privrelease.report.forms.results import results_of

    return render_annotations(results_of(audit, edition)).encode()


def _markdown(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.markdown import render_markdown

    return render_markdown((audit,), edition).encode()


def _in_toto(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.intoto import render_statement

    del edition  # a statement goes to whoever has the files
    return render_statement(audit)


def _dpv(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.dpv import render_dpv

    return render_dpv(audit, edition).encode()


#: Every form of a report.
FORMS: dict[str, Callable[[AuditResult, Edition], bytes]] = {
    "html": _html,
    "pdf": _pdf,
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "junit": _junit,
    "github": _github,
    "markdown": _markdown,
    "in-toto": _in_toto,
    "dpv": _dpv,
}


#: The form that also needs the claim in the manifest of the run.
REGISTRY = "dp-deployment"


def _registry(folder: Path, audit: AuditResult) -> bytes:
    from privrelease.errors import InputError
    from privrelease.release.runs import RunFolder
    from privrelease.report.forms.dp_registry import render_dp_registry

    claim = RunFolder(folder).manifest().privacy if folder.is_dir() else None
    if claim is None:
        raise InputError(
            code="C304",
            message="there is no claim of differential privacy to register",
            hint="name the folder of a run of a release with differential privacy",
        )
    return render_dp_registry(audit, claim, "synthetic" if "12" in audit.sections else "statistics").encode()


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for: one audit or the index over a folder, for whom, in which form, and where to."""

    audit: Path | None
    index: Path | None
    edition: str
    form: str
    output: Path | None
    force: bool = False


def report(asked: Asked, console: Console) -> Ending:
    """Render an ``audit.json``, or that of a run's folder, or the index over many."""
    from privrelease.report.view.edition import Edition

    if asked.edition not in set(Edition):
        raise UsageError(code="C105", message="--edition is internal or recipient", hint="write --edition recipient")
    if asked.form not in {*FORMS, REGISTRY}:
        raise UsageError(
            code="C106", message=f"--format of a report is one of {', '.join((*FORMS, REGISTRY))}", hint="write --format html"
        )
    if (asked.audit is None) is (asked.index is None):
        raise UsageError(code="C118", message="either one audit or --index FOLDER is rendered", hint="name one of the two")
    if asked.index is not None:
        from privrelease.cli.commands.report_index import report_index

        if asked.form != "html":
            raise UsageError(code="C118", message="the index is a page: --format html", hint="leave --format out")
        return report_index(asked.index, Edition(asked.edition), asked.output, console, force=asked.force)
    assert asked.audit is not None  # one of the two was named
    return _one(asked.audit, Edition(asked.edition), asked, console)


def _one(audit: Path, edition: Edition, asked: Asked, console: Console) -> Ending:
    from privrelease.audit.document.signoff import SignoffFacts, with_signoff
    from privrelease.cli.commands.publishing import signoff_of
    from privrelease.cli.output_files import Writer, kept_of_audit
    from privrelease.report.forms.json_report import read_audit

    writer = Writer(kept_of_audit(audit), asked.force)
    writer.check(asked.output)
    path = audit / "internal" / "audit.json" if audit.is_dir() else audit
    result = read_audit(path)
    recorded = signoff_of(audit) if audit.is_dir() else None
    if recorded is not None:
        result = with_signoff(result, SignoffFacts.model_validate(recorded))
    content = _registry(audit, result) if asked.form == REGISTRY else FORMS[asked.form](result, edition)
    if asked.output is None:
        sys.stdout.buffer.write(content)
    else:
        writer.write(asked.output, content)
        console.log(f"wrote {asked.output}")
    return Ending(0, "the report is rendered")
