"""References: every name that points at a dataset, column, threat, release or check must exist.

Which keys hold such names is declared at the key (:class:`~privrelease.policy.language.keys.Ref`). They are followed on the tree, not on the models,
so that a fault elsewhere hides no dangling name; a release is followed by the keys of every kind, so that a misspelt kind hides none.
And every threat that a release protects against must set a threshold.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from pydantic import BaseModel

from privrelease.findings import Finding
from privrelease.policy.declared import fields_of, marked
from privrelease.policy.language.keys import ONE_ALONE, OWN_COLUMNS, Ref
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.language.models import policy_model
from privrelease.policy.language.threats import Threat
from privrelease.policy.text.messages import did_you_mean, shown
from privrelease.policy.text.nodes import Mapping, Node, Scalar, Sequence_

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from privrelease.policy.language.kinds import Kinds

__all__ = ["check_references"]


_MOST_HINTS = 50
#: What an element of a section is called, and the code of one that does not exist.
_WORDS: Final = {
    "datasets": ("dataset", "P301"),
    "threats": ("threat", "P303"),
    "releases": ("release", "P304"),
    "checks": ("check", "P305"),
}


def check_references(tree: Node, gone: frozenset[tuple[str, ...]] = frozenset(), kinds: Kinds = KINDS) -> tuple[Finding, ...]:
    """Return a finding for each name that points at nothing.

    ``gone`` holds (kind, name) of elements that were refused already, and (kind,) where all of them were.
    """
    return tuple(_References(tree, gone, kinds).follow())


def _mapping(node: Node | None) -> dict[str, Node]:
    return {key: entry.value for key, entry in node.entries.items()} if isinstance(node, Mapping) else {}


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence_) else ()


def _text(node: Node | None) -> str | None:
    return node.text if isinstance(node, Scalar) and not node.is_null else None


@cache
def _leading(model: type[BaseModel]) -> tuple[tuple[str, Any], ...]:
    """The keys of a model that hold a reference or lead to one, with their types."""
    return tuple((key, annotation) for key, annotation in fields_of(model) if _leads(annotation))


def _leads(annotation: Any) -> bool:  # noqa: ANN401  annotations have no common type
    for bare, marks in marked(annotation):
        if any(isinstance(mark, Ref) for mark in marks):
            return True
        if isinstance(bare, type) and issubclass(bare, BaseModel):
            found = bool(_leading(bare))
        else:
            found = get_origin(bare) in {dict, tuple} and any(_leads(one) for one in get_args(bare) if one is not Ellipsis)
        if found:
            return True
    return False


def _refs(annotation: Any) -> tuple[Ref, ...]:  # noqa: ANN401  annotations have no common type
    return tuple(mark for _, marks in marked(annotation) for mark in marks if isinstance(mark, Ref))


class _References:
    def __init__(self, tree: Node, gone: frozenset[tuple[str, ...]], kinds: Kinds) -> None:
        top = _mapping(tree)
        self._tree = tree
        self._policy = policy_model(kinds)
        threats = top.get("threats")
        self._threat_places = {e.key: e.location for e in threats.entries.values()} if isinstance(threats, Mapping) else {}
        self._releases = [_mapping(item) for item in _items(top.get("releases"))]
        self._names: dict[str, dict[str, dict[str, Node]]] = {
            "datasets": {name: _mapping(node) for name, node in _mapping(top.get("datasets")).items()},
            "threats": {name: _mapping(node) for name, node in _mapping(threats).items()},
            "releases": {name: item for item in self._releases if (name := _text(item.get("id"))) is not None},
            "checks": {
                name: item for item in map(_mapping, _items(top.get("checks"))) if (name := _text(item.get("id"))) is not None
            },
        }
        self._gone = gone
        self._of_figures = {kind.name for kind in kinds if kind.rows is None}
        self._hints = _MOST_HINTS
        self._columns = {name: tuple(_mapping(dataset.get("columns"))) for name, dataset in self._names["datasets"].items()}
        self._followed: set[tuple[object, ...]] = set()

    def follow(self) -> Iterator[Finding]:
        yield from self._below(self._tree, self._policy, None)
        yield from self._without_threshold()

    def _below(self, node: Node, annotation: Any, dataset: str | None) -> Iterator[Finding]:  # noqa: ANN401
        """Follow the names in a part of the tree; ``dataset``: the one that columns are named of."""
        for bare, marks in marked(annotation):
            origin, args = get_origin(bare), get_args(bare)
            alone = isinstance(node, Scalar) and ONE_ALONE in marks  # one name represents a list of one
            if isinstance(node, Scalar) and not alone:
                for ref in (mark for mark in marks if isinstance(mark, Ref)):
                    yield from self._name(ref, node, dataset)
            elif origin is tuple and (alone or isinstance(node, Sequence_)):
                for item in _items(node) or (node,):
                    yield from self._below(item, args[0], dataset)
            elif isinstance(node, Mapping) and origin is dict:
                yield from self._entries(node, args, dataset)
            elif isinstance(node, Mapping) and isinstance(bare, type) and issubclass(bare, BaseModel):
                about = self._about(node, bare, dataset)
                for key, below in _leading(bare):
                    value = node.get(key)
                    if value is not None:
                        yield from self._below(value, below, about)

    def _entries(self, node: Mapping, args: tuple[Any, ...], dataset: str | None) -> Iterator[Finding]:
        own = any(OWN_COLUMNS in marks for _, marks in marked(args[1]))
        names, deeper = _refs(args[0]), _leads(args[1])
        for entry in node.entries.values():
            for ref in names:
                yield from self._name(ref, Scalar(entry.key, plain=False, location=entry.location), dataset)
            if deeper:
                yield from self._below(entry.value, args[1], entry.key if own else dataset)

    def _about(self, node: Mapping, model: type[BaseModel], dataset: str | None) -> str | None:
        """The dataset whose columns are named in a mapping."""
        for key, annotation in _leading(model):
            for ref in _refs(annotation):
                if ref.of_columns:
                    name = _text(node.get(key))
                    return self._source(name, node) if ref.section == "releases" else name
        return dataset

    def _source(self, name: str | None, node: Mapping) -> str | None:
        """The dataset of a release; None where a file of figures is looked at, whose columns are none of the dataset's."""
        release = self._names["releases"].get(name or "", {})
        if _text(release.get("kind")) in self._of_figures and _text(node.get("on")) != "source":
            return None
        return _text(release.get("from"))

    def _name(self, ref: Ref, node: Scalar, dataset: str | None) -> Iterator[Finding]:
        """A finding where a name does not exist; once, also where several kinds of release have the key."""
        followed = (ref.section, dataset, node.text, node.location)
        name = _text(node)
        if name is None or followed in self._followed:
            return
        self._followed.add(followed)
        if ref.section == "columns":
            yield from self._column(dataset, name, node)
        elif ref.section == "checks" and (name.startswith("AUDIT-") or name in self._names["threats"]):
            message = f"{shown(name)} cannot be waived: only a check of this policy can"
            hint = "a threshold is changed in its threat; what guards the release itself always counts"
            yield Finding("P419", message, location=node.location, hint=hint)
        else:
            yield from self._element(ref, name, node)

    def _element(self, ref: Ref, name: str, node: Scalar) -> Iterator[Finding]:
        known, section = self._names[ref.section], ref.section
        if name in known or (section, name) in self._gone or (section,) in self._gone:
            return
        hint = self._meant(name, known)
        if hint is None and ("/" in name or "." in name):
            hint = ref.file_hint
        if hint is None:
            hint = f"there is: {', '.join(known)}" if known else f"there are no {section}"
        what, code = _WORDS[section]
        yield Finding(code, f"{what} {shown(name)} does not exist", location=node.location, hint=hint)

    def _column(self, dataset: str | None, name: str, node: Scalar) -> Iterator[Finding]:
        columns = self._columns.get(dataset, ()) if dataset is not None else ()
        if columns and name not in columns:
            hint = self._meant(name, columns) or _listed(columns)
            message = f"column {shown(name)} does not exist in dataset {shown(dataset)}"
            yield Finding("P302", message, location=node.location, hint=hint)

    def _meant(self, name: str, names: Iterable[str]) -> str | None:
        """The closest name, for the first dangling ones: looking for it among many names takes its time."""
        self._hints -= 1
        return did_you_mean(name, names) if self._hints >= 0 else None

    def _without_threshold(self) -> Iterator[Finding]:
        protected = {_text(threat) for release in self._releases for threat in _items(release.get("protect"))}
        for name, threat in self._names["threats"].items():
            limits = [threat.get(key) for key in ("highest_risk", "average_risk", "records_at_risk")]
            limits.append(_mapping(threat.get("also")).get("subsets"))
            open_ends = [limit for limit in limits if limit is None or (isinstance(limit, Scalar) and limit.is_null)]
            # with an unknown key, that key is the fault
            if name in protected and len(open_ends) == len(limits) and set(threat) <= set(Threat.model_fields):
                hint = "write `highest_risk`, `average_risk` or `records_at_risk`"
                place = self._threat_places[name]
                yield Finding("P410", f"{shown(name)} sets no threshold: nothing would be protected", location=place, hint=hint)


def _listed(names: tuple[str, ...]) -> str:
    some = ", ".join(shown(name) for name in names[:12])
    return f"its columns: {some}{', …' if len(names) > 12 else ''}"
