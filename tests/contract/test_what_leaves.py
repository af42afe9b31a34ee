"""What goes outside tells no more of the source than the released files do.

Two sources that differ in what was taken away, and whose released files are the same bytes, must give the same recipient edition and the
same forms for outside: whatever differs is a leak, however it is worded. Besides, every text is searched for what was in the source only.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from privrelease.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

FORMS = ("html", "text", "json", "sarif", "junit", "github", "markdown", "in-toto", "dpv")
#: What may differ from run to run: moments and the run's name.
MASKED = re.compile(rb"20\d{6}T\d{12}-[0-9a-f]{6}|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")

HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    population: made-up-people
    unit: {column: person, max_rows: 1}
    columns:
      person: {role: direct, type: string}
      area: {role: quasi, type: category}
      job: {role: quasi, type: category}
      pay: {role: sensitive, type: integer, domain: [0, 1000]}
"""
MICRODATA = (
    HEAD
    + """threats:
  t: {dataset: d, knows: [area, job], highest_risk: 0.1}
releases:
  - id: r
    kind: microdata
    from: d
    protect: [t]
    transform: [{suppress: cells, limit: 0.2}]
    output: {path: out/r.csv}
checks:
  - {id: UTIL-001, release: r, expect: suppressed_cells, max: 0.2}
  - {id: UTIL-002, release: r, expect: dropped_rows, max: 0.2}
  - {id: UTIL-003, release: r, expect: suppressed_cells, max: 0, severity: warn}
"""
)
TABLE = (
    HEAD.replace(
        "area: {role: quasi, type: category}", "area: {role: quasi, type: category, domain: [north, south, west]}"
    ).replace("job: {role: quasi, type: category}", "job: {role: quasi, type: category, domain: [clerk, smith, baker]}")
    + """releases:
  - id: r
    kind: table
    from: d
    by: [area, job]
    measures: [{count: true}, {sum: pay}]
    margins: true
    protect: {min_count: 10, dominance: [2, 0.9], p_percent: 0.1, secondary: true, interval: 0.1}
    output: {path: out/r.csv}
"""
)
STATISTICS = (
    HEAD
    + """releases:
  - id: r
    kind: statistics
    from: d
    budget: {epsilon: 1.0}
    queries:
      - {id: n_north, count: {where: "area = 'north'"}, epsilon: 0.5}
      - {id: pay, mean: pay, epsilon: 0.5}
    output: {path: out/r.csv}
ledger: {cap: {epsilon: 4.0}, url: "sqlite:///ledger.db"}
"""
)


@dataclass
class Source:
    """Rows of made-up persons; a person's name is told nowhere."""

    rows: list[tuple[str, str, str, int]] = field(default_factory=list)

    def add(self, times: int, area: str, job: str, pay: int) -> Source:
        self.rows += [(f"zq{len(self.rows) + n:05}", area, job, pay) for n in range(times)]
        return self

    def text(self, named: str) -> str:
        return "person,area,job,pay\n" + "".join(
            f"{named}{person},{area},{job},{pay}\n" for person, area, job, pay in self.rows
        )


