"""A small public domain, exact counts of it, and envelopes over them that keep what was asked."""

from __future__ import annotations

import numpy as np
import pytest

from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Envelope, marginal_name
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.synthesis.domain import CodedColumn, CodedDomain
from privrelease.units import Delta, Epsilon


class JointCounts:
    """Exact counts of every marginal of one joint."""

    def __init__(self, domain, joint):
        self.domain, self.joint = domain, np.asarray(joint, np.int64).reshape(domain.sizes)

    def rows(self, query):
        names = [name for name in self.domain.names if name in query.name.split(" x ")]
        assert marginal_name(names) == query.name
        others = tuple(place for place, name in enumerate(self.domain.names) if name not in names)
        return self.joint.sum(axis=others).reshape(-1)

    def persons(self, query):
        raise AssertionError(query)


class Recording(Envelope):
    """An envelope that keeps what it was asked for and what it answered."""

    def measure(self, query, loss):
        found = super().measure(query, loss)
        self.seen.append(("measure", query.name, query.size, str(loss.value), found.tolist()))
        return found

    def select(self, candidates, scores, loss, *, grid=1):
        found = super().select(candidates, scores, loss, grid=grid)
        self.seen.append(("select", [one.name for one in candidates], [repr(one) for one in scores], str(loss.value), found))
        return found


@pytest.fixture
def domain():
    def make(*sizes, ordered=(), zeros=()):
        columns = tuple(
            CodedColumn(name, (*(f"{name}{code}" for code in range(size - 1)), "missing"), name in ordered)
            for name, size in zip("abcdefgh", sizes, strict=False)
        )
        return CodedDomain(columns, tuple(zeros))

    return make


@pytest.fixture
def opened():
    def make(domain, joint, epsilon="1", delta="0", seed=1, neighbours=Neighbours.ADD_REMOVE, stored=None):
        envelope = Recording(
            Reserved.of(Budget(Epsilon(epsilon), Delta(delta))),
            Setting(Contribution(1), neighbours),
            JointCounts(domain, joint),
            lambda _: None,
            TestRandomness(seed),
            stored=stored,
        )
        envelope.seen = []
        return envelope

    return make
