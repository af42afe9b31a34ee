"""Kinds of releases are values: those of the policy, found by the plan's own word, and without loading what a kind computes with."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

from privrelease.pipeline.kinds import KINDS, kind_of, kind_of_manifest
from privrelease.plan.build import BUILDERS
from privrelease.plan.explain import EXPLAINERS
from privrelease.plan.model import MicrodataPlan
from privrelease.plan.statistics.plan import StatisticsPlan
from privrelease.plan.synthetic.plan import SyntheticPlan
from privrelease.plan.tables.plan import TablePlan
from privrelease.policy.language.releases import MicrodataRelease
from privrelease.policy.language.statistics import StatisticsRelease
from privrelease.policy.language.synthetic import SyntheticRelease
from privrelease.policy.language.tables import TableRelease

ROOT = Path(__file__).resolve().parents[3] / "privrelease"
NAMES = ("microdata", "statistics", "table", "synthetic")


def manifest(*, privacy: object, columns: tuple[str, ...]) -> SimpleNamespace:
    output = SimpleNamespace(columns=tuple(SimpleNamespace(name=name) for name in columns))
    return SimpleNamespace(privacy=privacy, outputs=(output,), kind=None)


def test_every_kind_of_the_policy_is_planned_explained_and_worked_on_in_one_order():
    models = (MicrodataRelease, StatisticsRelease, TableRelease, SyntheticRelease)
    assert tuple(get_args(model.model_fields["kind"].annotation)[0] for model in models) == NAMES
    assert tuple(plan.kind for plan in (MicrodataPlan, StatisticsPlan, TablePlan, SyntheticPlan)) == NAMES
    for names in ([name for name, _ in BUILDERS], [name for name, _ in EXPLAINERS], [kind.name for kind in KINDS]):
        assert tuple(names) == NAMES


def test_a_kind_is_found_by_the_word_of_its_plan_and_an_unknown_one_is_refused():
    assert [kind_of(SimpleNamespace(kind=name)).name for name in NAMES] == list(NAMES)
    with pytest.raises(KeyError):
        kind_of(SimpleNamespace(kind="simulated"))


def test_a_kind_that_only_a_caller_knows_is_found_among_those_that_are_given():
    toy = replace(KINDS[0], name="toy", made=lambda found: found.privacy == "toy")
    assert kind_of(SimpleNamespace(kind="toy"), (*KINDS, toy)) is toy
    assert kind_of_manifest(manifest(privacy="toy", columns=("a",)), (toy, *KINDS)) is toy


@pytest.mark.parametrize(
    ("privacy", "columns", "name"),
    [
        (None, ("age", "sex"), "microdata"),
        (None, ("age", "total_over", "count", "status"), "table"),
        ("claim", ("query", "value"), "statistics"),
        ("claim", ("total_over",), "statistics"),
    ],
)
def test_a_manifest_is_of_exactly_one_kind(privacy, columns, name):
    found = manifest(privacy=privacy, columns=columns)
    assert [kind.name for kind in KINDS if kind.made(found)] == [name]
    assert kind_of_manifest(found).name == name


def test_only_what_spends_is_accounted_for_and_only_rows_are_led_back_and_forecast():
    assert [kind.name for kind in KINDS if kind.accounted] == ["statistics", "synthetic"]
    assert [kind.name for kind in KINDS if kind.row_map] == ["microdata"]
    assert [kind.name for kind in KINDS if kind.forecast is not None] == ["microdata", "table"]


def test_a_manifest_that_names_its_kind_is_of_that_whatever_else_fits_it():
    toy = replace(KINDS[0], name="toy")
    found = manifest(privacy=None, columns=("a",))
    found.kind = "toy"
    assert kind_of_manifest(found, (*KINDS, toy)) is toy
    with pytest.raises(LookupError):
        kind_of_manifest(found)


def test_asking_for_kinds_loads_no_library_and_nothing_that_computes():
    program = (
        "import sys\nfrom privrelease.pipeline.world import World\nfrom privrelease import api\nprint(*sorted(sys.modules))\n"
    )
    loaded = set(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split())
    assert "privrelease.pipeline.kinds" in loaded
    heavy = ("duckdb", "numpy", "pyarrow", "pydantic", "sqlglot", "typer", "privrelease.audit", "privrelease.execute")
    assert loaded.isdisjoint(
        {*heavy, "privrelease.plan.statistics.plan", "privrelease.plan.tables.plan", "privrelease.plan.build"}
    )


# ------------------------------------------------------------------------------------------------- nobody asks for a kind by its class


@dataclass(frozen=True)
class Site:
    path: str
    line: int


def class_questions(source: str, path: str) -> list[Site]:
    """``isinstance`` on the classes of releases, plans and their explanations; comparisons with a kind's name."""
    found = []
    of_kind = re.compile(r"(Microdata|Statistics|Table)(Plan|Release|Explanation)|ReleaseExplanation")
    for node in ast.walk(ast.parse(source)):
        asks = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"isinstance", "issubclass"}
        if asks and any(isinstance(one, ast.Name) and of_kind.fullmatch(one.id) for one in ast.walk(node.args[1])):
            found.append(Site(path, node.lineno))
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            kinds = [one for one in sides if isinstance(one, ast.Attribute) and one.attr == "kind"]
            words = [one.value for side in sides for one in ast.walk(side) if isinstance(one, ast.Constant)]
            if kinds and set(words) & set(NAMES):
                found.append(Site(path, node.lineno))
    return found


@pytest.mark.parametrize("room", ["cli", "pipeline", "plan", "execute"])
def test_no_line_asks_for_a_kind_by_its_class_or_compares_its_name(room):
    found = [
        site
        for path in sorted((ROOT / room).rglob("*.py"))
        for site in class_questions(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(a, TablePlan)",
        "isinstance(a, StatisticsPlan | TablePlan)",
        "isinstance(a, (MicrodataRelease, X))",
        "a.kind == 'table'",
        "a.kind in {'microdata', 'table'}",
    ],
)
def test_each_way_of_asking_is_found(source):
    assert len(class_questions(source, "a.py")) == 1
