"""Columns whose values a transform step replaces, before classes are formed and cells suppressed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from privrelease.engine.protocol.base import Recode
from privrelease.errors import InternalError
from privrelease.relational.treatments import CellRelation, declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.engine.protocol.base import Engine, Staged
    from privrelease.plan.model import MicrodataPlan, ReleasedColumn

__all__ = ["MAKERS", "Makers", "recoded"]

#: What makes released values: by the class of a map, from the map and an Arrow array of values of the source.
Makers: TypeAlias = "tuple[tuple[type[Any], Callable[[Any, Any], Any]], ...]"

#: The makers of the steps of this package: none of them changes values but by keyed pseudonyms, which the engine makes itself.
MAKERS: Makers = ()


def recoded(plan: MicrodataPlan, staged: Staged, engine: Engine, makers: Makers = MAKERS) -> Staged:
    """Return the source with the values of recoded columns replaced; the source itself where no step replaces any."""
    columns = [column for column in plan.columns if column.treatment.relation is CellRelation.MAPPED]
    if not columns:
        return staged
    return engine.recode(staged, [_recode(plan, column, makers) for column in columns])


def _recode(plan: MicrodataPlan, column: ReleasedColumn, makers: Makers) -> Recode:
    declared = declaration_of(column.treatment)
    make = next((one for kind, one in makers if type(declared) is kind), None)
    if make is None:
        raise InternalError(code="R196", message=f"no transform step makes the released values of {column.name}")
    # the domain is that of the source: what is released has values of its own
    released = replace(plan.source.column(column.name), type=column.type, domain=None)
    return Recode(released, partial(make, declared))
