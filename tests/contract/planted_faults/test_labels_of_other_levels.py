"""Files with labels of several levels, of rows and of persons: risk in both readings is that of brute force over every pair of rows."""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace

import pytest

from privrelease import api
from privrelease.audit.microdata.target import AuditTarget
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.execute.common.scope import release_name
from privrelease.execute.microdata.run import run_microdata
from privrelease.pipeline.steps import makers_of
from privrelease.release.store import ReleaseStore
from tests.contract.planted_faults.parked_release import SECRETS
from tests.contract.planted_faults.test_faults_of_labels import Labelled

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made-up
version: 1.0.0
title: A made-up policy
datasets:
  people:
    source: people.csv
    unit: {unit}
    columns:
      id: {{role: {role}, type: string}}
      age: {{role: quasi, type: integer, domain: [0, 49], hierarchy: {{widths: [5, 10], top: 40}}}}
      zip: {{role: quasi, type: string, hierarchy: {{prefix: [3, 2], fill: "*", small: {{file: areas.csv, above: 20, label: "000"}}}}}}
      town: {{role: quasi, type: category, hierarchy: {{csv: towns.csv}}}}
threats:
  C: {{dataset: people, knows: [age, zip, town], highest_risk: 1}}
  W: {{dataset: people, knows: [zip, age], missing: wildcard, highest_risk: 1}}
releases:
  - id: rows
    kind: microdata
    from: people
    protect: [C, W]
    transform:
      - {{drop: [id]}}
      - {{generalise: age, level: 2}}
      - {{generalise: [zip, town]}}
      - {{suppress: cells}}
    output: [out/people.parquet, out/people.csv]
