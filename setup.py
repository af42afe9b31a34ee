"""Build the inner loops: one C extension, for every Python from 3.11 on. All else about the package is in pyproject.toml.

Where no C compiler is found the package is built without it, and its plain loops do the same work, more slowly. PRIVRELEASE_BUILD_LOOPS
says otherwise: `required` stops the build where the extension cannot be built, `no` leaves it out.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from setuptools import Extension, setup

ROOT = Path(__file__).parent
SOURCES = Path("privrelease/loops/source")


def digest() -> str:
    """Return a digest of all C sources, by which a test sees that an extension was built from them."""
    parts = sorted((ROOT / SOURCES).glob("*.[ch]"))
    return hashlib.sha256(b"\0".join(part.name.encode() + b"\0" + part.read_bytes() for part in parts)).hexdigest()[:16]


def extensions() -> list[Extension]:
    """Return the extension, or nothing where it is not wanted."""
    wanted = os.environ.get("PRIVRELEASE_BUILD_LOOPS", "")
    if wanted == "no":
        return []
    return [
        Extension(
            "privrelease.loops.compiled",
            sources=sorted(str(SOURCES / part.name) for part in (ROOT / SOURCES).glob("*.c")),
            depends=sorted(str(SOURCES / part.name) for part in (ROOT / SOURCES).glob("*.h")),
            define_macros=[("Py_LIMITED_API", "0x030B0000"), ("SOURCE_DIGEST", f'"{digest()}"')],
            # Floats are added one by one, as the plain loops do: no contraction, no other order.
            extra_compile_args=[] if os.name == "nt" else ["-O3", "-std=c11", "-ffp-contract=off", "-fvisibility=hidden"],
            py_limited_api=True,
            optional=wanted != "required",
        )
    ]


if __name__ == "__main__":
    found = extensions()
    setup(ext_modules=found, options={"bdist_wheel": {"py_limited_api": "cp311"}} if found else {})
