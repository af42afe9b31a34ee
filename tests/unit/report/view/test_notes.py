"""Figures without a number: why, as code and in words."""

from __future__ import annotations

import pytest

from privrelease.audit.document.sentences import Coded
from privrelease.audit.figure_model import Figure
from privrelease.report.view.edition import WITHHELD, Edition, for_edition
from privrelease.report.view.page import shown
from privrelease.texts.catalogue import LANGUAGES, catalogue_of


def test_a_note_of_the_catalogue_has_its_code_and_any_other_has_none():
    assert Figure.of(None, note="no released records").note_coded == Coded(code="sentence.no_records")
    assert Figure.of(None, note="of no catalogue").note_coded is None
    assert "note_coded" not in Figure.of(None, note="of no catalogue").model_dump()
    assert Figure.of(3).told is None


def test_a_page_writes_a_note_by_its_code_whatever_its_english_words():
    figure = Figure(value=None, note="words of another version", note_coded=Coded(code="sentence.no_records"))
    assert shown(figure, catalogue_of("fr")).text == "aucun enregistrement diffusé"
    assert shown(figure, catalogue_of("en")).text == "words of another version"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_note_of_an_older_audit_is_found_by_its_words(language):
    figure = Figure(value=None, note="no released records")
    assert shown(figure, catalogue_of(language)) == shown(Figure.of(None, note="no released records"), catalogue_of(language))


def test_a_figure_that_an_edition_may_not_show_keeps_no_code(audit):
    threat = audit.threats[0]
    hidden = threat.after.model_copy(update={"k": Figure.of(None, "count", note="no released records")})
    one = audit.model_copy(update={"threats": (threat.model_copy(update={"after": hidden}),)})
    kept = for_edition(one, Edition.RECIPIENT).threats[0].after.k
    assert (kept.note, kept.note_coded) == (WITHHELD, None)