def outside(folder: Path, policy: str, data: str, capfdbinary, *, code: int = 0) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Run the policy on the data; return the released files, and every text for outside, by what it is.

    A digest of another of these texts is replaced by that text's name: the text itself is compared.
    """
    folder.mkdir()
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    (folder / "data.csv").write_text(data, encoding="utf-8")
    if "ledger:" in policy:
        assert main(["ledger", "init", str(folder / "policy.yaml")]) == 0
    assert main(["run", str(folder / "policy.yaml"), "-q"]) == code, capfdbinary.readouterr().err
    (run,) = (folder / ".privrelease" / "runs").iterdir()
    texts = {path.name: path.read_bytes() for path in (run / "outgoing").iterdir()}
    released = {name: texts.pop(name) for name in list(texts) if name == "r.csv"}
    forms = (*FORMS, "dp-deployment") if "statistics" in policy else FORMS
    for form in forms:
        capfdbinary.readouterr()
        assert main(["report", str(run), "--edition", "recipient", "--format", form]) == 0
        texts[form] = capfdbinary.readouterr().out
    assert main(["report", "--index", str(folder / ".privrelease"), "--edition", "recipient"]) == 0
    texts["index"] = capfdbinary.readouterr().out
    assert len(texts) >= len(forms) + 3
    assert all(len(text) > 20 for name, text in texts.items() if name != "github")
    attested = {sha256(text).hexdigest().encode(): name.encode() for name, text in texts.items()}
    for digest, name in attested.items():
        texts = {form: text.replace(digest, name) for form, text in texts.items()}
    return released, {name: MASKED.sub(b"(masked)", text) for name, text in texts.items()}


def differences(one: dict[str, bytes], other: dict[str, bytes]) -> list[tuple[str, bytes, bytes]]:
    """The first line of each text that differs."""
    found = []
    for name, text in one.items():
        pairs = zip(text.splitlines(), other[name].splitlines(), strict=False)
        found += [(name, *pair) for pair in pairs if pair[0] != pair[1]][:3]
        if len(text) != len(other[name]) and not found:
            found.append((name, b"", b""))
    return found


def plain() -> Source:
    return Source().add(40, "north", "clerk", 100).add(30, "south", "smith", 200)


def test_recipients_cannot_tell_how_many_rows_were_dropped_nor_what_stood_in_them(tmp_path, capfdbinary):
    """Rows of singular persons lose every known cell and are dropped: two in one source, three others in another."""
    one = plain().add(1, "valley", "diver", 7).add(1, "island", "jurist", 13)
    other = plain().add(1, "harbour", "pilot", 911).add(1, "summit", "baker", 17).add(1, "coast", "miner", 3)
    released, texts = outside(tmp_path / "one", MICRODATA, one.text("a"), capfdbinary)
    again, others = outside(tmp_path / "other", MICRODATA, other.text("b"), capfdbinary)
    assert released == again
    assert b"valley" not in released["r.csv"]
    assert differences(texts, others) == []
    for name, text in (*texts.items(), *others.items()):
        for word in (b"valley", b"diver", b"island", b"jurist", b"harbour", b"pilot", b"summit", b"911", b"zq0"):
            assert word not in text, name


def test_recipients_cannot_tell_what_a_suppressed_cell_held(tmp_path, capfdbinary):
    def source(jobs: str) -> Source:
        made = plain()
        for job in jobs.split():
            made.add(1, "north", job, 5)
        return made

    first = source("diver jurist pilot baker miner tailor baron sailor porter butler cooper weaver")
    second = source("actor abbot guard groom nurse potter singer waiter warden writer yeoman jockey")
    released, texts = outside(tmp_path / "one", MICRODATA, first.text("a"), capfdbinary)
    again, others = outside(tmp_path / "other", MICRODATA, second.text("b"), capfdbinary)
    assert released == again
    assert released["r.csv"].count(b"north,,5") == 12
    assert differences(texts, others) == []
    for text in (*texts.values(), *others.values()):
        assert not re.search(rb"diver|jurist|actor|yeoman|zq0", text)


def test_recipients_of_a_table_cannot_tell_the_cells_that_it_hides(tmp_path, capfdbinary):
    """The same totals, other unsafe cells: 4 and 8 persons, or 6 and 6, whose pay adds up to the same."""

    def source(first: int, second: int) -> Source:
        made = Source().add(40, "north", "clerk", 100).add(30, "south", "smith", 200).add(30, "north", "smith", 100)
        made.add(first, "south", "clerk", 100).add(second, "west", "clerk", 100)
        return made.add(second, "south", "baker", 100).add(first, "west", "baker", 100).add(25, "north", "baker", 100)

    released, texts = outside(tmp_path / "one", TABLE, source(4, 8).text("a"), capfdbinary)
    again, others = outside(tmp_path / "other", TABLE, source(6, 6).text("b"), capfdbinary)
    assert released == again
    assert differences(texts, others) == []


def test_statistics_tell_recipients_no_exact_figure_of_the_source_and_nothing_of_its_use(tmp_path, capfdbinary):
    made = Source().add(1234, "north", "clerk", 100).add(2117, "south", "smith", 731)
    _, texts = outside(tmp_path / "one", STATISTICS, made.text("a"), capfdbinary)
    exact_mean = (1234 * 100 + 2117 * 731) / 3351
    for name, text in texts.items():
        for word in (b"3351", b"3,351", f"{exact_mean:.4f}".encode(), b"zq0", b"clerk", b"smith"):
            assert word not in text, (name, word)
    recipient = json.loads(texts["json"])
    assert recipient["utility"] is None
    assert {"table", "sensitive", "attacks", "utility_measures", "earlier", "waivers", "signoff", "since"}.isdisjoint(recipient)
    assert recipient["data"]["source_rows"] is None or recipient["data"]["source_rows"]["value"] is None


@pytest.mark.parametrize("rare", [1, 9, 1991, 1999])
def test_no_figure_for_recipients_is_a_small_count_of_the_source_or_its_complement(rare, tmp_path, capfdbinary):
    """Of 2,000 persons a few stand apart: neither how many, nor how many do not, nor the share can be read."""
    made = Source().add(2000 - rare, "north", "clerk", 100).add(rare, "north", "diver", 100)
    _, texts = outside(tmp_path / "one", MICRODATA, made.text("a"), capfdbinary)
    few = min(rare, 2000 - rare)
    kept = json.loads(texts["json"])
    of_the_file = kept["data"]["released_rows"]["value"]
    for path, figure in figures(kept):
        value = figure["value"]
        if value is None or re.match(r"(threats\.\d+|union)\.(after|verdicts)", path):
            continue  # measured on the released file, which recipients have
        if figure["unit"] == "count":
            assert value not in {few, 2000 - few, 2000} - {of_the_file}, path
        elif value:
            assert abs(value - few / 2000) > 1e-9, path
            assert abs(value - (1 - few / 2000)) > 1e-9, path
    for name in ("html", "text", "markdown", "junit", "sarif", "github"):
        for count in {2000 - few, 2000} - {of_the_file}:
            assert not re.search(
                rb"(?<![\d.,])(%s|%s)(?![\d.,])" % (f"{count:,}".encode(), str(count).encode()), texts[name]
            ), name


def figures(value, path=""):
    """(path, figure) of everything with a value and a unit."""
    if isinstance(value, dict):
        if "unit" in value and "value" in value:
            yield path, value
        for name, item in value.items():
            yield from figures(item, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from figures(item, f"{path}.{place}")
