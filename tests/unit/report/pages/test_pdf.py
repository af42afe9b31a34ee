from __future__ import annotations

import re
import sys
import zlib

import pytest

from privrelease.cli.main import main
from privrelease.errors import InputError
from privrelease.report.pages.html import render_html
from privrelease.report.pages.pdf import _LONG_WORD, render_pdf
from privrelease.report.view.edition import Edition


@pytest.fixture(scope="module")
def written(audit):
    pytest.importorskip("weasyprint", reason="lane pdf: WeasyPrint is not installed (extra pdf)", exc_type=ImportError)
    return render_pdf(audit, Edition.INTERNAL)


def objects(pdf: bytes) -> bytes:
    """Every compressed stream, unpacked, behind the file itself."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    unpacked = []
    for stream in streams:
        try:
            unpacked.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return b"\n".join((pdf, *unpacked))


def test_the_same_audit_gives_the_same_bytes_and_the_audits_date(audit, written):
    assert written.startswith(b"%PDF-")
    assert render_pdf(audit, Edition.INTERNAL) == written
    digits = re.sub(r"\D", "", audit.identity.audited_at).encode()
    assert b"/CreationDate (D:" + digits in objects(written)


def test_print_form_is_tagged_titled_and_in_a_language(written):
    content = objects(written)
    assert b"/StructTreeRoot" in content
    assert b"/Lang" in content
    assert b"pdfuaid" in content


def test_long_words_of_a_policy_do_not_stop_the_printer(audit):
    """Ten thousand letters in two cells took a quarter of an hour: the work grew with the square of their number."""
    pytest.importorskip("weasyprint", reason="lane pdf: WeasyPrint is not installed (extra pdf)", exc_type=ImportError)
    stated = {**audit.legal.stated, "safeguards": "x" * 10_000, "dpia.measures": ("y" * 10_000,)}
    hostile = audit.model_copy(update={"legal": audit.legal.model_copy(update={"stated": stated})})
    assert _LONG_WORD.search(render_html(hostile, Edition.INTERNAL))
    assert not _LONG_WORD.search(render_html(audit, Edition.INTERNAL)), "an ordinary page keeps its tables as they are"
    assert render_pdf(hostile, Edition.INTERNAL).startswith(b"%PDF-")


def test_without_the_extra_the_error_names_it(audit, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(InputError, match=r"extra pdf") as caught:
        render_pdf(audit, Edition.INTERNAL)
    assert caught.value.code == "C306"
    assert "privrelease[pdf]" in str(caught.value)


def test_the_command_writes_it(audit, written, tmp_path, capsys):
    from privrelease.audit.document.schema import audit_bytes

    (tmp_path / "audit.json").write_bytes(audit_bytes(audit))
    assert main(["report", str(tmp_path / "audit.json"), "--pdf", "-o", str(tmp_path / "report.pdf")]) == 0
    assert (tmp_path / "report.pdf").read_bytes() == written
