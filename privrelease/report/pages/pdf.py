"""The report in print form, as PDF (extra ``pdf``): the page's own print style, tagged, the same bytes each time.

WeasyPrint draws a chart only with what is inside it, so the charts' colours are written into each.
"""

from __future__ import annotations

import logging
import re
from hashlib import sha256
from typing import TYPE_CHECKING, NoReturn

from privrelease.errors import InputError
from privrelease.report.pages.html import print_style, render_html

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult
    from privrelease.report.view.edition import Edition
    from privrelease.texts.catalogue import Catalogue

__all__ = ["render_pdf"]

_SVG = re.compile(r"<svg [^>]*>")
_LONG_WORD = re.compile(r">[^<]*?[^\s<>]{200}")
#: With a word that long, WeasyPrint takes minutes to ask how narrow a cell may become that breaks anywhere: it is not asked.
_FIXED = "<style>* { overflow-wrap: break-word !important; } table { table-layout: fixed !important; }</style></head>"


def render_pdf(audit: AuditResult, edition: Edition, catalogue: Catalogue | None = None) -> bytes:
    """Render one edition for print. Its date is the audit's, its identifier the digest of the page: no clock, no chance.

    Raises InputError (C306): WeasyPrint, or a library of the system that it needs, is not there.
    """
    try:
        from weasyprint import HTML
    except ImportError:
        hint = "pip install 'privrelease[pdf]'; or print the page of --format html from a browser"
        raise InputError(code="C306", message="print form needs the extra pdf (WeasyPrint)", hint=hint) from None
    except OSError:
        hint = "install libpango and libpangoft2 (Debian: libpango-1.0-0 libpangoft2-1.0-0), or print the page from a browser"
        raise InputError(code="C306", message="print form needs the library Pango, which is not found", hint=hint) from None
    logging.getLogger("weasyprint").setLevel(logging.CRITICAL)  # it warns of every property of a screen that paper lacks
    page = render_html(audit, edition, catalogue)
    style = f"<style>{print_style()}</style>"
    page = _SVG.sub(lambda match: match[0] + style, page)
    if _LONG_WORD.search(page):
        page = page.replace("</head>", _FIXED, 1)
    written = HTML(string=page, url_fetcher=_nowhere).write_pdf(
        pdf_identifier=sha256(page.encode()).digest()[:16], pdf_variant="pdf/ua-1"
    )
    assert isinstance(written, bytes)
    return written


def _nowhere(url: str, *_: object, **__: object) -> NoReturn:
    """Fetch nothing: a page needs nothing, and what asks nevertheless came from data or policy."""
    del url
    message = "a report fetches nothing"
    raise ValueError(message)
