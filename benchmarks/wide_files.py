"""Files of very many columns, and identifiers looked for in very many texts: CPU seconds and peak memory of whole processes.

A run over 300 rows of 50 to 2,000 whole numbers with one direct identifier, and what a column costs more; the search for names in 200 columns alone; the search for 100,000 names of
two words in 1,000,000 distinct texts of 100 letters, also as a ratio to reading the texts alone.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from measure import OUT, machine, print_table, usage_of

ROWS = 300
COLUMNS = (50, 100, 200, 400, 2000)
TEXTS, NAMES = 1_000_000, 100_000
CHECKED = 200

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: wide
version: 1.0.0
title: Wide file
datasets:
  d:
    source: wide.csv
    unit: {{column: id, max_rows: 1}}
    columns:
      id: {{role: direct, type: string}}
{columns}
threats:
  t: {{dataset: d, knows: [v0, v1, v2], highest_risk: 0.2}}
releases:
  - {{id: rows, kind: microdata, from: d, protect: [t], transform: [{{suppress: cells}}], output: out/rows.csv}}
"""


def write_wide(folder: Path, columns: int) -> Path:
    """Write a file of that many columns and its policy; return the policy."""
    import numpy as np

    draw = np.random.default_rng(1)
    cells = draw.integers(0, 10, (ROWS, columns)).astype(str)
    lines = [",".join(["id", *(f"v{place}" for place in range(columns))])]
    lines += [f"{row},{','.join(cells[row])}" for row in range(ROWS)]
    (folder / "wide.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    named = (f"      v{i}: {{role: {'quasi' if i < 3 else 'insensitive'}, type: integer}}" for i in range(columns))
    policy = folder / "wide.yaml"
    policy.write_text(POLICY.format(columns="\n".join(named)), encoding="utf-8")
    return policy


def write_texts(folder: Path) -> None:
    """Write the names, and texts of seventeen words of which one in three names somebody."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(2)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
    words = np.array([draw.choice(letters, size).tobytes().decode() for size in draw.integers(2, 9, 20_000)])
    names = np.unique([f"{one} {two}" for one, two in zip(*draw.choice(words, (2, NAMES + NAMES // 50)), strict=True)])
    names = draw.permutation(names)[:NAMES]
    pq.write_table(pa.table({"name": names}), folder / "names.parquet")
    with pq.ParquetWriter(folder / "texts.parquet", pa.schema({"name": pa.string(), "note": pa.string()})) as writer:
        for _ in range(20):
            texts = [" ".join(chosen) for chosen in draw.choice(words, (TEXTS // 20, 17))]
            named = draw.choice(names, TEXTS // 20)
            notes = [
                f"{name} {text}"[:100] if place % 3 == 0 else text[:100]
                for place, (name, text) in enumerate(zip(named, texts, strict=True))
            ]
            writer.write_table(pa.table({"name": named, "note": notes}))


def look(folder: Path, *, search: bool) -> None:
    """Read the texts, and look for the names in them."""
    from privrelease.engine.open import open_engine
    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.engine.protocol.identifiers import FORMS
    from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource

    name, note = Column("name", ColumnType.STRING, Role.DIRECT), Column("note", ColumnType.STRING, Role.INSENSITIVE)
    with open_engine(EngineSettings(readable=(folder,), writable=(folder,))) as engine:
        source = engine.stage(TableSource("d", SourceKind.PARQUET, str(folder / "names.parquet"), "names.parquet", (name,)))
        released = engine.open_release(Sink(SinkKind.PARQUET, folder / "texts.parquet", "texts.parquet"), [name, note])
        if search:
            (found,) = (
                one for one in engine.identifier_matches(source, released, [("name", "note")], FORMS) if one.form == "part"
            )
            assert found.both > NAMES // 2
        else:
            engine.unsorted_rows(released)


def check_columns() -> float:
    """Return the CPU seconds of the search for 300 names in 200 columns of 300 texts, in the forms that an audit asks for."""
    import numpy as np

    from privrelease.engine.open import open_engine
    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.engine.protocol.identifiers import FORMS
    from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind, SourceKind, TableSource

    draw = np.random.default_rng(3)
    words = np.array([draw.choice(list("abcdefghijklmnopqrst"), 6).tobytes().hex()[:9] for _ in range(5_000)])
    kinds = [Column(f"v{place}", ColumnType.STRING, Role.INSENSITIVE) for place in range(CHECKED)]
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name)
        texts = [",".join(" ".join(draw.choice(words, 3)) for _ in kinds) for _ in range(ROWS)]
        (folder / "theirs.csv").write_text("\n".join([",".join(one.name for one in kinds), *texts]) + "\n", encoding="utf-8")
        names = "\n".join(["name", *(" ".join(draw.choice(words, 2)) for _ in range(ROWS))])
        (folder / "names.csv").write_text(names + "\n", encoding="utf-8")
        with open_engine(EngineSettings(readable=(folder,), writable=(folder,))) as engine:
            direct = Column("name", ColumnType.STRING, Role.DIRECT)
            source = engine.stage(TableSource("d", SourceKind.CSV, str(folder / "names.csv"), "names.csv", (direct,)))
            released = engine.open_release(Sink(SinkKind.CSV, folder / "theirs.csv", "theirs.csv"), kinds)
            begun = time.process_time()
            pairs = [("name", one.name) for one in kinds]
            engine.identifier_matches(source, released, pairs, FORMS[:1])
            engine.identifier_matches(source, released, pairs, FORMS[1:])
            return time.process_time() - begun


def main() -> None:
    """Print the tables; ``--quick``: without 2,000 columns and the texts."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    quick = "--quick" in sys.argv
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name)
        rows, fewest = [], 0.0
        for columns in COLUMNS[:-1] if quick else COLUMNS:
            own = folder / str(columns)  # a state of its own: no file is an earlier release of another
            own.mkdir()
            policy = write_wide(own, columns)
            used = usage_of(
                [sys.executable, "-m", "privrelease.cli.main", "run", str(policy), "--data-root", str(own), "--quiet"]
            )
            more = "" if not rows else f"{1000 * (used.cpu - fewest) / (columns - COLUMNS[0]):.0f} ms"
            fewest = fewest or used.cpu
            limit = "60 s, 1,024 MiB" if columns == COLUMNS[-1] else ""
            rows.append((f"{columns:,}", f"{used.cpu:.1f}", f"{used.peak_mib:,.0f}", more, limit))
        print_table(f"Wide files, {ROWS} rows", ("columns", "CPU s", "peak MiB", "each column more", "limit"), rows)
        cpu = check_columns()
        row = (f"{CHECKED}", f"{cpu:.1f}", "2 s")
        print_table(f"Names looked for in columns of {ROWS} texts", ("columns", "CPU s", "limit"), [row])
        if quick:
            return
        write_texts(folder)
        read, search = (usage_of([sys.executable, __file__, kind, str(folder)]) for kind in ("read", "search"))
        rows = [("read and put in order", f"{read.cpu:.1f}", f"{read.peak_mib:,.0f}", "", "")]
        rows.append(
            (
                "look for every name, in six forms",
                f"{search.cpu:.1f}",
                f"{search.peak_mib:,.0f}",
                f"{search.cpu / read.cpu:.1f}",
                "30 s, 1,024 MiB",
            )
        )
    print_table(f"{NAMES:,} names in {TEXTS:,} texts of 100 letters", ("work", "CPU s", "peak MiB", "ratio", "limit"), rows)


if __name__ == "__main__":
    if sys.argv[1:2] in (["read"], ["search"]):
        look(Path(sys.argv[2]), search=sys.argv[1] == "search")
    else:
        main()
