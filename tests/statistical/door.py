"""What a release draws from: caught at the door between exact figures and noise, in a real run of the command line.

``caught`` runs a policy over rows with the noise of a seed, so that two runs keep the same rows of the same persons, and returns every draw with
its exact figures beside what the release claims. Nothing is stubbed: the run goes on to its files and its audit.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from privrelease.cli.main import main
from privrelease.dp import composition, conversion
from privrelease.dp.accountants import pld
from privrelease.dp.sensitivity import Neighbours
from privrelease.execute.statistics import run as statistics
from privrelease.policy.statistics import budget_split as statistics_spending

SEED = 11

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    population: everybody
    format: {{missing: ["", "NA"]}}
    unit: {{column: id, max_rows: {rows}{groups}}}
    columns:
      id: {{role: direct, type: string}}
      g: {{role: quasi, type: category, domain: [a, b, c]}}
      k: {{role: quasi, type: string}}
      n: {{role: sensitive, type: integer, domain: [-2, 5]}}
      x: {{role: sensitive, type: number, domain: [0, 1.5], grid: 0.5}}
releases:
  - id: s
    kind: statistics
    from: d
    neighbours: {neighbours}
    budget: {{{budget}}}
    queries:
{queries}
    output: out/s.csv
"""


def policy_of(queries, budget, *, rows=1, groups=None, relation=Neighbours.ADD_REMOVE):
    """A policy of these queries (by name, without their id) over persons ``id`` with groups g and k, and numbers n and x."""
    text = "\n".join(f"      - {{id: {name}, {query}}}" for name, query in queries.items())
    bound = "" if groups is None else f", max_groups: {groups}"
    return POLICY.format(rows=rows, groups=bound, neighbours=relation.value, budget=budget, queries=text)


def data_of(rows):
    """Rows (id, g, k, n, x) as the policy's data, in an order that no person's rows decide."""
    return "id,g,k,n,x\n" + "".join(",".join(row) + "\n" for row in sorted(rows, key=lambda row: row[1:]))


@dataclass(frozen=True)
class Caught:
    """Draws with their exact figures (for a choice: the scores by cell), and the claimed epsilon and delta of the whole.

    ``keys``: by query its private keys, in the order of the figures.
    """

    work: tuple
    epsilon: Fraction
    delta: Fraction
    keys: dict

    def draws(self, query):
        """By figure the draws of a query and their exact figures."""
        return {draw.target.figure: (draw, figures) for draw, figures in self.work if draw.query == query}


def caught(policy, data, *, seed=SEED, folder=None):
    """Run ``policy`` over the text of ``data.csv`` in the current folder."""
    at = Path.cwd() if folder is None else folder
    (at / "p.yaml").write_text(policy, encoding="utf-8")
    (at / "data.csv").write_text(data, encoding="utf-8")
    seen = []
    found_keys = []
    real, published = statistics.charge_then_draw, statistics._published

    def watching(work, charge, randomness):
        seen.extend(
            (draw, [list(map(int, one)) if hasattr(one, "__len__") else int(one) for one in found]) for draw, found in work
        )
        return real(work, charge, randomness)

    def named(values, found):
        found_keys.append(found)
        return published(values, found)

    before = set(at.glob(".privrelease/quarantine/*"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "charge_then_draw", watching)
        patch.setattr(statistics, "_published", named)
        code = main(["run", "p.yaml", "--test-noise", str(seed), "-q"])
    (run,) = set(at.glob(".privrelease/quarantine/*")) - before
    assert code == 1  # noise of a seed is never published, and nothing else may be wrong
    manifest = next((run / "outgoing").glob("*.manifest.json"))
    claim = json.loads(manifest.read_text(encoding="utf-8"))["privacy"]
    private = dict.fromkeys(draw.query for draw, _ in seen if draw.size is None)
    keys = dict(zip(private, found_keys, strict=True))
    return Caught(tuple(seen), Fraction(claim["epsilon"]), Fraction(claim["delta"]), keys)


@contextmanager
def planted(*faults):
    """Plant faults: (object, attribute name, what takes its place). Totals that were computed without them, or with them, are forgotten."""
    with pytest.MonkeyPatch.context() as patch:
        for where, name, what in faults:
            patch.setattr(where, name, what)
        _forget()
        try:
            yield
        finally:
            _forget()


def _forget():
    for remembered in (composition.composed, statistics_spending._parts, conversion.rho_within, pld._composed_distribution):
        remembered.cache_clear()
