"""Charts of a data grid: strips as wide as their share of a column's cells, the cost of each level, and no chart where there is nothing to show."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from privrelease.audit.document.synthetic import ModelTable
from privrelease.report.charts.grids import grid_strips, hierarchy
from privrelease.report.pages.html import _environment
from privrelease.report.sections.synthetic import _grid, _hierarchy
from privrelease.texts.catalogue import catalogue_of

PARTS = ModelTable(
    name="grid_parts",
    header=("column", "part", "many", "values"),
    rows=(("age", 1, 6, "15 to 19 … 40 to 44"), ("age", 2, 2, "45 to 49, <b>"), ("sex", 1, 2, "F, M")),
)
LEVELS = ModelTable(name="grid_hierarchy", header=("cells", "cost"), rows=((12, 900), (4, 930), (1, 1000)))


def facts(*tables, cells=4):
    return SimpleNamespace(tables=tables, figures=(("cells", 27), ("grid_cells", cells)))


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_a_grid_is_drawn_with_the_names_of_its_parts_in_each_language(language):
    texts = catalogue_of(language)
    strips, curve = _grid(facts(PARTS, LEVELS), texts), _hierarchy(facts(PARTS, LEVELS), texts)
    assert [strip.name for strip in strips.strips] == ["age", "sex"]
    assert [float(width) for _, width, _ in strips.strips[0].boxes] == [330 * 6 / 8 - 2, 330 * 2 / 8 - 2]
    assert [text for _, text in strips.strips[0].lines] == ["1: 15 to 19 … 40 to 44", "2: 45 to 49, <b>"]
    assert "age" in strips.description
    assert curve.taken == curve.marks[1][:2]
    drawn = _environment().get_template("charts/grids.html.j2").module
    html = str(drawn.grid_strips(strips)) + str(drawn.hierarchy(curve))
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert html.count('role="img"') == 2


def test_no_chart_without_a_grid_or_with_one_level_alone():
    texts = catalogue_of("en")
    assert _grid(facts(), texts) is None
    assert _hierarchy(facts(), texts) is None
    assert _hierarchy(facts(LEVELS.model_copy(update={"rows": ((1, 1000),)})), texts) is None
    assert _hierarchy(facts(LEVELS, cells=7), texts).taken is None


def test_many_parts_and_long_names_stay_inside_the_drawing():
    parts = [("code", part, 1, ", ".join(f"a rather long value {number}" for number in range(9))) for part in range(1, 41)]
    chart = grid_strips("g", "", "", parts)
    (strip,) = chart.strips
    assert len(strip.boxes) == 40
    assert all(not number for *_, number in strip.boxes)  # too narrow for one
    assert max(float(x) + float(width) for x, width, _ in strip.boxes) <= 330
    assert max(len(text) for _, text in strip.lines) <= 44
    assert len(strip.lines) == 80  # two lines a part, then an ellipsis
    assert strip.lines[1][1].endswith("…")
    assert max(y for y, _ in strip.lines) < chart.height


def test_equal_costs_and_one_cell_have_places():
    chart = hierarchy("h", "", "", [(1, 5, "a"), (1, 5, "b")], taken=1, axis="")
    assert chart.line == "M64 156L64 156"
    assert [label for _, label in chart.up] == ["5"]
