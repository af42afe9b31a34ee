"""Declarations of a key of the policy language about itself, written at the key in its model.

>>> from typing import Annotated
>>> from privrelease.policy.language.number_values import Risk
>>> highest_risk = Annotated[Risk | None, Stricter.LOWER]

A key that says nothing is fixed in every environment, and every change of it weakens, until somebody has decided in which direction it is
stricter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

from privrelease.policy.language.values import ColumnName
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from privrelease.policy.changes.directions import Judge

__all__ = [
    "ABSENT",
    "FREE",
    "FREE_BELOW",
    "KEEP",
    "ONE_ALONE",
    "OWN_COLUMNS",
    "RECODES",
    "Allowed",
    "Consequence",
    "DeclaredColumn",
    "Judged",
    "Mark",
    "Ref",
    "Stricter",
    "one_alone",
]

#: Stands for the old or new value of an element that the old or new policy does not have.
ABSENT: Final = object()
#: Words of a key that an environment may not change in any direction that it has.
KEEP: Final = "must not change"


@dataclass(frozen=True, slots=True)
class Allowed:
    """A change that an environment may make: one for which ``allows(old, new)`` holds; ``rule`` says so in words.

    ``stricter``: such a change promises more; otherwise it promises the same. ``below``: holds for everything below the key too.
    ``exempt``: holds also where a judge calls the change weaker: a file that is read from elsewhere.
    """

    allows: Callable[[object, object], bool]
    rule: str = KEEP
    stricter: bool = True
    below: bool = False
    exempt: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge of changes, where the direction of a value does not tell; ``below``: of everything below the key too."""

    judge: Judge
    below: bool = False


@dataclass(frozen=True, slots=True)
class Consequence:
    """Words that follow a change of the value, whatever its verdict: what it means for releases that exist already."""

    words: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A property that a key has or has not."""

    name: str


#: The key says which meaning a cell of a file has: with another value the same cell is read as another.
RECODES: Final = Mark("recodes")
#: A list of one is written as its item.
ONE_ALONE: Final = Mark("one alone")


@dataclass(frozen=True, slots=True)
class Ref:
    """A name that must exist in a section of the policy; ``columns``: in the dataset that the names next to it are about.

    ``of_columns``: columns named in the same mapping are those of this dataset, or of the dataset that this release is made of.
    ``file_hint``: what to do where the name looks like that of a file.
    """

    section: Literal["datasets", "columns", "threats", "releases", "checks"]
    of_columns: bool = False
    file_hint: str | None = None


#: Columns named inside an element are those of the element itself.
OWN_COLUMNS: Final = Mark("own columns")

#: The name of a column that the dataset declares.
DeclaredColumn = Annotated[ColumnName, Ref("columns")]


def one_alone(values: object) -> object:
    """Return the item of a list of one, any other value as it is."""
    return values[0] if isinstance(values, list) and len(values) == 1 else values


def _any(_old: object, _new: object) -> bool:
    return True


#: An environment may change the key at will: it promises nothing.
FREE: Final = Allowed(_any, stricter=False)
#: The same for the key and everything below it.
FREE_BELOW: Final = Allowed(_any, stricter=False, below=True)


def _lower(old: object, new: object) -> bool:
    return old is None or (new is not None and cast("Decimal", new) <= cast("Decimal", old))


def _lower_from_0(old: object, new: object) -> bool:
    return new is None or (old is not None and cast("Decimal", new) <= cast("Decimal", old))


def _higher(old: object, new: object) -> bool:
    return old is None or (new is not None and cast("Decimal", new) >= cast("Decimal", old))


def _higher_to_all(old: object, new: object) -> bool:
    return new is None or (old is not None and cast("Decimal", new) >= cast("Decimal", old))


def _set(value: object) -> set[object]:
    return set(cast("tuple[object, ...]", value))


def _more(old: object, new: object) -> bool:
    return _set(old) <= _set(new)


def _fewer(old: object, new: object) -> bool:
    return _set(new) <= _set(old)


def _fewer_of_all(old: object, new: object) -> bool:
    return new is not None and (old is None or _set(new) <= _set(old))


def _newly(old: object, _new: object) -> bool:
    return old is None


def _named(_old: object, new: object) -> bool:
    return new is not None


def _added(old: object, _new: object) -> bool:
    return old is ABSENT


def _removed(_old: object, new: object) -> bool:
    return new is ABSENT


def _to_true(_old: object, new: object) -> bool:
    return new is True


def _only(old: object, new: object) -> Callable[[object, object], bool]:
    return lambda before, after: (before, after) == (old, new)


class Stricter:
    """Directions in which a key becomes stricter."""

    LOWER: Final = Allowed(_lower, "may become lower only")
    """A limit from above: newly set or lower."""
    LOWER_FROM_0: Final = Allowed(_lower_from_0, "may become lower only")
    """A limit that represents 0 where it is not set."""
    HIGHER: Final = Allowed(_higher, "may become higher only")
    """A limit from below: newly set or higher."""
    HIGHER_TO_ALL: Final = Allowed(_higher_to_all, "may become higher only")
    """A share that represents all where it is not set."""
    SET: Final = Allowed(_newly, "may be added only")
    """Any value where there was none."""
    MORE: Final = Allowed(_more, "may only be added to")
    """A list of which nothing is removed."""
    FEWER: Final = Allowed(_fewer, "may only lose entries")
    """A list to which nothing is added."""
    FEWER_COLUMNS: Final = Allowed(_fewer_of_all, "may lose columns only")
    """Columns of which none is added; not set represents all."""
    ADDED: Final = Allowed(_added, "must not be removed")
    """An element of a section that is new; none may be removed."""
    REMOVED: Final = Allowed(_removed, "must not be added")
    """An element of a section that is removed; none may be new."""
    NAMED: Final = Allowed(_named, "may be added or pointed elsewhere only", exempt=True)
    """A file to measure against, newly named or read from elsewhere."""
    POINTED: Final = Allowed(_named, "may be pointed elsewhere only", exempt=True)
    """A file to measure against, read from elsewhere."""
    TRUE: Final = Allowed(_only(old=False, new=True), "may change from false to true only")
    """A flag that asks for more where it is true."""
    TO_TRUE: Final = Allowed(_to_true, "may change to true only")
    """A flag that asks for most where it is true, given before or not."""
    FALSE: Final = Allowed(_only(old=True, new=False), "may change from true to false only")
    """A flag that asks for more where it is false."""

    @staticmethod
    def becomes(old: str, new: str) -> Allowed:
        """Return the direction of a key of which one word is stricter than another."""
        return Allowed(_only(old, new), f"may change from {old} to {new} only")

    @staticmethod
    def ranked(*values: object) -> Allowed:
        """Return the direction of a key with values from the laxest to the strictest."""
        words = ", ".join("not set" if value is None else str(value) for value in values)
        return Allowed(lambda old, new: values.index(new) >= values.index(old), f"may become stricter only ({words})")
