"""A kind of release as a value: its model, its rules, and what readers of a policy ask of any release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from pydantic import BaseModel

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.statistics import BudgetSpec
    from privrelease.policy.rules.rule_context import Leaving, RuleContext
    from privrelease.relational.schema import ColumnType

__all__ = ["FileOrder", "ReleaseKind", "kind_of", "values_of"]

R = TypeVar("R", bound=BaseModel)
_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class FileOrder:
    """Names whose order in the policy is the order of rows or columns of the released file.

    ``key``: what the names are, so that two policies are compared in the same. ``path``: the names as in a policy's tree, with the number of
    the release as None. ``effect``: words that follow the message.
    """

    key: str
    path: tuple[str | None, ...]
    names: tuple[str, ...]
    effect: str = ""


def _nothing(_release: Any) -> tuple[str, ...]:  # noqa: ANN401  a release of any kind
    return ()


def _no_order(_release: Any, _dataset: Dataset | None) -> tuple[FileOrder, ...]:  # noqa: ANN401  a release of any kind
    return ()


def _as_they_are(_release: Any, values: dict[str, object]) -> dict[str, object]:  # noqa: ANN401  a release of any kind
    return values


def _same_place(_release: Any, below: tuple[str, ...]) -> _Path:  # noqa: ANN401  a release of any kind
    return below


def _no_entry(_release: Any, _below: tuple[str, ...], _item: object) -> _Path | None:  # noqa: ANN401  a release of any kind
    return None


@dataclass(frozen=True, slots=True)
class ReleaseKind(Generic[R]):
    """A kind of release.

    ``name``: the text under ``kind``. ``model``: the keys of a release. ``rules``: each is called once with all releases of the kind and
    their numbers. ``columns``: the columns of the released file with their types. ``steps``: transform steps by the key that names each.

    ``rows``: what is released of each row about a person; None where the file holds figures, whose columns are not those of the dataset.
    ``comparable``: of rows that are no one's, the columns whose values can be compared with the source's; attacks are tried on them where the
    policy names the release. ``measures``: built-in checks of such rows, which read the source and only inform.

    ``protected``: names of the threats that must hold. ``budget``: the privacy budget that a release spends; None where it spends none.
    ``source_checks``: an expectation on the source ``decides`` over the release, may only ``inform``, or is not evaluated (``never``).

    ``compared``: the values of a release, led together by names where the file has lists. ``place`` leads such names back to the file;
    ``entry`` leads to one item of a list, or returns None where it is in the list of that name. ``orders``: see :class:`FileOrder`.
    """

    name: str
    model: type[R]
    rules: tuple[Callable[[RuleContext, Sequence[tuple[int, R]]], Iterator[Finding]], ...]
    columns: Callable[[R, Dataset], dict[str, ColumnType]]
    source_checks: Literal["decides", "inform", "never"]
    steps: tuple[tuple[str, type[BaseModel]], ...] = ()
    rows: Callable[[R, Dataset], Leaving] | None = None
    comparable: Callable[[R, Dataset], tuple[str, ...]] | None = None
    measures: tuple[str, ...] = ()
    protected: Callable[[R], tuple[str, ...]] = _nothing
    budget: Callable[[R], BudgetSpec] | None = None
    compared: Callable[[R, dict[str, object]], dict[str, object]] = _as_they_are
    place: Callable[[R, tuple[str, ...]], _Path] = _same_place
    entry: Callable[[R, tuple[str, ...], object], _Path | None] = _no_entry
    orders: Callable[[R, Dataset | None], tuple[FileOrder, ...]] = _no_order

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy a kind of this package by its name; any other as it is made."""
        known = any(one is self for one in _own_kinds())
        return (_kind_named, (self.name,)) if known else cast("Any", object.__reduce_ex__(self, 2))


def _own_kinds() -> tuple[ReleaseKind[Any], ...]:
    from privrelease.policy.language.kinds import KINDS

    return KINDS


def _kind_named(name: str) -> ReleaseKind[Any]:
    return next(one for one in _own_kinds() if one.name == name)


def kind_of(release: Any, kinds: Sequence[ReleaseKind[Any]]) -> ReleaseKind[Any]:  # noqa: ANN401  a release of any of these kinds
    """Return the kind of a release."""
    return next(kind for kind in kinds if kind.name == release.kind)


def values_of(value: object) -> object:
    """Return models as dictionaries with every key, by the names of the policy."""
    if isinstance(value, BaseModel):
        return {field.alias or name: values_of(getattr(value, name)) for name, field in type(value).model_fields.items()}
    if isinstance(value, dict):
        return {key: values_of(item) for key, item in value.items()}
    return value
