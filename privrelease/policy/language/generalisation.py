"""Transform steps that write values coarser than they are: by a hierarchy, by their ends, by rounding."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from privrelease.policy.changes import hierarchy_changes as coarser
from privrelease.policy.changes.directions import always
from privrelease.policy.changes.hierarchy_changes import level_rank
from privrelease.policy.language.keys import ONE_ALONE, Allowed, DeclaredColumn, Judged
from privrelease.policy.language.number_values import Count, Exact, Positive
from privrelease.policy.language.steps import Step
from privrelease.policy.language.values import CHOICE, as_text
from privrelease.policy.text.messages import problem, shown
from privrelease.relational.hierarchies import DATE_UNITS, Coded, Generalised, RoundedTo, Unread
from privrelease.relational.schema import ColumnType
from privrelease.relational.treatments import Recoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from privrelease.findings import Finding
    from privrelease.policy.language.datasets import ColumnSpec
    from privrelease.policy.rules.rule_context import RuleContext
    from privrelease.policy.validation.paths import Roots
    from privrelease.relational.treatments import Treatment

__all__ = ["CodeStep", "GeneraliseStep", "RoundStep"]


def _level(value: object) -> object:
    text = as_text(value) if isinstance(value, str) else value
    if text in DATE_UNITS:
        return text
    if isinstance(text, str) and not text.lstrip("-").isdecimal():
        message = f"needs a number from 1 or a unit of time, got {shown(value)}"
        raise problem(message, hint=f"units: {', '.join(DATE_UNITS)}")
    number: int = _COUNT.func(value)
    return number


_COUNT: Any = next(mark for mark in get_args(Count) if isinstance(mark, BeforeValidator))
_LEVEL_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "enum": list(DATE_UNITS)}]}
_LevelNumber = Annotated[int | str, BeforeValidator(_level), WithJsonSchema(_LEVEL_SCHEMA)]


def _coarser(old: object, new: object) -> bool:
    before, after = level_rank(old), level_rank(new)
    return before is not None and after is not None and before[0] == after[0] and after >= before


_RAISED = Allowed(_coarser, "may become higher only")


def _several(value: object) -> object:
    """One column represents a list of one."""
    return (value,) if isinstance(value, str) else value


_Column = Annotated[DeclaredColumn, Judged(coarser.coarse)]
_Names = Annotated[tuple[_Column, ...], Field(min_length=1)]
_Columns = Annotated[
    tuple[_Column, ...],
    BeforeValidator(_several, json_schema_input_type=_Names | _Column),
    Field(min_length=1),
    ONE_ALONE,
]


class GeneraliseStep(Step):
    """Values of these columns are written as labels of their hierarchies."""

    named: ClassVar[str] = "generalise"
    contains: ClassVar[bool] = True

    generalise: _Columns
    """Names of the columns."""
    level: Annotated[_LevelNumber, _RAISED, Judged(coarser.level)] = 1
    """The level of the hierarchy, from 1; of dates also by its unit."""
    write: Annotated[Literal["label", "low", "middle"], CHOICE, Judged(always("breaking"))] = "label"
    """The form that is written: the label as a text, or the lowest or middle value of an interval, which keeps the column's type."""

    def treatment(self, column: str, spec: "ColumnSpec") -> "Treatment":
        """Return that values are recoded by a hierarchy that is yet to be read."""
        del column, spec
        return Recoded(Unread(self.write))

    def planned(self, column: str, spec: "ColumnSpec", roots: "Roots") -> "Treatment":
        """Return the map by the column's hierarchy."""
        from privrelease.policy.hierarchies.forms import resolve
        from privrelease.policy.hierarchies.levels import level_name, level_number

        del column
        form, faults = resolve(spec, roots)
        assert form is not None, [fault.message for fault in faults]  # a policy with faults is not loaded
        number = level_number(form, self.level)
        assert number is not None
        return Recoded(Generalised(form, number, self.write, level_name(form, number)))

    def files(self, column: str, spec: "ColumnSpec") -> tuple[str, ...]:
        """Return the files of the column's hierarchy."""
        from privrelease.policy.hierarchies.levels import written_files

        del column
        return written_files(spec)

    def faults(
        self, reading: "RuleContext", path: tuple[str | int, ...], columns: "Mapping[str, ColumnSpec]"
    ) -> "Iterator[Finding]":
        """Yield columns without a hierarchy, levels that it lacks, and what cannot be written of a level."""
        from privrelease.policy.hierarchies.step_rules import generalise_faults

        yield from generalise_faults(self, reading, path, columns)


class CodeStep(Step):
    """The largest, or smallest, values of these columns are written as one; those between stay."""

    named: ClassVar[str] = "code"
    contains: ClassVar[bool] = True
    takes: ClassVar[frozenset[ColumnType] | None] = frozenset({ColumnType.INTEGER, ColumnType.NUMBER})

    code: _Columns
    """Names of the columns."""
    top: Annotated[Exact | None, Judged(coarser.upper_end)] = None
    """Values from here on are one."""
    bottom: Annotated[Exact | None, Judged(coarser.lower_end)] = None
    """Values below are one."""
    write: Annotated[Literal["label", "low"], CHOICE, Judged(always("breaking"))] = "label"
    """The form that is written: `90+`, which makes the column a text; or the number at the top."""

    def treatment(self, column: str, spec: "ColumnSpec") -> "Treatment":
        """Return the map that draws the ends together."""
        from privrelease.policy.hierarchies.forms import step_of

        del column
        return Recoded(Coded(self.bottom, self.top, self.write, step_of(spec)))

    def faults(
        self, reading: "RuleContext", path: tuple[str | int, ...], columns: "Mapping[str, ColumnSpec]"
    ) -> "Iterator[Finding]":
        """Yield ends that are none, or that the column's values cannot have."""
        from privrelease.policy.hierarchies.step_rules import code_faults

        yield from code_faults(self, reading, path, columns)


class RoundStep(Step):
    """Numbers of these columns are written as the nearest multiple of a step."""

    named: ClassVar[str] = "round"
    contains: ClassVar[bool] = True
    takes: ClassVar[frozenset[ColumnType] | None] = frozenset({ColumnType.INTEGER, ColumnType.NUMBER})

    round: _Columns
    """Names of the columns."""
    to: Annotated[Positive, Judged(coarser.multiple)]
    """Step whose multiples are written; of two that are as near, the one with an even factor."""

    def treatment(self, column: str, spec: "ColumnSpec") -> "Treatment":
        """Return the map to the nearest multiple."""
        from privrelease.policy.hierarchies.forms import step_of

        del column
        return Recoded(RoundedTo(self.to, step_of(spec) or self.to))

    def faults(
        self, reading: "RuleContext", path: tuple[str | int, ...], columns: "Mapping[str, ColumnSpec]"
    ) -> "Iterator[Finding]":
        """Yield a step that rounds nothing, and numbers that are not exact."""
        from privrelease.policy.hierarchies.step_rules import round_faults

        yield from round_faults(self, reading, path, columns)
