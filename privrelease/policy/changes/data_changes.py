"""Verdicts on changes of data, threats, releases and attacks that the direction of a number does not give.

A release is weaker where there is more of it or another thing, and breaking where readers miss what they had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from privrelease.policy.changes.directions import limit, members, promised
from privrelease.policy.release_kind import kind_of
from privrelease.relational.schema import Role

if TYPE_CHECKING:
    from privrelease.policy.changes.directions import Effect
    from privrelease.policy.changes.environment_rules import Changed
    from privrelease.policy.language.kinds import Kinds
    from privrelease.policy.language.models import Policy

__all__ = [
    "accounting",
    "asked",
    "attacked",
    "category",
    "classes",
    "column",
    "common_dominance",
    "dataset",
    "domain",
    "drawn_again",
    "files",
    "keys",
    "labelled",
    "least",
    "left_columns",
    "links",
    "listed_keys",
    "person",
    "pseudonym",
    "role",
    "rounded",
    "selected",
    "shown",
    "spent",
    "step",
    "treated",
]


# ---------------------------------------------------------------------------------------------------------------------- datasets


def dataset(change: Changed) -> Effect | None:
    """Judge a dataset: one that is new is read by no release yet; what reads it is a change of its own."""
    return "neutral" if change.added else "breaking" if change.removed else None


def labelled(change: Changed) -> Effect:
    """Judge a label under which other content is refused, and answers are served again."""
    return "weaker" if change.new is None else "stricter" if change.old is None else "neutral"


def person(change: Changed) -> Effect | None:
    """Judge whom the protection is for: a column names persons; without a unit each row is a person while no direct identifier repeats;
    with `rows` it is one whatever repeats. Another column is another person.
    """
    old, new = (0 if value == "rows" else 1 if value is None else 2 for value in (change.old, change.new))
    return "stricter" if new > old else "weaker"


def column(change: Changed) -> Effect | None:
    """Judge a column: a new direct identifier is released by a pseudonym only, a change of its own; any other may be released as it is."""
    if not change.added:
        return "breaking" if change.removed else None
    return "neutral" if isinstance(change.new, dict) and change.new.get("role") is Role.DIRECT else "weaker"


def links(change: Changed) -> Effect | None:
    """Judge who belongs together: households are judged, what is not declared is suspected, and `none` is believed."""
    order = ("none", None, "household")
    return "stricter" if order.index(cast("Any", change.new)) > order.index(cast("Any", change.old)) else "weaker"


def role(change: Changed) -> Effect | None:
    """Judge a role: what becomes a direct identifier is released no more, and its readers miss it."""
    if change.new is not Role.DIRECT or change.before is None or change.after is None:
        return None
    name = change.names[3]
    return "breaking" if name in _left(change.before, change.kinds) - _left(change.after, change.kinds) else None


def _left(policy: Policy, kinds: Kinds) -> frozenset[str]:
    """Names of the columns that are released in a release of rows."""
    return frozenset(name for columns in left_columns(policy, kinds).values() for name in columns)


def left_columns(policy: Policy, kinds: Kinds) -> dict[str, tuple[str, ...]]:
    """Return the released columns, in their order, by the id of each release of rows."""
    found = {}
    for release in policy.releases:
        rows = kind_of(release, kinds).rows
        if rows is not None:
            found[release.id] = rows(release, policy.datasets[release.from_]).columns
    return found


def classes(change: Changed) -> Effect:
    """Judge groups that share one key: not looked for, looked for where nothing is given, or repaired."""
    ranks = [1 if value is None else 2 if value else 0 for value in (change.old, change.new)]
    return "stricter" if ranks[1] > ranks[0] else "weaker"


def domain(change: Changed) -> Effect | None:
    """Judge values that a column may hold, and keys and bounds of figures: fewer in the same order are missed, others are new."""
    if change.old is None:
        return "stricter"
    if not (isinstance(change.old, tuple) and isinstance(change.new, tuple)):
        return None
    if change.names[-1] == "range":
        return _narrower(change.old, change.new)
    kept = tuple(value for value in change.old if value in change.new)
    return "breaking" if kept == change.new else "weaker"


def _narrower(old: tuple[object, ...], new: tuple[object, ...]) -> Effect:
    from decimal import Decimal, InvalidOperation

    try:
        ends = [[Decimal(str(value)) for value in side] for side in (old, new)]
    except InvalidOperation:  # days, whose texts are in their order
        texts = [[str(value) for value in side] for side in (old, new)]
        return "breaking" if texts[0][0] <= texts[1][0] and texts[1][1] <= texts[0][1] else "weaker"
    return "breaking" if ends[0][0] <= ends[1][0] and ends[1][1] <= ends[0][1] else "weaker"


def step(change: Changed) -> Effect | None:
    """Judge the step of figures: a finer one discloses more, with a coarser one readers miss digits."""
    if change.old is None or change.new is None:
        return "weaker"
    return limit(higher="breaking")(change) if change.new > change.old else "weaker"  # type: ignore[operator]  # numbers


def category(change: Changed) -> Effect:
    """Judge a category: ordinary data is what is not said to be more; special data needs a ground of its own, criminal data is marked."""
    before, after = (one if one in {"special", "criminal"} else None for one in (change.old, change.new))
    return "neutral" if before == after else "stricter" if before is None else "weaker"


# ---------------------------------------------------------------------------------------------------------------------- releases


def pseudonym(change: Changed) -> Effect:
    """Judge a pseudonym: a new one lets a direct identifier's rows be linked, and hides another column's values; and the reverse."""
    direct = [_is_direct(policy, change.names) for policy in (change.before, change.after)]
    if change.added:
        return "weaker" if direct[1] else "breaking"
    if change.removed:
        return "breaking" if direct[0] else "weaker"
    return "weaker"


def _is_direct(policy: Policy | None, names: tuple[str, ...]) -> bool:
    """Return True if the column that these names are about names the person; also where no one knows."""
    if policy is None:
        return True
    release = next((one for one in policy.releases if one.id == names[1]), None)
    column = None if release is None else policy.datasets[release.from_].columns.get(names[3])
    return column is None or column.role is Role.DIRECT


def selected(change: Changed) -> Effect:
    """Judge the released columns, in their order: readers miss those that are removed or moved elsewhere, others are new."""
    policies = (change.before, change.after)
    sides = [() if policy is None else left_columns(policy, change.kinds)[change.names[1]] for policy in policies]
    if sides[0] == sides[1]:
        return "neutral"
    return "breaking" if set(sides[1]) <= set(sides[0]) else "weaker"


def files(change: Changed) -> Effect:
    """Judge files of one content: with one more, no reader misses any."""
    return "neutral" if members(change.old) <= members(change.new) else "breaking"


def asked(change: Changed) -> Effect | None:
    """Judge columns, rows and keys of figures: those that are removed are missed, others are new to be seen."""
    if not (isinstance(change.old, tuple) and isinstance(change.new, tuple)):
        return None
    return "breaking" if all(one in change.old for one in change.new) else "weaker"


def keys(change: Changed) -> Effect | None:
    """Judge published keys: some of the declared ones are fewer; those found in the data are others."""
    if change.old is None and isinstance(change.new, dict):
        return "weaker" if change.new.get("private") else "breaking"
    return asked(change) if "listed" in change.names else "weaker"


def listed_keys(change: Changed) -> Effect | None:
    """Judge the keys of one column: not listed, all that are declared are published."""
    return "breaking" if change.added else "weaker" if change.removed else asked(change)


def shown(change: Changed) -> Effect:
    """Judge rows or columns that are shown or not."""
    return "weaker" if change.new else "breaking"


def accounting(change: Changed) -> Effect:
    """Judge how costs add up: each rule includes those before it, and asks for less noise."""
    rules = ("pure", "approximate", "zcdp", "pld")
    sides = ((change.old, change.before), (change.new, change.after))
    before, after = (
        rules.index(_rule_meant(policy, change.names[1]) if value is None else str(value)) for value, policy in sides
    )
    return "weaker" if after > before else "stricter" if after < before else "neutral"


def _rule_meant(policy: Policy | None, name: str) -> str:
    """The rule where none is written: `zcdp` where a query, or rows drawn from noisy answers, need the delta that there is."""
    releases = () if policy is None else policy.releases
    release: Any = next((one for one in releases if one.id == name), None)
    queries = getattr(release, "queries", None)
    if queries is None:
        return "pure" if release is None or not release.budget.delta else "zcdp"
    needed = any(one.mechanism == "gaussian" or (one.keys is not None and one.keys.private) for one in queries)
    return "zcdp" if needed else "pure"


def treated(change: Changed) -> Effect:
    """Judge what is done to noisy figures: it discloses nothing more to anyone; readers may rely on it."""
    if change.new is None or change.old is None:
        return "breaking"
    return "breaking" if members(change.old) - members(change.new) else "neutral"


def drawn_again(change: Changed) -> Effect:
    """Judge whether a stored answer is drawn again."""
    return "weaker" if change.new else "stricter"


def spent(change: Changed) -> Effect | None:
    """Judge a query's budget: not given it is a share of what is left, which may be more or less."""
    return "weaker" if change.old is None or change.new is None else None


