"""The forms of a report: each renders an audit for an edition as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from privrelease.audit.document.model import AuditResult
    from privrelease.report.view.edition import Edition
    from privrelease.report.view.standing import Standing

__all__ = ["FORMS", "REGISTRY", "STATEMENT", "html_page", "known_standing", "registry", "statement"]


def html_page(audit: AuditResult, edition: Edition, standing: Standing | None = None) -> bytes:
    """Render the page of an audit. ``standing``: what became of the release, where it is known."""
    from privrelease.report.pages.html import render_html

    return render_html(audit, edition, standing=standing).encode()


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
    from privrelease.report.forms.results import cases_of, results_of
    from privrelease.report.forms.sarif import render_sarif

    identity = audit.identity
    environment = () if identity.environment is None else (identity.environment,)
    about = (identity.policy_id, *environment, identity.release)
    return render_sarif(results_of(audit, edition), about, cases_of(audit, edition)).encode()


def _junit(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.junit import render_junit
    from privrelease.report.forms.results import cases_of

    return render_junit(cases_of(audit, edition)).encode()


def _github(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.github import render_annotations
    from privrelease.report.forms.results import cases_of, results_of

    return render_annotations(results_of(audit, edition), cases_of(audit, edition)).encode()


def _markdown(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.markdown import render_markdown

    return render_markdown((audit,), edition).encode()


def _in_toto(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.intoto import render_statement

    del edition  # a statement is for whoever has the files
    return render_statement(audit)


def _dpv(audit: AuditResult, edition: Edition) -> bytes:
    from privrelease.report.forms.dpv import render_dpv

    return render_dpv(audit, edition).encode()


def known_standing(audit: Path) -> Standing | None:
    """Return what became of the release of an ``audit.json``, by the record of its run next to it, or by ``standing.json``; None where nothing says."""
    from pydantic import ValidationError

    from privrelease.errors import PrivreleaseError
    from privrelease.release.runs import RunFolder
    from privrelease.report.view.standing import Standing, standing_of

    noted = audit.with_name("standing.json")
    try:
        if audit.with_name("state.json").is_file():
            return standing_of(RunFolder(audit.parent.parent).record())
        return Standing.model_validate_json(noted.read_bytes()) if noted.is_file() else None
    except (PrivreleaseError, OSError, ValidationError):
        return None


#: The form that says more of the audit of a run: it is about the manifest and the recipients' report, too.
STATEMENT = "in-toto"

#: Every form of a report.
FORMS: dict[str, Callable[[AuditResult, Edition], bytes]] = {
    "html": html_page,
    "pdf": _pdf,
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "junit": _junit,
    "github": _github,
    "markdown": _markdown,
    STATEMENT: _in_toto,
    "dpv": _dpv,
}


#: The form that also needs the claim in the manifest of the run.
REGISTRY = "dp-deployment"


def registry(folder: Path, audit: AuditResult) -> bytes:
    """Render an entry of a registry of deployments from the folder of a run. Raises InputError (C304): it claims no privacy loss."""
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
    return render_dp_registry(audit, claim).encode()


def statement(path: Path, audit: AuditResult) -> bytes:
    """Render the statement about all that recipients get, where the audit is that of a run; else about the data alone."""
    from privrelease.pipeline.signing import companion_subjects, run_of
    from privrelease.report.forms.intoto import render_statement

    return render_statement(audit, companion_subjects(run_of(path), audit))
