"""Planted: where a room compares labels as texts, and not by what they hold, an assertion of its tests fails."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from privrelease.audit.comparison.earlier import candidates
from privrelease.audit.microdata import previous_releases
from privrelease.audit.microdata.generalised import covers
from privrelease.audit.microdata.risk import labels
from tests.contract.planted_faults import test_labels_of_other_levels as risk
from tests.reference import test_attacks_on_registry as attacks
from tests.unit.audit.microdata.utility import test_labels as utility
from tests.unit.cli.conftest import desk
from tests.unit.cli.several_releases import test_releases_of_labels as releases
from tests.unit.cli.several_releases.test_releases_of_labels import ages

__all__ = ["ages", "desk"]


def equal(declared, values, labels):
    """The one of the labels that is written as the value is."""
    del declared
    return labels.take(pc.index_in(values.cast(pa.string()), labels.cast(pa.string())))


@pytest.fixture
def by_text(monkeypatch):
    """A value is under the label that is written like it."""
    monkeypatch.setattr(covers, "under", equal)


def fails(claim, *of):
    with pytest.raises(AssertionError):
        claim(*of)


@pytest.mark.usefixtures("by_text")
def test_of_risk_the_released_records_and_true_values(tmp_path):
    found = risk.audited_in(tmp_path, "rows")
    fails(risk.test_released_records_are_compared_with_true_values_by_containment, found)


@pytest.mark.parametrize("counted", ["rows", "persons"])
def test_of_risk_the_released_records_among_themselves(tmp_path, monkeypatch, counted):
    """Every label is compatible with itself and a missing cell alone."""

    def alone(evidence, column, labels, verifiers):
        del evidence, column, verifiers
        return np.arange(len(labels) + 1)[None, :]

    monkeypatch.setattr(labels, "_ladder", alone)
    found = risk.audited_in(tmp_path, counted)
    for name in ("C", "W"):
        fails(risk.test_risk_in_both_readings_is_that_of_brute_force_by_containment, found, name)


@pytest.mark.usefixtures("by_text")
def test_of_attacks_inference_and_singling_out(tmp_path):
    found = attacks.attacked_in(tmp_path, 300)
    fails(attacks.test_inference_guesses_right_whom_brute_force_does, found, "glucose")
    fails(attacks.test_a_predicate_singles_out_whom_brute_force_finds, found)


@pytest.mark.usefixtures("by_text")
def test_of_utility_queries_and_entropy(monkeypatch):
    fails(utility.test_a_point_query_takes_its_share_of_a_label)
    before, after, shown = {21: 2, 25: 6, 34: 4}, {"[20, 30)": 7, "30+": 4}, {21: 1, 25: 6, 34: 4}
    monkeypatch.setattr(utility, "AGES", utility.counted(utility.TENS, before, after, shown, missing=(0, 1)))
    for claim in (
        utility.test_a_label_costs_what_its_values_lack_and_a_lost_cell_what_it_would_anyway,
        utility.test_a_label_is_as_coarse_as_its_part_of_the_domain,
    ):
        # a figure that is not there fails as well as another one
        with pytest.raises((AssertionError, AttributeError)):
            claim()


def test_across_releases(desk, monkeypatch):
    """Tens and sevens have no text in common, so that nothing of both would be looked at."""
    monkeypatch.setattr(
        previous_releases,
        "shared_columns",
        lambda *of: tuple(one for one in candidates.shared_columns(*of) if one.name is not None),
    )
    fails(releases.test_the_classes_of_both_are_those_of_both_labels, desk, 10, 7)
