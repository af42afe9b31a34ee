"""Faults planted into a real parked release, as a solver or executor at fault would leave them: each is caught by the check that names it.

Whoever plants a fault also brings digests and, where noted, claims and row map into agreement, so that the deeper check has to see it.
"""

from __future__ import annotations

import csv
import hashlib
import random
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.audit.microdata import audit_microdata
from privrelease.audit.model import Outcome
from privrelease.audit.target import AuditTarget
from privrelease.disclosure.thresholds import Thresholds
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.engine.protocol import EngineSettings
from privrelease.execute.microdata import run_microdata
from privrelease.execute.scope import release_name
from privrelease.plan.model import MicrodataPlan, Plan, ReleasedColumn, SuppressStep, ThreatPlan
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource
from privrelease.release.store import ReleaseStore

K = 5
SECRETS = {"MADE_UP_KEY": "a made-up key of thirty-two bytes", "PRIVRELEASE_DIGEST_KEY": "another made-up key of bytes"}


def write_source(path: Path, *, twice: bool) -> None:
    """Sixty made-up persons; three of them alone in what is known of them, some cells missing. ``twice``: the note repeats the identifier."""
    rng = random.Random(7)
    rows = []
    for number in range(60):
        sex, region = rng.choice("FM"), rng.choice(["north", "south"])
        age = rng.choice(["20-29", "30-39"]) if number > 2 else f"{50 + number}"
        note = "" if number % 10 == 0 else rng.choice(["a", "b"])
        note = f"P{number:03d}" if twice else note
        rows.append(f"P{number:03d},{age},{sex},{region},{rng.randint(1, 40)},{note}")
    path.write_text("id,age,sex,region,score,note\n" + "\n".join(rows) + "\n", encoding="utf-8")


def plan_for(folder: Path) -> MicrodataPlan:
    category = ColumnType.CATEGORY
    columns = (
        Column("id", ColumnType.STRING, Role.DIRECT),
        Column("age", category, Role.QUASI),
        Column("sex", category, Role.QUASI),
        Column("region", category, Role.QUASI),
        Column("score", ColumnType.INTEGER, Role.SENSITIVE),
        Column("note", category, Role.INSENSITIVE),
    )
    released = (
        ReleasedColumn("id", ColumnType.STRING, Role.DIRECT, "pseudonym", "MADE_UP_KEY"),
        *(ReleasedColumn(column.name, column.type, column.role) for column in columns[1:]),
    )
    threats = (
        ThreatPlan("outsider", ("age", "sex", "region"), Thresholds(highest=Fraction(1, K))),
        ThreatPlan("neighbour", ("region", "age"), Thresholds(average=Fraction(1, 2))),
    )
    sinks = (
        Sink(SinkKind.PARQUET, folder / "out" / "people.parquet", "out/people.parquet"),
        Sink(SinkKind.CSV, folder / "out" / "people.csv", "out/people.csv"),
    )
    source = TableSource("people", SourceKind.CSV, str(folder / "people.csv"), "people.csv", columns)
    return MicrodataPlan("extract", source, released, threats, sinks, suppress=SuppressStep(limit=Fraction(1, 2)))


def policy_for(plan: MicrodataPlan, folder: Path) -> Plan:
    return Plan("made-up", "1.0.0", folder / "policy.yaml", "0" * 64, "A made-up policy", (plan,))


