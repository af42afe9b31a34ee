from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from privrelease.policy.declared import declared

if TYPE_CHECKING:
    from tests.unit.policy.conftest import Folder

HINT = "\nhint: an environment may tighten a policy or point its sources elsewhere; write other changes in the policy itself"

#: The sound policy in an older, laxer state, so that everything can be tightened.
LAX = (
    ("unit: {column: patient_id, max_rows: 1}", "unit: {column: patient_id, max_rows: 1}\n    unlisted_columns: drop"),
    (
        "highest_risk: 0.2",
        "highest_risk: 0.2\n    records_at_risk: {above: 0.1, share: 0.5}\n    also: {subsets: {up_to: 1, k: 3}}",
    ),
    ("    protect: [external]\n", "    protect: [external]\n    order: source\n    columns: [age, sex, glucose]\n"),
    ("weights: {age: 2}", "weights: {age: 2}, residual: keep"),
    ("checks:", 'ledger: {cap: {epsilon: 4, delta: 1e-5}, url: "sqlite:///ledger.db"}\nchecks:'),
    ("max: 0.05}", "max: 0.05, severity: warn}\n  - {id: ROWS, release: microdata, expect: rows, min: 10}"),
)


def with_environment(base: str, overlay: str) -> str:
    return f"{base}environments:\n  ci: {overlay}\n"


@pytest.fixture
def lax(change: object) -> str:
    return change(*LAX)  # type: ignore[operator]


RELEASE = (
    "id: microdata, kind: microdata, from: patients, order: {order}, columns: {columns}, output: o.csv, protect: {protect}"
)


def release(
    *,
    order: str = "source",
    columns: str = "[age, sex, glucose]",
    protect: str = "[external]",
    transform: str = "[{suppress: cells, limit: 0.05, weights: {age: 2}, residual: keep}]",
) -> str:
    fields = RELEASE.format(order=order, columns=columns, protect=protect)
    return f"{{releases: [{{{fields}, transform: {transform}}}]}}"


def checks(first: str, second: str = "{id: ROWS, release: microdata, expect: rows, min: 10}") -> str:
    return f"{{checks: [{{id: UTIL-001, release: microdata, expect: suppressed_cells, {first}}}, {second}]}}"


DATASET = "{{datasets: {{patients: {{{0}}}}}}}"
COLUMN = "{{datasets: {{patients: {{columns: {{{0}}}}}}}}}"
THREAT = "{{threats: {{external: {{{0}}}}}}}"


