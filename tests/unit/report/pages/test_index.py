from __future__ import annotations

import re
from fractions import Fraction

import pytest

from privrelease.audit.document.model import Figure, Outcome, Visibility
from privrelease.audit.document.schema import audit_bytes
from privrelease.cli.main import main
from privrelease.report.pages.html import render_index
from privrelease.report.pages.index import MOST_ROWS, build_index, entry_of
from privrelease.report.view.edition import Edition
from privrelease.texts.catalogue import english

TEXTS = english()


def at(audit, moment: str, risk: str | None = None, **changes):
    """The audit of another moment, with another highest risk."""
    threats = audit.threats
    if risk is not None:
        figure = Figure.of(Fraction(risk), "risk", Visibility.RECIPIENT)
        threats = tuple(
            one.model_copy(
                update={
                    "after": one.after.model_copy(update={"highest": figure}),
                    "verdicts": tuple(
                        v.model_copy(update={"figure": figure}) if v.measure == "highest_risk" else v for v in one.verdicts
                    ),
                }
            )
            for one in threats
        )
    identity = audit.identity.model_copy(update={"audited_at": moment} | changes)
    return audit.model_copy(update={"identity": identity, "threats": threats})


def page_of(audits, edition=Edition.INTERNAL):
    entries = [entry for one in audits if (entry := entry_of(one, edition, TEXTS, None)) is not None]
    return build_index(entries, edition, TEXTS)


def test_releases_come_newest_first_and_charts_run_from_the_oldest(audit):
    page = page_of([at(audit, f"2026-0{month}-01T00:00:00Z", f"1/{month + 4}") for month in (3, 1, 2)])
    assert [row.audited_at[:10] for row in page.rows] == ["2026-03-01", "2026-02-01", "2026-01-01"]
    ((_, chart),) = page.risks
    assert [said for _, _, said in chart.points] == ["2026-01-01: 20 %", "2026-02-01: 16.7 %", "2026-03-01: 14.3 %"]
    heights = [float(y) for _, y, _ in chart.points]
    assert heights == sorted(heights)
    assert chart.limit


def test_each_release_has_a_chart_of_its_own(audit):
    page = page_of([at(audit, "2026-01-01T00:00:00Z", release=name) for name in ("a", "b", "b")])
    assert [dict(heading[1])["release"] for heading, _ in page.risks] == ["b", "a"]


def test_recipients_see_what_passed_and_no_internal_figure(audit):
    failed = audit.model_copy(update={"decision": audit.decision.model_copy(update={"outcome": Outcome.FAIL})})
    review = audit.model_copy(update={"decision": audit.decision.model_copy(update={"outcome": Outcome.REVIEW})})
    page = page_of([audit, failed, review], Edition.RECIPIENT)
    assert len(page.rows) == 1
    assert page.rows[0].lost is None
    html = render_index(page)
    assert "Cells lost" not in html
    assert "edition for recipients" in html
    assert len(page_of([audit, failed, review]).rows) == 3


def test_an_internal_risk_is_in_no_chart_for_recipients(audit):
    hidden = tuple(
        one.model_copy(update={"after": one.after.model_copy(update={"highest": Figure.of(Fraction(1, 7), "risk")})})
        for one in audit.threats
    )
    page = page_of([audit.model_copy(update={"threats": hidden})], Edition.RECIPIENT)
    assert page.risks == ()
    assert page.rows[0].risk_shown is None


def test_thousands_of_audits_make_a_page_below_a_megabyte_that_says_what_it_leaves_out(audit):
    one = entry_of(audit, Edition.INTERNAL, TEXTS, "run/report.html")
    from dataclasses import replace

    entries = [replace(one, audited_at=f"2026-01-01T00:00:00Z{n:05}", release=f"r{n % 40}") for n in range(5000)]
    page = build_index(entries, Edition.INTERNAL, TEXTS)
    html = render_index(page)
    assert len(html.encode()) < 1_000_000
    assert f"the newest <bdi>{MOST_ROWS}</bdi> of <bdi>5,000</bdi>" in html
    assert "of <bdi>40</bdi>" in html


