"""Transform steps: what a policy says of one, and what whoever reads a policy asks of any."""

from typing import TYPE_CHECKING, Any, ClassVar

from privrelease.policy.language.values import Frozen
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.datasets import ColumnSpec
    from privrelease.policy.rules.rule_context import RuleContext
    from privrelease.policy.validation.paths import Roots
    from privrelease.relational.treatments import Treatment

__all__ = ["Step"]


class Step(Frozen):
    """A transform step: its keys, and what whoever reads a policy asks of any step.

    ``named``: the key by which the step is told from others; its value lists the columns that the step is about. ``last``: it stands after the
    others and closes what they leave open; there is one such step at most. ``takes``: types of columns that it can change; None: any.
    ``valued``: the key whose value is all that :meth:`compared` has of a column, where it is so. ``contains``: a released value says which values of
    the source it may represent, so that known values can be compared with it.
    """

    named: ClassVar[str]
    takes: ClassVar[frozenset[ColumnType] | None] = None
    valued: ClassVar[str | None] = None
    last: ClassVar[bool] = False
    contains: ClassVar[bool] = False

    def listed(self) -> tuple[str, ...]:
        """Return the columns that stand under the step's key."""
        value = getattr(self, self.named)
        return (value,) if isinstance(value, str) else tuple(value)

    def removed(self) -> tuple[str, ...]:
        """Return the columns that are not released."""
        return ()

    def treatment(self, column: str, spec: "ColumnSpec") -> "Treatment | None":
        """Return what becomes of a listed column, declared by ``spec``; None where the step leaves its values as they are."""
        del column, spec
        return None

    def planned(self, column: str, spec: "ColumnSpec", roots: "Roots") -> "Treatment | None":
        """Return the treatment with what files below ``roots`` say of it, of a step without faults."""
        del roots
        return self.treatment(column, spec)

    def files(self, column: str, spec: "ColumnSpec") -> tuple[str, ...]:
        """Return the files, as the policy writes them, that say how the column is treated."""
        del column, spec
        return ()

    def faults(
        self, reading: "RuleContext", path: tuple[str | int, ...], columns: "Mapping[str, ColumnSpec]"
    ) -> "Iterator[Finding]":
        """Yield what is wrong with the step at ``path``, by the ``columns`` of its dataset; what holds for all steps is asked elsewhere."""
        del reading, path, columns
        yield from ()

    @classmethod
    def compared(cls, steps: "Sequence[Any]") -> object | None:
        """Return all steps of this name in one value, so that two policies are compared; None where there is nothing to compare.

        By the column that the step is about: its keys.
        """
        own = {field.alias or name: name for name, field in cls.model_fields.items() if name != cls.named}
        return {column: {key: getattr(one, name) for key, name in own.items()} for one in steps for column in one.listed()}

    @classmethod
    def within(cls, below: tuple[str, ...]) -> tuple[str, ...]:
        """Return where a name of :meth:`compared` stands in a step as it is written: the step's name, a column, a key."""
        return below[2:] or below[:1]
