"""A process that has loaded the command line, and forks a new one for each command: as a process of its own, without the second that loading takes.

It is run as a script by :class:`ForkServer`. Before a fork it has opened nothing, started no thread, and called no command, so that each
command meets the state of a fresh process, but for the seed of hashes, which all forks share: a test that compares two runs by their bytes
starts real processes.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import Any

#: Libraries that few commands load, and the modules that are written in their terms.
LATE = ("great_expectations", "weasyprint")
WITH_LATE = ("great_expectations_source", "privacy_expectations")
#: Keeps libraries from starting threads when they are imported.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


def load() -> None:
    """Import the package, and what its commands import when they are called."""
    import privrelease

    for module in pkgutil.walk_packages(privrelease.__path__, "privrelease."):
        if not module.name.startswith("privrelease.examples") and not module.name.endswith(WITH_LATE):
            importlib.import_module(module.name)
    for name in ("duckdb", "pyarrow.parquet", "sqlalchemy", "sqlglot", "jinja2", "yaml"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    late = [name for name in LATE if name in sys.modules]
    if late or threading.active_count() > 1 or len(list(Path("/proc/self/task").iterdir())) > 1:
        raise SystemExit(f"loading started threads or loaded {late}: forks would not be as fresh processes")


def call(asked: dict[str, Any]) -> int:
    """Run one command in a fork; return its exit code, or minus the signal that ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        for descriptor, name in ((1, "out"), (2, "err")):
            file = os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(file, descriptor)
            os.close(file)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.argv = ["privrelease", *asked["arguments"]]
        from privrelease.cli.main import main

        code = main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:  # noqa: BLE001  as the interpreter does at its end
        traceback.print_exc()
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def serve(connection: socket.socket) -> None:
    """Answer requests, one JSON document a line, until the other side closes."""
    load()
    gc.collect()
    gc.freeze()
    with connection.makefile("rw", encoding="utf-8") as lines:
        lines.write("ready\n")
        lines.flush()
        for line in lines:
            lines.write(f"{call(json.loads(line))}\n")
            lines.flush()


class ForkServer:
    """The side of the tests: starts the server at the first command, and stops it."""

    def __init__(self) -> None:
        self._lines: Any = None
        self._process: subprocess.Popen[bytes] | None = None

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                env={**os.environ, **ALONE},
            )
        with ours:
            self._lines = ours.makefile("rw", encoding="utf-8")
        assert self._lines.readline() == "ready\n"

    def __call__(self, arguments: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a command in ``folder`` with exactly this environment."""
        if self._process is None:
            self._start()
        with tempfile.TemporaryDirectory(prefix="privrelease-said-") as said:
            out, err = Path(said) / "out", Path(said) / "err"
            asked = {"arguments": arguments, "cwd": str(folder), "env": environment, "out": str(out), "err": str(err)}
            self._lines.write(json.dumps(asked) + "\n")
            self._lines.flush()
            code = int(self._lines.readline())
            return subprocess.CompletedProcess(
                arguments, code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")
            )

    def stop(self) -> None:
        """End the server; nothing where none was started."""
        if self._process is not None:
            self._lines.close()
            self._process.wait()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
