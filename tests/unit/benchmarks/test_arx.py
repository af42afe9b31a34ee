"""The benchmarks' driver of ARX, compiled and run against a stand-in for ARX's jar, and the table that its figures go to."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from tests.unit.benchmarks.arx_stand_in import ENTROPY, SOURCES

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
PACKAGE = "org.deidentifier.arx"
#: What is compiled once and run for a moment need not be compiled well.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

#: Six, four and two records alike, and one alone. The third column is no quasi-identifier, and holds the mark of a suppressed cell.
ROWS = pa.table({"sex": ["F"] * 6 + ["M"] * 6 + ["F"], "age": ["30"] * 10 + ["40"] * 2 + ["50"], "note": ["*"] * 13})


@pytest.fixture(scope="module")
def modules():
    """The benchmarks' own modules, which import each other by their bare names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        before = set(sys.modules)
        yield importlib.import_module("arx"), importlib.import_module("solver")
        for name in set(sys.modules) - before:
            if str(BENCHMARKS) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


@pytest.fixture(scope="module")
def jar_and_home(tmp_path_factory) -> tuple[Path, Path]:
    """A jar of the stand-in's classes, and the folder of the JDK that compiled them."""
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("lane arx: no JDK found (install default-jdk-headless)")
    folder = tmp_path_factory.mktemp("arx")
    files = []
    for name, text in SOURCES.items():
        package, _, simple = f"{PACKAGE}.{name}".rpartition(".")
        files.append(folder / "sources" / package.replace(".", "/") / f"{simple}.java")
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        files[-1].write_text(f"package {package};\n{text}\n", encoding="utf-8")
    options = [f"-J{one}" for one in QUICK.split()]
    subprocess.run([javac, *options, "-proc:none", "-d", str(folder / "classes"), *map(str, files)], check=True)
    made = folder / "standin.jar"
    with zipfile.ZipFile(made, "w") as archive:
        for one in sorted((folder / "classes").rglob("*.class")):
            archive.write(one, one.relative_to(folder / "classes"))
    return made, Path(javac).resolve().parents[1]


def test_figures_of_a_jar_are_printed_next_to_ours(modules, jar_and_home, monkeypatch, capsys, tmp_path):
    """k = 5: each record of the classes of four, two and one loses a cell, by hand 4 + 2 + 1 = 7. Average risk .2 and k = 2: only the record alone is in a
    class below two, and loses both cells.
    """
    arx, solver = modules
    for name, value in zip(("PRIVRELEASE_ARX", "JAVA_HOME"), jar_and_home, strict=True):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("JDK_JAVA_OPTIONS", QUICK)
    cases = {("Adult", 2, solver.K5): 7, ("Adult", 2, solver.AVERAGE): 3}
    monkeypatch.setattr(solver, "ARX_ENTROPY", {2: 0.9})
    found = solver.print_cells({"Adult": ROWS}, cases, arx.given(), folder=tmp_path, turns=1)
    printed = capsys.readouterr().out
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if line.startswith("| ")]
    columns = dict(zip(table[0], zip(*table[1:], strict=True), strict=True))
    assert columns["ARX 3.9.1 here: cells"] == ("7", "2")
    # Ours: six men lose age, the record alone both cells. Under the average, the two men of 40 and it lose both: two classes among ten records are .2.
    assert columns["cells"] == ("8", "6")
    assert columns["ARX"] == ("7", "3")
    assert all(re.fullmatch(r"\d+\.\d{3}", one) for name in columns if name.endswith("CPU s") for one in columns[name])
    assert found == {2: float(ENTROPY)}
    assert "other cells than recorded: Adult, 2 columns, average 0.2, k = 2" in printed
    assert "columns, k = 5" not in printed


MODULES = "java.base@17.0.1\njdk.compiler@17.0.1"


@pytest.fixture
def environment(tmp_path):
    """An environment whose jar is an empty file, and what puts a Java into it that answers as it is told."""
    (tmp_path / "standin.jar").touch()
    (tmp_path / "bin").mkdir()

    def with_java(runs: str, modules: str = MODULES) -> dict[str, str]:
        java = tmp_path / "bin" / "java"
        java.write_text(f'#!/bin/sh\nif [ "$1" = --list-modules ]; then echo "{modules}"; exit; fi\n{runs}\n', encoding="utf-8")
        java.chmod(0o755)
        return {"PRIVRELEASE_ARX": str(tmp_path / "standin.jar"), "JAVA_HOME": str(tmp_path)}

    return with_java


def test_without_a_jar_nothing_is_run_and_nothing_said(modules, monkeypatch, capsys):
    monkeypatch.delenv("PRIVRELEASE_ARX", raising=False)
    assert modules[0].given() is None
    assert not capsys.readouterr().out


def test_a_jar_that_is_missing_is_named_and_left_out(modules, monkeypatch, capsys, tmp_path):
    (tmp_path / "one.jar").touch()
    monkeypatch.setenv("PRIVRELEASE_ARX", f"{tmp_path / 'one.jar'}:{tmp_path / 'two.jar'}")
    assert modules[0].given() is None
    assert (
        capsys.readouterr().out.strip() == f"ARX is left out: PRIVRELEASE_ARX names {tmp_path / 'two.jar'}, which is not a file"
    )


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("java.base@17.0.1", "is a JRE, without a compiler for the driver"),
        ("java.base@11.0.1\njdk.compiler@11.0.1", "is Java 11: 17 or later is needed"),
        ("", "is Java of an unknown version"),
    ],
)
def test_a_java_that_cannot_compile_the_driver_is_refused(modules, environment, listed, said):
    with pytest.raises(modules[0].ArxError, match=said):
        modules[0].find(environment("exit 1", listed))


def test_no_java_is_a_fault(modules, environment):
    arx, found = modules[0], environment("exit 1")
    with pytest.raises(arx.ArxError, match="no java was found in JAVA_HOME"):
        arx.find(found | {"JAVA_HOME": "/nowhere"})
    with pytest.raises(arx.ArxError, match="no java was found on the path"):
        arx.find({"PRIVRELEASE_ARX": found["PRIVRELEASE_ARX"], "PATH": ""})


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (
            "echo note: first >&2; echo 'Driver.java:3: error: no symbol' >&2; exit 1",
            "exited with 1: Driver.java:3: error: no symbol",
        ),
        ("exit 3", "exited with 3: no text"),
        ("echo done", "printed no line of figures"),
        ("exec sleep 60", "was ended after 0.2 seconds"),
    ],
)
def test_a_driver_that_fails_is_a_fault_with_its_reason(modules, environment, tmp_path, runs, said):
    arx, solver = modules
    with pytest.raises(arx.ArxError, match=said):
        arx.find(environment(runs)).suppress(tmp_path / "rows.csv", 2, solver.K5, limit=0.2 if "sleep" in runs else 60)


def test_the_benchmark_goes_on_without_arx_and_says_so(modules, environment, capsys, tmp_path):
    arx, solver = modules
    cases = {("Adult", 1, solver.K5): 1, ("Adult", 2, solver.K5): 7}
    found = solver.print_cells({"Adult": ROWS}, cases, arx.find(environment("exit 9")), folder=tmp_path, turns=2)
    printed = capsys.readouterr().out
    assert found == {}
    assert printed.count("ARX is left out: its process exited with 9") == 1
    assert [line.count("| - ") for line in printed.splitlines() if line.startswith("| Adult")] == [5, 5]