@dataclass
class Parked:
    """A parked release, with hands to spoil it."""

    plan: MicrodataPlan
    policy: Plan
    engine: DuckDBEngine
    target: AuditTarget

    @property
    def parquet(self) -> Path:
        return self.target.files[0].path

    @property
    def csv(self) -> Path:
        return self.target.files[1].path

    def rows(self) -> list[dict[str, object]]:
        """The released rows, each with the number of its source row."""
        pairs = self.row_map()
        return [row | {"_source": pair[0]} for row, pair in zip(pq.read_table(self.parquet).to_pylist(), pairs, strict=True)]

    def source(self) -> list[dict[str, object]]:
        text = Path(self.plan.source.path).read_text(encoding="utf-8").splitlines()
        rows = [{key: value or None for key, value in row.items()} for row in csv.DictReader(text)]
        return [row | {"score": int(str(row["score"]))} for row in rows]

    def put(
        self, rows: list[dict[str, object]], *, schema: pa.Schema | None = None, ordered: bool = True, cover: bool = True
    ) -> None:
        """Write both files and the row map anew from ``rows``; ``cover``: claim the counts that an honest run would state."""
        names = [column.name for column in self.plan.columns]
        if ordered:
            rows = sorted(
                rows, key=lambda row: [(row[name] is None, row[name]) if row[name] is not None else (True,) for name in names]
            )
        schema = schema or pq.read_schema(self.parquet)
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), self.parquet, store_schema=False)
        self.csv.unlink()
        with duckdb.connect() as connection:
            connection.execute(f"COPY (FROM read_parquet('{self.parquet}')) TO '{self.csv}' (HEADER, NULL '')")
        self.put_row_map([(int(str(row["_source"])), place) for place, row in enumerate(rows)])
        source, kept = self.source(), {int(str(row["_source"])) for row in rows}
        suppressed = {
            name: sum(row[name] is None and source[int(str(row["_source"]))][name] is not None for row in rows)
            for name in self.plan.quasi_identifiers
        }
        if cover:
            self.agree(released_rows=len(rows), dropped_rows=len(source) - len(kept), suppressed=suppressed)

    def agree(self, **claims: object) -> None:
        """Bring digests, and the claims given, into agreement with the files."""
        manifest, internal = self.target.manifest, self.target.internal
        digests = [hashlib.sha256(file.path.read_bytes()).hexdigest() for file in self.target.files]
        outputs = tuple(
            output.model_copy(update={"sha256": digest}) for output, digest in zip(manifest.outputs, digests, strict=True)
        )
        row_map = internal.row_map.model_copy(update={"sha256": hashlib.sha256(self.target.row_map.read_bytes()).hexdigest()})
        internal = internal.model_copy(update={"row_map": row_map, "claims": internal.claims.model_copy(update=claims)})
        self.target = replace(self.target, manifest=manifest.model_copy(update={"outputs": outputs}), internal=internal)

    def row_map(self) -> list[tuple[int, int]]:
        """(source row, output row) by output row."""
        table = pq.read_table(self.target.row_map).to_pydict()
        return sorted(zip(table["source_row"], table["output_row"], strict=True), key=lambda pair: pair[1])

    def put_row_map(self, pairs: list[tuple[int, int]]) -> None:
        schema = pq.read_schema(self.target.row_map)
        table = pa.table({"source_row": [one for one, _ in pairs], "output_row": [two for _, two in pairs]}).select(
            schema.names
        )
        pq.write_table(table.cast(schema), self.target.row_map)
        self.agree()

    def audit(self):
        return audit_microdata(
            self.plan,
            self.policy,
            self.target,
            engine=self.engine,
            audited_at="2026-01-02T03:04:05Z",
            versions={"privrelease": "0"},
        )

    def failing(self) -> set[str]:
        """Ids of the checks and names of the threats that do not hold; every failure fails the release and has a finding."""
        result = self.audit()
        bad = {check.id for check in result.checks if check.outcome in {Outcome.FAIL, Outcome.NOT_EVALUATED}}
        bad |= {f"threat {threat.name}" for threat in result.threats if not threat.holds}
        assert (result.decision.outcome is Outcome.FAIL) == bool(bad)
        told = " ".join(finding.message for finding in result.findings if finding.severity == "error")
        # where no record leaves, that is said once, and not again by every threat
        assert all(name in told for name in bad if "AUDIT-RECORDS" not in bad or not name.startswith("threat "))
        assert not any(f"P{number:03d}" in told for number in range(60))
        return bad


@contextmanager
def parked(folder: Path, *, twice: bool = False, kind: SinkKind | None = None):
    write_source(folder / "people.csv", twice=twice)
    (folder / "out").mkdir()
    plan = plan_for(folder)
    if kind is not None:
        label = f"out/people.{kind.value}"
        plan = replace(plan, sinks=(Sink(kind, folder / label, label),))
    policy = policy_for(plan, folder)
    store = ReleaseStore(folder / ".privrelease")
    with store.start(release_name(plan, policy), plan.sinks) as run:
        settings = EngineSettings(readable=(folder,), writable=(run.path,), threads=1)
        with DuckDBEngine(settings) as engine:
            done = run_microdata(plan, policy, engine=engine, store=store, run=run, environment=SECRETS)
            yield Parked(plan, policy, engine, AuditTarget.of_run(run, plan, done.source))


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    with parked(tmp_path_factory.mktemp("release")) as one:
        yield one


@pytest.fixture
def release(sound):
    """The parked release, to be spoilt; it is sound again for the next test."""
    target = sound.target
    files = {path: path.read_bytes() for path in (*(file.path for file in target.files), target.row_map)}
    yield sound
    sound.target = target
    for path, content in files.items():
        path.write_bytes(content)


