"""Section 10 as it is read: verdict figures, queries, error bars, the burn-down; in both editions."""

from __future__ import annotations

import re
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest

from privrelease.audit.document.model import Figure, Visibility
from privrelease.audit.document.privacy import BudgetFacts, ChargeFacts, DrawFacts, GroupFacts, PrivacyFacts, QueryFacts
from privrelease.report.charts.intervals import axis, error_bars, steps
from privrelease.report.forms.json_report import render_json
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition


def figure(value):
    return Figure.of(value, "number", Visibility.RECIPIENT)


def group(value, half=5, **keys):
    if half is None or value is None:
        return GroupFacts(keys=keys, value=figure(value), low=figure(None), high=figure(None))
    return GroupFacts(keys=keys, value=figure(value), low=figure(value - half), high=figure(value + half))


def query(name, *groups, released=None, again=False, mechanism="discrete_laplace"):
    draw = DrawFacts(
        figure="rows",
        mechanism=mechanism,
        numbers=1,
        scale=2.0,
        grid="1",
        deviation=2.799,
        error=None if mechanism == "permute_and_flip" else 5.0,
        epsilon="0.5",
        delta="0",
    )
    return QueryFacts(
        id=name,
        figure="count",
        column=None,
        by=(),
        keys="none",
        filtered=False,
        domain=None,
        epsilon="0.5",
        delta="0",
        post=(),
        served_again=again,
        draws=(draw,),
        groups=groups,
        released=Figure.of(len(groups) if released is None else released, "count", Visibility.RECIPIENT),
    )


def budget(*costs, cap="4"):
    spent, history = Fraction(0), []
    for number, (release, cost) in enumerate(costs, 1):
        spent += Fraction(cost)
        history.append(
            ChargeFacts(
                sequence=number,
                at="2026-01-02 03:04",
                release=release,
                epsilon=cost,
                delta="0",
                spent_epsilon=str(float(spent)),
                spent_delta="0",
            )
        )
    last = Fraction(costs[-1][1])
    return BudgetFacts(
        population="everybody",
        cap_epsilon=cap,
        cap_delta=None if cap is None else "0.00001",
        before_epsilon=str(float(spent - last)),
        before_delta="0",
        charged_epsilon=costs[-1][1],
        charged_delta="0",
        after_epsilon=str(float(spent)),
        after_delta="0",
        history=tuple(history),
    )


def facts(*queries, noise="secret", spent=None, **changes):
    return PrivacyFacts(
        noise=noise,
        unit="id",
        max_rows=1,
        max_groups=None,
        neighbours="replace",
        epsilon="0.5",
        delta="0",
        allowed_epsilon="1",
        allowed_delta="0",
        library="privrelease 0",
        confidence="0.95",
        min_count=None,
        unprotected=("other_releases", "persons"),
        queries=queries,
        budget=spent,
        **changes,
    )


@pytest.fixture
def page(audit):
    def render(section, edition=Edition.INTERNAL):
        html = render_html(audit.model_copy(update={"kind": "statistics", "statistics": section}), edition)
        return html, re.search(r'<section id="dp".*?\n</section>\n\n<section id="(?!dp)', html, re.DOTALL)[0]

    return render


def charts(html):
    return [ET.fromstring(svg) for svg in re.findall(r"<svg[^>]*role=\"img\".*?</svg>", html, re.DOTALL)]


@pytest.mark.parametrize("edition", Edition)
def test_the_verdict_shows_epsilon_beside_the_policys_and_what_is_left(page, edition):
    html, _ = page(facts(query("n", group(41)), spent=budget(("other", "1"), ("s", "0.5"))), edition)
    decision = html.split('id="identity"')[0]
    assert "Epsilon spent by this release" in decision
    assert "within 1" in decision
    assert re.search(r"Epsilon left for the population.*?2\.5.*?of a cap of 4", decision, re.DOTALL)


@pytest.mark.parametrize("edition", Edition)
def test_both_editions_show_released_figures_with_intervals_and_what_is_not_protected(page, edition):
    _, section = page(facts(query("n", group(1234567))), edition)
    assert "1,234,567" in section
    assert "1,234,562 to 1,234,572" in section
    assert "The number of persons: neighbours have the same number." in section


def test_recipients_see_the_burn_down_but_not_who_else_spent(page):
    section = facts(query("n", group(41)), spent=budget(("other-release", "1"), ("s", "0.5")))
    inside, outside = page(section)[1], page(section, Edition.RECIPIENT)[1]
    assert "other-release" in inside
    assert "other-release" not in outside
    assert len(charts(inside)) == len(charts(outside)) == 2


