"""Sections 8 and 9: attacks as they are read, in both editions."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

from privrelease.audit.attacks.assessment import closest_facts, facts_of
from privrelease.audit.attacks.attempts import AttackAttempt, Distances
from privrelease.audit.attacks.rates import Rate
from privrelease.audit.document.attacks import AttacksFacts
from privrelease.audit.document.visibility import Audience
from privrelease.plan.attacks import AttackLimits
from privrelease.report.forms.json_report import render_json
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition

LIMIT = AttackLimits(max_risk=Fraction(1, 10))
TRIED = (
    AttackAttempt("singling_out_univariate", LIMIT, ("age",), Rate(), Rate(), Rate(), "held_out", combine=1),
    AttackAttempt(
        "singling_out_multivariate", LIMIT, ("age", "sex"), Rate(600, 643), Rate(25, 643), Rate(119, 643), "scaled", combine=2
    ),
    AttackAttempt(
        "linkability", LIMIT, ("age",), Rate(3, 1000), Rate(known=Fraction(1, 900)), Rate(9, 1000), "held_out", ("sex",)
    ),
    AttackAttempt("inference", AttackLimits(), ("age",), Rate(523, 1000), Rate(400, 1000), None, "none", target="<b>ill</b>"),
    AttackAttempt(
        "record_linkage",
        LIMIT,
        ("age",),
        Rate(50, 1000),
        Rate(known=Fraction(1, 900)),
        Rate(known=Fraction(0)),
        "by_definition",
    ),
    AttackAttempt("membership", LIMIT, ("age",), missing="there are no held-out persons"),
)


def section(*tried, decides=True, control="holdout.csv"):
    facts = tuple(facts_of(one, Fraction("0.95"), Audience(5), decides=decides) for one in tried)
    closest = closest_facts(Distances(np.array([0.0, 0.25, 0.5]), np.array([0.3])))
    return AttacksFacts(
        sample=1000, confidence="19/20", decides=decides, control=control, auxiliary=None, attacks=facts, closest=closest
    )


@pytest.fixture
def page(audit):
    """The sections 8 and 9 of a page, as text."""

    def rendered(facts, edition=Edition.INTERNAL, *, whole=False):
        html = render_html(audit.model_copy(update={"attacks": facts}), edition)
        if whole:
            return html
        part = html[html.index('id="evidence"') : html.index('aria-labelledby="dp-h"')]
        plain = re.sub(r"[\u2066-\u2069]", "", re.sub(r"<[^>]+>", " ", part))
        return re.sub(r"\s+", " ", plain)

    return rendered


def test_every_attack_stands_with_its_rates_intervals_and_limit(page):
    said = page(section(*TRIED))
    assert "93.3 % (600 of 643; 91.1 % to 95.0 %)" in said
    assert "18.5 % (119 of 643; 15.7 % to 21.7 %), scaled to the size of the data" in said
    assert "0: no outsider can be found" in said
    assert "5 % (3.8 % to 6.5 %)" in said
    assert "undefined (0/0): no attempt could be made" in said
    assert "could not be made: there are no held-out persons" in said
    assert "none: information" in said
    assert "-0.6 % (-1.4 % to 0.1 %)" in said  # fewer links than among persons outside
    assert "at most 1,000 persons or predicates" in said
    assert "intervals cover with 95 %" in said
    assert "Control: persons of holdout.csv" in said


def test_the_three_questions_have_the_attacks_as_evidence(page):
    said = page(section(*TRIED)).replace("\N{NO-BREAK SPACE}", " ")
    assert "Attack tried, Singling out by 2 columns of age, sex : main 93.3 % , control 18.5 % , risk 91.8 %" in said
    assert "Attack tried, Finding a person&#39;s record by age : main 5 % , control 0 % , risk 5 %" in said
    assert "Attack tried, Telling who was in the data by age : could not be made: there are no held-out persons" in said
    assert "was not tried" not in said
    assert "Not measured: where all members" not in said


def test_a_number_is_not_parted_from_its_per_cent_sign(page):
    html = page(section(*TRIED), whole=True)
    table = html[html.index('id="attacks"') :]
    assert "\N{NO-BREAK SPACE}%" in table[: table.index("</table>")]


def test_names_of_the_data_are_escaped(page):
    html = page(section(*TRIED), whole=True)
    assert "<b>ill</b>" not in html
    assert "&lt;b&gt;ill&lt;/b&gt;" in html


def test_rates_are_drawn_with_their_intervals(page):
    html = page(section(*TRIED), whole=True)
    chart = html[html.index('aria-labelledby="attacks-t attacks-d"') :]
    assert (
        chart[: chart.index("</svg>")].count('class="spread"') == 6
    )  # main of four, control of two; nothing where nothing was tried
    assert "Highest: Singling out by 2: main, 93.3 %" in html


def test_distances_are_information_and_no_evidence(page):
    said = page(section(*TRIED))
    assert "no evidence of privacy" in said
    assert "released records 3 0.25 33.3 %" in said
    assert "held-out persons 1 0.3 0 %" in said


def test_without_control_persons_the_page_says_what_risk_then_means(page):
    said = page(section(TRIED[3], control=None))
    assert "There is no file of control persons" in said
    assert "20.5 %" in said  # (0.523 - 0.4) / 0.6


def test_recipients_see_whole_per_cent_and_nothing_small(page):
    said = page(section(*TRIED), Edition.RECIPIENT)
    assert "93 % (91 % to 95 %)" in said
    assert "Rates are rounded to whole per cent" in said
    for hidden in ("600 of 643", "93.3", "0.3 %", "holdout.csv", "released records", "held-out persons 1"):
        assert hidden not in said, hidden
    assert "not shown in this edition" in said  # 3 of 1,000


def test_recipients_are_not_told_how_many_attempts_could_be_made(audit):
    """A sample of everybody counts the persons of the source: with 3 dropped rows, 1,108 beside 1,105 released ones."""
    one = AttackAttempt(
        "inference", LIMIT, ("age",), Rate(523, 1108), Rate(400, 1108), Rate(300, 1109), "held_out", target="ill"
    )
    facts = section(one)
    shown = audit.model_copy(update={"attacks": facts})
    inside, outside = (render_json(shown, edition).decode() for edition in (Edition.INTERNAL, Edition.RECIPIENT))
    for attempts in ("1108", "1109"):
        assert attempts in inside
        assert attempts not in outside
    assert "47 %" in render_html(shown, Edition.RECIPIENT).replace("\N{NO-BREAK SPACE}", " ")


def test_under_differential_privacy_only_those_inside_see_attacks(page):
    facts = section(*TRIED, decides=False)
    assert "no attack decides" in page(facts)
    assert "No attack was tried" in page(facts, Edition.RECIPIENT)
    assert "93" not in page(facts, Edition.RECIPIENT)


def test_what_tells_members_apart_is_the_difference_and_not_a_risk_that_few_outside_make_large(page):
    """990 of 1,000 inside are taken for members and 980 of 1,000 outside: 1 % apart, and half of the 2 % outside who are not."""
    one = AttackAttempt(
        "membership",
        AttackLimits(None, Fraction("0.05")),
        ("age",),
        main=Rate(990, 1000),
        baseline=Rate(known=Fraction(1, 2)),
        control=Rate(980, 1000),
        control_kind="held_out",
    )
    for edition in Edition:
        said = page(section(one), edition).replace("\N{NO-BREAK SPACE}", " ")
        evidence = said[: said.index("Attacks tried")]
        assert (
            "it takes 99 % of the persons in the data for members, and 98 % of persons who are not in it"
            in evidence.replace(" %  ", " % ").replace("  ", " ").replace(" , ", ", ")
        )
        assert "What it discloses about membership is the difference, 1 %" in evidence.replace("  ", " ")
        assert "50 %" not in evidence
        assert "where they are few it is large, also where main less control is small" in said


def test_a_release_without_a_membership_attack_is_told_nothing_about_one(page):
    assert "takes nearly everybody for a member" not in page(section(TRIED[0]))
