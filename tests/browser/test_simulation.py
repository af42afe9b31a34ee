"""The report of a simulation in Chromium: accessible and readable at every width, in both themes."""

from __future__ import annotations

import pytest

from privrelease.dp.randomness import TestRandomness
from privrelease.execute.statistics.reference_study import study
from privrelease.report.pages.simulation import render_simulation
from privrelease.units import Epsilon


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_and_nothing_runs_off_the_page(opened, tmp_path, scheme):
    made = study([Epsilon("0.1"), Epsilon(2)], repetitions=100, randomness=TestRandomness(1))
    path = tmp_path / "noise.html"
    path.write_text(render_simulation(made), encoding="utf-8")
    with opened(path, scheme=scheme) as seen:
        seen.judge_at_every_width(scheme)
        assert seen.requests == [path.as_uri()]
        assert seen.noise == []
