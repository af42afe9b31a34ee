"""Pages of releases that fail, of every kind, are whole in German and French: nothing on them is left in English but names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from privrelease import api
from privrelease.audit.document.model import Outcome
from privrelease.audit.document.schema import audit_bytes
from privrelease.report.forms.json_report import render_json
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition
from tests.contract.planted_faults.parked_release import parked
from tests.words import assert_codes_are_of_their_sentences, assert_said_in_every_language

#: What is marked as English: titles of checks of a policy, which are names of measures and columns.
ENGLISH = re.compile(r'<bdi lang="en">(.*?)</bdi>', re.DOTALL)
NAME = re.compile(r"[\w./-]+")

POLICY = """
apiVersion: privrelease/v1
kind: ReleasePolicy
id: made-up
version: 1.0.0
title: Made-up persons
datasets:
  people:
    source: people.csv
    population: made-up persons
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      sex: {role: quasi, type: category, domain: [F, M]}
      region: {role: quasi, type: category, domain: [north, south]}
      age: {role: sensitive, type: integer, domain: [0, 100]}
releases:
  - id: counts
    kind: table
    from: people
    by: [sex, region]
    measures: [{count: true}]
    protect: {min_count: 3}
    output: out/counts.csv
  - id: figures
    kind: statistics
    from: people
    budget: {epsilon: 1}
    queries:
      - {id: persons, count: true, by: [sex]}
    output: out/figures.csv
"""


@pytest.fixture
def policy(tmp_path):
    rows = [f"p{i},{'FM'[i % 2]},{('north', 'south')[i % 3 == 0]},{20 + i}" for i in range(40)]
    (tmp_path / "people.csv").write_text("\n".join(["id,sex,region,age", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path / "p.yaml"


def assert_pages_are_whole(audit):
    assert audit.decision.outcome is not Outcome.PASS
    assert_said_in_every_language(audit)
    for edition in Edition:
        assert_codes_are_of_their_sentences(render_json(audit, edition))
        for language in ("de", "fr"):
            page = render_html(audit.model_copy(update={"language": language}), edition)
            left = [text for text in ENGLISH.findall(page) if not NAME.fullmatch(text)]
            assert left == []


def spoilt(policy: Path, name: str, text: str):
    path = policy.parent / name
    path.write_text(text, encoding="utf-8")
    return path


TABLES = {
    "no table": "a,b\n1,2\n",
    "small counts": "sex,region,total_over,count,status\nF,north,,1,shown\nF,south,,2,shown\nM,north,,13,shown\nM,south,,7,shown\n",
    "blanks": "sex,region,total_over,count,status\nF,north,,,shown\nF,south,,,suppressed\nM,north,,13,suppressed\nM,south,,7,shown\n",
}


@pytest.mark.parametrize("source", [True, False])
@pytest.mark.parametrize("fault", TABLES)
def test_a_table(policy, fault, source):
    path = spoilt(policy, "other.csv", TABLES[fault])
    assert_pages_are_whole(api.audit(policy, path, release="counts", source=source))


FIGURES = {
    "no figures": "a,b\n1,2\n",
    "other figures": "query,sex,value,low,high,mechanism,scale,epsilon,delta\nother,F,1,0,2,x,1,1,0\n",
    "infinite": "query,sex,value,low,high,mechanism,scale,epsilon,delta\npersons,F,inf,0,2,x,1,1,0\npersons,M,1,2,3,x,1,1,0\n",
}


@pytest.mark.parametrize("fault", FIGURES)
def test_statistics(policy, fault):
    path = spoilt(policy, "other.csv", FIGURES[fault])
    assert_pages_are_whole(api.audit(policy, path, release="figures"))


def test_rows(tmp_path):
    with parked(tmp_path) as release:
        rows = release.rows()
        rows[3]["score"] += 1
        rows[5]["note"] = None
        rows[7]["age"] = "made up"
        release.put(rows[:-9], cover=False, ordered=False)
        audit = release.audit()
    assert len([one for one in audit.checks if one.outcome is Outcome.FAIL]) > 3
    assert_pages_are_whole(audit)


def test_a_recipient_sees_no_code_or_value_of_a_sentence_that_is_withheld(tmp_path):
    with parked(tmp_path) as release:
        rows = release.rows()
        rows[3]["score"] += 1
        release.put(rows)
        audit = release.audit()
    inside, outside = json.loads(audit_bytes(audit)), json.loads(render_json(audit, Edition.RECIPIENT))
    text = json.dumps(outside)
    assert "sentence.changed_values" in json.dumps(inside)
    assert "sentence.changed_values" not in text
    assert outside["decision"].get("reasons_coded") is None
    assert assert_codes_are_of_their_sentences(json.dumps(outside).encode()) > 5

    # without the codes, an audit is the one of before
    def bare(value):
        if isinstance(value, dict):
            return {name: bare(one) for name, one in value.items() if not name.endswith("_coded")}
        return [bare(one) for one in value] if isinstance(value, list) else value

    assert bare(outside).keys() == outside.keys()
