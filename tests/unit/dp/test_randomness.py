from __future__ import annotations

import os
from fractions import Fraction

import pytest

from privrelease.dp.mechanisms import DiscreteLaplace
from privrelease.dp.randomness import SystemRandomness, TestRandomness


def test_the_system_gives_as_many_bytes_as_asked():
    source = SystemRandomness()
    for size in (0, 1, 7, 8, 100_001, (1 << 24) + 3):
        assert len(source.draw(size)) == size


def test_a_seed_repeats_and_another_seed_differs():
    assert TestRandomness(1).draw(1000) == TestRandomness(1).draw(1000)
    assert TestRandomness(1).draw(1000) != TestRandomness(2).draw(1000)


def test_a_seeded_source_goes_on_and_does_not_repeat_itself():
    source = TestRandomness(1)
    assert source.draw(64) != source.draw(64)


def test_the_stream_of_a_seed_is_fixed_by_numpy_s_policy():
    assert TestRandomness(2026).draw(8).hex() == "aaf912da04acce2d"


def test_only_the_system_is_private():
    assert SystemRandomness().private
    assert not TestRandomness(1).private


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forked_processes_share_no_noise():
    source = SystemRandomness()
    noise = DiscreteLaplace.calibrated(sensitivity=1000, epsilon=Fraction(1, 10))
    source.draw(1000)  # a source with a buffer would now hold bytes that both processes use
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, repr(noise.sample(50, source).tolist()).encode())
        os._exit(0)
    os.close(write)
    mine = repr(noise.sample(50, source).tolist())
    with os.fdopen(read, "rb") as stream:
        theirs = stream.read().decode()
    os.waitpid(child, 0)
    assert theirs
    assert mine != theirs
