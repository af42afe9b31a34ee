"""The report of a simulation and the chart of a sweep: what they say, that they stand alone, and that nothing of theirs can be injected."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from privrelease.dp.randomness import TestRandomness
from privrelease.execute.statistics.reference_study import study
from privrelease.plan.statistics.simulated import PAPER, Simulation
from privrelease.report.charts.curves import curves, spread
from privrelease.report.pages.simulation import build, render_simulation
from privrelease.report.pages.sweep import SweptFigure, render_sweep
from privrelease.texts.catalogue import english
from privrelease.units import Epsilon

EPSILONS = tuple(map(Epsilon, ("0.1", "0.5", "1", "2")))


@pytest.fixture(scope="module")
def made():
    return study(EPSILONS, repetitions=1000, randomness=TestRandomness(77))


def test_the_study_is_the_papers_and_theory_is_met_within_sampling_error(made):
    assert {one.query for one in made.figures} == {"positives", "glucose_of_positives", "ages"}
    assert (made.rows, made.repetitions) == (10_000, 1000)
    counts = [one for one in made.figures if one.counts]
    assert {one.truth for one in counts} == {1500}
    laplace = [one for one in counts if one.mechanism == "laplace"]
    gaussian = [one for one in counts if one.mechanism == "gaussian"]
    assert [one.theory for one in laplace] == pytest.approx([14.136, 2.799, 1.357, 0.602], abs=5e-4)
    assert [one.continuous for one in laplace] == pytest.approx([14.142, 2.828, 1.414, 0.707], abs=5e-4)
    assert [one.continuous for one in gaussian] == pytest.approx([30.75, 7.03, 3.73, 1.99], abs=6e-3)
    assert [one.theory for one in gaussian] == pytest.approx([30.75, 7.03, 3.73, 1.99], rel=0.012)
    assert all(one.exact_delta is not None and 0.99e-5 < one.exact_delta <= 1e-5 for one in gaussian)
    assert all(one.agrees for one in made.figures)


def test_another_law_would_not_agree(made):
    """A quarter more noise is 7 to 12 standard deviations off at 1,000 repetitions."""
    for one in made.figures:
        assert not replace(one, observed=one.observed * 1.25).agrees
    count = made.figures[0]
    assert not replace(count, observed=PAPER[count.epsilon]).agrees


def test_a_histogram_is_simulated_bin_by_bin(made):
    (one,) = [one for one in made.figures if one.query == "ages" and one.mechanism == "laplace" and one.epsilon == "1"]
    assert [cell.label for cell in one.cells][::7] == ["[10, 20)", "[80, 90)"]
    assert sum(cell.truth for cell in one.cells) == 10_000
    assert all(cell.low <= cell.truth <= cell.high for cell in one.cells)


def test_distributions_are_shares_and_the_law_is_beside_them(made):
    for one in made.figures:
        assert sum(part.observed for part in one.errors) == pytest.approx(1, abs=0.02)
        for part in one.errors:
            if part.expected is not None:
                spread_of_share = (part.expected * (1 - part.expected) / one.repetitions) ** 0.5
                assert abs(part.observed - part.expected) <= 6 * spread_of_share + 2e-3


def page_of(made):
    return render_simulation(made)


def test_the_page_says_which_figures_no_mechanism_gives_and_shows_every_distribution(made):
    text = page_of(made)
    assert "No single mechanism gives all of the paper&#39;s figures." in text
    view = build(made, english())
    assert [(row.epsilon, row.printed, row.given) for row in view.paper] == [
        ("0.1", "20", "no mechanism"),
        ("0.5", "8", "no mechanism"),
        ("1", "4", "no mechanism"),
        ("2", "2", "discrete Gaussian"),
    ]
    assert [len(query.spreads) for query in view.queries] == [8, 8, 8]
    assert [len(query.cells) for query in view.queries] == [0, 0, 4]
    assert text.count("<h4>") == 24
    for value in ("14.14", "2.799", "1.357", "0.6017", "30.75", "48.45", "(2.422)"):
        assert f">{value}<" in text or f"{value}</" in text


def test_the_page_stands_alone_and_every_drawing_has_words(made):
    text = page_of(made)
    assert "<script" not in text
    assert not re.search(r"(?:src|href)=\"(?!#)", text)
    drawings = re.findall(r"<svg[^>]*role=\"img\".*?</svg>", text, re.DOTALL)
    assert len(drawings) == 3 + 24 + 4
    for drawing in drawings:
        parsed = ET.fromstring(drawing)
        assert parsed.find("title").text
        assert parsed.find("desc").text
    ids = re.findall(r"\bid=\"([^\"]+)\"", text)
    assert len(ids) == len(set(ids))
    assert text == page_of(made)


def test_names_from_a_policy_are_escaped(made):
    hostile = "<script>alert(1)</script>"
    figures = tuple(replace(one, query=hostile) for one in made.figures[:2])
    text = render_simulation(Simulation(hostile, hostile, 10, 1000, figures))
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_a_simulation_without_a_plain_count_compares_nothing_with_the_paper(made):
    figures = tuple(one for one in made.figures if one.query == "ages")
    text = render_simulation(Simulation("s", "p", 10, 1000, figures))
    assert "paper prints" not in text


def test_marks_lie_where_their_logarithm_does_and_a_gap_breaks_the_line():
    chart = curves(
        "c", "t", "d", ["1", "2", "3"], [("first", "L", [100.0, None, 1.0]), ("second", "G", [10.0, 10.0, 10.0])], axis="x"
    )
    assert [label for _, label in chart.ticks] == ["1", "2", "5", "10", "20", "50", "100"]
    first, second = chart.curves
    assert [y for _, y, _ in first.marks] == ["16", "156"]
    assert {y for _, y, _ in second.marks} == {"86"}
    assert first.line.count("M") == 2
    assert first.marks[0][2] == "L, 1: 100"


def test_equal_and_single_values_have_an_axis_too():
    chart = curves("c", "t", "d", ["1"], [("first", "L", [3.0])], axis="x")
    assert len(chart.ticks) >= 2
    assert curves("c", "t", "d", ["1"], [("first", "L", [5.0])], axis="x").curves[0].marks
    assert curves("c", "t", "d", ["1"], [("first", "L", [None])], axis="x").curves[0].marks == ()
    assert spread("s", "t", "d", [], axis="x").bars == ()


def test_the_chart_of_a_sweep_is_one_svg_that_stands_alone():
    figures = [
        SweptFigure("s", "n & <b>", "number of rows", {"laplace": [14.1, 1.4], "gaussian": [None, None]}),
        SweptFigure("s", "m", "sum", {"laplace": [100.0, 10.0], "gaussian": [200.0, 20.0]}),
        SweptFigure("s", "m", "number of rows", {"laplace": [28.0, 2.8], "gaussian": [60.0, 6.0]}),
    ]
    text = render_sweep(["0.1", "1"], figures)
    parsed = ET.fromstring(text)
    ns = "{http://www.w3.org/2000/svg}"
    panels = parsed.findall(f"{ns}svg")
    assert parsed.tag == f"{ns}svg"
    assert [len(panel.findall(f"{ns}path[@class='spent']")) for panel in panels] == [0, 1, 1]
    assert all(panel.find(f"{ns}title").text and panel.find(f"{ns}desc").text for panel in panels)
    assert "discrete Gaussian at epsilon 1: 20" in panels[1].find(f"{ns}desc").text
    assert "<b>" not in text
    places = {(panel.get("x"), panel.get("y")) for panel in panels}
    assert len(places) == 3
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
