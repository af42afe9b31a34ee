"""A starter says how the file is made that editors read."""

from __future__ import annotations

from privrelease.policy.output.starter import starter_policy


def test_a_starter_says_how_the_schema_that_it_names_is_made() -> None:
    named, made = starter_policy(["id", "age"], "data/patients.csv").splitlines()[:2]
    file = named.partition("$schema=./")[2]
    assert file
    assert made.startswith("#")
    assert made.endswith(f"privrelease schema > {file}")
