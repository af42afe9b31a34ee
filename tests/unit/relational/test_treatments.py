"""Treatments are declarations: each has its words, and one that only a caller knows is found among those that are given."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, get_args

import pytest

from privrelease.audit.document.model import ColumnFacts
from privrelease.plan.model import MicrodataPlan, ReleasedColumn, SuppressStep, ThreatPlan
from privrelease.relational.schema import ColumnType, Role
from privrelease.relational.treatments import (
    TREATMENTS,
    WITHHELD,
    AsIs,
    CellRelation,
    Family,
    Perturbed,
    Pseudonym,
    Recoded,
    Suppressed,
    Synthetic,
    family_of,
    relation_of,
)
from privrelease.release.manifest import ManifestColumn
from privrelease.texts.catalogue import english

PACKAGE = Path(__file__).resolve().parents[3] / "privrelease"


@dataclass(frozen=True)
class Labels:
    """A map to texts."""

    def released_type(self, source):
        del source
        return ColumnType.CATEGORY


def test_each_has_a_code_words_and_a_relation_of_its_own_place():
    codes = [one.code for one in TREATMENTS]
    words = [one.words for one in (*TREATMENTS, *WITHHELD)]
    assert len(set(codes)) == len(codes) == 6
    assert len(set(words)) == len(words) == 9
    assert {key.removeprefix("treatment.") for key in english().texts if key.startswith("treatment.")} == set(words)
    assert {one.relation for one in TREATMENTS} == set(CellRelation)


@pytest.mark.parametrize(
    ("treatment", "type_", "relation", "family"),
    [
        (AsIs(), ColumnType.INTEGER, "equal", None),
        (Suppressed(), ColumnType.INTEGER, "equal_or_missing", "suppression"),
        (Pseudonym("KEY"), ColumnType.STRING, "keyed_token", "pseudonymization"),
        (Recoded(Labels()), ColumnType.CATEGORY, "mapped", "generalization"),
        (Perturbed("noise"), ColumnType.INTEGER, "unrelated", "randomization"),
        (Synthetic(), ColumnType.INTEGER, "unrelated", "synthetic data"),
    ],
)
def test_each_states_its_type_its_relation_and_its_family(treatment, type_, relation, family):
    assert treatment.released_type(ColumnType.INTEGER) is type_
    assert (treatment.relation, treatment.family) == (relation, family)


def test_cells_are_compared_with_their_source_only_where_they_are_its_own_and_may_lack_only_where_that_is_declared():
    assert {one.code for one in TREATMENTS if one.relation.own_values} == {"as_is", "suppressed"}
    assert {one.code for one in TREATMENTS if one.relation.may_lack} == {"suppressed", "perturbed", "synthetic"}


def test_a_quasi_identifier_as_it_is_becomes_suppressed_where_cells_may_be_and_a_pseudonym_stays_one():
    columns = (
        ReleasedColumn("age", ColumnType.INTEGER, Role.QUASI),
        ReleasedColumn("pay", ColumnType.INTEGER, Role.SENSITIVE),
        ReleasedColumn("id", ColumnType.STRING, Role.DIRECT, Pseudonym("KEY")),
    )
    threat = ThreatPlan("t", ("age", "id"), None)
    plan = MicrodataPlan("r", None, columns, (threat,), (), suppress=SuppressStep())
    assert [plan.treatment_of(one).words for one in columns] == ["local_suppression", "unchanged", "pseudonym"]
    bare = replace(plan, suppress=None)
    assert ([bare.treatment_of(one).words for one in columns], bare.lossy) == (
        ["unchanged", "unchanged", "pseudonym"],
        frozenset(),
    )


def test_documents_hold_every_code_and_no_other():
    assert get_args(ManifestColumn.model_fields["treatment"].annotation) == tuple(one.code for one in TREATMENTS)
    assert set(get_args(ColumnFacts.model_fields["treated"].annotation)) == {one.words for one in (*TREATMENTS, *WITHHELD)}
    with pytest.raises(ValueError, match="treatment"):
        ManifestColumn(name="a", type="string", treatment="hidden")


def test_one_that_only_a_caller_knows_is_found_among_those_that_are_given():
    @dataclass(frozen=True)
    class Rounded:
        code: ClassVar[str] = "rounded"
        words: ClassVar[str] = "rounded"
        family: ClassVar[Family] = Family.GENERALISATION
        relation: ClassVar[CellRelation] = CellRelation.MAPPED

    assert relation_of("rounded", (*TREATMENTS, Rounded)) is CellRelation.MAPPED
    assert family_of("rounded", (*TREATMENTS, Rounded)) is Family.GENERALISATION
    with pytest.raises(KeyError):
        relation_of("rounded")


def test_no_line_compares_with_the_name_of_a_treatment():
    names = "|".join(sorted({one.code for one in TREATMENTS} | {one.words for one in (*TREATMENTS, *WITHHELD)}))
    asks = re.compile(rf'(treatment|treated)\b[^\n]*(==|!=|\bin\b)[^\n]*"({names})"')
    assert asks.search('if column.treatment == "pseudonym":')
    assert asks.search('if column.treated in {"removed", "noisy"}:')
    found = [path.name for path in PACKAGE.rglob("*.py") if asks.search(path.read_text(encoding="utf-8"))]
    assert found == []
