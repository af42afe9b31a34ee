"""Adult with ARX's own hierarchies: classes beside a recount in plain Python, and files in ARX's form under audit."""

from __future__ import annotations

import csv
import random
import shutil
from collections import Counter

import pytest

from privrelease import api
from privrelease.pipeline.kinds import kind_of
from privrelease.pipeline.settings import Settings
from privrelease.pipeline.world import World

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: adult
version: 1.0.0
title: Adult
datasets:
  adult:
    source: adult.csv
    unit: rows
    format: {{delimiter: ";"}}
    columns:
{columns}threats:
  T: {{dataset: adult, knows: [{names}], highest_risk: {risk}}}
releases:
  - id: rows
    kind: microdata
    from: adult
    protect: [T]
    transform:
{steps}      - {{suppress: cells}}
    output: out/rows.csv
"""
FIRST, SECOND = (1, 0, 1, 1, 3, 2, 2, 0, 1), (1, 2, 1, 1, 3, 2, 2, 1, 1)


@pytest.fixture(scope="module")
def adult(shared, tmp_path_factory):
    """A folder with the data and hierarchies, the heading, the rows, and the labels of each column by value."""
    folder = tmp_path_factory.mktemp("adult")
    for path in (shared / "data").glob("adult*.csv"):
        shutil.copy(path, folder / path.name)
        (folder / path.name).chmod(0o644)
    with (folder / "adult.csv").open(newline="") as stream:
        head, *rows = csv.reader(stream, delimiter=";")
    labels = []
    for name in head:
        with (folder / f"adult_hierarchy_{name}.csv").open(newline="") as stream:
            labels.append({line[0]: line for line in csv.reader(stream, delimiter=";")})
    return folder, head, rows, labels


def written(adult, levels, risk="0.2"):
    folder, head, *_ = adult
    types = {name: "integer" if name == "age" else "category" for name in head}
    columns = "".join(
        f"      {name}: {{role: quasi, type: {types[name]}, hierarchy: {{csv: adult_hierarchy_{name}.csv}}}}\n" for name in head
    )
    steps = "".join(
        f"      - {{generalise: [{', '.join(name for name, one in zip(head, levels, strict=True) if one == level)}], level: {level}}}\n"
        for level in sorted(set(levels) - {0})
    )
    path = folder / f"{''.join(map(str, levels))}.yaml"
    path.write_text(POLICY.format(columns=columns, names=", ".join(head), risk=risk, steps=steps))
    return path


def recoded(adult, levels):
    _, _, rows, labels = adult
    return [tuple(one[value][level] for one, value, level in zip(labels, row, levels, strict=True)) for row in rows]


@pytest.mark.parametrize(
    ("levels", "k", "classes", "below", "smallest"),
    [
        (FIRST, 5, 1_498, 906, 1),
        ((1, 1, 1, 1, 3, 2, 2, 1, 1), 100, 90, 866, 2),
        (SECOND, 5, 48, 0, 5),
        ((0, 4, 1, 1, 3, 2, 2, 1, 1), 5, 12, 0, 397),
    ],
)
def test_classes_are_those_of_a_recount(adult, levels, k, classes, below, smallest):
    sizes = Counter(recoded(adult, levels))
    assert (len(sizes), sum(size for size in sizes.values() if size < k), min(sizes.values())) == (classes, below, smallest)
    loaded = api.load(written(adult, levels, f"{1 / k}"))
    (release,) = loaded.planned.releases
    foreseen = kind_of(release).forecast(release, loaded.planned, World(Settings()))
    (threat,) = foreseen.threats
    assert (foreseen.classes, threat.below_k, threat.smallest) == (classes, below, smallest)


def arx_file(adult, levels, name, edit=None):
    """A file as ARX writes it: labels by column, rows of classes below five left out, the rest in the order of their texts."""
    folder, head, *_ = adult
    rows = recoded(adult, levels)
    sizes = Counter(rows)
    kept = [list(row) for row in rows if sizes[row] >= 5]
    if edit is not None:
        edit(kept)
    path = folder / name / "rows.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([head, *sorted(kept)])
    return path


def checks(audit):
    return {check.id: check for check in audit.checks}


def other_labels(rows):
    """Give ten rows another label of marital status."""
    lot = random.Random(3)
    for row in lot.sample(rows, 10):
        row[3] = "spouse present" if row[3] == "spouse not present" else "spouse not present"


def test_a_file_in_the_form_of_arx_passes(adult):
    loaded = api.load(written(adult, FIRST))
    found = api.audit(loaded, arx_file(adult, FIRST, "sound"), release="rows")
    assert found.decision.outcome.value == "pass", found.decision
    explained = checks(found)["AUDIT-EXPLAINED"]
    assert explained.outcome.value == "pass"
    assert "cannot be distinguished" in explained.message
    assert checks(found)["AUDIT-LEVEL"].outcome.value == "pass"


def test_labels_in_more_rows_than_the_source_has_under_them_are_told_with_their_column_and_surplus(adult):
    """Nothing is suppressed: ten rows of other labels leave one label with more rows than there are."""
    loaded = api.load(written(adult, SECOND))
    assert api.audit(loaded, arx_file(adult, SECOND, "whole"), release="rows").decision.outcome.value == "pass"
    path = arx_file(adult, SECOND, "other", other_labels)
    with path.open(newline="") as stream:
        now = Counter(row[3] for row in csv.reader(stream))
    before = Counter(row[3] for row in recoded(adult, SECOND))
    surplus = max(now[label] - before[label] for label in before)
    assert surplus > 0
    found = checks(api.audit(loaded, path, release="rows"))["AUDIT-EXPLAINED"]
    assert (found.outcome.value, f"marital-status ({surplus} rows)" in found.message) == ("fail", True), found.message


def test_where_suppressed_rows_give_slack_columns_are_told_together(adult):
    loaded = api.load(written(adult, FIRST))
    found = checks(api.audit(loaded, arx_file(adult, FIRST, "slack", other_labels), release="rows"))["AUDIT-EXPLAINED"]
    assert found.outcome.value == "fail"
    assert " with " in found.message


def test_a_leaf_and_a_label_that_the_source_has_nothing_under_fail(adult):
    def spoil(rows):
        rows[0][2], rows[2][1] = "Asia", "400"

    loaded = api.load(written(adult, SECOND))
    found = checks(api.audit(loaded, arx_file(adult, SECOND, "spoilt", spoil), release="rows"))
    assert found["AUDIT-LEVEL"].outcome.value == "fail"
    assert found["AUDIT-EXPLAINED"].outcome.value == "fail"
    assert "values that represent none of the source's, in: age (1 row), race (1 row)" in found["AUDIT-EXPLAINED"].message
