"""Stored answers to queries: under which key an answer is kept, when it is served again, and in which order its numbers are.

An answer is kept by all that determines it and by nothing else (DESIGN, semantics 13): content and snapshot of the data, population, unit with
its bounds, neighbours, the query in canonical form with how its columns are read, mechanism and scale of every draw. Titles, ids, checks,
paths, other releases and the order in which keys are written are no part of it: a change of words costs no budget.

A key is ``question.content`` (:mod:`privrelease.execute.common.questions`). The question is known from the policy alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from privrelease.dp.queries import Histogram, PrivateKeys, PublicKeys
from privrelease.execute.common.questions import answer_key, check_same, content_first, contributing, digest, is_of, read_as
from privrelease.execute.statistics.figures import Noisy
from privrelease.ledger.entries import written
from privrelease.relational.filter_forms import filter_form
from privrelease.relational.filters import columns_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.dp.draws import Draw
    from privrelease.ledger.protocol import Ledger
    from privrelease.plan.model import Plan
    from privrelease.plan.statistics.plan import StatisticPlan, StatisticsPlan

__all__ = ["Stored", "answer_keys", "answer_of", "stored_answers"]

_VERSION: Final = 2
#: Answers of ledgers of format 2 and before: by the policy's digest, numbers in the policy's order.
_BY_POLICY: Final = 1


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer that is served again. ``run``: which drew it; ``compared``: whether its data could be compared with today's."""

    noisy: Noisy
    run: str | None
    compared: bool


def answer_keys(plan: StatisticsPlan, content: str) -> dict[str, str]:
    """Return by query the key under which its answer is stored; none where the data has no snapshot label."""
    if plan.snapshot is None:
        return {}
    return {query: answer_key(question, content) for query, question in _questions(plan).items()}


def stored_answers(plan: StatisticsPlan, policy: Plan, ledger: Ledger, content: str | None) -> dict[str, Stored]:
    """Return by query the stored answer, for those that are not to be drawn.

    ``content``: of the data as it is now; None where it was not read, and the snapshot's label alone decides. Queries that count in parallel
    are served together or not at all: one run kept the same rows of a person for all of them. Raises BudgetError (L131) where the data under
    the snapshot's label is another than it was.
    """
    if plan.snapshot is None:
        return {}
    questions = _questions(plan)
    known: dict[str, list[str]] = {}
    for key in ledger.book().answers:
        known.setdefault(key.partition(".")[0], []).append(key)
    found: dict[str, Stored] = {}
    for query in plan.queries:
        if query.fresh:
            continue
        stored = _stored(plan, query, content_first(known.get(questions[query.id], ()), content), ledger, content)
        stored = _stored_by_policy(plan, policy, query, ledger, content) if stored is None else stored
        if stored is not None:
            found[query.id] = stored
    for family in plan.apart:
        names = [name for part in family.parts for name in part.queries]
        runs = {found[name].run if name in found else None for name in names}
        if len(runs) > 1 or None in runs:
            for name in names:
                found.pop(name, None)
    return found


def answer_of(plan: StatisticsPlan, query: StatisticPlan, noisy: Noisy, content: str, run: str) -> bytes:
    """Return what is stored of an answer, its numbers in canonical order."""
    keys = noisy.keys
    if isinstance(query.keys, PrivateKeys):
        columns = sorted(range(len(query.columns)), key=lambda at: query.columns[at])
        keys = tuple(tuple(key[at] for at in columns) for key in noisy.keys)
        order = sorted(range(len(keys)), key=lambda at: keys[at])
        keys = tuple(keys[at] for at in order)
    else:
        order = _canonical_order(query)
    value = {
        "version": _VERSION,
        "content": content,
        "dataset": plan.source.dataset,
        "draws": [_determinants(draw) for draw in query.draws],
        "values": [[row[at] for at in order] for row in noisy.values],
        "keys": keys,
        "run": run,
    }
    return json.dumps(value, sort_keys=True).encode()


# --------------------------------------------------------------------------------------------------------------------- the question


def _questions(plan: StatisticsPlan) -> dict[str, str]:
    """Return by query the digest of what determines its answer but for the content of the data.

    The same question asked twice in one release was drawn twice: its number distinguishes the second from the first.
    """
    asked = {query.id: _question(plan, query) for query in plan.queries}
    for family in plan.apart:
        of_family = {
            "at_most": family.most,
            "parts": sorted(sorted(asked[name] for name in part.queries) for part in family.parts),
        }
        asked |= {name: written([asked[name], of_family]) for part in family.parts for name in part.queries}
    seen: Counter[str] = Counter()
    found: dict[str, str] = {}
    for query in plan.queries:
        text = asked[query.id]
        found[query.id] = digest(written([text, seen[text]]))
        seen[text] += 1
    return found


