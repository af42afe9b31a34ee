"""Faults of identifiers: pseudonyms that give the person away, and an identifier that leaves under another name."""

from __future__ import annotations

import hashlib

import pytest

from tests.contract.planted_faults.parked_release import parked


@pytest.mark.parametrize("name", ["md5", "sha1", "sha256"])
def test_a_pseudonym_that_is_a_plain_hash(release, name):
    source = release.source()
    release.put([row | {"id": hashlib.new(name, source[row["_source"]]["id"].encode()).hexdigest()} for row in release.rows()])
    assert release.failing() == {"AUDIT-PSEUDONYM"}


def test_a_pseudonym_that_is_the_identifier_itself(release):
    source = release.source()
    release.put([row | {"id": source[row["_source"]]["id"]} for row in release.rows()])
    assert release.failing() == {"AUDIT-PSEUDONYM", "AUDIT-HIDDEN"}


def test_a_pseudonym_shared_by_two(release):
    rows = release.rows()
    rows[0]["id"] = rows[1]["id"]
    release.put(rows)
    assert release.failing() == {"AUDIT-PSEUDONYM", "AUDIT-PERSONS"}


def test_a_direct_identifier_under_another_name(tmp_path):
    with parked(tmp_path, twice=True) as release:
        assert release.failing() == {"AUDIT-HIDDEN"}
