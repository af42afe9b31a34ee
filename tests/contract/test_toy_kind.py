"""A kind of release that only this test knows goes all the way: validate, plan, run, audit, diff, publish and report.

It publishes one number, how many rows a file has, without a row, and only where there are enough of them. The package knows nothing of it:
no file of it names the kind. `docs/add-a-release-kind.md` tells how a kind is added, and is kept true here: every file and name on the page
exists, and what this kind needed is what the page lists.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import asdict, dataclass, fields, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import pytest
from pydantic import BeforeValidator, Field

from privrelease import api
from privrelease.audit.check import Check, check_findings, failed, passed, run_checks
from privrelease.audit.checks.aggregate_checks import cells_of_file, data_of, digest_mismatches, output_facts
from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.facts import context_facts, identity_of, legal_facts
from privrelease.audit.comparison.combine import PreviousReleaseFindings, set_aside, with_earlier
from privrelease.audit.document.model import AuditResult
from privrelease.audit.document.previous_releases import ComparedRelease
from privrelease.audit.document.schema import audit_of
from privrelease.cli.commands import plan as plan_command
from privrelease.errors import PolicyError, UsageError
from privrelease.execute.common.inputs import digest_inputs
from privrelease.execute.common.manifest import manifest_of
from privrelease.execute.common.scope import engine_settings
from privrelease.findings import Severity
from privrelease.pipeline import kinds as pipeline_kinds
from privrelease.pipeline.audit import origin_of_files, sinks_of
from privrelease.pipeline.kinds import KINDS, Kind
from privrelease.pipeline.ledger import spending_datasets
from privrelease.pipeline.previous.named import named_releases
from privrelease.pipeline.previous.published import published_before
from privrelease.pipeline.publishing import publish, publishable, withdraw
from privrelease.pipeline.settings import Settings, versions
from privrelease.plan.sources import release_sinks, release_source
from privrelease.policy import release_kind
from privrelease.policy.language.keys import FREE, ONE_ALONE, Stricter
from privrelease.policy.language.number_values import Count
from privrelease.policy.language.releases import OutputSpec, outputs
from privrelease.policy.language.values import CHOICE, Frozen, Identifier, Text
from privrelease.policy.loader import check_policy
from privrelease.policy.release_kind import ReleaseKind
from privrelease.relational.schema import ColumnType
from privrelease.relational.treatments import AGGREGATED
from privrelease.release.digests import digest_key
from privrelease.release.files import write_atomically
from privrelease.release.manifest import InternalTable, ManifestColumn

if TYPE_CHECKING:
    from privrelease.findings import Location
    from privrelease.relational.schema import ListFile, Sink, TableSource

ROOT = Path(__file__).resolve().parents[2]
MOMENT = "2026-01-01T00:00:00Z"

# ----------------------------------------------------------------------------------------------------------------- policy, plan


class RosterRelease(Frozen):
    id: Identifier
    kind: Annotated[Literal["roster"], CHOICE]
    from_: Annotated[Text, Field(alias="from")]
    least: Annotated[Count | None, Stricter.HIGHER] = None
    output: Annotated[tuple[OutputSpec, ...], BeforeValidator(outputs), FREE, ONE_ALONE]


def least_rule(reading, releases):
    for number, release in releases:
        if release.least is not None and release.least < 3:
            yield reading.error("P440", "least must be at least 3", "releases", number, "least")


SPEC = ReleaseKind(
    name="roster",
    model=RosterRelease,
    rules=(least_rule,),
    columns=lambda _release, _dataset: {"rows": ColumnType.INTEGER},
    source_checks="never",
)


@dataclass(frozen=True)
class RosterPlan:
    id: str
    source: TableSource
    sinks: tuple[Sink, ...]
    least: int
    location: Location | None
    population_id: str | None = None
    snapshot: str | None = None
    recipients_hold_previous: bool = True
    recipients: tuple[str, ...] | None = None
    unit: None = None
    checks: tuple[()] = ()

    kind: ClassVar[str] = "roster"
    lists: ClassVar[tuple[ListFile, ...]] = ()

    @property
    def sources(self):
        return (self.source,)


def build(loaded, number, release):
    source, sinks = release_source(loaded, release.from_), release_sinks(loaded, release)
    return RosterPlan(release.id, source, sinks, release.least or 3, loaded.location("releases", number))


@dataclass(frozen=True)
class RosterExplanation:
    id: str
    least: int

    def as_lines(self):
        return (f"release {self.id}", f"  rule    a number of at least {self.least}")

    def in_short(self):
        return self.as_lines()[1:]


def explain(plan):
    return RosterExplanation(plan.id, plan.least)


@dataclass(frozen=True)
class RosterForecast:
    release: str
    rows: int
    least: int

    @property
    def fails(self):
        return self.rows < self.least

    def as_lines(self):
        return (f"forecast for release {self.release}: {self.rows} rows",)

    def as_data(self):
        return asdict(self)


# ------------------------------------------------------------------------------------------------------------------------- make


class RosterInternal(InternalTable):
    format: Literal["test/internal-roster"] = "test/internal-roster"


def limits(plan, folder, world):
    return engine_settings(plan, folder, memory_limit=world.settings.memory_limit, threads=world.settings.threads)


def rows_of(plan, world):
    with world.engine(limits(plan, None, world)) as engine:
        return engine.stage(plan.source).n_rows


def execute(plan, policy, world, store, folder, progress):
    inputs = digest_inputs((plan.source,), digest_key(store.state, {}), ())
    with world.engine(limits(plan, folder, world)) as engine:
        rows = engine.stage(plan.source).n_rows
    inputs.check_unchanged()
    progress("write", None)
    sinks = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, folder.data, strict=True))
    for sink in sinks:
        write_atomically(sink.path, f"rows\n{rows}\n".encode())
    columns = (ManifestColumn(name="rows", type="integer"),)
    manifest = manifest_of(plan.id, policy, folder, sinks, columns, 1, order="policy", libraries=("duckdb",), kind=plan.kind)
    store.park(
        folder,
        manifest,
        RosterInternal(run=folder.id, manifest_sha256=manifest.digest(), inputs=inputs.digests, source_rows=rows),
    )
    progress("audit", None)
    found = audited(plan, policy, Evidence(plan, sinks, manifest, run=folder.id, counted=rows_of(plan, world)))
    return beside(found, plan, published_before(store, plan, policy, folder.id, kinds=world.kinds))


# ----------------------------------------------------------------------------------------------------------------------- verify


@dataclass(frozen=True)
class Evidence:
    plan: RosterPlan
    files: tuple[Sink, ...]
    manifest: Any = None
    altered: tuple[str, ...] = ()
    run: str | None = None
    counted: int | None = None

    @property
    def printed(self):
        names, lines = cells_of_file(self.files[0])
        return int(lines[0][0]) if names == ["rows"] and len(lines) == 1 else None


def right(evidence):
    return passed("as counted") if evidence.printed == evidence.counted else failed("the number is another one")


def enough(evidence):
    return passed("enough rows") if (evidence.printed or 0) >= evidence.plan.least else failed("too few rows to be told")


def same(evidence):
    wrong = digest_mismatches(evidence.files, evidence.manifest, evidence.altered)
    return passed("as made") if wrong is None else failed(wrong)


ROSTER_CHECKS = (
    Check("A101", "AUDIT-DIGEST", same, needs="manifest", words=("files are those of the manifest", "run again")),
    Check("A601", "AUDIT-ROSTER", right, needs="source", words=("the number is that of the source", "run again")),
    Check("A602", "AUDIT-ENOUGH", enough, words=("the number is large enough", "release another count")),
)


def audited(plan, policy, evidence):
    lacking = {} if evidence.manifest is not None else {"manifest": "no manifest"}
    lacking |= {} if evidence.counted is not None else {"source": "the source was not read"}
    checks = run_checks(ROSTER_CHECKS, evidence, lacking)
    found = check_findings(plan.location, checks, ROSTER_CHECKS)
    legal = legal_facts(policy.legal, policy.missing_legal)
    return AuditResult(
        kind=plan.kind,
        decision=decide((), None, checks, found, legal),
        identity=identity_of(policy, plan.id, evidence.run, output_facts(evidence.files, [()]), MOMENT, versions()),
        legal=legal,
        context=context_facts(policy.context, policy.review),
        data=data_of(plan, plan.population_id, (), AGGREGATED, 1),
        threats=(),
        union=None,
        utility=None,
        checks=checks,
        findings=found,
    )


def beside(found, plan, earlier):
    """Two numbers of rows tell the difference; that is no harm here, and said."""
    aside = [(one, set_aside(one, plan.kind)) for one in earlier.releases]
    others = [
        ComparedRelease(release=one.name, run=one.run, looked="combined") if left is None else left[0] for one, left in aside
    ]
    remaining = [text for _, left in aside if left is not None for text in left[1]]
    return with_earlier(found, PreviousReleaseFindings(tuple(others), (), tuple(remaining), earlier.left), plan)


def audit(plan, policy, asked, world):
    files = sinks_of(plan, asked.files)
    origin = origin_of_files(files, plan, policy, world, source=asked.source)
    evidence = Evidence(plan, files, counted=rows_of(plan, world) if asked.source else None)
    if origin is not None and origin.files is not None:
        made = {"manifest": origin.manifest, "altered": origin.altered, "run": origin.run.id}
        evidence = replace(evidence, files=origin.files, **made)
    earlier = named_releases(asked.against, plan, policy, world.settings, kinds=world.kinds)
    return beside(audited(plan, policy, evidence), plan, earlier)


ROSTER = Kind(
    name="roster",
    spec=lambda: SPEC,
    build=build,
    explain=explain,
    execute=execute,
    audit=audit,
    inputs=lambda run: RosterInternal.load(run.internal / "manifest.json").inputs,
    previous=lambda earlier, _run: earlier,
    external=lambda earlier, _plan: earlier,
    lossy=lambda _plan: frozenset(),
    forecast=lambda plan, _policy, world: RosterForecast(plan.id, rows_of(plan, world), plan.least),
)
TOYS = (*KINDS, ROSTER)

# ------------------------------------------------------------------------------------------------------------------------ tests

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
  - id: size
    kind: roster
    from: people
    least: 4
    output: out/size.csv
"""


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "people.csv").write_text("town\n" + "A\n" * 5 + "B\n" * 2)
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    return path


