"""A parked release to plant faults into: each is caught by the check that names it."""

from __future__ import annotations

import pytest

from tests.contract.planted_faults.parked_release import parked


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    with parked(tmp_path_factory.mktemp("release")) as one:
        yield one


@pytest.fixture
def release(sound):
    """The parked release, to be spoilt; it is sound again for the next test."""
    target = sound.target
    files = {path: path.read_bytes() for path in (*(file.path for file in target.files), target.row_map)}
    yield sound
    sound.target = target
    for path, content in files.items():
        path.write_bytes(content)
