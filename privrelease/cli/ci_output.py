"""Output for pipelines of commands that judge: ``--format sarif``, ``junit`` and ``github``."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.cli.console import Format
from privrelease.cli.exit import ending_of
from privrelease.cli.findings_output import finding_value
from privrelease.errors import PrivreleaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from privrelease.audit.document.model import AuditResult
    from privrelease.cli.console import Console
    from privrelease.findings import Finding
    from privrelease.report.forms.results import Result

__all__ = ["DOCS", "SUMMARY", "check_summary", "for_pipeline", "from_root", "repository_root", "seen_from", "stopped_in_form"]

#: The file to which GitHub Actions takes a job's summary, by environment variable.
SUMMARY = "GITHUB_STEP_SUMMARY"
#: The address of the folder of this documentation, to which results in SARIF link.
DOCS = "PRIVRELEASE_DOCS"


def check_summary(console: Console) -> None:
    """See before any work that the file of the job's summary can be written, where there will be one. Raises InputError (R101 to R105)."""
    named = os.environ.get(SUMMARY)
    if console.form is Format.GITHUB and named:
        from privrelease.release.files import os_errors

        with os_errors("looking at the file of the job summary"):
            Path(named).open("a", encoding="utf-8").close()


@contextmanager
def stopped_in_form(verb: str, policy: Path, console: Console) -> Iterator[None]:
    """Before anything is printed: what stops the command inside is printed in the console's form too, where that is one for machines, as
    ``validate`` prints it. The error is raised again.
    """
    try:
        yield
    except PrivreleaseError as error:
        findings = ending_of(error).findings
        if console.json:
            console.document({"policy": str(policy), "findings": [*map(finding_value, findings)]})
        for_pipeline(verb, policy, (), findings, console)
        raise


def for_pipeline(verb: str, policy: Path, audits: Sequence[AuditResult], findings: Iterable[Finding], console: Console) -> None:
    """Print audits, and findings that belong to none (of the policy, or what stopped a release), in the console's form, if it is one.

    ``verb`` and ``policy``, the file as it was named: by them a viewer distinguishes one command's results from another's.
    With ``github`` annotations are written to stdout, and the summary to the file that GitHub names.
    """
    if console.form not in {Format.SARIF, Format.JUNIT, Format.GITHUB}:
        return
    from privrelease.report.forms.github import render_annotations
    from privrelease.report.forms.junit import render_junit
    from privrelease.report.forms.markdown import render_markdown, render_results_markdown
    from privrelease.report.forms.results import cases_of, results_of, results_of_policy
    from privrelease.report.forms.sarif import render_sarif
    from privrelease.report.view.edition import Edition

    edition = Edition.INTERNAL
    others = results_of_policy(findings)
    results = (*others, *(result for audit in audits for result in results_of(audit, edition)))
    results = from_root(results)
    cases = [case for audit in audits for case in cases_of(audit, edition)]
    if console.form is Format.SARIF:
        about = (verb, *((policy.name,) if policy.is_absolute() else policy.parts))
        sys.stdout.write(render_sarif(results, about, cases, _docs()))
    elif console.form is Format.JUNIT:
        sys.stdout.write(render_junit(cases, others))
    else:
        sys.stdout.write(render_annotations(results, cases))
        summary = render_markdown(audits, edition)
        if others or not audits:
            summary += ("\n" if summary else "") + render_results_markdown(others)
        _append_summary(summary)


def from_root(results: Iterable[Result]) -> tuple[Result, ...]:
    """Return results with their files as they are seen from the root of the repository in which the command runs."""
    root = repository_root(Path.cwd())
    return tuple(replace(one, file=seen_from(root, one.file)) for one in results)


def repository_root(folder: Path) -> Path | None:
    """Return the nearest folder upwards with a git repository (a worktree has a file of that name); None where there is none."""
    here = Path(os.path.abspath(folder))  # noqa: PTH100 -- resolve() would follow links out of the repository
    return next((one for one in (here, *here.parents) if (one / ".git").exists()), None)


def seen_from(root: Path | None, file: str | None) -> str | None:
    """Return the path of a policy as it is seen from the root of its repository, as viewers of results look for it; as it is where it is not below.

    >>> seen_from(Path("/repo"), "/repo/policies/a.yaml"), seen_from(None, "a.yaml"), seen_from(Path("/repo"), "/else/a.yaml")
    ('policies/a.yaml', 'a.yaml', '/else/a.yaml')
    """
    if root is None or not file:
        return file
    path = Path(os.path.abspath(file))  # noqa: PTH100 -- the same
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else file


def _docs() -> str:
    """Return the address of the documentation's folder, to which results link; none is assumed."""
    named = os.environ.get(DOCS, "")
    if named and not named.startswith(("https://", "http://")):
        message = f"the environment variable {DOCS} holds no address"
        raise UsageError(
            code="C161", message=message, hint="set it to where the folder docs is served, e.g. https://…/docs, or unset it"
        )
    return named


def _append_summary(text: str) -> None:
    named = os.environ.get(SUMMARY)
    if not named:
        return
    from privrelease.release.files import os_errors

    with os_errors("writing the job summary"), Path(named).open("a", encoding="utf-8") as stream:
        stream.write(text + "\n")
