"""A method that looks before it asks, and what it may ask of rows of three columns."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Score
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.execute.common.asking import Asking, Method, canonical
from privrelease.execute.common.envelopes import marginal, open_envelope
from privrelease.ledger.protocol import Claim
from privrelease.relational.aggregates import Aggregate, BinKey, Bounding, ColumnKey, Measure
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource
from privrelease.units import Delta, Epsilon, Rho

COLUMNS = (
    Column("sex", ColumnType.CATEGORY, Role.QUASI),
    Column("age", ColumnType.INTEGER, Role.QUASI),
    Column("note", ColumnType.STRING, Role.DIRECT),
)
SEX = ColumnKey("sex", ("M", "F"), missing=True)
AGE = BinKey("age", (Fraction(0), Fraction(50), Fraction(100)), missing=True)
ROWS = (Measure("rows"),)
OTHER_EDGES = (Fraction(0), Fraction(40), Fraction(100))
CODES = Aggregate((Measure("persons"),), (ColumnKey("sex", None),))
MAY_ASK = (CODES, Aggregate(ROWS, (SEX, AGE)), Aggregate(ROWS, (SEX,)))
ASKED = canonical(MAY_ASK)
COST = Budget(Epsilon(8), Delta("1e-5"))
HELD = Reserved.of(COST, Delta("1e-6"))
SOURCE = TableSource("d", SourceKind.PARQUET, "/somewhere/rows.parquet", "rows.parquet", COLUMNS)
TRIES = Method("tries", 1, {"shares": ["1/4", "1/4", "1/4", "1/4"]})
ASKING = Asking(TRIES, HELD, Setting(Contribution(1)), SOURCE, None, ASKED)


def claimed(**changes):
    base = {
        "population": "p",
        "dataset": "d",
        "release": "policy/synthetic",
        "policy_sha256": "ab" * 32,
        "draws": (),
        "cost": COST,
        "snapshot": "2026",
        "content": "k1:aa",
        "run": "r1",
    }
    return Claim(**(base | changes))


def method(envelope):
    """Measures sex, asks for what its model fits worst, measures that; then the keys that are there."""
    joint, sex = marginal("age x sex", ASKED["age x sex"]), marginal("sex", ASKED["sex"])
    part = Rho(envelope.reserved.rho.value / 4)
    noisy = envelope.measure(sex, part)
    # the model: what was measured, and independence
    model = np.rint(noisy / 3).astype(np.int64)
    place = envelope.select([sex, joint], [Score(noisy), Score(np.tile(model, 3))], part)
    found = envelope.measure([sex, joint][place], part)
    return noisy, place, found, envelope.discover("persons by sex", part, Delta("1e-6"))


def plain(seen):
    return seen[0].tolist(), seen[1], seen[2].tolist(), seen[3]


def run(counts, ledger, asking=ASKING, *, fresh=False, seed=3, ask=method, **changes):
    """One run of a method: what it saw, and its open envelope."""
    held = replace(
        counts, asked=asking.asked, _known={}, bounding=Bounding(asking.unit, asking.setting.contribution.max_rows, 5)
    )
    with open_envelope(claimed(**changes), asking, held, ledger, TestRandomness(seed), fresh=fresh) as lent:
        seen = ask(lent.envelope)
    assert (lent.served is None) or not held._known  # nothing exact was counted
    return plain(seen), lent
