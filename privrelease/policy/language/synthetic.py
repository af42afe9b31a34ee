"""Synthetic releases: rows that are drawn from noisy answers, and what each method of synthesis adds to the keys."""

import re
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from privrelease.policy.changes import data_changes as figures
from privrelease.policy.changes.directions import always, limit
from privrelease.policy.language.keys import FREE, ONE_ALONE, DeclaredColumn, Judged, Ref, Stricter
from privrelease.policy.language.number_values import Count, Exact, Positive, exact_number
from privrelease.policy.language.releases import OutputSpec, outputs
from privrelease.policy.language.statistics import BudgetSpec
from privrelease.policy.language.synthetic_grids import (
    GridKeys,
    NetworkKeys,
    grid_rules,
    grid_settings,
    network_rules,
    network_settings,
)
from privrelease.policy.language.synthetic_marginals import AIM_KEYS, MST_KEYS, MarginalKeys, aim_settings, mst_settings
from privrelease.policy.language.values import CHOICE, Flag, Frozen, Identifier, PathText, Text
from privrelease.policy.text.messages import problem, shown
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = [
    "METHODS",
    "MOST_ROWS",
    "CellBins",
    "DiscoverSpec",
    "HistogramKeys",
    "MakeSpec",
    "MethodSpec",
    "SyntheticRelease",
    "method_spec",
]


class MakeSpec(Frozen):
    """Texts that are made up, after a pattern; nothing of the source is in them."""

    pattern: Annotated[Text, Judged(always("breaking"))]
    """Characters, `\\d` and classes such as `[A-F0-9]`, each repeated by `{n}`."""
    unique: Annotated[Flag, Judged(always("breaking"))] = False
    """No text appears twice."""


class DiscoverSpec(Frozen):
    """The price of what is read from the data of a column: texts that enough persons share, or the bounds of numbers and dates."""

    epsilon: Annotated[Exact, Stricter.LOWER]
    """Taken from the release's budget: as much of rho as a pure mechanism of this epsilon has, epsilon^2/2; of a budget without delta this epsilon."""
    delta: Annotated[Exact | None, Stricter.LOWER] = None
    """Of texts: the probability that a value of one person alone is published; taken from the budget's delta. Bounds have none."""
    at_most: Annotated[Count | None, Judged(always("breaking"))] = None
    """The most values that are kept, those with the largest noisy counts (100), or the most bins between the bounds (20)."""


def _edge(value: object) -> object:
    """A number, or a day or moment as it is written in a domain."""
    if isinstance(value, date):
        return value.isoformat()
    text = str(value)
    return text if _MOMENT.fullmatch(text) else exact_number(value)


_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+)?")
Edge = Annotated[
    Decimal | str,
    BeforeValidator(_edge),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^{_MOMENT.pattern}$"}]}),
]


class CellBins(Frozen):
    """Bins of a column: of one width, or between edges."""

    width: Positive | None = None
    """Width of every bin; bins lie between its multiples."""
    edges: Annotated[Annotated[tuple[Edge, ...], Field(min_length=2, max_length=1001)] | None, Judged(always("breaking"))] = (
        None
    )
    """The edges, ascending, from the lowest value or below to the highest or above; of dates days such as 2020-01-01."""

    @model_validator(mode="after")
    def _one_form(self) -> "CellBins":
        if (self.width is None) == (self.edges is None):
            message = "needs either `width` or `edges`"
            raise problem(message, code="P204")
        return self


class HistogramKeys(Frozen):
    """Keys of the noisy histogram."""

    project: Annotated[Flag | None, Judged(always("breaking"))] = None
    """The noisy joint is projected to counts of at least 0 that add up to the noisy total; `false`: counts below 0 become 0, as published."""


def _rows(value: object) -> object:
    if isinstance(value, str) and str(value) == "noisy":
        return "noisy"
    number = exact_number(value)
    if number != int(number) or number < 1:
        message = f"must be a whole number of at least 1, or noisy, got {shown(value)}"
        raise problem(message, code="P718", hint="write how many rows are drawn, e.g. rows: 1000")
    if number > MOST_ROWS:
        message = f"is at most {MOST_ROWS}"
        raise problem(message, code="P718", hint="draw fewer rows: more of them say nothing more")
    return int(number)


#: The most rows of a synthetic release.
MOST_ROWS = 100_000_000
Rows = Annotated[
    int | Literal["noisy"],
    BeforeValidator(_rows),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_ROWS}, {"const": "noisy"}]}),
]


def _holdout(value: object) -> object:
    number = exact_number(value)
    if not 0 < number < 1:
        message = f"must be above 0 and below 1, got {shown(value)}"
        raise problem(message, code="P718", hint="write 0.2 for one person in five")
    return number


