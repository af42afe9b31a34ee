"""A process that has loaded the command line, and forks a new one for each command: as a process of its own, without the second that loading takes.

It is run as a script by :class:`ForkServer`. Before a fork it has opened nothing, started no thread, and called no command, so that each
command meets the state of a fresh process, but for two things that all forks share: the seed of hashes (a test that compares two runs by their
bytes starts real processes), and what depends on the program alone and is made when it is first asked for: models, texts and templates.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
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
#: Libraries, and parts of them, that the package imports where it needs them.
NEEDED = (
    "dateutil.relativedelta",
    "duckdb",
    "encodings.unicode_escape",
    "encodings.utf_8_sig",
    "jinja2",
    "numpy.ma",
    "pyarrow.compute",
    "pyarrow.parquet",
    "pydantic.type_adapter",
    "ruamel.yaml",
    "sqlalchemy",
    "sqlglot",
    "sqlglot.dialects.duckdb",
    "yaml",
)
#: Keeps libraries from starting threads when they are imported.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


def load() -> None:
    """Import the package, and what its commands import when they are called."""
    import privrelease

    for module in pkgutil.walk_packages(privrelease.__path__, "privrelease."):
        if not module.name.startswith("privrelease.examples") and not module.name.endswith(WITH_LATE):
            importlib.import_module(module.name)
    for name in NEEDED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    make_once()
    late = [name for name in LATE if name in sys.modules]
    if late or threading.active_count() > 1 or len(list(Path("/proc/self/task").iterdir())) > 1:
        raise SystemExit(f"loading started threads or loaded {late}: forks would not be as fresh processes")


def make_once() -> None:
    """Make what depends on nothing but the program, which half of a small command's time would go into: models, texts, templates."""
    from pydantic import BaseModel

    from privrelease.report.pages import html
    from privrelease.texts.catalogue import LANGUAGES, catalogue_of

    models: list[type[BaseModel]] = [BaseModel]
    for model in models:
        models += [one for one in model.__subclasses__() if one not in models]
        if model.__module__.startswith("privrelease."):
            model.model_rebuild()
    for language in LANGUAGES:
        catalogue_of(language)
    templates = html._environment()
    for name in templates.list_templates(extensions=["j2"]):
        templates.get_template(name)


def begin(asked: dict[str, Any], streams: list[int]) -> int:
    """Run one command in a fork with these standard streams; return its process."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        for descriptor, stream in enumerate(streams):
            os.dup2(stream, descriptor)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.argv = ["privrelease", *asked["arguments"]]
        exec(asked["before"], {})
        from privrelease.cli.main import command

        code = command()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:  # noqa: BLE001  as the interpreter does at its end
        traceback.print_exc()
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def serve(listening: socket.socket, tests: socket.socket) -> None:
    """Answer one request a connection, several at once, until the tests close their end: a JSON document comes with the three standard streams;
    the exit code goes back, or minus the signal that ended the command.
    """
    load()
    gc.collect()
    gc.freeze()
    tests.sendall(b"ready")
    running: dict[int, tuple[int, socket.socket]] = {}
    while tests not in (ready := select.select([listening, tests, *running], [], [])[0]):
        for one in ready:
            if one is not listening:
                child, connection = running.pop(one)
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                os.close(one)
                with connection, contextlib.suppress(BrokenPipeError):
                    connection.sendall(str(code).encode())
                continue
            connection, _ = listening.accept()
            asked, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
            while not asked.endswith(b"\n"):
                asked += connection.recv(1 << 20)
            child = begin(json.loads(asked), streams)
            running[os.pidfd_open(child)] = child, connection
            for stream in streams:
                os.close(stream)


def ask(
    address: str, arguments: list[str], folder: str, environment: dict[str, str], streams: list[int], before: str = ""
) -> int:
    """Have a command run by the server at ``address``, after these lines of Python; return its exit code."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        asked = json.dumps({"arguments": arguments, "cwd": folder, "env": environment, "before": before}).encode() + b"\n"
        sent = socket.send_fds(connection, [asked], streams)
        connection.sendall(asked[sent:])
        return int(connection.recv(16))


#: A command ``privrelease`` that has the server do its work. It imports this file's :func:`ask`, without the site's packages.
PROGRAM = """#!{python} -IS
import os, sys
sys.path.insert(0, {tests!r})
from fork_server import ask
code = ask({address!r}, sys.argv[1:], os.getcwd(), dict(os.environ), [0, 1, 2])
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


class ForkServer:
    """The side of the tests: starts the server at the first command, and stops it."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._ours: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()

    def _started(self) -> str:
        """The address of the server."""
        with self._starting:
            return self._address()

    def _address(self) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="privrelease-forks-")
            self._ours, theirs = socket.socketpair()
            listening = socket.socket(socket.AF_UNIX)
            with theirs, listening:
                listening.bind(f"{self._folder.name}/s")
                listening.listen()
                numbers = (listening.fileno(), theirs.fileno())
                self._process = subprocess.Popen(
                    [sys.executable, __file__, *map(str, numbers)],
                    pass_fds=numbers,
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, **ALONE},
                )
            assert self._ours.recv(5) == b"ready"
        return f"{self._folder.name}/s"

    def __call__(
        self, arguments: list[str], folder: Path, environment: dict[str, str], before: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in ``folder`` with exactly this environment.

        ``before``: lines of Python that are run first, in the command's process: they plant a fault, or the moment at which it is killed.
        """
        address = self._started()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(os.devnull).open("rb") as nothing:
            code = ask(address, arguments, str(folder), environment, [nothing.fileno(), out.fileno(), err.fileno()], before)
            said = []
            for stream in (out, err):
                stream.seek(0)
                said.append(stream.read().decode())
            return subprocess.CompletedProcess(arguments, code, *said)

    def programs(self) -> Path:
        """A folder for the front of PATH, whose ``privrelease`` is run by the server: for shells that call it by name."""
        address = self._started()
        program = Path(address).with_name("bin") / "privrelease"
        if not program.exists():
            program.parent.mkdir()
            text = PROGRAM.format(python=sys.executable, tests=str(Path(__file__).parent), address=address)
            program.write_text(text, encoding="utf-8")
            program.chmod(0o755)
        return program.parent

    def stop(self) -> None:
        """End the server; nothing where none was started."""
        if self._folder is not None and self._ours is not None and self._process is not None:
            self._ours.close()
            self._process.wait()
            self._folder.cleanup()


if __name__ == "__main__":
    # Machines lose power, tests do not: what is kept through a kill is kept by the kernel. Waiting for the disk would be half of a run.
    os.fsync = lambda descriptor: None  # type: ignore[assignment]
    serve(*(socket.socket(fileno=int(number)) for number in sys.argv[1:]))
