"""ARX next to our solver, where its jar is given: `PRIVRELEASE_ARX=libarx-3.9.2.jar`, or several files as in a class path.

`ArxCellSuppression.java` is compiled and run by Java's launcher of single source files, a process for each call, so that a JDK of version 17 or
later is needed (`JAVA_HOME`, else `java` on the path). A jar that is missing, a Java that cannot compile, a driver that fails and one that does not
end in time are faults with one line of text: whoever measures prints it and goes on without ARX.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as pa_csv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.disclosure.risk.thresholds import Thresholds

DRIVER = Path(__file__).with_name("ArxCellSuppression.java")
DELIMITER = ";"
OLDEST_JAVA = 17
#: Seconds after which a process of the driver is ended.
LIMIT = 900.0
#: Runs after the first one in the same JVM: many where one takes a fraction of a second, since Java compiles what it has run often.
WARM, WARM_ROWS = 5, 100_000


class ArxError(Exception):
    """The reason why ARX has no figure, in one line."""


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Figures of one process: suppressed cells of the quasi-identifiers, and CPU seconds of Java's main thread."""

    version: str
    records: int
    cells: int
    first: float
    warm: tuple[float, ...]
    entropy: float | None
    """Non-uniform entropy that is kept, by the frequencies among suppressed cells; none where it was not asked for."""


@dataclass(frozen=True, slots=True)
class Arx:
    """The jars of ARX and the Java that runs our driver with them."""

    java: str
    jars: str

    def suppress(
        self, data: Path, q: int, thresholds: Thresholds, *, warm: int = 0, entropy: bool = False, limit: float = LIMIT
    ) -> Suppressed:
        """Suppress cells of the first ``q`` columns of a file that `write_rows` wrote, once and then ``warm`` times again."""
        average = "-" if thresholds.average is None else str(float(thresholds.average))
        asked = (str(q), str(thresholds.k), average, str(warm), "yes" if entropy else "no")
        command = [self.java, "-cp", self.jars, str(DRIVER), str(data), DELIMITER, *asked]
        try:
            ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            raise ArxError(f"its process was ended after {limit:g} seconds ({data.name}, {q} columns)") from None
        if ended.returncode:
            raise ArxError(f"its process exited with {ended.returncode}: {_reason(ended.stderr)}")
        try:
            found = json.loads(ended.stdout.splitlines()[-1])
            return Suppressed(**found | {"warm": tuple(found["warm"])})
        except (IndexError, KeyError, TypeError, ValueError):
            raise ArxError("its process printed no line of figures") from None


def _reason(errors: str) -> str:
    """Return the first line of an error output that names an error, else the last one."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    named = [line for line in lines if re.search(r"error|exception", line, re.IGNORECASE)]
    return (named or lines[-1:] or ["no text"])[0][:300]


def _java(environment: Mapping[str, str]) -> str:
    """Return a Java that compiles: a JRE runs classes, and has no compiler for our driver."""
    home = environment.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin") if home else environment.get("PATH", ""))
    if java is None:
        raise ArxError(f"no java was found {'in JAVA_HOME' if home else 'on the path'}: install a JDK of version {OLDEST_JAVA}")
    modules = subprocess.run([java, "--list-modules"], check=False, capture_output=True, text=True).stdout
    version = re.search(r"^java\.base@(\d+)", modules, re.MULTILINE)
    if version is None or int(version[1]) < OLDEST_JAVA:
        raise ArxError(f"{java} is Java {version[1] if version else 'of an unknown version'}: {OLDEST_JAVA} or later is needed")
    if "jdk.compiler@" not in modules:
        raise ArxError(f"{java} is a JRE, without a compiler for the driver: install a JDK of version {OLDEST_JAVA}")
    return java


def find(environment: Mapping[str, str]) -> Arx | None:
    """Return ARX where `PRIVRELEASE_ARX` names its jars, none where it is not set."""
    jars = environment.get("PRIVRELEASE_ARX")
    if not jars:
        return None
    missing = [one for one in jars.split(os.pathsep) if not Path(one).is_file()]
    if missing:
        raise ArxError(f"PRIVRELEASE_ARX names {missing[0] or 'an empty path'}, which is not a file")
    return Arx(_java(environment), os.pathsep.join(str(Path(one).resolve()) for one in jars.split(os.pathsep)))


def given() -> Arx | None:
    """Return ARX, and say so where it is given and cannot be run."""
    try:
        return find(os.environ)
    except ArxError as fault:
        left_out(fault)
        return None


def left_out(fault: ArxError) -> None:
    """Say that the tables have no figures of ARX from here on, and why."""
    print(f"\nARX is left out: {fault}", flush=True)


def write_rows(data: pa.Table, path: Path) -> Path:
    """Write the rows that both suppress, in a form that ARX reads without quotes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.write((DELIMITER.join(data.column_names) + "\n").encode())
        pa_csv.write_csv(data, stream, pa_csv.WriteOptions(include_header=False, delimiter=DELIMITER, quoting_style="none"))
    return path
