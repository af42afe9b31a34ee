"""``privrelease report``: an audit as a page, text or JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from privrelease.cli.ending import Ending
from privrelease.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console

__all__ = ["report"]


def report(audit: Path, edition: str, output: Path | None, form: str, console: Console) -> Ending:
    """Render an ``audit.json``, or that of a run's folder."""
    from privrelease.release.files import speaking, write_atomically
    from privrelease.report.edition import Edition
    from privrelease.report.html import render_html
    from privrelease.report.json_report import read_audit, render_json
    from privrelease.report.text import render_text

    if edition not in set(Edition):
        raise UsageError(code="C105", message="--edition is internal or recipient", hint="write --edition recipient")
    if form not in {"html", "text", "json"}:
        raise UsageError(code="C106", message="--format of a report is html, text or json", hint="write --format html")
    path = audit / "internal" / "audit.json" if audit.is_dir() else audit
    result = read_audit(path)
    chosen = Edition(edition)
    if form == "json":
        content = render_json(result, chosen)
    else:
        content = (render_html(result, chosen) if form == "html" else render_text(result, chosen)).encode()
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        with speaking("writing the report"):
            write_atomically(output, content)
        console.log(f"wrote {output}")
    return Ending(0, "the report is rendered")
