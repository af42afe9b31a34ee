"""Keys of the methods that measure marginals, MST and AIM: the workload, the size of the model, the rounds."""

import re
from collections import Counter
from math import comb
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BeforeValidator, Field, WithJsonSchema

from privrelease.policy.changes.directions import always
from privrelease.policy.language.keys import DeclaredColumn, Judged
from privrelease.policy.language.number_values import Count
from privrelease.policy.language.values import Frozen, as_text
from privrelease.policy.text.messages import problem, shown

if TYPE_CHECKING:
    from privrelease.policy.language.synthetic import SyntheticRelease

__all__ = ["AIM_KEYS", "MST_KEYS", "MarginalKeys", "WorkloadSpec", "aim_settings", "mst_settings"]

#: Bytes of the model's potentials where no size is given: 10 million of them.
_DEFAULT_SIZE: Final = 80 << 20
_UNITS: Final = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_LARGEST_SIZE: Final = 16 << 30
#: Most marginals of a workload, and columns of one where none are given.
_MOST_MARGINALS: Final = 20_000
_DEFAULT_WAYS: Final = 3


def _size(value: object) -> int:
    found = re.fullmatch(r"([0-9]{1,12})(?: ?(KiB|MiB|GiB))?", str(as_text(value)))
    if found is None:
        message = f"must be a size such as 80MiB, got {shown(value)}"
        raise problem(message, code="P764", hint="write a whole number with KiB, MiB or GiB, or of bytes")
    size = int(found[1]) * _UNITS.get(found[2], 1)
    if not _UNITS["KiB"] <= size <= _LARGEST_SIZE:
        message = "must be at least 1KiB and at most 16GiB"
        raise problem(message, code="P764", hint="80MiB hold 10 million potentials")
    return size


_SIZE_SCHEMA: Final = {
    "anyOf": [
        {"type": "integer", "minimum": 1 << 10, "maximum": _LARGEST_SIZE},
        {"type": "string", "pattern": "^[0-9]{1,12} ?(KiB|MiB|GiB)$"},
    ]
}
Size = Annotated[int, BeforeValidator(_size), WithJsonSchema(_SIZE_SCHEMA)]


class WorkloadSpec(Frozen):
    """Marginals that the synthetic rows are wanted for: all of so many columns, or one."""

    ways: Annotated[Count | None, Judged(always("breaking"))] = None
    """All marginals of so many columns."""
    columns: Annotated[tuple[DeclaredColumn, ...] | None, Field(min_length=1), Judged(always("breaking"))] = None
    """The columns of one marginal."""
    weight: Annotated[Count, Field(le=1000), Judged(always("breaking"))] = 1
    """The weight of each of them."""


class MarginalKeys(Frozen):
    """Keys of MST and AIM."""

    workload: Annotated[tuple[WorkloadSpec, ...] | None, Field(min_length=1), Judged(always("breaking"), below=True)] = None
    """AIM: the marginals that the rows are wanted for; all of three columns where none are given."""
    model_size: Annotated[Size | None, Judged(always("breaking"))] = None
    """The most that the potentials of the model's junction tree take; 80MiB where it is not given."""
    rounds: Annotated[Count | None, Judged(always("breaking"))] = None
    """AIM: the most rounds; 16 a column where none are given."""


MST_KEYS: Final = frozenset({"model_size"})
AIM_KEYS: Final = frozenset({"workload", "model_size", "rounds"})


def mst_settings(release: "SyntheticRelease") -> dict[str, object]:
    """Return the exact settings of MST."""
    return {"model_size": release.model_size or _DEFAULT_SIZE}


def aim_settings(release: "SyntheticRelease") -> dict[str, object]:
    """Return the exact settings of AIM: ``workload`` as a list of (number of columns or names, weight), sorted.

    Raises FaultError (P760 to P766) where the workload or the rounds do not fit the columns that are modelled.
    """
    from privrelease.policy.statistics.query_errors import fail

    modelled = sorted(name for name in release.columns if name not in release.make)
    asked: Counter[int | tuple[str, ...]] = Counter()
    for number, one in enumerate(release.workload or ()):
        at = ("workload", number)
        if (one.ways is None) == (one.columns is None):
            fail(
                "P762",
                "a part of the workload has `ways` or `columns`, one of the two",
                *at,
                hint="remove one, or write the other",
            )
        if one.ways is not None:
            if one.ways > len(modelled):
                message = f"`ways` is {one.ways}, and {len(modelled)} columns are modelled"
                fail("P761", message, *at, "ways", hint=f"write at most {len(modelled)}")
            asked[one.ways] += one.weight
        else:
            asked[_columns(one, modelled, at)] += one.weight
    asked = asked or Counter({min(_DEFAULT_WAYS, len(modelled)): 1})
    count = sum(1 if isinstance(one, tuple) else comb(len(modelled), one) for one in asked)
    if count > _MOST_MARGINALS:
        message = f"the workload has {count} marginals, and at most {_MOST_MARGINALS} are taken"
        fail("P766", message, "workload" if release.workload else "method", hint="write e.g. `workload: [{ways: 2}]`")
    rounds = release.rounds or 16 * len(modelled)
    if rounds <= len(modelled):
        message = f"`rounds` is {rounds}, and each of {len(modelled)} columns is measured once before the last round"
        fail("P763", message, "rounds", hint=f"write at least {len(modelled) + 1}, or leave it out")
    listed = sorted(asked.items(), key=lambda item: ([], item[0]) if isinstance(item[0], tuple) else ([item[0]], ()))
    return {
        "workload": [[one if isinstance(one, int) else list(one), weight] for one, weight in listed],
        "model_size": release.model_size or _DEFAULT_SIZE,
        "rounds": rounds,
    }


def _columns(one: WorkloadSpec, modelled: list[str], at: tuple[Any, ...]) -> tuple[str, ...]:
    from privrelease.policy.statistics.query_errors import fail

    names = one.columns or ()
    for place, name in enumerate(names):
        if name not in modelled:
            message = f"the workload names {shown(name)}, which is not modelled"
            fail("P760", message, *at, "columns", place, hint="add it to `columns` of the release, or remove it here")
        if name in names[:place]:
            fail("P765", f"the workload names {shown(name)} twice in one marginal", *at, "columns", place, hint="remove one")
    return tuple(sorted(names))
