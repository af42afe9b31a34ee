"""What reads the source of a synthetic release informs and never decides: attacks with the held-out persons as control, marginal errors, copies."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from privrelease import api
from privrelease.audit.document.model import Outcome
from privrelease.audit.synthetic.informing import INFORMING_CHECKS, informing_checks
from privrelease.audit.synthetic.source import BesideSource, CountedRows
from privrelease.pipeline.audit import AuditedFiles
from privrelease.pipeline.synthetic import audit_files
from privrelease.pipeline.world import World
from tests.contract.test_synthetic import TEXT, people, start

MORE = """checks:
  - {id: together, release: syn, expect: marginal_error, columns: [age, sex], max: 0.9, severity: warn}
  - {id: strict, release: syn, expect: marginal_error, columns: [day], max: 0, severity: warn}
attacks:
  releases: [syn]
  sample: 100
  singling_out: {combine: 2, max_risk: 0.3}
  linkability: {columns: [[age, sex], [day, glucose]]}
  inference: {target: sex, knows: [age, day, region], max_advantage: 0}
  record_linkage: {}
  membership: {}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("beside")
    people(folder / "people.csv")
    policy = folder / "p.yaml"
    policy.write_text(TEXT.replace("ledger:", MORE + "ledger:"), encoding="utf-8")
    start(policy)
    (one,) = api.run(policy).releases
    assert one.became == "published", (one.error, one.audit and one.audit.findings)
    return policy, one


def test_attacks_are_tried_with_the_held_out_as_control_and_decide_nothing(made):
    _, one = made
    facts = one.audit.attacks
    assert not facts.decides
    assert facts.control is None
    assert facts.held_out.value == one.audit.synthetic.source.held_out.value > 50
    names = [attack.attack for attack in facts.attacks]
    assert names == ["singling_out_univariate", "singling_out_multivariate", "linkability", "inference", "membership"]
    for attack in facts.attacks:
        assert attack.main is not None, attack.said
        assert attack.control_kind in {"held_out", "scaled"}
        assert attack.advantage.low.value <= attack.advantage.value.value <= attack.advantage.high.value
        assert attack.visibility.value == "internal"
        assert attack.outcome in {None, Outcome.PASS, Outcome.WARN, Outcome.NOT_EVALUATED}
    guess = facts.attacks[3]
    assert guess.main.attempts.value == 100, "the sample of the policy"
    assert one.audit.decision.outcome is Outcome.PASS, "whatever the attacks found"


def test_checks_that_read_the_source_warn_at_most_with_the_held_outs_own_figure(made):
    _, one = made
    found = {check.id: check for check in one.audit.checks}
    together, strict, copies = found["together"], found["strict"], found["AUDIT-SYN-COPIES"]
    assert together.outcome is Outcome.PASS
    assert strict.outcome is Outcome.WARN, "noise makes an error of exactly 0 next to impossible"
    assert "the held-out persons differ from the fitted ones by" in strict.message
    assert {check.severity for check in (together, strict, copies)} == {"warn"}
    assert all(check.private for check in (together, strict, copies))
    assert {one.severity for one in one.audit.findings if one.subject == "checks.strict"} == {"info"}


def test_none_of_it_is_shown_to_recipients(made):
    _, one = made
    page = api.report(one)
    assert "who were kept out of the model" in page
    assert "together" in page
    for form in ("html", "json", "sarif", "text", "markdown", "in-toto"):
        shown = api.report(one, form=form, edition="recipient")
        assert "AUDIT-SYN-COPIES" not in shown
        assert "kept out of the model. No one" not in shown
        assert "differ from the fitted" not in shown
    assert "attacks" not in json.loads(api.report(one, form="json", edition="recipient"))


def test_the_plan_says_which_attacks_and_a_file_audited_again_has_the_same_figures(made):
    policy, one = made
    loaded = api.load(policy)
    lines = loaded.planned.releases[0].attacks
    assert lines.decides is False
    assert lines.record_linkage is None, "no row is a person's"
    again = api.audit(loaded, [policy.parent / "out" / "syn.csv", policy.parent / "out" / "syn.parquet"])
    assert again.attacks == one.audit.attacks, "the same persons are held out and attacked"
    assert again.synthetic.source == one.audit.synthetic.source
    without = api.audit(loaded, [policy.parent / "out" / "syn.csv"], source=False)
    assert without.synthetic.source is None
    assert {attack.main for attack in without.attacks.attacks} == {None}
    assert without.decision.outcome is not Outcome.FAIL


def test_an_audit_says_why_it_did_not_compare_with_a_source_that_changed(made):
    policy, _ = made
    source = policy.parent / "people.csv"
    kept = source.read_bytes()
    said = []
    try:
        source.write_bytes(kept + b"x10000,40,60.0,20200101,F,north,note\n")
        loaded = api.load(policy)
        world = World(loaded.settings, notice=said.append, kinds=loaded.kinds)
        asked = AuditedFiles((policy.parent / "out" / "syn.csv",))
        found = audit_files(loaded.planned.releases[0], loaded.planned, asked, world)
    finally:
        source.write_bytes(kept)
    assert found.synthetic.source is None
    assert any("is another one than the run read" in line for line in said)


