"""The report as one HTML file: no network, no script, the same bytes each time."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from privrelease.report.pages.bytecode import TemplateCode
from privrelease.report.sections.registry import SECTIONS
from privrelease.report.view.numbers import number, written_in
from privrelease.report.view.page import build_page
from privrelease.texts.catalogue import catalogue_of, english

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult
    from privrelease.report.pages.index import IndexPage
    from privrelease.report.view.edition import Edition
    from privrelease.report.view.standing import Standing
    from privrelease.texts.catalogue import Catalogue

__all__ = ["print_style", "render", "render_html", "render_index"]


def render_html(
    audit: AuditResult, edition: Edition, catalogue: Catalogue | None = None, standing: Standing | None = None
) -> str:
    """Render one edition of an audit as a self-contained page. ``standing``: what became of the release, where it is known.

    Everything that comes from data or policy is escaped by Jinja; the page forbids itself scripts and every connection by a
    content security policy that admits its own style sheet only, by digest.
    """
    texts = catalogue or catalogue_of(audit.language)
    with written_in(texts):
        return render("page.html.j2", texts, page=build_page(audit, edition, texts, SECTIONS, standing))


def render_index(page: IndexPage, catalogue: Catalogue | None = None) -> str:
    """Render the index over many releases, as self-contained and as locked as :func:`render_html`, with links to reports."""
    return render("index.html.j2", catalogue or english(), page=page, number=number)


def render(template: str, catalogue: Catalogue, **values: object) -> str:
    """Render one of our templates with our style sheet (``style``, ``style_digest``) and texts (``t`` as markup, ``tt`` plain; ``said`` of a
    sentence of ``audit.json``, and the attribute of one that stays English).
    """
    css = _style()
    return (
        _environment()
        .get_template(template)
        .render(
            **values,
            style=Markup(css),  # noqa: S704 -- our own style sheet
            style_digest=b64encode(sha256(css.encode()).digest()).decode(),
            said=catalogue.said,
            foreign=lambda text: Markup(' lang="en"') if catalogue.is_foreign(text) else "",
            t=catalogue.html,
            tt=catalogue.text,
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
        bytecode_cache=TemplateCode("autoescape, blocks trimmed and stripped, newline kept, undefined is an error"),
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
