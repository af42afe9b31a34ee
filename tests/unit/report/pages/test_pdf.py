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
from tests.depth import depth


@pytest.fixture(scope="module")
def written(audit):
    pytest.importorskip("weasyprint", reason="lane pdf: WeasyPrint is not installed (extra pdf)", exc_type=ImportError)
    return render_pdf(audit, Edition.INTERNAL)


@pytest.fixture(scope="module")
def short(audit):
    """The same audit with the fewest sections, which is printed in a third of the time."""
    fewer = dict.fromkeys(("union", "sensitive", "quasi_identifiers", "attacks", "utility_measures"))
    return audit.model_copy(update={**fewer, "threats": audit.threats[:1], "checks": audit.checks[:2]})


@pytest.fixture(scope="module")
def written_short(short, written):
    return render_pdf(short, Edition.INTERNAL)


@pytest.fixture(scope="module")
def commanded(short, written_short, tmp_path_factory):
    """The command's exit code, and what it printed of the short audit."""
    from privrelease.audit.document.schema import audit_bytes

    folder = tmp_path_factory.mktemp("pdf")
    (folder / "audit.json").write_bytes(audit_bytes(short))
    code = main(["report", str(folder / "audit.json"), "--pdf", "-o", str(folder / "report.pdf")])
    return code, (folder / "report.pdf").read_bytes()


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


def test_the_same_audit_gives_the_same_bytes_and_the_audits_date(audit, written, written_short, commanded):
    assert written.startswith(b"%PDF-")
    assert commanded[1] == written_short, "printed a second time"
    digits = re.sub(r"\D", "", audit.identity.audited_at).encode()
    assert b"/CreationDate (D:" + digits in objects(written)


def test_print_form_is_tagged_titled_and_in_a_language(written):
    content = objects(written)
    assert b"/StructTreeRoot" in content
    assert b"/Lang" in content
    assert b"pdfuaid" in content


def test_long_words_of_a_policy_do_not_stop_the_printer(audit, short):
    """Ten thousand letters in two cells took a quarter of an hour: the work grew with the square of their number."""
    pytest.importorskip("weasyprint", reason="lane pdf: WeasyPrint is not installed (extra pdf)", exc_type=ImportError)
    letters = depth(3_000, 10_000)
    stated = {**audit.legal.stated, "safeguards": "x" * letters, "dpia.measures": ("y" * letters,)}
    hostile = short.model_copy(update={"legal": audit.legal.model_copy(update={"stated": stated})})
    assert _LONG_WORD.search(render_html(hostile, Edition.INTERNAL))
    assert not _LONG_WORD.search(render_html(audit, Edition.INTERNAL)), "an ordinary page keeps its tables as they are"
    assert render_pdf(hostile, Edition.INTERNAL).startswith(b"%PDF-")


def test_without_the_extra_the_error_names_it(audit, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(InputError, match=r"extra pdf") as caught:
        render_pdf(audit, Edition.INTERNAL)
    assert caught.value.code == "C306"
    assert "privrelease[pdf]" in str(caught.value)


def test_the_command_writes_it(written_short, commanded):
    assert commanded == (0, written_short)
