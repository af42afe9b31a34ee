"""Every example of `--help`, and every whole command in the text of README and docs, runs as it is written."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer.main

from privrelease.cli.main import app, main
from privrelease.examples.registry import write_registry
from privrelease.release.signing import SigningKey

ROOT = Path(__file__).resolve().parents[2]
COMMAND = re.compile(r"`(privrelease [^`]+)`")
EXAMPLE = re.compile(r"^  (privrelease .+)$", re.MULTILINE)
#: Names of a command in passing: what it is run on is left out.
PASSING = re.compile(r"privrelease (\w+|ledger \w+|--help)")


def of_help():
    """(verb, example) of every subcommand."""
    root = typer.main.get_command(app)
    for name, command in root.commands.items():
        below = getattr(command, "commands", None)
        for inner, one in (below or {"": command}).items():
            verb = f"{name} {inner}".strip()
            yield verb, EXAMPLE.findall(one.help or "")


def of_docs():
    """(file, line, command) of what is not named in passing only."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for command in COMMAND.findall(line):
                if PASSING.fullmatch(command) is None:
                    yield f"{path.relative_to(ROOT)}:{number}", command


HELP = dict(of_help())
DOCS = dict(of_docs())
#: Each once; what ends the life of a release goes last.
COMMANDS = sorted(
    dict.fromkeys((*(one for examples in HELP.values() for one in examples), *DOCS.values())),
    key=lambda command: ("withdraw", "publish").index(verb) if (verb := command.split()[1]) in {"withdraw", "publish"} else -1,
)
APPROVALS = "\napprovals: {required: [dpo], keys: approvers.yaml}\n"
ENVIRONMENTS = "\nenvironments: {strict: {threats: {external: {highest_risk: 0.1}}}}\n"


@dataclass(frozen=True)
class Folder:
    """A folder with a published run of the example, and one in which a release waits for approval."""

    home: Path
    office: Path
    run: str
    parked: str
    short: str
    """The published run with the shortest report, which is the one that is printed."""

    def words(self, command: str) -> list[str]:
        """The arguments of a command, its placeholders filled in."""
        parked = re.search(r"privrelease (approve|publish) ", command) is not None
        filled = {
            "POLICY": "policy.yaml",
            "ID": "microdata",
            "FILE": "ann.key" if parked else "out/patients.parquet",
            "ROLE": "dpo",
            "OLD": "old.yaml",
            "NEW": "policy.yaml",
            "RUN": self.parked if parked else self.short if "--pdf" in command else self.run,
            "RUN1": self.run,
            "RUN2": self.run,
        }
        text = re.sub(r"\b[A-Z]+[12]?\b", lambda found: filled.get(found[0], found[0]), command)
        words = shlex.split(text.split(" > ")[0])[1:]
        return [word.removeprefix("policies/") if word.startswith("policies/") else word for word in words]


def begin(folder: Path, more: str = "") -> None:
    """The example as policy.yaml, on fewer patients and without its attacks, which take longer than all the rest."""
    (folder / "data").mkdir()
    write_registry(folder / "data" / "patients.parquet", 1000)
    text = (ROOT / "policies" / "diabetes.yaml").read_text(encoding="utf-8")
    text = re.sub(r"^attacks:.*?(?=^[a-z]+:)", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ +frontier:.*\n", "", text, flags=re.MULTILINE)
    text = text.replace("population: diabetes-patients", "population: patients").replace("limit: 0.05", "limit: 1")
    text = re.sub(r"max: 0\.\d+}", "max: 1}", text)
    text = text.replace("domain: [18, 85]}", "domain: [18, 85], hierarchy: {widths: [5, 10]}}", 1)
    (folder / "policy.yaml").write_text(text + more, encoding="utf-8")
    for copy in ("old.yaml", "policies/one.yaml", "before/policies/one.yaml"):
        (folder / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "policy.yaml", folder / copy)


def quiet(*words: str) -> int:
    """Run without a word."""
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(io.StringIO()):
        return main(words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home, office = (tmp_path_factory.mktemp(name) for name in ("home", "office"))
    begin(home, ENVIRONMENTS)
    begin(office, APPROVALS)
    key = SigningKey.generate()
    key.save(office / "ann.key")
    pem = key.public.pem.strip().replace("\n", "\n      ")
    listed = f"approvers:\n  - name: Ann\n    roles: [dpo]\n    key: |\n      {pem}\n"
    (office / "approvers.yaml").write_text(listed, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPO_KEY", (office / "ann.key").read_text(encoding="utf-8"))
        patch.chdir(home)
        assert quiet("keygen", "-o", "keys/dpo.key") == 0
        patch.setenv("RELEASE_KEY", (home / "keys" / "dpo.key").read_text(encoding="utf-8"))
        assert quiet("ledger", "init", "policy.yaml", "--owner", "keys/dpo.key.pub") == 0
        assert quiet("run", "policy.yaml") == 0
        run = str((home / "out" / "patients.parquet").resolve().parent.parent.name)
        patch.chdir(office)
        assert quiet("run", "policy.yaml", "--release", "microdata") == 5
        (parked,) = (office / ".privrelease" / "runs").iterdir()
        pages = (home / ".privrelease" / "runs").glob("*/internal/report.html")
        short = min(pages, key=lambda page: page.stat().st_size).parent.parent.name
        yield Folder(home, office, run, parked.name, short)


def ran(folder: Folder, command: str, monkeypatch, capsys) -> None:
    """Run a command where it belongs; what it would write is not there before."""
    words = folder.words(command)
    monkeypatch.chdir(folder.office if words[0] in {"approve", "publish"} else folder.home)
    if words[0] == "publish":
        assert main(["approve", "policy.yaml", folder.parked, "--role", "dpo", "--key", "ann.key"]) == 0
    if words[0] == "verify" and words[1].endswith(".json"):
        release = f".privrelease/runs/{folder.run}"
        assert main(["sign", release, "--key", "keys/dpo.key", "-o", words[1], "--force"]) == 0
    if words[:2] == ["ledger", "init"] or words[0] in {"init", "keygen"}:
        monkeypatch.chdir(fresh(folder, words))
    for option in ("-o", "--output", "--html", "--chart", "--report"):
        if option in words:
            Path(words[words.index(option) + 1]).unlink(missing_ok=True)
    capsys.readouterr()
    code = main(words)
    said = capsys.readouterr()
    assert code == (1 if "--test-noise" in words else 0), (command, said.err)
    assert said.out or said.err


def fresh(folder: Folder, words: list[str]) -> Path:
    """A folder in which nothing was made yet."""
    place = folder.home / "fresh"
    shutil.rmtree(place, ignore_errors=True)
    (place / "data").mkdir(parents=True)
    if words[0] == "ledger":
        shutil.copytree(folder.home / "keys", place / "keys")
        shutil.copy(folder.home / "policy.yaml", place)
    elif words[0] == "init":
        (place / words[1]).write_text("id,age\n1,40\n", encoding="utf-8")
    return place


def test_every_verb_shows_an_example():
    assert [verb for verb, examples in HELP.items() if not examples] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_of_help_and_every_command_in_the_text_of_the_docs_runs(folder, command, monkeypatch, capsys):
    ran(folder, command, monkeypatch, capsys)


def test_commands_of_the_readme_are_written_for_the_folder_in_which_make_demo_leaves_one():
    """Runs of the demonstration lie below policies/, and whoever follows the README stands above it."""
    written = [command for place, command in DOCS.items() if place.startswith("README")]
    assert written
    assert [one for one in written if ".privrelease" in one and "policies/.privrelease" not in one] == []
