"""References: every name that points at a dataset, column, threat or release must exist.

And every threat that a release protects against must set a threshold. They are followed on the tree, not on the models, so that a fault
elsewhere hides no dangling name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.findings import Finding
from privrelease.policy.language.statistics import FIGURES
from privrelease.policy.language.threats import Threat
from privrelease.policy.text.messages import did_you_mean, shown
from privrelease.policy.text.nodes import Mapping, Node, Scalar, Sequence_

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["check_references"]


_MOST_HINTS = 50
#: Keys of a query that name a column.
_OF_A_COLUMN = tuple(figure for figure in FIGURES if not figure.startswith("count"))


def check_references(tree: Node, gone: frozenset[tuple[str, ...]] = frozenset()) -> tuple[Finding, ...]:
    """Return a finding for each name that points at nothing.

    ``gone`` holds (kind, name) of elements that were refused already, and (kind,) where all of them were.
    """
    return tuple(_References(tree, gone).follow())


def _mapping(node: Node | None) -> dict[str, Node]:
    return {key: entry.value for key, entry in node.entries.items()} if isinstance(node, Mapping) else {}


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence_) else ()


def _text(node: Node | None) -> str | None:
    return node.text if isinstance(node, Scalar) and not node.is_null else None


class _References:
    def __init__(self, tree: Node, gone: frozenset[tuple[str, ...]]) -> None:
        top = _mapping(tree)
        self._datasets = _mapping(top.get("datasets"))
        self._threats = _mapping(top.get("threats"))
        threats = top.get("threats")
        self._threat_places = {e.key: e.location for e in threats.entries.values()} if isinstance(threats, Mapping) else {}
        self._releases = [_mapping(item) for item in _items(top.get("releases"))]
        self._checks = [_mapping(item) for item in _items(top.get("checks"))]
        self._waivers = [_mapping(item) for item in _items(top.get("waivers"))]
        capped = _mapping(top.get("ledger")).get("datasets")
        self._capped = tuple(capped.entries.values()) if isinstance(capped, Mapping) else ()
        self._gone = gone
        self._hints = _MOST_HINTS
        self._columns = {name: tuple(_mapping(_mapping(node).get("columns"))) for name, node in self._datasets.items()}

    def follow(self) -> Iterator[Finding]:
        for name, dataset in self._datasets.items():
            yield from self._column(name, _mapping(_mapping(dataset).get("unit")).get("column"))
        for threat in self._threats.values():
            yield from self._threat(_mapping(threat))
        yield from self._without_threshold()
        for release in self._releases:
            yield from self._release(release)
        for check in self._checks:
            yield from self._check(check)
        for waiver in self._waivers:
            yield from self._waiver(waiver)
        for entry in self._capped:
            capped = Scalar(entry.key, plain=False, location=entry.location)
            yield from self._known("dataset", "P301", capped, self._datasets, "datasets")

    def _threat(self, threat: dict[str, Node]) -> Iterator[Finding]:
        yield from self._known("dataset", "P301", threat.get("dataset"), self._datasets, "datasets")
        dataset = _text(threat.get("dataset"))
        for column in _items(threat.get("knows")):
            yield from self._column(dataset, column)
        population = _mapping(threat.get("population"))
        yield from self._column(dataset, population.get("weight"))
        yield from self._known("dataset", "P301", population.get("table"), self._datasets, "datasets", table=True)

    def _without_threshold(self) -> Iterator[Finding]:
        protected = {_text(threat) for release in self._releases for threat in _items(release.get("protect"))}
        for name, node in self._threats.items():
            threat = _mapping(node)
            limits = [threat.get(key) for key in ("highest_risk", "average_risk", "records_at_risk")]
            limits.append(_mapping(threat.get("also")).get("subsets"))
            open_ends = [limit for limit in limits if limit is None or (isinstance(limit, Scalar) and limit.is_null)]
            # with an unknown key, that key is the fault
            if name in protected and len(open_ends) == len(limits) and set(threat) <= set(Threat.model_fields):
                hint = "write `highest_risk`, `average_risk` or `records_at_risk`"
                place = self._threat_places[name]
                yield Finding("P410", f"{shown(name)} sets no threshold: nothing would be protected", location=place, hint=hint)

    def _release(self, release: dict[str, Node]) -> Iterator[Finding]:
        yield from self._known("dataset", "P301", release.get("from"), self._datasets, "datasets")
        dataset = _text(release.get("from"))
        for threat in _items(release.get("protect")):
            yield from self._known("threat", "P303", threat, self._threats, "threats")
        for column in _items(release.get("columns")):
            yield from self._column(dataset, column)
        yield from self._table(dataset, release)
        for query in _items(release.get("queries")):
            yield from self._query(dataset, _mapping(query))
        for step in _items(release.get("transform")):
            parts = _mapping(step)
            for key in ("drop", "pseudonymise"):
                for column in _items(parts.get(key)):
                    yield from self._column(dataset, column)
            weights = parts.get("weights")
            for entry in weights.entries.values() if isinstance(weights, Mapping) else ():
                yield from self._column(dataset, Scalar(entry.key, plain=False, location=entry.location))

    def _table(self, dataset: str | None, release: dict[str, Node]) -> Iterator[Finding]:
        for column in _items(release.get("by")):
            yield from self._column(dataset, column)
        for measure in _items(release.get("measures")):
            for key in ("sum", "mean", "weight"):
                yield from self._column(dataset, _mapping(measure).get(key))
        keys = release.get("keys")
        for entry in keys.entries.values() if isinstance(keys, Mapping) else ():
            yield from self._column(dataset, Scalar(entry.key, plain=False, location=entry.location))

    def _query(self, dataset: str | None, query: dict[str, Node]) -> Iterator[Finding]:
        for key in _OF_A_COLUMN:
            yield from self._column(dataset, query.get(key))
        for key in ("count", "count_persons"):
            yield from self._column(dataset, _mapping(query.get(key)).get("column"))
        for column in _items(query.get("by")):
            yield from self._column(dataset, column)

    def _check(self, check: dict[str, Node]) -> Iterator[Finding]:
        releases = {name: release for release in self._releases if (name := _text(release.get("id"))) is not None}
        yield from self._known("release", "P304", check.get("release"), releases, "releases")
        yield from self._known("threat", "P303", check.get("threat"), self._threats, "threats")
        release = releases.get(_text(check.get("release")) or "", {})
        dataset = _text(release.get("from"))
        if _of_figures(release) and _text(check.get("on")) != "source":
            return  # columns of a file of figures are none of the dataset's: see meaning_expectations
        for key in ("column", "column_A", "column_B"):
            yield from self._column(dataset, check.get(key))
        for key in ("columns", "column_list", "column_set"):
            for column in _items(check.get(key)):
                yield from self._column(dataset, column)

    def _waiver(self, waiver: dict[str, Node]) -> Iterator[Finding]:
        releases = [name for release in self._releases if (name := _text(release.get("id"))) is not None]
        yield from self._known("release", "P304", waiver.get("release"), releases, "releases")
        node, name = waiver.get("check"), _text(waiver.get("check"))
        if node is not None and name is not None and (name.startswith("AUDIT-") or name in self._threats):
            message = f"{shown(name)} cannot be waived: only a check of this policy can"
            hint = "a threshold is changed in its threat; what guards the release itself always counts"
            yield Finding("P419", message, location=node.location, hint=hint)
            return
        checks = [name for check in self._checks if (name := _text(check.get("id"))) is not None]
        yield from self._known("check", "P305", node, checks, "checks")

    def _known(
        self, what: str, code: str, node: Node | None, names: Iterable[str], kind: str, *, table: bool = False
    ) -> Iterator[Finding]:
        name = _text(node)
        known = list(names)
        if node is None or name is None or name in known or (kind, name) in self._gone or (kind,) in self._gone:
            return
        hint = self._meant(name, known)
        if hint is None and table and ("/" in name or "." in name):
            hint = "declare the population under `datasets` and write its name here"
        if hint is None:
            hint = f"there is: {', '.join(known)}" if known else f"there are no {kind}"
        yield Finding(code, f"{what} {shown(name)} does not exist", location=node.location, hint=hint)

    def _meant(self, name: str, names: Iterable[str]) -> str | None:
        """The closest name, for the first dangling ones: looking for it among many names takes its time."""
        self._hints -= 1
        return did_you_mean(name, names) if self._hints >= 0 else None

    def _column(self, dataset: str | None, node: Node | None) -> Iterator[Finding]:
        name = _text(node)
        if node is None or name is None or dataset is None or dataset not in self._columns or not self._columns[dataset]:
            return
        columns = self._columns[dataset]
        if name not in columns:
            hint = self._meant(name, columns) or _listed(columns)
            yield Finding(
                "P302", f"column {shown(name)} does not exist in dataset {shown(dataset)}", location=node.location, hint=hint
            )


def _of_figures(release: dict[str, Node]) -> bool:
    return _text(release.get("kind")) in {"statistics", "table"}


def _listed(names: tuple[str, ...]) -> str:
    some = ", ".join(shown(name) for name in names[:12])
    return f"its columns: {some}{', …' if len(names) > 12 else ''}"
