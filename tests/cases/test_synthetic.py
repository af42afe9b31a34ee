"""Cases s01, s03, s04, s05 and l04: dates, whole numbers with gaps, unique keys, names, and a column of 300,000 values, in synthetic rows."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import Counter
from datetime import datetime
from math import sqrt
from pathlib import Path

import pytest

from privrelease import api
from privrelease.cli.main import main
from privrelease.errors import PolicyError

HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: case
version: 1.0.0
title: A case
datasets:
  d:
    source: input.csv
    unit: rows
    population: p
    snapshot: one
    columns:
{columns}
releases:
  - id: syn
    kind: synthetic
    from: d
    method: histogram
{release}
    output: out/syn.csv
ledger: {{url: "sqlite:///ledger.db", cap: {{epsilon: 100, delta: 1e-5}}}}
"""


@pytest.fixture
def case(tmp_path, shared, monkeypatch):
    """Write the policy of a case next to its input."""
    monkeypatch.chdir(tmp_path)

    def written(name: str | None, columns: dict[str, str], release: dict[str, str]) -> Path:
        if name is not None:
            (folder,) = (shared / "cases").glob(f"{name}-*")
            (tmp_path / "input.csv").write_bytes((folder / "input.csv").read_bytes())
        listed = "\n".join(f"      {column}: {{{spec}}}" for column, spec in columns.items())
        keys = "\n".join(f"    {key}: {value}" for key, value in release.items())
        policy = tmp_path / "p.yaml"
        policy.write_text(HEAD.format(columns=listed, release=keys), encoding="utf-8")
        return policy

    return written


def made(policy: Path) -> list[dict[str, str]]:
    assert main(["ledger", "init", str(policy)]) == 0
    (one,) = api.run(policy).releases
    assert one.became == "published", (one.error, one.audit and one.audit.findings)
    with (policy.parent / "out" / "syn.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def codes(policy: Path) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        api.load(policy)
    return [f"{one.code} {one.message}" for one in caught.value.findings if one.severity.value == "error"]


AMOUNT = "role: insensitive, type: integer, domain: [0, 50]"


def test_s01_dates_exist_and_are_written_as_in_the_input(case):
    columns = {
        "day": "role: quasi, type: date, domain: [2019-01-01, 2023-12-31], format: {date: '%Y%m%d'}",
        "amount": AMOUNT,
    }
    release = {"columns": "[day, amount]", "rows": "200", "budget": "{epsilon: 1}", "bins": "{day: {width: 30}}"}
    rows = made(case("s01", columns, release | {"impossible": "[day IS NULL, amount IS NULL]"}))
    assert len(rows) == 200
    for row in rows:
        assert re.fullmatch(r"\d{8}", row["day"])
        assert datetime(2019, 1, 1) <= datetime.strptime(row["day"], "%Y%m%d") <= datetime(2023, 12, 31)  # noqa: DTZ001, DTZ007
    integer = columns | {"day": "role: quasi, type: integer, domain: [20190101, 20231231]"}
    loaded = api.load(case("s01", integer, release | {"bins": "{day: {width: 1000}}"}))
    assert [one.code for one in loaded.warnings if one.code == "P722"] == ["P722"]


def test_s03_whole_numbers_with_gaps_stay_whole(case):
    columns = {
        "visits": "role: quasi, type: integer, domain: [0, 20]",
        "ward": "role: quasi, type: category, domain: [N, S]",
    }
    rows = made(case("s03", columns, {"columns": "[visits, ward]", "rows": "400", "budget": "{epsilon: 100}"}))
    assert len(rows) == 400
    assert all(re.fullmatch(r"\d*", row["visits"]) and (row["visits"] == "" or int(row["visits"]) <= 20) for row in rows)
    assert abs(sum(row["visits"] == "" for row in rows) / 400 - 0.25) <= 5 * sqrt(0.25 * 0.75 / 400)


def test_s04_a_thousand_keys_fit_and_one_more_does_not(case):
    columns = {"code": "role: direct, type: string", "x": "role: insensitive, type: integer, domain: [0, 1]"}
    release = {
        "columns": "[code, x]",
        "rows": "1000",
        "budget": "{epsilon: 1}",
        "make": '{code: {pattern: "[0-9]{3}", unique: true}}',
    }
    rows = made(case("s04", columns, release))
    assert {row["code"] for row in rows} == {f"{number:03d}" for number in range(1000)}
    for more in ("1001", "1200"):
        (said,) = codes(case("s04", columns, release | {"rows": more}))
        assert said.startswith("P714 ")
        assert all(word in said for word in ("code", "1000", more))


def test_s05_no_name_mail_or_note_of_a_person_is_in_any_artefact(case, shared, capfd):
    direct = "role: direct, type: string"
    columns = {
        "name": direct,
        "mail": direct,
        "ward": "role: quasi, type: category, domain: [N, S]",
        "note": "role: sensitive, type: string",
    }
    release = {"columns": "[name, ward]", "rows": "500", "budget": "{epsilon: 1}", "make": '{name: {pattern: "N[0-9]{5}"}}'}
    policy = case("s05", columns, release)
    rows = made(policy)
    assert {row["ward"] for row in rows} <= {"N", "S", ""}
    (folder,) = (shared / "cases").glob("s05-*")
    with (folder / "input.csv").open(encoding="utf-8", newline="") as file:
        forbidden = [cell.casefold() for row in csv.DictReader(file) for name, cell in row.items() if name != "ward"]
    said = capfd.readouterr()
    places = [path for path in policy.parent.rglob("*") if path.is_file() and path.name != "input.csv"]
    texts = [said.out, said.err, *(path.read_bytes().decode("utf-8", "replace") for path in places)]
    assert len(places) > 5
    assert [text for text in forbidden for one in texts if text in one.casefold()] == []
    (fault,) = codes(case("s05", columns, release | {"columns": "[name, ward, note]"}))
    assert fault.startswith("P700 note has no domain")


def test_l04_a_column_of_300000_values_is_refused_or_made_up_within_a_gigabyte(case, shared, tmp_path):
    (folder,) = (shared / "cases").glob("l04-*")
    subprocess.run([sys.executable, folder / "gen.py"], cwd=tmp_path, check=True)
    columns = {"t": "role: insensitive, type: string", "g": "role: quasi, type: category, domain: ['0', '1', '2', '3', '4']"}
    release = {"columns": "[t, g]", "rows": "1000", "budget": "{epsilon: 1}"}
    (fault,) = codes(case(None, columns, release))
    assert fault.startswith("P700 t has no domain")
    rows = made(case(None, columns, release | {"make": '{t: {pattern: "T[0-9]{9}", unique: true}}'}))
    counted = Counter(row["g"] for row in rows)
    assert all(abs(counted[str(group)] - 200) <= 5 * sqrt(1000 * 0.2 * 0.8) for group in range(5))
