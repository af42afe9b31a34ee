"""A release without a fault passes, in files of any kind: what the planted faults are set against."""

from __future__ import annotations

from dataclasses import replace

import pytest

from privrelease.audit.document.model import Outcome
from privrelease.relational.schema import SinkKind
from tests.contract.planted_faults.parked_release import K, parked


def test_the_release_without_a_fault_passes(release):
    assert release.failing() == set()
    result = release.audit()
    assert result.decision.outcome is Outcome.PASS
    assert result.utility.cells_lost.value > 0
    assert result.threats[0].after.k.value >= K > result.threats[0].before.k.value


def test_the_audit_reads_the_source_afresh_where_it_is_not_handed_over(release):
    handed = release.audit()
    release.target = replace(release.target, source=None)
    assert release.audit() == handed


def test_what_was_written_again_without_a_fault_passes(release):
    release.put(release.rows())
    assert release.failing() == set()


@pytest.mark.parametrize("kind", SinkKind)
def test_a_release_in_one_file_of_any_kind_passes(tmp_path, kind):
    with parked(tmp_path, kind=kind) as release:
        assert release.failing() == set()
