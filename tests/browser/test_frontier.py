"""The page of a frontier in Chromium: accessible and readable at every width, in both themes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privrelease.plan.microdata.frontier import Frontier, Kept, Point, with_dominated
from privrelease.report.pages.frontier import render_frontier


def made() -> Frontier:
    points = with_dominated(
        [
            Point(
                k, Fraction(1, k), k == 5, k < 50, Fraction(1, k), Fraction(1, 2 * k), 3, 9_000, cells, k, cells < 2_000, kept
            )
            for k, cells, kept in (
                (2, 900, None),
                (3, 800, None),
                (5, 850, Kept(0.99, 0.98, Fraction(99, 100))),
                (20, 4_000, None),
                (50, 9_000, None),
            )
        ]
    )
    columns = ("a_column_of_a_rather_long_name_without_a_break", "sex")
    return Frontier(
        "microdata", "external", columns, ("insider",), "records", Fraction(1, 5), Fraction(1, 20), 9_000, 45_000, points
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_and_nothing_runs_off_the_page(opened, tmp_path, scheme):
    path = tmp_path / "frontier.html"
    path.write_text(render_frontier(made(), ("registry", "1.0.0")), encoding="utf-8")
    with opened(path, scheme=scheme) as seen:
        seen.judge_at_every_width(scheme)
        assert seen.requests == [path.as_uri()]
        assert seen.noise == []