"""
TOWNS = "Ahlen;north;*\nBeck;north;*\nCarl;south;*\nDorf;south;*\n"
#: 011 and 022 are small; 02 has a small and a large area.
AREAS, SMALL = "area,persons\n010,500\n011,5\n020,600\n021,700\n022,6\n", ("011", "022")
ZIPS = [f"{area}{end}" for area in ("010", "011", "020", "021", "022") for end in ("31", "57")]
NAMES = ("age", "zip", "town")
UNDER = {"north": {"Ahlen", "Beck"}, "south": {"Carl", "Dorf"}, "*": {"Ahlen", "Beck", "Carl", "Dorf"}}


def held(name, cell):
    """The values that a cell may stand for; a missing one for any."""
    if name == "age":
        if cell is None:
            return set(range(50))
        if cell.endswith("+"):
            return set(range(40, 50))
        low, high = map(int, cell.strip("[)").split(", ")) if cell.startswith("[") else (int(cell), int(cell) + 1)
        return set(range(low, high))
    if name == "zip":
        if cell is None:
            return set(ZIPS)
        if cell == "000":
            return {one for one in ZIPS if one[:3] in SMALL}
        start = cell.rstrip("*")
        return {one for one in ZIPS if one.startswith(start) and (cell == one or one[:3] not in SMALL)}
    return UNDER["*"] if cell is None else UNDER.get(cell, {cell})


def compatible(one, other, names):
    return all(held(name, one[name]) & held(name, other[name]) for name in names)


def astray(rng, name, value):
    """A label of another level that stands for a value."""
    if name == "age":
        age = int(value)
        low = age // 5 * 5
        return rng.choice([str(age), "40+" if age >= 40 else f"[{low}, {low + 5})"])
    if name == "zip":
        return value if value[:3] in SMALL else rng.choice([value, f"{value[:2]}*"])
    return rng.choice([value, "*"])


@pytest.fixture(scope="module", params=["rows", "persons"])
def sound(request, tmp_path_factory):
    return audited_in(tmp_path_factory.mktemp(request.param), request.param)


def audited_in(folder, counted):
    """People of one or several rows; a quarter of the released cells of each column is of another level than planned."""
    rng = random.Random(11)
    lines = ["id,age,zip,town"]
    for number in range(150):
        person = f"P{number if counted == 'rows' else rng.randrange(60):03d}"
        age = "" if number % 37 == 0 else rng.choice([*range(10, 24), 41, 47])
        town = "" if number % 41 == 1 else rng.choice(sorted(UNDER["*"]))
        lines.append(f"{person},{age},{rng.choice(ZIPS)},{town}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, text in (("towns", TOWNS), ("areas", AREAS)):
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    unit, role = ("rows", "insensitive") if counted == "rows" else ("{column: id, max_rows: 20}", "direct")
    (folder / "policy.yaml").write_text(POLICY.format(unit=unit, role=role), encoding="utf-8")
    (folder / "out").mkdir()
    planned = api.load(folder / "policy.yaml").planned
    (plan,) = planned.releases
    store = ReleaseStore(folder / ".privrelease")
    with (
        store.start(release_name(plan, planned), plan.sinks) as run,
        DuckDBEngine(EngineSettings(readable=(folder,), writable=(run.path,), threads=1)) as engine,
    ):
        run_microdata(plan, planned, engine=engine, store=store, run=run, environment=SECRETS, makers=makers_of())
        release = Labelled(plan, planned, engine, AuditTarget.of_run(run, plan, None))
        rows, source = release.rows(), release.source()
        for row in rows:
            for name in NAMES:
                true = source[row["_source"]][name]
                if true is not None and rng.random() < 0.25:
                    row[name] = astray(rng, name, true)
        release.put(rows)
        return SimpleNamespace(rows=rows, source=source, persons=counted == "persons", audit=release.audit())


def threat(sound, name):
    return next(one for one in sound.audit.threats if one.name == name)


def test_labels_of_other_levels_are_found_and_stand_for_their_values(sound):
    outcome = {check.id: check.outcome.value for check in sound.audit.checks}
    assert (outcome["AUDIT-LEVEL"], outcome["AUDIT-CHANGED"]) == ("fail", "pass")


def pairs_of(sound, names):
    """(cells, person) without repeats where persons are counted, else every row."""
    found = {}
    for place, row in enumerate(sound.rows):
        cells = tuple(row[name] for name in names)
        person = sound.source[row["_source"]]["id"] if sound.persons else place
        found.setdefault((cells, person), row)
    return found


@pytest.mark.parametrize("name", ["C", "W"])
def test_risk_in_both_readings_is_that_of_brute_force_by_containment(sound, name):
    found = threat(sound, name)
    pairs = pairs_of(sound, found.columns)
    alike = Counter(cells for cells, _ in pairs)
    matches = [
        len({person for (_, person), other in pairs.items() if compatible(row, other, found.columns)}) for row in pairs.values()
    ]
    category, wildcard = (found.after, found.after_other_reading) if name == "C" else (found.after_other_reading, found.after)
    assert (category.reading, wildcard.reading) == ("category", "wildcard")
    assert (category.k.value, wildcard.k.value) == (min(alike.values()), min(matches))
    assert category.counted == wildcard.counted == ("persons" if sound.persons else "records")
    if not sound.persons:
        assert category.average.value == pytest.approx(len(alike) / len(pairs))
        assert wildcard.average.value == pytest.approx(sum(1 / one for one in matches) / len(matches))
    assert sum(matches) > sum(alike[cells] for cells, _ in pairs)  # equality instead of containment is another figure


def test_released_records_are_compared_with_true_values_by_containment(sound):
    """For each true record, the released ones that may be its own."""
    found = threat(sound, "W")
    matches = []
    for true in sound.source:
        cells = {name: true[name] for name in found.columns}
        matches.append(sum(compatible(cells, row, found.columns) for row in sound.rows))
    assert found.after.further["compatible_k"].value == min(matches)
    assert found.after.further["compatible_average"].value == pytest.approx(sum(1 / one for one in matches) / len(matches))