@pytest.mark.parametrize(
    ("tighter", "looser", "says"),
    [
        (
            DATASET.format("source: synthetic.csv"),
            DATASET.format("unit: {max_rows: 2}"),
            "datasets.patients.unit.max_rows must not change",
        ),
        (
            DATASET.format("unlisted_columns: error"),
            DATASET.format("population: others"),
            "datasets.patients.population must not change",
        ),
        (
            COLUMN.format("glucose: {role: quasi}"),
            COLUMN.format("age: {role: sensitive}"),
            "datasets.patients.columns.age.role may become stricter only (insensitive, sensitive, quasi, direct)",
        ),
        (
            COLUMN.format("glucose: {category: special}"),
            COLUMN.format("weight: {role: insensitive, type: number}"),
            "datasets.patients.columns.weight must not be added",
        ),
        (
            COLUMN.format("age: {description: years}"),
            COLUMN.format("age: {domain: [0, 120]}"),
            "datasets.patients.columns.age.domain.range must not change",
        ),
        (
            THREAT.format("highest_risk: 0.1"),
            THREAT.format("highest_risk: 0.25"),
            "threats.external.highest_risk may become lower only",
        ),
        (
            THREAT.format("average_risk: 0.1"),
            THREAT.format("highest_risk: null"),
            "threats.external.highest_risk may become lower only",
        ),
        (
            THREAT.format("records_at_risk: {above: 0.05}"),
            THREAT.format("records_at_risk: {above: 0.15}"),
            "threats.external.records_at_risk.above may become lower only",
        ),
        (
            THREAT.format("records_at_risk: {share: 0}"),
            THREAT.format("records_at_risk: null"),
            "threats.external.records_at_risk may be added only",
        ),
        (
            THREAT.format("knows: [age, sex, glucose]"),
            THREAT.format("knows: [age]"),
            "threats.external.knows may only be added to",
        ),
        (THREAT.format("knows_rows: true"), THREAT.format("missing: wildcard"), "threats.external.missing must not change"),
        (
            THREAT.format("also: {subsets: {up_to: 2}}"),
            THREAT.format("also: {subsets: {k: 2}}"),
            "threats.external.also.subsets.k may become higher only",
        ),
        (
            "{threats: {new: {dataset: patients, knows: [sex], highest_risk: 0.5}}}",
            THREAT.format("population: {size: 100, estimator: snb}"),
            "threats.external.population must not change",
        ),
        (release(order="values"), release(protect="[]"), "releases.microdata.protect may only be added to"),
        (
            release(columns="[age, sex]"),
            release(columns="[age, sex, glucose, patient_id]"),
            "releases.microdata.columns may lose columns only",
        ),
        (
            release(transform="[{drop: [glucose]}, {suppress: cells, limit: 0.01, weights: {age: 2}}]", columns="[age, sex]"),
            release(transform="[{suppress: cells, limit: 0.1, weights: {age: 2}, residual: keep}]"),
            "releases.microdata.suppress.limit may become lower only",
        ),
        (
            release(transform="[{suppress: cells, limit: 0.05, weights: {age: 2}}]"),
            release(
                transform="[{pseudonymise: [patient_id], key: K}, {suppress: cells, limit: 0.05, weights: {age: 2}, residual: keep}]"
            ),
            "releases.microdata.pseudonymise.patient_id must not be added",
        ),
        (
            release(transform="[]"),
            "{releases: [{id: m2, kind: microdata, from: patients, protect: [external], output: b.csv}]}",
            "releases.m2 must not be added",
        ),
        (checks("max: 0.01, severity: warn"), checks("max: 0.06, severity: warn"), "checks.UTIL-001.max may become lower only"),
        (
            checks("max: 0.05, severity: error"),
            checks("max: 0.05, severity: warn", "{id: ROWS, release: microdata, expect: rows, min: 9}"),
            "checks.ROWS.min may become higher only",
        ),
        (
            checks("max: 0.05, severity: warn", "{id: ROWS, release: microdata, expect: rows, min: 11}"),
            "{checks: []}",
            "checks.UTIL-001 must not be removed",
        ),
        ("{ledger: {cap: {epsilon: 3}}}", "{ledger: {cap: {epsilon: 5}}}", "ledger.cap.epsilon may become lower only"),
        ("{ledger: {cap: {delta: 1e-6}}}", "{ledger: {url: OTHER_LEDGER}}", "ledger.url must not change"),
        ("{ledger: {cap: {delta: 0}}}", "{ledger: {cap: {delta: 1e-4}}}", "ledger.cap.delta may become lower only"),
        (
            "{legal: {profile: gdpr}, title: In continuous integration, review: {next: 2027-01-01}}",
            release(order="source", transform="[{suppress: cells, limit: 0.05, weights: {sex: 2}, residual: keep}]"),
            "releases.microdata.suppress.weights.age must not be removed",
        ),
    ],
)
def test_an_environment_tightens_and_never_loosens(
    tighter: str, looser: str, says: str | None, folder: Folder, lax: str
) -> None:
    tight = folder.check(with_environment(lax, tighter), env="ci")
    assert not [finding for finding in tight if " P5" in finding]
    assert not [finding for finding in tight if "warn: " not in finding and "info: " not in finding]
    for chosen in ("ci", None):
        loose = [finding for finding in folder.check(with_environment(lax, looser), env=chosen) if " P504 " in finding]
        assert f"P504 environment ci loosens the policy: {says}{HINT}" in [finding.split(": ", 1)[1] for finding in loose]


def test_the_line_that_loosens_is_named(folder: Folder, sound: str) -> None:
    text = sound + "environments:\n  ci:\n    threats:\n      external:\n        highest_risk: 0.25\n"
    assert folder.check(text) == [
        f"p.yaml:34:9: P504 environment ci loosens the policy: threats.external.highest_risk may become lower only{HINT}"
    ]


def test_what_no_line_allows_is_fixed(folder: Folder, sound: str) -> None:
    looser = with_environment(sound, "{datasets: {patients: {columns: {glucose: {grid: 1}}}}}")
    assert [finding.split("\n")[0] for finding in folder.check(looser)] == [
        "p.yaml:31:50: P504 environment ci loosens the policy: datasets.patients.columns.glucose.grid must not change"
    ]
    assert declared(("datasets", "patients", "columns", "glucose", "grid")).allowed is None


@pytest.mark.parametrize(
    ("overlay", "says"),
    [
        ("{id: other}", "p.yaml:31:8: P503 an environment cannot change id\nhint: write it in the policy itself"),
        ("{extends: [a.yaml]}", "p.yaml:31:8: P503 an environment cannot change extends\nhint: write it in the policy itself"),
        ("[a]", "p.yaml:31:7: P203 environment ci needs a mapping"),
        (
            "{threats: {external: {highest_rsk: 0.1}}}",
            "p.yaml:31:29: P200 unknown key highest_rsk in external\nhint: did you mean highest_risk?",
        ),
        ("{releases: [{id: microdata, kind: microdata, from: patient, output: o.csv}]}", None),
    ],
)
def test_faults_of_an_environment_are_told_whether_it_is_chosen_or_not(
    overlay: str, says: str | None, folder: Folder, sound: str
) -> None:
    text = with_environment(sound, overlay)
    for chosen in ("ci", None):
        findings = folder.check(text, env=chosen)
        if says is not None:
            assert says in findings
        else:
            assert "p.yaml:31:58: P301 dataset patient does not exist\nhint: did you mean patients?" in findings


