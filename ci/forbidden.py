"""Refuse what must not stand in the repository: registries' hosts, paths of one machine, open ends, tests that cannot fail."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Written in pieces, so that this file does not find itself.
HOSTS = "|".join(("pypi" + r"\.org", "python" + "hosted", "registry" + r"\.npmjs", "deb" + r"\.debian\.org"))
PATHS = "|".join(
    rf"(?<![\w./]){path}/" for path in ("/wo" + "rk", "/ro" + "ot", "/tm" + "p/ws", "/fa" + "rm", "/opt/" + "wheels")
)
RULES = (
    ("names a package registry's host", re.compile(HOSTS), ("*",)),
    ("names a path of one machine", re.compile(PATHS), ("*",)),
    (
        "an open end",
        re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X{3})\b|raise NotImplemented" + "Error"),
        ("*.py", "*.html", "*.j2"),
    ),
    ("a test that cannot fail", re.compile(r"^\s*assert Tr" + r"ue\b"), ("*.py",)),
)


def tracked_files() -> list[Path]:
    """Return every file that git tracks or would add."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607 -- git is found on PATH
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [ROOT / line for line in listing.stdout.splitlines()]


def main() -> int:
    """Print every place that breaks a rule; return 1 if there is one."""
    found = 0
    for path in tracked_files():
        if not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for why, pattern, globs in RULES:
            if not any(path.match(glob) for glob in globs):
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if pattern.search(line):
                    sys.stderr.write(f"{path.relative_to(ROOT)}:{number}: {why}\n")
                    found = 1
    return found


if __name__ == "__main__":
    sys.exit(main())
