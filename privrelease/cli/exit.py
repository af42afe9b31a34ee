"""End of a command: exit code, the last line on stderr that says why, and errors without a traceback.

The text printed here may be read by more people than the data: an exception's own text is shown only where it is one of ours.
Of every other exception only its type and the place in our code are named, since its message may hold a cell.
"""

from __future__ import annotations

import os
import traceback
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from privrelease.errors import InputError, PolicyError, PrivreleaseError
from privrelease.interruption import is_interruption
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from privrelease.findings import Finding

__all__ = ["INTERRUPTED", "MEANINGS", "Ending", "ended", "ending_of", "gone", "worst"]

#: What each exit code means (POLICY.md, "The command line").
MEANINGS: Final[dict[int, str]] = {
    0: "all checks pass",
    1: "a check failed",
    2: "bad usage or bad policy",
    3: "input or environment",
    4: "budget refused",
    5: "a required approval or review is missing; the release is parked",
    70: "a fault of ours",
}

#: Exit codes from the worst to the best: a fault of ours, what could not run, what must not be published, what waits, what
#: passed.
_WORST_FIRST: Final = (70, 2, 3, 4, 1, 5, 0)

_PACKAGE = Path(__file__).resolve().parents[1]
_MEMORY_HINT = "allow more with --memory-limit, name a roomy folder with --temp, or use fewer --threads"


@dataclass(frozen=True, slots=True)
class Ending:
    """The exit code and why. ``said``: what is written to stderr before the last line; ``findings``: the same for machines.

    ``meaning``: what the code means here, where its usual meaning would say too much.
    """

    code: int
    reason: str = ""
    said: str = ""
    findings: tuple[Finding, ...] = field(default=())
    meaning: str = ""

    @property
    def last_line(self) -> str:
        """The last line on stderr.

        >>> Ending(1, "release microdata: highest risk").last_line
        'exit 1: a check failed: release microdata: highest risk'
        >>> Ending(0, "the policy is valid").last_line
        'exit 0: the policy is valid'
        """
        meaning = self.meaning or MEANINGS[self.code]
        if not self.reason:
            return f"exit {self.code}: {meaning}"
        return f"exit {self.code}: {self.reason}" if self.code == 0 else f"exit {self.code}: {meaning}: {self.reason}"


def ended(command: Callable[[], Ending], *, crash_folder: Path | None = None) -> Ending:
    """Run a command; whatever it raises becomes an ending."""
    try:
        return command()
    except BrokenPipeError:
        return gone()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 -- the last place before the user: nothing may pass as a traceback
        return ending_of(error, crash_folder=crash_folder)


INTERRUPTED: Final = Ending(3, "interrupted; nothing was published by what was interrupted")


def gone() -> Ending:
    """End after whoever read stdout went away: nothing more can be said there, and the interpreter must not try at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return Ending(3, "the reader of stdout went away")


def ending_of(error: Exception, *, crash_folder: Path | None = None) -> Ending:
    """Return the ending for an exception.

    >>> ending_of(ValueError("a made-up cell")).said.splitlines()[0]
    'C900 a fault of ours: ValueError outside our code'
    """
    if is_interruption(error):
        return INTERRUPTED
    if isinstance(error, PrivreleaseError):
        return _known(error)
    kind = type(error)
    if isinstance(error, MemoryError) or kind.__name__ == "OutOfMemoryException":
        return _from(InputError("C311", "there was not enough memory", hint=_MEMORY_HINT))
    if isinstance(error, OSError):
        return _from(InputError("C312", _of_system(error), hint="check that the path exists, may be used, and has room"))
    if kind.__module__.partition(".")[0] in {"duckdb", "_duckdb"} and kind.__name__ in {"IOException", "HTTPException"}:
        return _from(InputError("C313", "the engine could not read or write a file", hint="check space, rights and paths"))
    return _fault(error, crash_folder)


def _known(error: PrivreleaseError) -> Ending:
    findings: tuple[Finding, ...] = getattr(error, "findings", ())
    many = f"{len(findings)} errors, first {findings[0].code}" if len(findings) > 1 else error.code
    reason = "the policy cannot be used" if isinstance(error, PolicyError) else ""
    return Ending(error.exit_code, f"{reason} ({many})" if reason else many, str(error), findings or (_finding(error),))


def _from(error: PrivreleaseError) -> Ending:
    return Ending(error.exit_code, error.code, str(error), (_finding(error),))


def _finding(error: PrivreleaseError) -> Finding:
    from privrelease.findings import Finding

    return Finding(error.code, error.message, location=error.location, hint=error.hint)


def _of_system(error: OSError) -> str:
    what = error.strerror or type(error).__name__
    return f"{error.filename}: {what}" if isinstance(error.filename, str) else what


def _fault(error: Exception, crash_folder: Path | None) -> Ending:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(_PACKAGE)]
    places = [f"privrelease/{Path(frame.filename).relative_to(_PACKAGE)}:{frame.lineno} {frame.name}" for frame in frames]
    where = f"in {places[-1]}" if places else "outside our code"
    kind = type(error).__name__
    kept = _crash_file(crash_folder, kind, places)
    report = f"report this line, and {kept}, which holds no data" if kept else "report this line; it holds no data"
    return Ending(70, f"{kind} {where}", f"C900 a fault of ours: {kind} {where}\nhint: {report}")


def _crash_file(folder: Path | None, kind: str, places: list[str]) -> Path | None:
    """Write where it happened, without messages or values, into a state folder that exists already."""
    if folder is None or not folder.is_dir():
        return None
    path = folder / "crash.txt"
    try:
        path.write_text("\n".join([kind, *places]) + "\n", encoding="utf-8")
    except OSError:
        return None
    return path


def worst(codes: Sequence[int]) -> int:
    """Return the exit code that represents several; one that no command gives (a killed one's) is the worst.

    >>> worst([0, 5, 1]), worst([0, 5]), worst([]), worst([70, -9])
    (1, 5, 0, -9)
    """
    return min(codes, key=lambda code: _WORST_FIRST.index(code) if code in _WORST_FIRST else -1, default=0)
