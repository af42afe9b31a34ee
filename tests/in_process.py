"""The command line, called inside the process of the tests: what a test says of arguments, environment, streams and exit codes, without a process."""

from __future__ import annotations

import io
import os
import subprocess
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

from privrelease.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@contextmanager
def exactly(environment: dict[str, str]) -> Iterator[None]:
    """Have these environment variables and no others."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def call(arguments: Sequence[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command in ``folder`` with exactly this environment. What it raises is the test's."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with exactly(environment), chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = main(list(arguments))
    said = []
    for stream in (out, err):
        stream.flush()
        said.append(stream.buffer.getvalue().decode())
    return subprocess.CompletedProcess(list(arguments), code, *said)
