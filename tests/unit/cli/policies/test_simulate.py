"""`simulate` and `plan --sweep --chart` from the command line: no row, no budget, a report that stands alone."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from privrelease.cli.main import main

DIABETES = Path(__file__).parents[4] / "policies" / "diabetes.yaml"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_policy_the_study_is_repeated(folder, capsys):
    assert main(["simulate", "--html", "noise.html", "--format", "json", "--repetitions", "300"]) == 0
    document = json.loads(capsys.readouterr().out)
    (found,) = document["releases"]
    assert found["release"] == "study"
    assert len(found["figures"]) == 24
    assert all(figure["delta"] == ("0.00001" if figure["mechanism"] == "gaussian" else "0") for figure in found["figures"])
    assert found["paper"][-1] == "no single mechanism gives all of the paper's figures"
    assert (folder / "noise.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in folder.iterdir()) == ["noise.html"]


def test_a_policys_own_queries_are_simulated_at_the_delta_that_is_asked_for(folder, capsys):
    words = ["simulate", str(DIABETES), "--delta", "1e-5", "--repetitions", "100", "--format", "json", "--html", "n.html"]
    assert main(words) == 0
    (found,) = json.loads(capsys.readouterr().out)["releases"]
    count = {f["epsilon"]: f for f in found["figures"] if f["query"] == "n_positive" and f["mechanism"] == "gaussian"}
    assert [f["theory"] for f in count.values()] == pytest.approx([30.75, 7.03, 3.73, 1.99], rel=0.012)
    assert "diabetes-registry" in (folder / "n.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--delta", "2"], "C118"),
        (["--delta", "-1e-5"], "C118"),
        (["--delta", "none"], "C118"),
        (["--html", "noise.txt"], "C119"),
        (["--release", "s"], "C115"),
        (["--sweep", "epsilon=0"], "C109"),
        (["--sweep", "epsilon=1e-300"], "C109"),
    ],
)
def test_bad_usage_is_named_and_nothing_is_written(folder, capsys, words, code):
    assert main(["simulate", "--repetitions", "10", *words]) == 2
    assert code in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named(folder, capsys):
    words = ["simulate", "--repetitions", "10", "--sweep", "epsilon=1", "--html"]
    assert main([*words, "none/noise.html"]) == 3
    assert "noise.html" in capsys.readouterr().err
    (folder / "noise.html").write_text("mine", encoding="utf-8")
    assert main([*words, "noise.html"]) == 2
    assert "C130 noise.html exists already" in capsys.readouterr().err
    assert (folder / "noise.html").read_text(encoding="utf-8") == "mine"
    assert main([*words, "noise.html", "--force"]) == 0
    assert main(["plan", str(DIABETES), "--sweep", "epsilon=1", "--chart", "noise.svg"]) == 0
    assert main(["plan", str(DIABETES), "--sweep", "epsilon=1", "--chart", "noise.svg"]) == 2


def test_a_sweep_is_drawn(folder, capsys):
    assert main(["plan", str(DIABETES), "--sweep", "epsilon=0.1,0.5,1,2", "--chart", "noise.svg"]) == 0
    parsed = ET.fromstring((folder / "noise.svg").read_text(encoding="utf-8"))
    said = [panel.find("{http://www.w3.org/2000/svg}desc").text for panel in parsed.findall("{http://www.w3.org/2000/svg}svg")]
    assert len(said) == 4  # two counts, and the sum and the count of a mean; a median has no noise
    assert "discrete Laplace at epsilon 0.1: 14.14" in said[0]
    assert "discrete Gaussian at epsilon 2: 2.247" in said[0]
    assert "noise.svg is written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--chart", "noise.svg"], ["--sweep", "epsilon=1", "--chart", "noise.png"]], ids=["no sweep", "no svg"]
)
def test_a_chart_without_a_sweep_or_of_another_kind_is_refused(folder, capsys, words):
    assert main(["plan", str(DIABETES), *words]) == 2
    assert "C120" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_a_release_without_noise_has_no_chart(folder, capsys):
    assert main(["plan", str(DIABETES), "--release", "microdata", "--sweep", "epsilon=1", "--chart", "noise.svg"]) == 2
    assert "C120" in capsys.readouterr().err