def _question(plan: StatisticsPlan, query: StatisticPlan) -> str:
    asked, contribution = query.query, plan.setting.contribution
    unit = None if plan.unit is None else plan.unit.column
    looked = {unit, asked.column, *query.columns, *(() if query.where is None else columns_of(query.where))}
    fill = getattr(asked, "fill", None)
    return written(
        {
            "snapshot": plan.snapshot,
            "population": plan.population,
            "unit": contributing(unit, contribution),
            "neighbours": plan.setting.neighbours.value,
            "read": read_as(plan.source, looked),
            "where": None if query.where is None else filter_form(query.where),
            "by": _keys(query),
            "bins": _bins(asked) if isinstance(asked, Histogram) else None,
            "fill": None if fill is None else str(fill),
            "draws": [_determinants(draw) for draw in query.draws],
        }
    )


def _keys(query: StatisticPlan) -> list[Any] | str | None:
    if isinstance(query.keys, PrivateKeys):
        return ["private", *sorted(query.columns)]
    if not isinstance(query.keys, PublicKeys):
        return None
    found = []
    for column, domain in zip(query.keys.columns, query.keys.domains, strict=True):
        missing = getattr(domain, "missing", None)
        found.append([column, sorted(domain.labels), getattr(domain, "other", None), *([] if missing is None else [missing])])
    return sorted(found, key=written)


def _bins(asked: Histogram) -> list[Any]:
    return [asked.column, [str(edge) for edge in asked.bins.edges], asked.bins.closed, asked.bins.outside]


def _determinants(draw: Draw) -> dict[str, Any]:
    """The draw without its query's name and its price: law, scale, sensitivity, grid and what it is about."""
    return {name: value for name, value in draw.record().items() if name not in _PRICED}


_PRICED: Final = frozenset({"query", "epsilon", "delta"})


# ------------------------------------------------------------------------------------------------------------------------- the order


def _canonical_order(query: StatisticPlan) -> list[int]:
    """Return for each cell in canonical order (columns by name, keys by text, bins as they are) its place in the policy's order."""
    if not isinstance(query.keys, PublicKeys):
        cells = 1 if not isinstance(query.query, Histogram) else query.query.bins.size
        return list(range(cells))
    labels = [domain.labels for domain in query.keys.domains]
    bins = query.query.bins.size if isinstance(query.query, Histogram) else 1
    strides, step = [0] * len(labels), bins
    for at in reversed(range(len(labels))):
        strides[at] = step
        step *= len(labels[at])
    columns = sorted(range(len(labels)), key=lambda at: query.columns[at])
    steps = [
        [at * strides[column] for at in sorted(range(len(labels[column])), key=labels[column].__getitem__)]
        for column in columns
    ]
    return [sum(parts) for parts in product(*steps, range(bins))]


def _in_policy_order(query: StatisticPlan, values: Sequence[Sequence[int | None]], keys: Sequence[Sequence[str]]) -> Noisy:
    """Return numbers in canonical order as the policy orders its keys."""
    if isinstance(query.keys, PrivateKeys):
        place = {name: at for at, name in enumerate(sorted(query.columns))}
        turned = [tuple(key[place[name]] for name in query.columns) for key in keys]
        order = sorted(range(len(turned)), key=lambda at: turned[at])
        return Noisy(tuple(tuple(row[at] for at in order) for row in values), tuple(turned[at] for at in order))
    found: list[tuple[int | None, ...]] = []
    places = _canonical_order(query)
    for row in values:
        ordered: list[int | None] = [None] * len(row)
        for value, at in zip(row, places, strict=True):
            ordered[at] = value
        found.append(tuple(ordered))
    return Noisy(tuple(found))


# ----------------------------------------------------------------------------------------------------------------------- the content


def _stored(
    plan: StatisticsPlan, query: StatisticPlan, keys: Sequence[str], ledger: Ledger, content: str | None
) -> Stored | None:
    for key in keys:
        found = ledger.answer(key)
        value = None if found is None else json.loads(found)
        if value is None or value.get("version") != _VERSION:
            continue
        same = is_of(key, content)
        if not same and value["dataset"] != plan.source.dataset:
            continue  # of another table of the population, under the same label
        if not same:
            check_same(plan.snapshot, f"query {query.id}", value["content"], content)
        return Stored(_in_policy_order(query, value["values"], value["keys"]), value["run"], same)
    return None


def _stored_by_policy(
    plan: StatisticsPlan, policy: Plan, query: StatisticPlan, ledger: Ledger, content: str | None
) -> Stored | None:
    """Return an answer that was stored by the policy's digest, as versions before did."""
    parts = [policy.policy_sha256, policy.environment, plan.source.dataset, plan.snapshot, plan.id, query.id]
    found = ledger.answer(hashlib.sha256(json.dumps(parts).encode()).hexdigest())
    value = None if found is None else json.loads(found)
    if value is None or value.get("version") != _BY_POLICY or value["draws"] != [draw.record() for draw in query.draws]:
        return None
    check_same(plan.snapshot, f"query {query.id}", value["content"], content)
    noisy = Noisy(tuple(map(tuple, value["values"])), tuple(map(tuple, value["keys"])))
    return Stored(noisy, value.get("run"), value["content"] == content)
