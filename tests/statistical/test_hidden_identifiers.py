"""A direct identifier under another name is told from values that meet by chance, in a file without a row map.

Tables are made up with fixed seeds. Stated: none of ``TABLES`` tables of each of six kinds that give nobody away fails; of columns that hold the
identifier, in each of eleven forms, in all rows or in 60 % of them, none is left out. Were one in nine of the first kind to fail, 60 tables
would show it with a probability of 1 - (8/9)^60 > 0.999; as much holds for the 132 columns of the second. The 24 tables and 44 columns of the
small part show one in four, and one in six, with that probability.
"""

from __future__ import annotations

import csv
import hashlib
from fractions import Fraction

import numpy as np
import pytest

from privrelease.audit.document.model import Outcome
from privrelease.audit.microdata.integrity.disguised_identifiers import no_hidden_identifier
from privrelease.audit.microdata.measurements import gather
from privrelease.audit.microdata.target import AuditTarget
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.plan.model import MicrodataPlan, ReleasedColumn, SuppressStep, ThreatPlan
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from tests.depth import depth

#: Seeds: each size, first number and type of an identifier is among the few.
TABLES = depth((0, 4, 5, 7), range(10))
HIDDEN = depth((0,), range(3))
KINDS = {"age": ColumnType.CATEGORY, "sex": ColumnType.CATEGORY, "region": ColumnType.CATEGORY, "visits": ColumnType.INTEGER}
KINDS |= {"zip": ColumnType.STRING}


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hidden")
    with DuckDBEngine(EngineSettings(readable=(folder,), writable=(folder,), threads=1)) as engine:
        yield engine, folder


class Made:
    """``n`` made-up persons; ``rows``: the released ones in an order of their own, some cells suppressed, ``at``: their source rows."""

    def __init__(self, seed: int, n: int, identifiers: list[str] | None = None) -> None:
        self.draw = np.random.default_rng(seed)
        self.n = n
        self.ids = identifiers or [str(number + 1) for number in range(n)]
        pick = self.draw.choice
        self.source = {
            "age": [str(age) for age in self.draw.integers(18, 86, n)],
            "sex": list(pick(["F", "M"], n)),
            "region": list(pick(["north", "south", "east", "west"], n)),
            "visits": [str(count) for count in self.draw.geometric(0.05, n)],
            "zip": [f"{number:05d}" for number in 10_000 + self.draw.integers(0, 900, n)],
        }
        self.at = [int(row) for row in self.draw.permutation(n)]
        self.rows = {name: [values[row] for row in self.at] for name, values in self.source.items()}
        for name in ("age", "sex", "region"):
            self.rows[name] = [value if self.draw.random() > 0.1 else "" for value in self.rows[name]]

    @property
    def own(self) -> list[str]:
        return [self.ids[row] for row in self.at]


def judged(room, made: Made, kind: ColumnType = ColumnType.STRING):
    engine, folder = room
    columns = (Column("id", kind, Role.DIRECT), *(Column(name, kind, Role.QUASI) for name, kind in KINDS.items()))
    noted = [name for name in made.source if name not in KINDS]
    columns = (*columns, *(Column(name, ColumnType.STRING, Role.INSENSITIVE) for name in noted))
    write(folder / "source.csv", {"id": made.ids, **made.source})
    write(folder / "out.csv", made.rows)
    plan = MicrodataPlan(
        "r",
        TableSource("d", SourceKind.CSV, str(folder / "source.csv"), "source.csv", columns),
        tuple(ReleasedColumn(column.name, column.type, column.role) for column in columns[1:]),
        (ThreatPlan("t", ("age", "sex", "region"), Thresholds(highest=Fraction(1))),),
        (Sink(SinkKind.CSV, folder / "out.csv", "out.csv"),),
        suppress=SuppressStep(),
    )
    return no_hidden_identifier(gather(plan, AuditTarget(plan.sinks), engine))


def write(path, columns) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def nothing(_: Made) -> None:
    """Numbers of persons 1 to n, ages and numbers of visits among them."""


def row_numbers(made: Made) -> None:
    made.rows["index"] = [str(place + 1) for place in range(made.n)]


def pram(made: Made) -> None:
    made.rows["age"] = [str(age) for age in made.draw.integers(1, 86, made.n)]


