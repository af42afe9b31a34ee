"""Exact counts of small tables behind a real envelope, and doors that write down what a method asks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from privrelease.dp.envelope import Envelope, Marginal
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.synthesis.marginals.asking import Door
from privrelease.units import Delta, Rho

ONE = Setting(Contribution(1))


class Table:
    """Exact counts of a joint over named columns; what was asked for, by name."""

    def __init__(self, domain, joint):
        self.domain, self.joint, self.known, self.asked = domain, joint, {}, []

    def rows(self, query):
        self.asked.append(query.name)
        if query.name not in self.known:
            clique = tuple(query.name.split(" x "))
            self.known[query.name] = self.domain.project(self.joint, self.domain.names, clique).reshape(-1).astype(np.int64)
        return self.known[query.name]


def query_of(domain):
    return lambda clique: Marginal(" x ".join(clique), domain.shape(clique))


def opened(domain, joint, rho, *, setting=ONE, seed=1, source=None, kind=Envelope):
    held = Reserved(Rho(Fraction(rho)), Delta(0))
    return kind(held, setting, Table(domain, joint), lambda _: None, TestRandomness(seed) if source is None else source)


def door(domain, joint, rho, **more):
    return Door(opened(domain, joint, rho, **more), domain, query_of(domain))


class Recording(Envelope):
    """An envelope that keeps every question as it was asked."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.questions = []

    def measure(self, query, loss):
        self.questions.append(("measure", query, loss))
        return super().measure(query, loss)

    def select(self, candidates, scores, loss, *, grid=1):
        self.questions.append(("select", tuple(candidates), tuple(scores), loss, grid))
        return super().select(candidates, scores, loss, grid=grid)
