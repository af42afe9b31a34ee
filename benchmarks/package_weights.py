"""Weights of what an installation brings: every package that privrelease needs, with its size on disk, as a table for docs/installation.md.

Run it in the environment to be weighed: ``python benchmarks/package_weights.py``. Extras of development that are installed, too, are left out:
only what follows from the package's own requirements is counted, each package once.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = "privrelease"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(one: Distribution) -> tuple[str, ...]:
    """Names of the packages that a distribution requires here, without extras."""
    return named(one.requires or ())


def named(requirements: Iterable[str]) -> tuple[str, ...]:
    found = []
    for line in requirements:
        requirement, _, marker = line.partition(";")
        match = _NAME.match(requirement.strip())
        if match is not None and "extra" not in marker and _applies(marker):
            found.append(canonical(match[0]))
    return tuple(found)


def _applies(marker: str) -> bool:
    from packaging.markers import Marker

    return not marker.strip() or Marker(marker).evaluate()


def weighed() -> dict[str, tuple[str, int, tuple[str, ...]]]:
    """Every needed package: version, bytes of its files, and the packages that ask for it."""
    asked: dict[str, set[str]] = {}
    own = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    waiting = [(name, ROOT) for name in named(own)]
    while waiting:
        name, by = waiting.pop()
        known = name in asked
        asked.setdefault(name, set()).add(by)
        if not known:
            try:
                waiting += [(other, name) for other in needed(distribution(name))]
            except PackageNotFoundError:
                continue
    found = {}
    for name, by in asked.items():
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue
        places = {Path(str(one.locate_file(file))) for file in one.files or ()}
        size = sum(path.stat().st_size for path in places if path.is_file())
        found[name] = (one.version, size, tuple(sorted(by)))
    return found


def table() -> str:
    """The weights as Markdown, the heaviest first; small ones in one line."""
    found = sorted(weighed().items(), key=lambda item: -item[1][1])
    total = sum(size for _, (_, size, _) in found)
    lines = ["| package | version | MB | asked for by |", "|---|---|---:|---|"]
    large = [item for item in found if item[1][1] >= 1_000_000]
    lines += [f"| {name} | {version} | {size / 1e6:.1f} | {', '.join(by)} |" for name, (version, size, by) in large]
    rest = [size for _, (_, size, _) in found if size < 1_000_000]
    lines.append(f"| {len(rest)} smaller ones | | {sum(rest) / 1e6:.1f} | |")
    lines.append(f"| all {len(found)} | | {total / 1e6:.1f} | |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
