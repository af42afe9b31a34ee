"""Install what a file pins into the environment of the Python that runs this, on all cores: pip installs and compiles on one.

Usage: python ci/install.py PINNED [--package]. PINNED names every package with its version and hashes, and with it all that it needs: so several
pip install a share each. Compiled is all but the tests of libraries, which no one imports; what a Python cannot compile is passed over, as pip
does. ``--package``: this package as well, so that changes of its files count at once. A line on stderr says what begins: each step takes seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
PINNED = (*PIP, "--no-compile", "--require-hashes", "--requirement")
PACKAGE = (*PIP, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
#: Shares a core: where one is heavy, the other core takes the rest.
SHARES = 2


def shares(pinned: str, count: int) -> list[str]:
    """Return the packages of a file in shares, each as the text of such a file."""
    packages = list[list[str]]()
    for line in pinned.splitlines(keepends=True):
        if line[:1].isalnum():
            packages.append([line])
        elif packages:
            packages[-1].append(line)
    return [
        "".join(line for package in packages[first::count] for line in package) for first in range(min(count, len(packages)))
    ]


def say(line: str) -> None:
    """Write a line at once, so that no one waits without knowing for what."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def install(pinned: Path, cores: int) -> int:
    """Install all that the file names; return pip's exit code."""
    count = len(shares(pinned.read_text(encoding="utf-8"), sys.maxsize))
    say(f"installing the {count} packages of {pinned.name}, which can take a minute")
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(cores) as pool:
        files = []
        for number, share in enumerate(shares(pinned.read_text(encoding="utf-8"), SHARES * cores)):
            files.append(Path(name) / f"{number}.txt")
            files[-1].write_text(share, encoding="utf-8")
        codes = list(pool.map(lambda file: subprocess.run([*PINNED, str(file), "--no-deps"], check=False).returncode, files))
    if any(codes):
        say("a part could not be installed: pip tries all of it once more")
    # Whatever stood against a share, one pip alone installs what is missing, or says why it cannot.
    return subprocess.run([*PINNED, str(pinned)], check=False).returncode if any(codes) else 0


def main() -> int:
    """Install and compile; return the first exit code that is not 0."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    code = install(ROOT / sys.argv[1], cores)
    if code:
        return code
    package = "--package" in sys.argv[2:]
    say("compiling them" + (", and building privrelease with its loops" if package else ""))
    compiled = [str(Path(sys.prefix) / "lib"), *([str(ROOT / "privrelease")] if package else [])]
    compiling = subprocess.Popen([sys.executable, "-m", "compileall", "-qq", "-j", str(cores), "-x", "/tests?/", *compiled])
    if package:
        code = subprocess.run(PACKAGE, check=False).returncode
    compiling.wait()
    return code


if __name__ == "__main__":
    sys.exit(main())