def in_class(rows, columns=("age", "sex", "region")):
    """Rows by what is known of them."""
    found: dict[tuple[object, ...], list[dict[str, object]]] = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in columns), []).append(row)
    return found


def whole_class(rows, at_least):
    """The rows of one class without a missing cell, of at least so many."""
    return next(members for key, members in in_class(rows).items() if None not in key and len(members) >= at_least)


def test_the_release_without_a_fault_passes(release):
    assert release.failing() == set()
    result = release.audit()
    assert result.decision.outcome is Outcome.PASS
    assert result.utility.cells_lost.value > 0
    assert result.threats[0].after.k.value >= K > result.threats[0].before.k.value


def test_the_audit_reads_the_source_afresh_where_it_is_not_handed_over(release):
    handed = release.audit()
    release.target = replace(release.target, source=None)
    assert release.audit() == handed


def test_what_was_written_again_without_a_fault_passes(release):
    release.put(release.rows())
    assert release.failing() == set()


def test_a_class_of_k_minus_one(release):
    """One record more than a class can spare loses its cell of age, and joins nobody."""
    rows = release.rows()
    members = min((rows for key, rows in in_class(rows).items() if None not in key), key=len)
    for row in members[: len(members) - K + 1]:
        row["sex"] = None
    release.put(rows)
    assert release.failing() == {"threat outsider"}


def test_the_masks_of_two_rows_swapped(release):
    """As many cells are missing as before, but of the wrong row."""
    rows, source = release.rows(), release.source()
    masked = next(row for row in rows if row["age"] is None and row["_source"] in {0, 1, 2})
    other = whole_class(rows, K + 1)[0]
    masked["age"], other["age"] = source[masked["_source"]]["age"], None
    release.put(rows, cover=False)
    assert release.failing() == {"threat outsider"}


def test_a_lost_row(release):
    rows = release.rows()
    rows.remove(whole_class(rows, K + 1)[0])
    release.put(rows, cover=False)
    assert release.failing() == {"AUDIT-ROWS", "AUDIT-CLAIMS"}


def test_more_rows_lost_than_the_residual_rule_explains_whatever_is_claimed(release):
    rows = release.rows()
    for row in list(whole_class(rows, K)):
        rows.remove(row)
    release.put(rows)
    assert release.failing() == {"AUDIT-DROPPED"}


def test_a_row_twice(release):
    rows = release.rows()
    rows.append(dict(whole_class(rows, K)[0]))
    release.put(rows, cover=False)
    assert {"AUDIT-ROWMAP", "AUDIT-ROWS"} <= release.failing()


def test_a_row_twice_that_the_row_map_hides(release):
    """The copy takes the place of another row, so that the number of rows is right and the row map is sound."""
    rows = release.rows()
    first, second = whole_class(rows, 2)[:2]
    second |= {name: value for name, value in first.items() if name != "_source"}
    release.put(rows)
    assert {"AUDIT-PSEUDONYM", "AUDIT-CHANGED"} & release.failing()


def test_a_value_changed(release):
    rows = release.rows()
    rows[3]["score"] += 1
    release.put(rows)
    assert release.failing() == {"AUDIT-CHANGED"}


def test_two_values_swapped_inside_a_class(release):
    """Every class and every column's values are as before."""
    rows = release.rows()
    members = whole_class(rows, K)
    first = members[0]
    second = next(row for row in members if row["score"] != first["score"])
    first["score"], second["score"] = second["score"], first["score"]
    release.put(rows)
    assert release.failing() == {"AUDIT-CHANGED"}


def test_rows_joined_to_the_wrong_rows(release):
    """As after a join that lost its order: the known columns are right as a whole, and beside other rows."""
    rows = release.rows()
    known = [{name: row[name] for name in ("age", "sex", "region")} for row in rows]
    moved = [row | other for row, other in zip(rows, known[1:] + known[:1], strict=True)]
    release.put(moved, cover=False)
    assert "AUDIT-CHANGED" in release.failing()


def test_a_value_made_up_in_a_missing_cell(release):
    rows = release.rows()
    next(row for row in rows if row["note"] is None)["note"] = "a"
    release.put(rows)
    assert release.failing() == {"AUDIT-INVENTED"}


def test_a_cell_lost_in_a_column_that_nothing_protects(release):
    rows = release.rows()
    next(row for row in rows if row["note"] is not None)["note"] = None
    release.put(rows)
    assert release.failing() == {"AUDIT-NULLED"}