Holdout = Annotated[
    Exact, BeforeValidator(_holdout), WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1})
]


class SyntheticRelease(HistogramKeys, MarginalKeys, GridKeys, NetworkKeys, Frozen):
    """Synthetic rows with differential privacy: drawn from a model of noisy answers."""

    id: Identifier
    """Name of the release."""
    kind: Annotated[Literal["synthetic"], CHOICE]
    """The kind of the release."""
    from_: Annotated[Text, Field(alias="from"), Ref("datasets", of_columns=True)]
    """The dataset that the model is of."""
    method: Annotated[Literal["histogram", "mst", "aim", "dpcocgen", "privbayes"], CHOICE, Judged(always("breaking"))]
    """The method that makes the model."""
    columns: Annotated[tuple[DeclaredColumn, ...], Field(min_length=1), Stricter.FEWER, Judged(figures.asked)]
    """The columns of the output, in its order: modelled ones, and those of `make`."""
    rows: Annotated[Rows, Judged(always("neutral"))]
    """The number of rows that are drawn: a number, or `noisy`, the noisy number of rows."""
    bins: Annotated[dict[DeclaredColumn, CellBins], Judged(always("breaking"), below=True)] = Field(default_factory=dict)
    """Bins of numbers and dates (`width` in days, for a date with a time in seconds); a cell for every value where none are given."""
    make: Annotated[dict[DeclaredColumn, Annotated[MakeSpec, Judged(always("breaking"))]], Judged(always("breaking"))] = Field(
        default_factory=dict
    )
    """Columns whose texts are made up after a pattern, such as identifiers; they are never modelled."""
    discover: Annotated[dict[DeclaredColumn, DiscoverSpec], Judged(figures.asked)] = Field(default_factory=dict)
    """Columns whose values or bounds are read from the data, for a part of the budget."""
    impossible: Annotated[tuple[Text, ...], Judged(always("breaking"))] = ()
    """Combinations that no row can have, as filters over the columns; public rules, never found in the data."""
    holdout: Annotated[Holdout | None, Stricter.HIGHER, Judged(limit(higher="stricter"))] = None
    """The share of persons whose rows the model never sees, by a secret hash of the person; the audit compares with them."""
    budget: BudgetSpec
    """The budget of the model, discoveries included."""
    neighbours: Annotated[Literal["add_remove", "replace"], CHOICE] = "add_remove"
    """The fact that is hidden: that a person is in the data at all, or what the data says of them."""
    fresh: Annotated[Flag, Judged(figures.drawn_again)] = False
    """Measure again (and pay again) where answers about this snapshot are stored; rows are drawn again in every run."""
    output: Annotated[
        tuple[OutputSpec, ...],
        BeforeValidator(outputs, json_schema_input_type=tuple[OutputSpec | PathText, ...] | OutputSpec | PathText),
        Field(min_length=1, max_length=10),
        ONE_ALONE,
        FREE,
        Judged(figures.files),
    ]
    """The files that are published, all of the same content."""
    description: Annotated[Text | None, FREE] = None
    """The purpose of the release."""


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """The policy's part of a method. ``keys``: those that only it has; ``settings``: exact settings from a release, defaults filled in
    (below ``after``: what changes no question). ``most_cells``: of a joint, where it holds every cell of it. ``needs_delta``: it has no pure form.
    """

    name: str
    keys: frozenset[str]
    settings: "Callable[[SyntheticRelease], dict[str, object]]"
    rules: "tuple[Callable[[RuleContext, Sequence[tuple[int, Any]]], Iterator[Finding]], ...]" = ()
    most_cells: int | None = None
    needs_delta: bool = False


def _histogram(release: SyntheticRelease) -> dict[str, object]:
    return {"after": {"project": release.project is not False}}


#: Every method of synthesis, as a policy knows it; a new one adds its line here, and its name at ``method``.
METHODS: tuple[MethodSpec, ...] = (
    MethodSpec("histogram", frozenset({"project"}), _histogram, most_cells=10_000_000),
    MethodSpec("mst", MST_KEYS, mst_settings, needs_delta=True),
    MethodSpec("aim", AIM_KEYS, aim_settings, needs_delta=True),
    MethodSpec("dpcocgen", frozenset({"split", "max_cells", "refine"}), grid_settings, (grid_rules,), most_cells=60_000_000),
    MethodSpec("privbayes", frozenset({"theta", "degree"}), network_settings, (network_rules,)),
)


def method_spec(name: str, methods: "Sequence[MethodSpec]" = METHODS) -> MethodSpec:
    """Return what a policy may say of the method of that name."""
    return next(one for one in methods if one.name == name)