def test_it_is_validated(policy):
    assert check_policy(policy, kinds=(SPEC,))[1] == ()
    policy.write_text(TEXT.replace("least: 4", "least: 2"))
    with pytest.raises(PolicyError) as caught:
        api.load(policy, kinds=TOYS)
    assert [one.code for one in caught.value.findings if one.severity is Severity.ERROR] == ["P440"]
    with pytest.raises(PolicyError) as caught:
        api.load(policy)
    assert "P202" in {one.code for one in caught.value.findings}


def test_it_is_planned(policy):
    text = str(api.plan(api.load(policy, kinds=TOYS)))
    assert "release size" in text
    assert "a number of at least 4" in text


class Console:
    def __init__(self, *, json=False):
        self.json, self.lines, self.documents = json, [], []

    def data(self, text):
        self.lines.append(text)

    def log(self, text, level=0):
        del level
        self.lines.append(text)

    say = log

    def document(self, value):
        self.documents.append(value)


@pytest.mark.parametrize(("rows", "code"), [(7, 0), (3, 1)])
def test_it_is_forecast_by_the_command_as_text_and_as_data(policy, rows, code):
    (policy.parent / "people.csv").write_text("town\n" + "A\n" * rows)
    for console in (Console(), Console(json=True)):
        ended = plan_command.plan([policy], Settings(), ("size",), True, console, kinds=TOYS)
        assert ended.code == code
    assert f"forecast for release size: {rows} rows" in "\n".join(console.lines or []) or console.documents
    assert console.documents[0]["forecasts"] == [{"release": "size", "rows": rows, "least": 4}]


