"""`ci/install.py` deals what a file pins out to several pip: every package to one of them, with its own hashes."""

from __future__ import annotations

import importlib.util
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def install():
    spec = importlib.util.spec_from_file_location("install", ROOT / "ci" / "install.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_package_keeps_its_marker_and_its_hashes(install):
    pinned = '# made\n#\na==1 \\\n    --hash=sha256:aa \\\n    --hash=sha256:ab\n    # via x\nB==2 ; os_name == "nt" \\\n    --hash=sha256:bb\nc==3 \\\n    --hash=sha256:cc\n'
    assert install.shares(pinned, 2) == [
        "a==1 \\\n    --hash=sha256:aa \\\n    --hash=sha256:ab\n    # via x\nc==3 \\\n    --hash=sha256:cc\n",
        'B==2 ; os_name == "nt" \\\n    --hash=sha256:bb\n',
    ]
    assert len(install.shares(pinned, 8)) == 3


@pytest.mark.parametrize("name", ["run", "dev"])
@pytest.mark.parametrize("count", [1, 3, 4, 64])
def test_every_pinned_package_is_in_one_share(install, name, count):
    pinned = (ROOT / "constraints" / f"{name}.txt").read_text(encoding="utf-8")
    found = [line for share in install.shares(pinned, count) for line in share.splitlines()]
    assert sorted(found) == sorted(line for line in pinned[re.search("^[a-z]", pinned, re.MULTILINE).start() :].splitlines())
    assert all("--hash=" in share for share in install.shares(pinned, count))


@pytest.mark.parametrize("package", [False, True])
def test_each_step_is_announced_before_it_begins(install, monkeypatch, capsys, package):
    """Whoever waits for half a minute reads for what: stderr holds one line a step, and stdout nothing."""
    begun = []

    def step(command, **_):
        begun.append((command[3] if "pip" in command else command[2], capsys.readouterr().err))
        return type("Done", (), {"returncode": 0, "wait": lambda _: 0})()

    monkeypatch.setattr(install.subprocess, "run", step)
    monkeypatch.setattr(install.subprocess, "Popen", step)
    monkeypatch.setattr(install, "ThreadPoolExecutor", lambda _: ThreadPoolExecutor(1))
    monkeypatch.setattr(install.sys, "argv", ["install.py", "constraints/run.txt", *(["--package"] if package else [])])
    assert install.main() == 0
    assert [what for what, _ in begun if what != "install"] == ["compileall"]
    assert re.fullmatch(r"installing the \d+ packages of run.txt, which can take a minute\n", begun[0][1])
    said = next(said for what, said in begun if what == "compileall")
    assert said == ("compiling them, and building privrelease with its loops\n" if package else "compiling them\n")
    assert "".join(said for _, said in begun).count("\n") == 2
    assert capsys.readouterr() == ("", "")


def test_where_a_share_fails_one_pip_installs_all(install, monkeypatch, tmp_path):
    (tmp_path / "pinned.txt").write_text("a==1 --hash=sha256:aa\nb==2 --hash=sha256:bb\n", encoding="utf-8")
    called = []

    def run(command, *, check):
        called.append(command)
        return type("Done", (), {"returncode": int("--no-deps" in command and "0.txt" in command[-2])})

    monkeypatch.setattr(install.subprocess, "run", run)
    assert install.install(tmp_path / "pinned.txt", 2) == 0
    assert [command[-1] for command in called if "--no-deps" not in command] == [str(tmp_path / "pinned.txt")]
    assert sum("--no-deps" in command for command in called) == 2