def test_a_type_changed(release):
    schema = pq.read_schema(release.parquet)
    place = schema.get_field_index("score")
    release.put(release.rows(), schema=schema.set(place, pa.field("score", pa.float64())))
    assert "AUDIT-TYPES" in release.failing()


def test_a_quasi_identifier_of_another_type_leaves_its_threats_unmeasured(release):
    schema = pq.read_schema(release.parquet)
    place = schema.get_field_index("sex")
    rows = [row | {"sex": row["sex"] == "F"} for row in release.rows()]
    release.put(rows, schema=schema.set(place, pa.field("sex", pa.bool_())))
    assert {"AUDIT-TYPES", "threat outsider"} <= release.failing()


def test_a_column_added(release):
    schema = pq.read_schema(release.parquet).append(pa.field("ref", pa.string()))
    source = release.source()
    release.put([row | {"ref": f"r{row['_source']}"} for row in release.rows()], schema=schema)
    assert release.failing() == {"AUDIT-COLUMNS"}
    release.put([row | {"ref": source[row["_source"]]["id"]} for row in release.rows()], schema=schema)
    assert release.failing() == {"AUDIT-COLUMNS", "AUDIT-HIDDEN"}


def test_a_column_renamed(release):
    schema = pq.read_schema(release.parquet)
    release.put(
        [row | {"Note": row["note"]} for row in release.rows()],
        schema=schema.set(schema.get_field_index("note"), pa.field("Note", pa.string())),
    )
    assert "AUDIT-COLUMNS" in release.failing()


@pytest.mark.parametrize("name", ["md5", "sha1", "sha256"])
def test_a_pseudonym_that_is_a_plain_hash(release, name):
    source = release.source()
    release.put([row | {"id": hashlib.new(name, source[row["_source"]]["id"].encode()).hexdigest()} for row in release.rows()])
    assert release.failing() == {"AUDIT-PSEUDONYM"}


def test_a_pseudonym_that_is_the_identifier_itself(release):
    source = release.source()
    release.put([row | {"id": source[row["_source"]]["id"]} for row in release.rows()])
    assert release.failing() == {"AUDIT-PSEUDONYM", "AUDIT-HIDDEN"}


def test_a_pseudonym_shared_by_two(release):
    rows = release.rows()
    rows[0]["id"] = rows[1]["id"]
    release.put(rows)
    assert release.failing() == {"AUDIT-PSEUDONYM", "AUDIT-PERSONS"}


def test_an_order_that_is_not_that_of_the_values(release):
    rows = release.rows()
    rows[4], rows[5] = rows[5], rows[4]
    release.put(rows, ordered=False)
    assert release.failing() == {"AUDIT-ORDER"}


def test_a_residual_group_of_two_left(release):
    rows = release.rows()
    for row in whole_class(rows, K + 2)[:2]:
        row |= {"age": None, "sex": None, "region": None}
    release.put(rows)
    assert release.failing() == {"AUDIT-RESIDUAL"}


def test_more_cells_lost_than_the_limit_allows(release):
    rows = [row | {"age": None, "sex": None} for row in release.rows()]
    release.put(rows)
    assert release.failing() == {"AUDIT-LIMIT"}


def test_a_file_altered_after_its_digest(release):
    with release.csv.open("a", encoding="utf-8") as stream:
        stream.write("\n")
    assert "AUDIT-DIGEST" in release.failing()


def test_a_value_that_the_source_never_held(release):
    rows = release.rows()
    next(row for row in rows if row["age"] is None)["age"] = "made up"
    release.put(rows, cover=False)
    assert {"AUDIT-CHANGED", "threat outsider"} <= release.failing()


@pytest.mark.parametrize("place", ["file", "schema", "field"])
def test_metadata_in_a_file(release, place):
    table = pq.read_table(release.parquet)
    author = {"author": "somebody"}
    if place == "schema":
        table = table.replace_schema_metadata(author)
    if place == "field":
        schema = table.schema.set(4, table.schema.field(4).with_metadata(author))
        table = pa.Table.from_arrays(table.columns, schema=schema)
    with pq.ParquetWriter(release.parquet, table.schema, store_schema=place != "file") as writer:
        writer.write_table(table)
        if place == "file":
            writer.add_key_value_metadata(author)
    release.agree()
    assert release.failing() == {"AUDIT-LEFTOVER"}