# ----------------------------------------------------------------------------------------------------------------- worked by hand


def beside(synthetic, fitted, held):
    parts = [
        CountedRows(np.array(rows, np.int32).reshape(-1, 2), np.ones(len(rows), np.int64)) for rows in (synthetic, fitted, held)
    ]
    return BesideSource(("a", "b"), (60, 60), *parts, (None, None))


APART = [(row, 0) for row in range(50)]
OTHERS = [(row, 1) for row in range(50)]


def test_a_planted_copy_of_the_fitted_rows_warns_and_rows_of_neither_do_not():
    copies = informing_checks(Plan(()), beside(APART, APART, OTHERS))
    assert [(one.id, one.outcome) for one in copies] == [("AUDIT-SYN-COPIES", Outcome.WARN)]
    assert "50 of 50 fitted and 0 of 50 held-out" in copies[0].message
    both = APART[:25] + OTHERS[:24]
    (fair,) = informing_checks(Plan(()), beside(both, APART, OTHERS))
    assert fair.outcome is Outcome.PASS
    assert not informing_checks(Plan(()), replace(beside(both, APART, OTHERS), held=None)), "there is no one to compare with"


def test_a_few_rows_that_chance_explains_do_not_warn():
    # 10 of 14 and 0 of 4: the interval of Newcombe at 0.99 starts above 0, but a random division of the 18 rows gives it once in 44
    present = APART[:10]
    (few,) = informing_checks(Plan(()), beside(present, APART[:14], OTHERS[:4]))
    assert few.outcome is Outcome.PASS
    assert "10 of 14 fitted and 0 of 4 held-out" in few.message
    # 10 of 14 and 0 of 8: once in 497
    (many,) = informing_checks(Plan(()), beside(present, APART[:14], OTHERS[:8]))
    assert many.outcome is Outcome.WARN


def test_the_error_of_a_marginal_by_hand():
    # a: synthetic (1/2, 1/2), fitted (1/4, 3/4), held out (1, 0): distances 1/4 and 3/4
    found = beside([(0, 0), (1, 0)], [(0, 0), (1, 0), (1, 1), (1, 2)], [(0, 0)])
    assert found.error_of(["a"]) == (pytest.approx(0.25), pytest.approx(0.75))
    # both: synthetic has (0,0) and (1,0) at 1/2; fitted all four at 1/4: 1/2
    assert found.error_of(["b", "a"])[0] == pytest.approx(0.5)


class Plan:
    """A plan of which only the checks are read."""

    def __init__(self, checks):
        self.checks = checks


def test_every_informing_check_is_private_and_warns():
    assert {(check.private, check.severity) for check in INFORMING_CHECKS} == {(True, "warn")}


# ------------------------------------------------------------------------------------------------------ a model that keeps everything

EXACT = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: kept
version: 1.0.0
title: Made-up
datasets:
  people:
    source: people.csv
    unit: rows
    population: people
    columns:
      a: {role: quasi, type: integer, domain: [0, 19]}
      b: {role: quasi, type: integer, domain: [0, 19]}
      c: {role: sensitive, type: integer, domain: [0, 9]}
releases:
  - {id: syn, kind: synthetic, from: people, method: histogram, columns: [a, b, c], rows: 3000, holdout: 0.4, budget: {epsilon: 100}, output: out/syn.csv}
checks:
  - {id: joint, release: syn, expect: marginal_error, columns: [a, b, c], max: 0.9, severity: warn}
attacks:
  releases: [syn]
  sample: 1000
  inference: {target: c, knows: [a, b], max_advantage: 0.2}
  membership: {max_advantage: 0.2}
ledger: {url: "sqlite:///ledger.db", cap: {epsilon: 1000, delta: 1e-5}}
"""


def test_rows_of_an_epsilon_that_hides_nothing_are_found_by_attacks_and_copies_and_still_decide_nothing(tmp_path):
    cells = np.random.default_rng(5).permutation(4000)[:1200]  # each row alone in its cells
    rows = "\n".join(f"{cell // 200},{cell // 10 % 20},{cell % 10}" for cell in cells.tolist())
    (tmp_path / "people.csv").write_text(f"a,b,c\n{rows}\n", encoding="utf-8")
    policy = tmp_path / "p.yaml"
    policy.write_text(EXACT, encoding="utf-8")
    start(policy)
    (one,) = api.run(policy).releases
    assert one.became == "published", (one.error, one.audit and one.audit.findings)
    found = {check.id: check for check in one.audit.checks}
    assert found["AUDIT-SYN-COPIES"].outcome is Outcome.WARN
    assert one.audit.synthetic.source.fitted_alone_present.value > 0.9
    assert one.audit.synthetic.source.held_out_alone_present.value == 0
    guess, member = one.audit.attacks.attacks
    assert member.outcome is guess.outcome is Outcome.WARN, "above their limits, and only a warning"
    assert member.advantage.low.value > 0.5
    assert guess.advantage.low.value > 0.2
    assert found["joint"].observed.value < 0.3
    assert "held-out persons differ from the fitted ones by 100 %" in found["joint"].message
    assert one.audit.decision.outcome is Outcome.PASS
