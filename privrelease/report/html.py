"""The report as one HTML file: no network, no script, the same bytes each time."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from privrelease.report.catalogue import english
from privrelease.report.numbers import number
from privrelease.report.sections import SECTIONS
from privrelease.report.view import build_page

if TYPE_CHECKING:
    from privrelease.audit.model import AuditResult
    from privrelease.report.catalogue import Catalogue
    from privrelease.report.edition import Edition
    from privrelease.report.index import IndexPage

__all__ = ["print_style", "render_html", "render_index"]


def render_html(audit: AuditResult, edition: Edition, catalogue: Catalogue | None = None) -> str:
    """Render one edition of an audit as a self-contained page.

    Everything that comes from data or policy is escaped by Jinja; the page forbids itself scripts and every connection by a
    content security policy that admits its own style sheet only, by digest.
    """
    texts = catalogue or english()
    environment = _environment()
    page = build_page(audit, edition, texts, SECTIONS)
    css = _style()
    return environment.get_template("page.html.j2").render(
        page=page,
        style=Markup(css),  # noqa: S704 -- our own style sheet
        style_digest=b64encode(sha256(css.encode()).digest()).decode(),
        t=texts.html,
        tt=texts.text,
    )


def render_index(page: IndexPage, catalogue: Catalogue | None = None) -> str:
    """Render the index over many releases, as self-contained and as locked as :func:`render_html`; its links lead to reports beside it."""
    texts = catalogue or english()
    css = _style()
    return (
        _environment()
        .get_template("index.html.j2")
        .render(
            page=page,
            number=number,
            style=Markup(css),  # noqa: S704 -- our own style sheet
            style_digest=b64encode(sha256(css.encode()).digest()).decode(),
            t=texts.html,
            tt=texts.text,
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("privrelease.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )


@cache
def print_style() -> str:
    """Return the style sheet of charts on paper."""
    return _source("print.css")


@cache
def _style() -> str:
    return _source("style.css")


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]