def test_a_suppressed_value_left_in_a_dictionary(release):
    """The rows are right; the value that was made missing can still be read."""
    table = pq.read_table(release.parquet)
    place = table.schema.get_field_index("age")
    codes = table.column("age").combine_chunks().dictionary_encode()
    with_more = pa.DictionaryArray.from_arrays(codes.indices, pa.concat_arrays([codes.dictionary, pa.array(["50"])]))
    pq.write_table(table.set_column(place, "age", with_more), release.parquet)
    release.agree()
    assert release.failing() == {"AUDIT-LEFTOVER"}


def test_a_digest_altered(release):
    outputs = tuple(output.model_copy(update={"sha256": "0" * 64}) for output in release.target.manifest.outputs)
    release.target = replace(release.target, manifest=release.target.manifest.model_copy(update={"outputs": outputs}))
    assert release.failing() == {"AUDIT-DIGEST"}


def test_counts_claimed_that_are_not_so(release):
    release.agree(suppressed={"age": 1})
    assert release.failing() == {"AUDIT-CLAIMS"}


def test_a_row_map_off_by_one(release):
    pairs = release.row_map()
    release.put_row_map([(pairs[(place + 1) % len(pairs)][0], output) for place, (_, output) in enumerate(pairs)])
    assert "AUDIT-CHANGED" in release.failing()


def test_a_row_map_beyond_the_source_or_twice_to_one_row(release):
    pairs = release.row_map()
    release.put_row_map([(source + 1, output) for source, output in pairs])
    assert "AUDIT-ROWMAP" in release.failing()
    release.put_row_map([(pairs[0][0], output) for _, output in pairs])
    assert "AUDIT-ROWMAP" in release.failing()
    release.put_row_map(pairs[:-1])
    assert "AUDIT-ROWMAP" in release.failing()


def test_a_row_map_that_is_none(release):
    release.target.row_map.write_bytes(b"no Parquet")
    release.agree()
    assert "AUDIT-ROWMAP" in release.failing()


def test_a_row_map_altered_after_its_digest(release):
    digest = release.target.internal.row_map.sha256
    release.put_row_map(release.row_map()[::-1])
    row_map = release.target.internal.row_map.model_copy(update={"sha256": digest})
    release.target = replace(release.target, internal=release.target.internal.model_copy(update={"row_map": row_map}))
    assert release.failing() == {"AUDIT-DIGEST"}


def test_a_csv_file_that_differs_from_the_parquet_file(release):
    lines = release.csv.read_text(encoding="utf-8").splitlines()
    cells = lines[5].split(",")
    cells[4] = str(int(cells[4]) + 1)
    lines[5] = ",".join(cells)
    release.csv.write_text("\n".join(lines) + "\n", encoding="utf-8")
    release.agree()
    assert release.failing() == {"AUDIT-SAME"}


def test_a_csv_file_with_a_cell_of_another_type(release):
    lines = release.csv.read_text(encoding="utf-8").splitlines()
    cells = lines[5].split(",")
    cells[4] = "many"
    lines[5] = ",".join(cells)
    release.csv.write_text("\n".join(lines) + "\n", encoding="utf-8")
    release.agree()
    assert {"AUDIT-FILES", "AUDIT-SAME"} <= release.failing()


def test_a_file_that_is_not_there(release):
    release.csv.unlink()
    assert {"AUDIT-FILES", "AUDIT-DIGEST"} <= release.failing()


def test_a_damaged_file(release):
    """The footer is whole, a page of cells is not."""
    content = bytearray(release.parquet.read_bytes())
    content[8:200] = bytes(192)
    release.parquet.write_bytes(bytes(content))
    release.agree()
    assert {"AUDIT-FILES", "AUDIT-SAME"} <= release.failing()


def test_no_row_at_all(release):
    release.put([])
    assert {"AUDIT-RECORDS", "AUDIT-DROPPED", "threat outsider", "threat neighbour"} <= release.failing()


@pytest.mark.parametrize("kind", SinkKind)
def test_a_release_in_one_file_of_any_kind_passes(tmp_path, kind):
    with parked(tmp_path, kind=kind) as release:
        assert release.failing() == set()


def test_a_table_beside_the_released_one(tmp_path):
    with parked(tmp_path, kind=SinkKind.DUCKDB) as release:
        with duckdb.connect(str(release.parquet)) as connection:
            connection.execute("CREATE TABLE notes AS SELECT 1 AS a")
        release.agree()
        assert release.failing() == {"AUDIT-LEFTOVER"}


def test_a_direct_identifier_under_another_name(tmp_path):
    with parked(tmp_path, twice=True) as release:
        assert release.failing() == {"AUDIT-HIDDEN"}
