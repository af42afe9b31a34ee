"""Engine, ledger, randomness and progress are given to the pipeline, and what it is given is what it uses."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privrelease.cli.commands.validate import validate
from privrelease.cli.console import Console, FailOn
from privrelease.dp.randomness import SystemRandomness
from privrelease.engine.duckdb import DuckDBEngine
from privrelease.engine.open import offered, open_engine
from privrelease.engine.protocol.base import EngineSettings, Offer
from privrelease.errors import BudgetError, PolicyError
from privrelease.ledger.memory import MemoryLedger
from privrelease.pipeline.audit import AuditedFiles, audit
from privrelease.pipeline.run import prepare, run, tidy
from privrelease.pipeline.settings import Settings
from privrelease.pipeline.world import World, lacking

POLICY = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Computed
datasets:
  d:
    source: data.csv
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south]}
threats:
  t: {dataset: d, knows: [area], highest_risk: 0.2}
releases:
  - id: r
    kind: microdata
    from: d
    protect: [t]
    output: out/r.csv
  - id: s
    kind: statistics
    from: d
    budget: {epsilon: 1}
    queries: [{id: n, count: {where: "area = 'north'"}, epsilon: 1}]
    output: out/s.csv
ledger: {cap: {epsilon: 4}, url: "sqlite:///ledger.db"}
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "data.csv").write_text(
        "id,area\n" + "".join(f"{n},{'north' if n % 2 else 'south'}\n" for n in range(20)), encoding="utf-8"
    )
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    return Settings().load(tmp_path / "p.yaml")


def made(plan, world, *ids):
    work = prepare(*plan, ids, world)
    assert tidy(work) == ()
    return run(work)


def test_the_engine_that_is_given_is_opened_for_the_release_and_apart_for_its_audit_which_may_write_nothing(plan):
    opened = []

    def opening(settings):
        opened.append(settings.writable)
        return DuckDBEngine(settings)

    assert made(plan, World(open_engine=opening), "r")["r"].became == "published"
    assert [bool(writable) for writable in opened] == [True, False]


def test_the_ledger_that_is_given_is_charged_and_the_randomness_that_is_given_is_drawn_from(plan):
    ledger, drawn = MemoryLedger(), []

    def randomness():
        drawn.append(1)
        return SystemRandomness()

    result = made(plan, World(open_ledger=lambda *_: ledger, randomness=randomness), "s")["s"]
    assert (result.became, len(drawn)) == ("published", 1)
    balance = ledger.balance("unnamed")
    assert balance.spent.epsilon.value == Fraction(1)


def test_without_a_ledger_statistics_are_stopped_and_the_other_release_is_published(plan):
    result = made(plan, World())
    assert [(one.release, one.became) for one in result.releases] == [("r", "published"), ("s", "failed")]
    assert isinstance(result["s"].error, BudgetError)


def test_results_are_handed_over_one_after_the_other(plan):
    told = []
    run(prepare(*plan, (), World(open_ledger=lambda *_: MemoryLedger())), lambda one: told.append((one.release, one.became)))
    assert told == [("r", "published"), ("s", "published")]


def test_progress_is_told_by_release(plan):
    steps = {}
    world = World(progress=lambda release: lambda step, _: steps.setdefault(release, []).append(step))
    made(plan, world, "r")
    assert list(steps) == ["r"]
    assert steps["r"][-1] == "audit"


ASKING = (
    POLICY
    + """\
checks:
  - {id: AREAS, release: r, expect: expect_column_values_to_not_be_null, column: area}
attacks: {releases: [r], record_linkage: {}}
"""
).replace("output: out/r.csv", "output: out/r.duckdb")


@pytest.fixture
def asking(plan, tmp_path):
    (tmp_path / "p.yaml").write_text(ASKING, encoding="utf-8")
    return Settings().load(tmp_path / "p.yaml")


def test_the_engine_that_is_opened_has_what_is_said_before_it_is_opened():
    with open_engine(EngineSettings()) as engine:
        assert engine.offers == offered() == World().offers()


@pytest.mark.parametrize("lacks", [{Offer.ATTACKS}, {Offer.EXPECTATIONS}, {Offer.DATABASES}, set(Offer)])
def test_a_policy_is_refused_by_name_where_the_engine_lacks_what_it_asks_for(asking, tmp_path, lacks, capsys):
    def unopened(settings):
        raise AssertionError(settings)

    world = World(open_engine=unopened, offers=lambda: frozenset(Offer) - lacks)
    said = {f"release r asks for {one.value}, which the engine lacks" for one in lacks}
    with pytest.raises(PolicyError) as refused:
        prepare(*asking, ("r",), world)
    assert {one.message for one in refused.value.findings} == said
    assert {one.code for one in refused.value.findings} == {"P615"}
    assert prepare(*asking, ("s",), world).releases[0].id == "s"
    release = next(one for one in asking[1].releases if one.id == "r")
    with pytest.raises(PolicyError, match="which the engine lacks"):
        audit(release, asking[1], AuditedFiles((tmp_path / "data.csv",)), world)
    ended = validate([tmp_path / "p.yaml"], None, None, None, FailOn.ERROR, Console(), world=world)
    assert ended.code == 2
    shown = capsys.readouterr().out
    assert all(one in shown for one in said)
    assert validate([tmp_path / "p.yaml"], None, None, None, FailOn.ERROR, Console()).code == 0


def test_nothing_is_asked_of_an_engine_by_a_policy_without_attacks_expectations_and_databases(plan):
    assert lacking(plan[1].releases, frozenset()) == ()