def test_names_add_no_element(audit):
    hostile = "<img src=x onerror=alert(1)>\"'</script>\u202e"
    html = render_index(page_of([at(audit, "2026-01-01T00:00:00Z", policy_id=hostile, policy_title=hostile, release=hostile)]))
    assert "<img" not in html
    assert "<script" not in html
    assert not re.search(r'="[^"]*<', html)


def written(folder, audit, name):
    (folder / name).mkdir(parents=True)
    (folder / name / "audit.json").write_bytes(audit_bytes(audit))
    (folder / name / "report.html").write_text("a page", encoding="utf-8")


def test_the_command_makes_the_index_of_a_folder_with_links_to_the_reports(audit, tmp_path, capsys):
    written(tmp_path, audit, "first one")
    written(tmp_path, at(audit, "2027-01-01T00:00:00Z"), "second")
    target = tmp_path / "index.html"
    assert main(["report", "--index", str(tmp_path), "-o", str(target)]) == 0
    html = target.read_text(encoding="utf-8")
    assert re.findall(r'href="([^"#]+)"', html) == ["second/report.html", "first%20one/report.html"]
    assert main(["report", "--index", str(tmp_path), "-o", str(target), "--force"]) == 0
    assert target.read_text(encoding="utf-8") == html


def test_what_is_no_audit_is_told_and_counted_and_the_others_are_shown(audit, tmp_path, capsys):
    written(tmp_path, audit, "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "audit.json").write_text('{"zora": "quill"}', encoding="utf-8")
    assert main(["report", "--index", str(tmp_path), "-o", str(tmp_path / "index.html")]) == 3
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "not shown: <bdi>1</bdi>" in html
    assert "good/report.html" in html
    said = capsys.readouterr()
    assert "C302" in said.err
    assert "quill" not in said.err + html


def test_a_folder_without_audits_and_two_wishes_at_once_are_refused(audit, tmp_path, capsys):
    assert main(["report", "--index", str(tmp_path)]) == 3
    assert main(["report"]) == 2
    written(tmp_path, audit, "one")
    assert main(["report", str(tmp_path / "one" / "audit.json"), "--index", str(tmp_path)]) == 2
    assert main(["report", "--index", str(tmp_path), "--format", "sarif"]) == 2
    assert main(["report", "--index", str(tmp_path), "-o", str(tmp_path / "one" / "audit.json"), "--force"]) == 2


@pytest.mark.parametrize("edition", Edition)
def test_the_same_audits_give_the_same_bytes_in_any_order(audit, edition):
    audits = [at(audit, f"2026-0{month}-01T00:00:00Z") for month in (1, 2, 3)]
    assert render_index(page_of(audits, edition)) == render_index(page_of(audits[::-1], edition))


@pytest.mark.parametrize("edition", Edition)
def test_checks_that_could_not_be_made_stand_beside_those_that_hold(audit, edition):
    some = audit.model_copy(update={"decision": audit.decision.model_copy(update={"checks_not_made": 4})})
    assert "could not be made: 4" in render_index(page_of([some], edition), TEXTS).replace("\u2068", "").replace("\u2069", "")
    assert "could not be made" not in render_index(page_of([audit], edition), TEXTS)


def test_those_inside_read_first_how_many_pass_wait_and_fail(audit):
    def decided(outcome):
        return audit.model_copy(update={"decision": audit.decision.model_copy(update={"outcome": outcome})})

    audits = [decided(outcome) for outcome in (Outcome.PASS, Outcome.PASS, Outcome.FAIL, Outcome.REVIEW)]
    said = "Of them pass their policy: 2; need review: 1; fail: 1."
    words = re.sub(r"[\u2068\u2069]|<[^>]+>", "", render_index(page_of(audits)))
    assert words.index(said) < words.index("Releases, newest first")
    assert "Of them" not in render_index(page_of(audits, Edition.RECIPIENT))
    assert page_of(audits[:1]).decided is None
