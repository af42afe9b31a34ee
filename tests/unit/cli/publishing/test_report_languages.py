"""The index over releases in the language that their reports share, and a page in a language that is asked for."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import POLICY


def policy(name: str, language: str | None) -> str:
    named = POLICY.replace("id: made", f"id: {name}").replace("out/r.csv", f"out/{name}.csv")
    return named if language is None else f"{named}report: {{language: {language}}}\n"


@pytest.mark.parametrize(
    ("languages", "title"), [(("de", "de"), "Ver\u00f6ffentlichungen"), (("fr",), "Diffusions"), (("de", None), "Releases")]
)
def test_an_index_has_the_language_that_all_reports_have_or_is_english(desk, languages, title):
    for number, language in enumerate(languages):
        (desk.folder / f"p{number}.yaml").write_text(policy(f"made{number}", language), encoding="utf-8")
        assert desk("run", f"p{number}.yaml").code in {0, 1}
    assert desk("report", "--index", ".privrelease", "-o", "index.html").code == 0
    page = (desk.folder / "index.html").read_text(encoding="utf-8")
    assert f"<h1>{title}</h1>" in page
    assert desk("report", "--index", ".privrelease", "-o", "index.html", "--language", "fr", "--force").code == 0
    assert "<h1>Diffusions</h1>" in (desk.folder / "index.html").read_text(encoding="utf-8")


def test_a_page_is_rendered_in_the_language_that_is_asked_for(desk):
    (desk.folder / "p.yaml").write_text(policy("made", None), encoding="utf-8")
    assert desk("run", "p.yaml").code in {0, 1}
    run = next((desk.folder / ".privrelease" / "runs").iterdir(), None) or next(
        (desk.folder / ".privrelease" / "quarantine").iterdir()
    )
    assert desk("report", str(run), "--language", "de", "-o", "de.html").code == 0
    assert '<html lang="de">' in (desk.folder / "de.html").read_text(encoding="utf-8")
    said = desk("report", str(run), "--language", "tlh")
    assert said.code == 2
    assert "C188 --language is one of en, de, fr" in said.err