def test_an_environment_that_does_not_exist_is_told(folder: Folder, sound: str) -> None:
    text = with_environment(sound, "{title: x}")
    assert folder.check(text, env="cii") == ["p.yaml: P501 environment cii does not exist\nhint: did you mean ci?"]
    assert folder.check(sound, env="ci") == ["p.yaml: P501 environment ci does not exist\nhint: the policy has no environments"]


def test_an_empty_environment_changes_nothing(folder: Folder, sound: str) -> None:
    plain, _ = folder.load(sound)
    loaded, findings = folder.load(with_environment(sound, ""), env="ci")
    assert findings == ()
    assert loaded is not None
    assert plain is not None
    assert loaded.policy == plain.policy
    assert loaded.environment == "ci"


def test_a_source_is_pointed_elsewhere_only_where_the_environment_is_chosen(folder: Folder, sound: str) -> None:
    text = with_environment(sound, "{datasets: {patients: {source: synthetic.csv}}}")
    for env, source in (("ci", "synthetic.csv"), (None, "data/patients.csv")):
        loaded, findings = folder.load(text, env=env)
        assert findings == ()
        assert loaded is not None
        assert loaded.policy.datasets["patients"].source.path == source


def test_an_environment_cannot_hide_a_fault_of_the_policy_itself(folder: Folder, sound: str) -> None:
    text = with_environment(
        sound.replace("highest_risk: 0.2", "highest_risk: 20"), "{threats: {external: {highest_risk: 0.5}}}"
    )
    assert folder.check(text, env="ci") == [
        "p.yaml:19:19: P104 highest_risk must be in (0, 1], got 20\nhint: write 0.2 for 20 %"
    ]


RECODES = [
    ("format: {encoding: latin-1}", "format.encoding"),
    ('format: {quote: "\'"}', "format.quote"),
    ("format: {missing: [x]}", "format.missing"),
    ('format: {decimal: ","}', "format.decimal"),
    ("columns: {sex: {format: {aliases: {X: F}}}}", "columns.sex.format"),
    ("columns: {age: {format: {missing: ['0']}}}", "columns.age.format"),
]


@pytest.mark.parametrize(("change", "names"), RECODES)
@pytest.mark.parametrize("source", ["", "source: data/../data/patients.csv, ", "source: {csv: data/patients.csv}, "])
def test_an_environment_does_not_recode_the_data_that_it_protects(
    folder: Folder, sound: str, change: str, names: str, source: str
) -> None:
    overlay = f"{{datasets: {{patients: {{{source}{change}}}}}}}"
    (found,) = [finding for finding in folder.check(with_environment(sound, overlay), env="ci") if " P504 " in finding]
    assert found.split(": ", 1)[1] == (
        f"P504 environment ci loosens the policy: datasets.patients.{names} may change only where the source changes too: "
        f"on the same data it changes values{HINT}"
    )


@pytest.mark.parametrize(("change", "names"), RECODES)
def test_an_environment_with_another_source_says_how_it_is_written(folder: Folder, sound: str, change: str, names: str) -> None:
    del names
    overlay = f"{{datasets: {{patients: {{source: other.csv, {change}}}}}}}"
    assert not [finding for finding in folder.check(with_environment(sound, overlay), env="ci") if " P5" in finding]


def test_an_environment_may_say_how_its_file_is_cut_into_cells(folder: Folder, sound: str) -> None:
    overlay = "{datasets: {patients: {format: {delimiter: ';'}}}}"
    assert not [finding for finding in folder.check(with_environment(sound, overlay), env="ci") if " P5" in finding]


WEAKER = [
    ("context: {release_model: public}", "context.release_model"),
    ("context: {controls: [a]}", "context.controls"),
    ("review: {next: 2028-01-01}", "review.next"),
    ("ledger: {retention: P2Y}", "ledger.retention"),
    ("datasets: {patients: {snapshot: null}}", "datasets.patients.snapshot"),
]


@pytest.mark.parametrize(("overlay", "name"), WEAKER)
def test_an_environment_may_not_say_what_diff_calls_weaker(folder: Folder, sound: str, overlay: str, name: str) -> None:
    """A wider audience, a control less, a later review, answers kept longer: no limit is loosened, and a promise is."""
    text = sound.replace("    source: data", "    snapshot: 2026-Q3\n    source: data", 1) + (
        "context: {release_model: controlled, controls: [a, b]}\nreview: {next: 2027-01-01}\n"
        "ledger: {cap: {epsilon: 1}, url: LEDGER}\nlegal: {retention: {release: P1Y}}\n"
    )
    (found,) = [finding for finding in folder.check(with_environment(text, f"{{{overlay}}}"), env="ci") if " P5" in finding]
    assert f"P504 environment ci loosens the policy: {name} must not promise less" in found


def test_an_environment_cannot_make_a_release_another_kind(folder: Folder, sound: str) -> None:
    table = "releases: [{id: microdata, kind: table, from: patients, by: [sex], measures: [{count: true}], output: out/t.csv}]"
    found = folder.check(with_environment(sound, f"{{{table}, tables: {{min_count: 5}}, checks: []}}"), env="ci")
    assert any("P504 environment ci loosens the policy: releases.microdata.kind must not change" in one for one in found)