def test_an_internal_figure_in_the_section_is_withheld_from_recipients(audit):
    hidden = group(41).model_copy(update={"value": Figure.of(7313131, "number")})
    planted = audit.model_copy(update={"statistics": facts(query("n", hidden))})
    assert b"7313131" in render_json(planted, Edition.INTERNAL)
    assert b"7313131" not in render_json(planted, Edition.RECIPIENT)


def test_every_chart_has_a_title_and_a_description_that_it_is_labelled_by(page):
    _, section = page(facts(query("n", group(41, a="x"), group(3, a="y")), spent=budget(("s", "0.5"))))
    found = charts(section)
    assert len(found) == 2
    for chart in found:
        named = {chart.find("title").get("id"), chart.find("desc").get("id")}
        assert set(chart.get("aria-labelledby").split()) == named
        assert chart.find("desc").text


def test_more_than_thirty_groups_are_in_the_table_only(page):
    many = [group(number, a=f"g{number}") for number in range(31)]
    assert len(charts(page(facts(query("n", *many[:30])))[1])) == 1
    _, section = page(facts(query("n", *many)))
    assert charts(section) == []
    assert "g30" in section


def test_a_choice_has_no_interval_and_a_masked_figure_no_point(page):
    _, section = page(facts(query("m", group(41, None), mechanism="permute_and_flip"), query("n", group(None))))
    assert charts(section) == []
    assert "masked" in section
    assert "depends on the data" in section


def test_rows_left_out_stored_answers_and_a_spoilt_file_are_said(page):
    spoilt = query("x").model_copy(update={"released": figure(None)})
    _, section = page(facts(query("n", group(1), released=900, again=True), spoilt))
    text = re.sub("<[^>]*>", "", section)
    assert "The first 1 of 900 rows" in text
    assert "it cost nothing this time" in text
    assert "its figures are not repeated here" in text


@pytest.mark.parametrize(("noise", "said"), [("test", "Nothing here is private"), ("unknown", "No run claims these files")])
def test_noise_that_is_not_secret_is_said_first(page, noise, said):
    assert said in page(facts(query("n", group(1)), noise=noise))[1]
    assert said not in page(facts(query("n", group(1))))[1]


def test_without_ledger_or_cap_no_budget_is_made_up(page):
    assert "The ledger was not available" in page(facts(query("n", group(1))))[1]
    _, section = page(facts(query("n", group(1)), spent=budget(("s", "0.5"), cap=None)))
    assert "no cap" in section
    assert len(charts(section)) == 1


def test_texts_of_policy_and_data_are_escaped(page):
    html, _ = page(facts(query("<b>", group(1, a="<script>x</script>")), spent=budget(("<i>", "0.5"))))
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html


def test_points_and_intervals_lie_where_the_axis_says():
    chart = error_bars("c", "t", "d", [("a", "50", Fraction(50), Fraction(0), Fraction(100))])
    (bar,) = chart.bars
    assert (bar.low, bar.point, bar.high) == (str(chart.left), "165", str(chart.right))
    assert [label for _, label, _ in chart.ticks] == ["0", "20", "40", "60", "80", "100"]


@pytest.mark.parametrize(("low", "high"), [(-3, 7), (0, 0), (1483, 1513), (Fraction(1, 1000), Fraction(3, 1000)), (-5, -5)])
def test_an_axis_holds_its_interval_in_few_marks(low, high):
    marks = axis(Fraction(low), Fraction(high))
    assert marks[0] <= low <= high <= marks[-1]
    assert 2 <= len(marks) <= 7


def test_the_burn_down_falls_to_what_is_left_and_never_below_its_floor():
    chart = steps("c", "t", "d", [Fraction(4), Fraction(3), Fraction(0)], labels=("a", "b"), axis_label="x", end="left: 0")
    assert chart.last.endswith(f"V{chart.base}H{chart.right}")
    over = steps("c", "t", "d", [Fraction(1), Fraction(-1)], labels=("a", "a"), axis_label="x", end="")
    assert over.last == f"M{(chart.left + chart.right) // 2} 14V{chart.base}H{chart.right}"


@pytest.mark.parametrize(
    ("epsilon", "delta", "factor", "chance"),
    [("0.2", "0.0000014", "1.23", "2e-6"), ("0.001", "0.000001", "1.01", "1e-6"), ("3", "0.00015", "20.1", "0.0002")],
)
def test_what_a_promise_is_at_most_is_rounded_up(page, epsilon, delta, factor, chance):
    """e^0.2 = 1.2214, e^0.001 = 1.0010, e^3 = 20.086."""
    html, _ = page(facts(query("n", group(41))).model_copy(update={"epsilon": epsilon, "delta": delta}))
    text = re.sub(r"<[^>]*>", "", html)
    assert f"by a factor of at most {factor}." in text
    assert f"is at most about {chance}." in text