def test_it_is_run_audited_and_reported_in_every_form(policy):
    loaded = api.load(policy, kinds=TOYS)
    result = api.run(loaded)
    (one,) = result.releases
    assert (one.became, one.audit.kind, one.audit.decision.outcome.value) == ("published", "roster", "pass"), one.error
    file = policy.parent / "out" / "size.csv"
    assert list(csv.reader(StringIO(file.read_text()))) == [["rows"], ["7"]]
    again = api.audit(loaded, file)
    assert again.decision.outcome.value == "pass"
    assert again.identity.run == one.run
    assert audit_of(Path(one.files["audit"]).read_bytes()) == one.audit
    assert json.loads((policy.parent / "out" / "size.manifest.json").read_text())["kind"] == "roster"
    for form in ("html", "json", "sarif", "junit", "github", "text", "markdown", "in-toto", "dpv"):
        for edition in ("internal", "recipient"):
            assert api.report(result, form=form, edition=edition) or form == "github"
    page = api.report(result)
    assert "Lines released" in page
    assert "No claim of differential privacy is made." in page


def test_a_number_that_is_wrong_or_too_small_does_not_pass(policy):
    loaded = api.load(policy, kinds=TOYS)
    forged = policy.parent / "forged.csv"
    forged.write_text("rows\n8\n")
    assert [one.id for one in api.audit(loaded, forged, release="size").checks if one.outcome.value == "fail"] == [
        "AUDIT-ROSTER"
    ]
    (policy.parent / "people.csv").write_text("town\nA\nB\n")
    (one,) = api.run(loaded).releases
    assert one.became == "quarantined"
    assert not (policy.parent / "out" / "size.csv").exists()