def least(change: Changed) -> Effect | None:
    """Judge a rule of a release: as ``tables`` says where the release does not."""
    key = change.names[-1]
    sides: list[Any] = []
    for value, policy in ((change.old, change.before), (change.new, change.after)):
        common = None if policy is None or policy.tables is None else getattr(policy.tables, key)
        sides.append(common if value is None else value)
    if sides[0] == sides[1]:
        return "neutral"
    if isinstance(sides[0], tuple) and isinstance(sides[1], tuple):
        return _dominance(sides[0], sides[1])
    if sides[0] is None or sides[1] is None:
        return "stricter" if sides[0] is None else "weaker"
    return "stricter" if sides[1] > sides[0] else "weaker"


def _dominance(old: tuple[int, ...], new: tuple[int, ...]) -> Effect:
    """``[n, k]``: more contributors within a smaller share is stricter, one of them otherwise cannot be determined."""
    return "stricter" if new[0] >= old[0] and new[1] <= old[1] else "weaker"


def common_dominance(change: Changed) -> Effect | None:
    """Judge a rule of dominance for all tables."""
    if isinstance(change.old, tuple) and isinstance(change.new, tuple):
        return _dominance(change.old, change.new)
    return None


def rounded(change: Changed) -> Effect | None:
    """Judge a step of rounding: a multiple of the old one discloses less, another may disclose more."""
    if isinstance(change.old, int) and isinstance(change.new, int):
        return "stricter" if change.new % change.old == 0 else "weaker"
    return None


# ----------------------------------------------------------------------------------------------------------------------- attacks


def attacked(change: Changed) -> Effect:
    """Judge which releases are attacked: all where none is named."""
    if change.old is None or change.new is None:
        return "weaker" if change.old is None else "stricter"
    return promised(change)