def top_coded(made: Made) -> None:
    made.rows["age"] = [str(min(int(age), 60)) if age else "" for age in made.rows["age"]]


def rounded(made: Made) -> None:
    made.rows["visits"] = [str(5 * ((int(count) + 2) // 5)) for count in made.rows["visits"]]


def intervals(made: Made) -> None:
    made.rows["age"] = [f"[{int(age) // 10 * 10}, {int(age) // 10 * 10 + 10}[" if age else "*" for age in made.rows["age"]]


@pytest.mark.parametrize("spoilt", [nothing, row_numbers, pram, top_coded, rounded, intervals])
def test_values_that_meet_by_chance_never_fail(room, spoilt):
    failed = []
    for seed in TABLES:
        n, first = (20, 100, 400)[seed % 3], (0, 1, 10_001)[seed // 3 % 3]
        made = Made(seed, n, [str(number + first) for number in range(n)])
        spoilt(made)
        found = judged(room, made, ColumnType.STRING if seed % 2 else ColumnType.INTEGER)
        failed += [found.message] if found.outcome is Outcome.FAIL else []
    assert not failed


FORMS = {
    "plain": lambda text: text,
    "padded": lambda text: text.zfill(9),
    "decimals": lambda text: f"{text}.0",
    "prefixed": lambda text: f"ID-{text}",
    "case": lambda text: text.lower(),
    "spelling": lambda text: f" {text[:2]}-{text[2:]} ",
    "reversed": lambda text: text[::-1],
    "beside": lambda text: f"clinic {text}, ward",
    "md5": lambda text: hashlib.md5(text.encode()).hexdigest(),
    "sha1": lambda text: hashlib.sha1(text.encode()).hexdigest().upper(),
    "sha256 cut": lambda text: hashlib.sha256(text.encode()).hexdigest()[:20],
}
IDENTIFIERS = {
    "from 1": lambda n: [str(number + 1) for number in range(n)],
    "from 10001": lambda n: [str(number + 10_001) for number in range(n)],
    "wide": lambda n: [str(number) for number in np.random.default_rng(3).choice(10**9, n, replace=False) + 10**9],
    "letters": lambda n: [f"KX{number:05d}" for number in range(n)],
}
#: Of few seeds, each kind of identifiers has one: all rows or 60 % of them, and a type that is a number, are among them.
SEEDS = dict(zip(IDENTIFIERS, depth(((0,), (1,), (2,), (1,)), (range(3),) * 4), strict=True))


@pytest.mark.parametrize("identifiers", IDENTIFIERS)
def test_a_hidden_identifier_in_any_form_never_passes(room, identifiers):
    for seed in SEEDS[identifiers]:
        n = (40, 400)[seed % 2]
        made = Made(seed, n, IDENTIFIERS[identifiers](n))
        share = (1, 0.6)[seed % 2]  # the other cells hold something else
        for form, write_as in FORMS.items():
            made.rows[f"in {form}"] = [write_as(text) if made.draw.random() < share else "none" for text in made.own]
        numeric = seed == 2 and identifiers != "letters"
        found = judged(room, made, ColumnType.INTEGER if numeric else ColumnType.STRING)
        assert found.outcome is Outcome.FAIL
        assert [form for form in FORMS if f"in {form} holds values of id" not in found.message] == []


@pytest.mark.parametrize("identifiers", IDENTIFIERS)
def test_a_column_of_the_source_that_is_the_identifier_never_passes(room, identifiers):
    made = Made(7, 60, IDENTIFIERS[identifiers](60))
    for form, write_as in FORMS.items():
        made.source[f"in {form}"] = [write_as(text) for text in made.ids]
        made.rows[f"in {form}"] = [write_as(text) for text in made.own]
    found = judged(room, made)
    assert found.outcome is Outcome.FAIL
    assert [form for form in FORMS if f"in {form} holds values of id" not in found.message] == []


def test_a_planned_column_that_was_overwritten_with_identifiers_never_passes(room):
    for seed in HIDDEN:
        made = Made(seed, 200)
        made.rows["visits"] = made.own
        found = judged(room, made, ColumnType.INTEGER)
        assert found.outcome is Outcome.FAIL
        assert "visits holds values of id" in found.message
