"""A kind of release that only this test knows: it is read, checked, compared and written through the tuple of kinds alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import pytest
from pydantic import BeforeValidator, Field

from privrelease.errors import PolicyError
from privrelease.policy.changes.diff import policy_changes
from privrelease.policy.language.keys import FREE, ONE_ALONE, Stricter
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.language.models import Policy
from privrelease.policy.language.number_values import Count
from privrelease.policy.language.releases import OutputSpec, outputs
from privrelease.policy.language.values import CHOICE, Frozen, Identifier, Text
from privrelease.policy.loader import check_policy, load_policy
from privrelease.policy.output.dump import dump
from privrelease.policy.output.json_schema import policy_schema
from privrelease.policy.release_kind import FileOrder, ReleaseKind, kind_of, values_of
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from pathlib import Path


class Share(Frozen):
    id: Identifier
    of: Text


class ChartRelease(Frozen):
    id: Identifier
    kind: Annotated[Literal["chart"], CHOICE]
    from_: Annotated[Text, Field(alias="from")]
    shares: tuple[Share, ...] = ()
    least: Annotated[Count | None, Stricter.HIGHER] = None
    output: Annotated[tuple[OutputSpec, ...], BeforeValidator(outputs), FREE, ONE_ALONE]


def least_rule(reading, releases):
    for number, release in releases:
        if release.least is not None and release.least < 3:
            yield reading.error("P440", "least must be at least 3", "releases", number, "least")


CHART = ReleaseKind(
    name="chart",
    model=ChartRelease,
    rules=(least_rule,),
    columns=lambda release, _dataset: {share.id: ColumnType.NUMBER for share in release.shares},
    source_checks="never",
    compared=lambda release, values: values | {"shares": {share.id: values_of(share) for share in release.shares}},
    orders=lambda release, _dataset: (FileOrder("shares", ("releases", None, "shares"), tuple(s.id for s in release.shares)),),
)
TOYS = (*KINDS, CHART)

TEXT = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  people:
    source: people.csv
    columns:
      town: {role: quasi, type: category, domain: [A, B]}
releases:
  - id: pie
    kind: chart
    from: people
    least: 5
    shares: [{id: a, of: A}, {id: b, of: B}]
    output: out/pie.csv
checks:
  - {id: RANGE, release: pie, expect: expect_column_values_to_be_between, column: a, max_value: 1}
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str, name: str = "p.yaml") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def codes(path):
    return [finding.code for finding in check_policy(path, kinds=TOYS)[1]]


def test_a_policy_with_it_loads_and_its_dump_loads_to_the_same(written):
    policy = load_policy(written(TEXT), kinds=TOYS).policy
    assert isinstance(policy, Policy)
    assert isinstance(policy.releases[0], ChartRelease)
    assert load_policy(written(dump(policy), "again.yaml"), kinds=TOYS).policy == policy


def test_without_it_the_kind_is_unknown(written):
    with pytest.raises(PolicyError) as caught:
        load_policy(written(TEXT))
    assert "P202" in {finding.code for finding in caught.value.findings}


def test_its_rules_and_those_that_all_kinds_share_are_checked(written):
    assert codes(written(TEXT.replace("least: 5", "least: 2"))) == ["P440"]
    assert "P301" in codes(written(TEXT.replace("from: people", "from: peple")))
    assert codes(written(TEXT.replace("least: 5", "leest: 5"))) == ["P200"]
    assert codes(written(TEXT.replace("out/pie.csv", "people.csv"))) == ["P405"]
    assert codes(written(TEXT.replace("column: a,", "column: c,"))) == ["P302"]
    assert codes(written(TEXT.replace("column: a,", "on: source, column: town,"))) == ["P418"]


def test_a_check_of_rows_about_persons_and_an_attack_do_not_fit_it(written):
    assert codes(written(TEXT + "  - {id: K, release: pie, expect: k, min: 5}\n")) == ["P418"]
    assert codes(written(TEXT + "attacks: {releases: [pie], singling_out: {max_risk: 0.1}}\n")) == ["P460"]


def test_its_columns_are_those_that_it_says(written):
    policy = load_policy(written(TEXT), kinds=TOYS).policy
    found = kind_of(policy.releases[0], TOYS).columns(policy.releases[0], policy.datasets["people"])
    assert found == {"a": ColumnType.NUMBER, "b": ColumnType.NUMBER}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{id: b, of: B}", "{id: b, of: C}", [("weaker", "releases.pie.shares.b.of")]),
        ("{id: a, of: A}, {id: b, of: B}", "{id: b, of: B}, {id: a, of: A}", [("breaking", "releases.pie.shares")]),
        ("least: 5", "least: 6", [("stricter", "releases.pie.least")]),
        ("least: 5", "least: 4", [("weaker", "releases.pie.least")]),
        ("out/pie.csv", "out/tart.csv", [("neutral", "releases.pie.output")]),
    ],
)
def test_two_policies_with_it_are_compared(written, old, new, told):
    before = load_policy(written(TEXT), kinds=TOYS)
    after = load_policy(written(TEXT.replace(old, new), "new.yaml"), kinds=TOYS)
    assert [(one.effect, one.subject) for one in policy_changes(before, after)] == told


@pytest.mark.parametrize(
    ("keys", "refused"),
    [
        ("least: 6, shares: [{id: a, of: A}, {id: b, of: B}], output: out/other.csv", False),
        ("least: 4, shares: [{id: a, of: A}, {id: b, of: B}], output: out/pie.csv", True),
        ("least: 6, shares: [{id: a, of: C}, {id: b, of: B}], output: out/pie.csv", True),
    ],
)
def test_an_environment_may_change_what_its_keys_allow(written, keys, refused):
    text = f"{TEXT}environments: {{ci: {{releases: [{{id: pie, kind: chart, from: people, {keys}}}]}}}}\n"
    assert codes(written(text)) == (["P504"] if refused else [])


def test_the_schema_and_a_misspelt_kind_name_it(written):
    definitions = policy_schema(TOYS)["definitions"]
    assert set(definitions["ChartRelease"]["properties"]) == {"id", "kind", "from", "shares", "least", "output"}
    found = check_policy(written(TEXT.replace("kind: chart", "kind: chrt")), kinds=TOYS)[1]
    assert ("P202", "did you mean chart?") in {(one.code, one.hint) for one in found}


def test_what_the_package_offers_is_as_before():
    assert [kind.name for kind in KINDS] == ["microdata", "statistics", "table", "synthetic"]
    assert "ChartRelease" not in policy_schema()["definitions"]
