from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from privrelease.audit.document.model import Figure, Outcome, Visibility
from privrelease.release.runs import Decided, RunRecord, RunState, Transition
from privrelease.report.charts.bars import horizontal_bars
from privrelease.report.pages.html import render_html
from privrelease.report.sections.deciding import tiles
from privrelease.report.sections.plain_words import plain_words
from privrelease.report.view.edition import Edition, for_edition
from privrelease.report.view.page import Context
from privrelease.report.view.standing import Standing, standing_of, standing_said
from privrelease.texts.catalogue import english

TEXTS = english()
DAY = datetime(2026, 11, 29, 12, tzinfo=UTC)


def failing(audit, number=0):
    """The audit with one check that fails, though every threshold holds."""
    observed, limit = Figure.of(Fraction(1, 4), "share"), Figure.of(Fraction(1, 10), "share", Visibility.RECIPIENT)
    bad = audit.checks[number].model_copy(update={"outcome": Outcome.FAIL, "observed": observed, "limit": limit})
    checks = (*audit.checks[:number], bad, *audit.checks[number + 1 :])
    decision = audit.decision.model_copy(update={"outcome": Outcome.FAIL})
    return audit.model_copy(update={"checks": checks, "decision": decision})


def test_what_failed_is_the_first_figure_though_every_threshold_holds(audit):
    found = tiles(failing(audit), TEXTS)
    assert audit.decision.worst.holds
    assert found[0].status == "fail"
    assert found[0].figure.text == "25 %"
    assert "What failed" in found[0].label
    assert not any("Nearest" in tile.label for tile in found)


def test_nothing_looks_like_a_pass_beside_a_failure(audit):
    assert any(tile.status == "pass" for tile in tiles(audit, TEXTS))
    assert not any(tile.status == "pass" for tile in tiles(failing(audit), TEXTS))
    page = render_html(failing(audit), Edition.INTERNAL, standing=Standing(state="quarantined"))
    screen = page[page.index('class="verdict') : page.index("</dl>")]
    assert 'chip pass"' not in screen
    assert "it was moved to quarantine" in screen


def test_a_missing_legal_field_is_what_decided_a_review(audit):
    legal = audit.legal.model_copy(update={"profile": "gdpr", "missing": ("transfers", "notice")})
    decision = audit.decision.model_copy(update={"outcome": Outcome.REVIEW})
    first = tiles(audit.model_copy(update={"legal": legal, "decision": decision}), TEXTS)[0]
    assert (first.status, first.figure.text) == ("review", "2")


def test_the_paragraphs_count_guesses_by_hand(audit):
    """Expected right guesses: records times average risk, which are the classes; of the threat where they are most."""
    context = Context(audit, Edition.INTERNAL, TEXTS)
    sentences = {key: values for paragraph in plain_words(context) for key, values in paragraph}
    expected = max(Fraction(one.after.records.exact) * Fraction(one.after.average.exact) for one in audit.threats)
    assert float(sentences["plain.expected"]["n"].replace(",", "")) == pytest.approx(float(expected), abs=0.05)


def test_recipients_read_no_withheld_figure_in_plain_words(audit):
    kept = for_edition(audit, Edition.RECIPIENT)
    sentences = [text for paragraph in plain_words(Context(kept, Edition.RECIPIENT, TEXTS)) for text in paragraph]
    assert sentences
    source = f"{int(audit.data.source_rows.value):,}"
    said = " ".join(TEXTS.plain(key, **values) for key, values in sentences)
    assert audit.data.source_rows.visibility is Visibility.INTERNAL
    assert not re.search(rf"(?<![\d,]){source}(?![\d,])", said) or source == f"{int(audit.data.released_rows.value):,}"


def record(*states, outcome="pass", reason=""):
    history = tuple(Transition(state=state, at=DAY, reason=reason) for state in states)
    decided = Decided(outcome=outcome, manifest_sha256="a" * 64) if outcome else None
    return RunRecord(run="r", policy="p", environment=None, release="m", links=(), history=history, decided=decided)


@pytest.mark.parametrize(
    ("state", "outcome", "expected"),
    [
        (RunState.PUBLISHED, "pass", "published"),
        (RunState.SUPERSEDED, "pass", "superseded"),
        (RunState.PARKED, "review", "parked"),
        (RunState.PARKED, None, None),
        (RunState.PARKED, "fail", None),
        (RunState.QUARANTINED, "fail", "quarantined"),
        (RunState.WITHDRAWN, "pass", "withdrawn"),
        (RunState.RUNNING, None, None),
        (RunState.ABANDONED, None, None),
    ],
)
def test_a_state_is_shown_only_where_somebody_decided(state, outcome, expected):
    found = standing_of(record(state, outcome=outcome))
    assert (None if found is None else found.state) == expected


def test_a_withdrawal_says_when_and_why_and_only_inside(audit):
    standing = standing_of(record(RunState.PUBLISHED, RunState.WITHDRAWN, reason="a wrong column"))
    assert standing_said(standing, ()) == ("standing.withdrawn_because", {"date": "2026-11-29", "reason": "a wrong column"})
    assert "a wrong column" in render_html(audit, Edition.INTERNAL, standing=standing)
    assert "a wrong column" not in render_html(audit, Edition.RECIPIENT, standing=standing)


def test_special_categories_without_any_legal_field_are_warned_of_at_the_top(audit):
    columns = (audit.data.columns[0].model_copy(update={"category": "special"}), *audit.data.columns[1:])
    bare = audit.model_copy(
        update={
            "data": audit.data.model_copy(update={"columns": columns}),
            "legal": audit.legal.model_copy(update={"stated": {}}),
        }
    )
    said = "without any statement of its lawfulness"
    assert said in render_html(bare, Edition.INTERNAL)
    assert said not in render_html(bare, Edition.RECIPIENT)
    assert said not in render_html(audit, Edition.INTERNAL)


def test_the_track_of_a_bar_is_all_of_it():
    chart = horizontal_bars("b", "", "", [("a", Fraction(1)), ("b", Fraction(1, 100)), ("c", Fraction(1, 10**6))])
    assert [float(bar.width) for bar in chart.bars] == [chart.track, pytest.approx(2.6), 1.5]


def test_rows_are_reconciled_in_one_line_or_said_not_to_add_up(audit):
    assert "dropped by protection" in render_html(audit, Edition.INTERNAL)
    more = audit.data.model_copy(update={"source_rows": Figure.of(10**6, "count")})
    assert "Rows do not add up" in render_html(audit.model_copy(update={"data": more}), Edition.INTERNAL)


def test_details_are_folded_and_open_on_paper(audit):
    page = render_html(audit, Edition.INTERNAL)
    assert page.count("<details>") > 10
    assert "<details open" not in page
    assert "details::details-content { content-visibility: visible" in page[page.index("@media print") :]
