"""Three attackers next to each other, single quasi-identifiers, and what a failed attack goes by."""

from __future__ import annotations

from fractions import Fraction

from privrelease.audit.document.model import Figure, Visibility
from privrelease.audit.document.sensitive import KeyFacts
from privrelease.report.forms.text import render_text
from privrelease.report.pages.html import render_html
from privrelease.report.sections.sensitive import attackers, key_rows
from privrelease.report.view.edition import Edition, for_edition
from privrelease.texts.catalogue import english

TEXTS = english()


def counted(**figures):
    return {name: Figure.of(value, unit, Visibility.RECIPIENT) for name, (value, unit) in figures.items()}


def test_attackers_without_a_population_are_bounded_by_the_prosecutor(audit):
    """Classes of 4 and 6 among 10 records: prosecutor 1/4, marketer at most 2/10, expected right guesses 2."""
    facts = counted(
        k=(4, "count"),
        records=(10, "count"),
        classes=(2, "count"),
        highest=(Fraction(1, 4), "risk"),
        average=(Fraction(1, 5), "risk"),
    )
    threat = audit.threats[0]
    after = threat.after.model_copy(update={**facts, "further": {}})
    one = audit.model_copy(update={"threats": (threat.model_copy(update={"after": after, "attacker": "prosecutor"}),)})
    (row,) = attackers(one, TEXTS)
    assert (row.prosecutor.text, row.journalist.text, row.marketer.text) == ("25 %", "at most 25 %", "at most 20 %")
    assert row.expected.text == "2 of 10"


def test_what_a_risk_is_at_most_is_rounded_up(audit):
    """Classes of 3 and 27: a risk of 1/3 is above 33.3 %, one of 2/30 above 6.6 %."""
    facts = counted(k=(3, "count"), records=(30, "count"), classes=(2, "count"), highest=(Fraction(1, 3), "risk"))
    threat = audit.threats[0]
    after = threat.after.model_copy(update={**facts, "further": {}})
    one = audit.model_copy(update={"threats": (threat.model_copy(update={"after": after, "attacker": "prosecutor"}),)})
    (row,) = attackers(one, TEXTS)
    assert (row.prosecutor.text, row.journalist.text, row.marketer.text) == ("33.3 %", "at most 33.4 %", "at most 6.7 %")


def test_right_guesses_are_of_persons_where_some_are_in_several_classes(audit):
    """Persons a and b in one class, a alone in another: 1 and 1/2, so 3/4 on average of 2 persons, though classes count 3."""
    facts = counted(
        k=(1, "count"),
        records=(3, "count"),
        persons=(2, "count"),
        classes=(2, "count"),
        highest=(Fraction(1), "risk"),
        average=(Fraction(3, 4), "risk"),
        at_risk=(Fraction(1, 2), "share"),
    )
    threat = audit.threats[0]
    after = threat.after.model_copy(update={**facts, "further": {}, "counted": "persons"})
    one = audit.model_copy(update={"threats": (threat.model_copy(update={"after": after, "attacker": "prosecutor"}),)})
    (row,) = attackers(one, TEXTS)
    assert (row.marketer.text, row.expected.text) == ("at most 75 %", "1.5 of 2")
    page = render_html(one, Edition.INTERNAL)
    assert "1 of 2 (50 %)" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert "times, once in each of their classes" in page
    withheld = after.model_copy(update={"persons": Figure.of(2, "count")})
    one = audit.model_copy(update={"threats": (threat.model_copy(update={"after": withheld, "attacker": "prosecutor"}),)})
    page = render_html(one, Edition.RECIPIENT)
    assert "counted in each, and numbers of records below are of persons" in page
    assert "times, once in each of their classes" not in page
    assert "counted" not in render_text(one, Edition.RECIPIENT)


def test_a_declared_population_gives_the_journalist_and_the_marketer_their_own_figures(audit):
    further = counted(journalist_highest=(Fraction(1, 50), "risk"), marketer=(Fraction(1, 100), "risk"))
    threat = audit.threats[0]
    after = threat.after.model_copy(update={"further": further})
    one = audit.model_copy(update={"threats": (threat.model_copy(update={"after": after}),)})
    (row,) = attackers(one, TEXTS)
    assert (row.journalist.text, row.marketer.text) == ("2 %", "1 %")


def test_single_columns_are_for_those_inside(audit):
    count = Figure.of(7, "count")
    facts = KeyFacts(
        column="age", values_before=count, values=count, rarest_before=None, rarest=count, alone_before=count, alone=count
    )
    one = audit.model_copy(update={"quasi_identifiers": (facts,)})
    (row,) = key_rows(one, TEXTS)
    assert (row.values[0].text, row.rarest[0].gap) == ("7", True)
    assert "Each quasi-identifier by itself" in render_html(one, Edition.INTERNAL)
    assert for_edition(one, Edition.RECIPIENT).quasi_identifiers is None
    assert "Each quasi-identifier by itself" not in render_html(one, Edition.RECIPIENT)