def test_two_policies_two_runs_and_two_audits_are_compared(policy):
    old = api.load(policy, kinds=TOYS)
    first = api.run(old).releases[0]
    stricter = policy.with_name("q.yaml")
    stricter.write_text(TEXT.replace("least: 4", "least: 5"))
    assert [(one.effect, one.subject) for one in api.diff(old, api.load(stricter, kinds=TOYS))] == [
        ("stricter", "releases.size.least")
    ]
    (policy.parent / "people.csv").write_text("town\n" + "A\n" * 9)
    second = api.run(old).releases[0]
    assert second.became == "published", second
    assert "file" in {one.what for one in api.diff(first, second)}
    assert api.audit(old, second.files["out/size.csv"], against=(first.run,)).decision.outcome.value == "pass"


def test_beside_other_kinds_each_is_found_as_what_it_is(policy):
    more = "  - {id: rows, kind: microdata, from: people, protect: [T], transform: [{suppress: cells}], output: out/rows.csv}\n"
    threat = "threats: {T: {dataset: people, knows: [town], highest_risk: 0.5}}\n"
    policy.write_text(TEXT + more + threat)
    result = api.run(api.load(policy, kinds=TOYS))
    assert [(one.became, one.audit and one.audit.kind) for one in result.releases] == [
        ("published", "roster"),
        ("published", "microdata"),
    ]
    again = api.run(api.load(policy, kinds=TOYS), release="rows").releases[0]
    assert again.became == "published"


def test_it_is_parked_published_by_a_person_and_withdrawn(policy):
    policy.write_text(TEXT + "legal: {profile: gdpr}\n")
    found = check_policy(policy, kinds=(SPEC,))[1]
    assert [one.code for one in found if one.severity is Severity.ERROR] == []
    (one,) = api.run(api.load(policy, kinds=TOYS)).releases
    assert one.became == "parked"
    ready = publishable(policy, Settings(), one.run, kinds=TOYS)
    assert replace(ready, unreviewed=False).ready
    published = publish(replace(ready, unreviewed=False))
    assert published.release == "size"
    assert (policy.parent / "out" / "size.csv").is_file()
    assert withdraw(policy, Settings(), "size", "made up", kinds=TOYS)[0].run == one.run


def test_it_spends_no_budget(policy):
    with pytest.raises(UsageError) as caught:
        spending_datasets(api.load(policy, kinds=TOYS).planned, TOYS)
    assert caught.value.code == "C121"


def test_no_file_of_the_package_knows_it():
    found = [path for path in (ROOT / "privrelease").rglob("*") if path.suffix in {".py", ".toml", ".j2"}]
    assert len(found) > 300
    assert [path.name for path in found if re.search(r"\brosters?\b", path.read_text(encoding="utf-8"), re.IGNORECASE)] == []


# --------------------------------------------------------------------------------------------------------------------- the page


def page():
    return (ROOT / "docs" / "add-a-release-kind.md").read_text(encoding="utf-8")


def test_every_file_and_name_of_the_page_exists():
    paths = set(re.findall(r"`([\w./-]+\.(?:py|md|toml))`", page()))
    assert len(paths) >= 12
    assert [path for path in sorted(paths) if not (ROOT / path).is_file()] == []
    rows = [row.strip("| ").split(" | ") for row in re.findall(r"^\| \d+ \|.*$", page(), re.MULTILINE)]
    steps = [
        (path, name)
        for _, files, names, _ in rows
        for path in re.findall(r"`([^`]+)`", files)
        for name in re.findall(r"`([^`]+)`", names)
    ]
    assert len(steps) >= 12
    missing = [
        (path, name) for path, name in steps if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", (ROOT / path).read_text())
    ]
    assert missing == []


def test_the_page_lists_every_field_of_both_values_and_whatever_a_plan_of_any_kind_has():
    told = set(re.findall(r"^- `(\w+)`", page(), re.MULTILINE))
    assert told >= {one.name for one in fields(release_kind.ReleaseKind)}
    assert told >= {one.name for one in fields(pipeline_kinds.Kind)}
    plan = {*RosterPlan.__annotations__, "sources"} - {"least"}
    assert told >= plan


def test_the_code_of_the_page_runs(policy):
    (block,) = re.findall(r"^```python\n(.*?)^```$", page(), re.MULTILINE | re.DOTALL)
    space = {"ROSTER": ROSTER}
    exec(compile(block, "add-a-release-kind.md", "exec"), space)
    assert space["load"](policy).releases == ("size",)
    assert api.load(policy, kinds=space["kinds"]).planned.releases[0].kind == "roster"
