"""What a change of data, threats, releases and attacks means where the direction of a number does not tell.

What leaves is weaker where there is more of it or another thing, and breaking where readers miss what they had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privrelease.policy.changes.directions import always, elsewhere, held, limit, members, only_removed, promised, ranked
from privrelease.policy.language.releases import MicrodataRelease
from privrelease.policy.language.statistics import StatisticsRelease
from privrelease.policy.rules.rule_context import leaving
from privrelease.relational.schema import Role

if TYPE_CHECKING:
    from privrelease.policy.changes.directions import Effect, Judges
    from privrelease.policy.changes.environment_rules import Changed
    from privrelease.policy.language.models import Policy

__all__ = ["FIGURE_JUDGES", "left_columns"]


# ---------------------------------------------------------------------------------------------------------------------- datasets


def _unused(change: Changed) -> Effect | None:
    """A dataset that no release reads yet; what reads it is a change of its own."""
    return "neutral" if change.added else None


def _labelled(change: Changed) -> Effect:
    """A label under which other content is refused, and answers are served again."""
    return "weaker" if change.new is None else "stricter" if change.old is None else "neutral"


def _person(change: Changed) -> Effect | None:
    """Whom the protection is for: without a unit each row is a person of its own."""
    return "stricter" if change.old is None else "weaker"


def _new_column(change: Changed) -> Effect | None:
    """A direct identifier leaves by a pseudonym only, which is a change of its own; any other column may leave."""
    if not change.added:
        return None
    return "neutral" if isinstance(change.new, dict) and change.new.get("role") is Role.DIRECT else "weaker"


def _role(change: Changed) -> Effect | None:
    """What becomes a direct identifier leaves no more, and its readers miss it."""
    if change.new is not Role.DIRECT or change.before is None or change.after is None:
        return None
    name = change.names[3]
    return "breaking" if name in _left(change.before) - _left(change.after) else None


def _left(policy: Policy) -> frozenset[str]:
    """Names of the columns that leave in a release of rows."""
    return frozenset(name for columns in left_columns(policy).values() for name in columns)


def left_columns(policy: Policy) -> dict[str, tuple[str, ...]]:
    """Return the columns that leave, in their order, by the id of each release of rows."""
    return {
        release.id: leaving(release, policy.datasets[release.from_]).columns
        for release in policy.releases
        if isinstance(release, MicrodataRelease)
    }


def _classes(change: Changed) -> Effect:
    """Groups that share one key: not looked for, looked for where nothing is given, or repaired."""
    ranks = [1 if value is None else 2 if value else 0 for value in (change.old, change.new)]
    return "stricter" if ranks[1] > ranks[0] else "weaker"


def _domain(change: Changed) -> Effect | None:
    """Values that a column may hold, and keys and bounds of figures: fewer in the same order are missed, others are new."""
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


def _step(change: Changed) -> Effect | None:
    """The step of figures: a finer one tells more, with a coarser one readers miss digits."""
    if change.old is None or change.new is None:
        return "weaker"
    return limit(higher="breaking")(change) if change.new > change.old else "weaker"  # type: ignore[operator]  # numbers


def _category(change: Changed) -> Effect:
    """Ordinary data is what is not said to be more; special data needs a ground of its own, criminal data is marked."""
    before, after = (one if one in {"special", "criminal"} else None for one in (change.old, change.new))
    return "neutral" if before == after else "stricter" if before is None else "weaker"


# ---------------------------------------------------------------------------------------------------------------------- releases


def _pseudonym(change: Changed) -> Effect:
    """A pseudonym that is new lets a direct identifier's rows be linked, and hides another column's values; and the reverse."""
    direct = [_is_direct(policy, change.names) for policy in (change.before, change.after)]
    if change.added:
        return "weaker" if direct[1] else "breaking"
    if change.removed:
        return "breaking" if direct[0] else "weaker"
    return "weaker"


def _is_direct(policy: Policy | None, names: tuple[str, ...]) -> bool:
    """Whether the column that these names are about names the person; also where nobody knows."""
    if policy is None:
        return True
    release = next((one for one in policy.releases if one.id == names[1]), None)
    column = None if release is None else policy.datasets[release.from_].columns.get(names[3])
    return column is None or column.role is Role.DIRECT


def _selected(change: Changed) -> Effect:
    """Columns that leave, in their order: readers miss those that are gone or stand elsewhere, others are new."""
    sides = [() if policy is None else left_columns(policy)[change.names[1]] for policy in (change.before, change.after)]
    if sides[0] == sides[1]:
        return "neutral"
    return "breaking" if set(sides[1]) <= set(sides[0]) else "weaker"


def _files(change: Changed) -> Effect:
    """Files of one content: one more is nobody's loss."""
    return "neutral" if members(change.old) <= members(change.new) else "breaking"


def _asked(change: Changed) -> Effect | None:
    """Columns, rows and keys of figures: those that are gone are missed, others are new to be seen."""
    if not (isinstance(change.old, tuple) and isinstance(change.new, tuple)):
        return None
    return "breaking" if all(one in change.old for one in change.new) else "weaker"


def _keys(change: Changed) -> Effect | None:
    """Published keys: some of the declared ones are fewer; those found in the data are others."""
    if change.old is None and isinstance(change.new, dict):
        return "weaker" if change.new.get("private") else "breaking"
    return _asked(change) if "listed" in change.names else "weaker"


def _listed(change: Changed) -> Effect | None:
    """Keys of one column: not listed, all that are declared are published."""
    return "breaking" if change.added else "weaker" if change.removed else _asked(change)


def _shown(change: Changed) -> Effect:
    """Rows or columns that are shown or not."""
    return "weaker" if change.new else "breaking"


def _accounting(change: Changed) -> Effect:
    """How costs add up: each rule includes those before it, and asks for less noise."""
    rules = ("pure", "approximate", "zcdp", "pld")
    sides = ((change.old, change.before), (change.new, change.after))
    before, after = (
        rules.index(_rule_meant(policy, change.names[1]) if value is None else str(value)) for value, policy in sides
    )
    return "weaker" if after > before else "stricter" if after < before else "neutral"


def _rule_meant(policy: Policy | None, name: str) -> str:
    """The rule where none is written: `zcdp` where a query needs a delta."""
    releases = () if policy is None else policy.releases
    queries = next((one.queries for one in releases if isinstance(one, StatisticsRelease) and one.id == name), ())
    needed = any(one.mechanism == "gaussian" or (one.keys is not None and one.keys.private) for one in queries)
    return "zcdp" if needed else "pure"


def _treated(change: Changed) -> Effect:
    """What is done to noisy figures tells nobody more; readers may rely on it."""
    if change.new is None or change.old is None:
        return "breaking"
    return "breaking" if members(change.old) - members(change.new) else "neutral"


def _drawn_anew(change: Changed) -> Effect:
    return "weaker" if change.new else "stricter"


def _spent(change: Changed) -> Effect | None:
    """A query's budget; not given it is a share of what is left, which may be more or less."""
    return "weaker" if change.old is None or change.new is None else None


def _least(change: Changed) -> Effect | None:
    """A rule of a release; as ``tables`` says where the release does not."""
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
    """``[n, k]``: more contributors within a smaller share is stricter, one of them otherwise cannot be told."""
    return "stricter" if new[0] >= old[0] and new[1] <= old[1] else "weaker"


def _common_dominance(change: Changed) -> Effect | None:
    if isinstance(change.old, tuple) and isinstance(change.new, tuple):
        return _dominance(change.old, change.new)
    return None


def _rounded(change: Changed) -> Effect | None:
    """A multiple of the old step tells less; another step beside it may tell more."""
    if isinstance(change.old, int) and isinstance(change.new, int):
        return "stricter" if change.new % change.old == 0 else "weaker"
    return None


# ----------------------------------------------------------------------------------------------------------------------- attacks


def _attacked(change: Changed) -> Effect:
    """Releases that are attacked; all where none is named."""
    if change.old is None or change.new is None:
        return "weaker" if change.old is None else "stricter"
    return promised(change)


FIGURE_JUDGES: Judges = (
    (("datasets", "*"), _unused),
    (("datasets", "*", "snapshot"), _labelled),
    (("datasets", "*", "population"), elsewhere),
    (("datasets", "*", "unit"), _person),
    (("datasets", "*", "unit", "max_rows"), limit(higher="weaker")),
    (("datasets", "*", "unit", "max_groups"), limit(higher="weaker")),
    (("datasets", "*", "columns", "*"), _new_column),
    (("datasets", "*", "columns", "*", "role"), _role),
    (("datasets", "*", "columns", "*", "domain"), _domain),
    (("datasets", "*", "columns", "*", "domain", "*"), _domain),
    (("datasets", "*", "columns", "*", "outside"), ranked("error", "drop")),
    (("datasets", "*", "columns", "*", "grid"), _step),
    (("datasets", "*", "columns", "*", "category"), _category),
    (("threats", "*", "knows"), held),
    (("threats", "*", "attacker"), ranked("prosecutor", "journalist", "marketer")),
    (("threats", "*", "missing"), ranked("category", "wildcard")),
    (("threats", "*", "population", "**"), elsewhere),
    (("releases", "*", "kind"), always("weaker")),
    (("releases", "*", "protect"), held),
    (("releases", "*", "columns"), _selected),
    (("releases", "*", "drop"), _selected),
    (("releases", "*", "pseudonymise", "*"), _pseudonym),
    (("releases", "*", "suppress", "weights", "*"), always("neutral")),
    (("releases", "*", "output"), _files),
    (("releases", "*", "margins"), _shown),
    (("releases", "*", "measures"), _asked),
    (("releases", "*", "by"), _asked),
    (("releases", "*", "round_up"), _rounded),
    (("releases", "*", "min_count"), _least),
    (("releases", "*", "protect", "min_count"), _least),
    (("releases", "*", "protect", "dominance"), _least),
    (("releases", "*", "protect", "p_percent"), _least),
    (("releases", "*", "protect", "class_disclosure"), _classes),
    (("releases", "*", "budget", "accounting"), _accounting),
    (("releases", "*", "post"), _treated),
    (("releases", "*", "queries", "*"), only_removed),
    (("releases", "*", "queries", "*", "interval"), _shown),
    (("releases", "*", "queries", "*", "other"), _shown),
    (("releases", "*", "queries", "*", "by"), _asked),
    (("releases", "*", "queries", "*", "keys"), _keys),
    (("releases", "*", "queries", "*", "keys", "listed", "*"), _listed),
    (("releases", "*", "queries", "*", "bins", "edges"), _asked),
    (("releases", "*", "queries", "*", "mechanism"), ranked("laplace", "gaussian")),
    (("releases", "*", "queries", "*", "epsilon"), _spent),
    (("releases", "*", "queries", "*", "post"), _treated),
    (("releases", "*", "queries", "*", "expected_rows"), always("neutral")),
    (("releases", "*", "queries", "*", "fresh"), _drawn_anew),
    (("attacks", "releases"), _attacked),
    (("attacks", "control"), elsewhere),
    (("attacks", "linkability", "auxiliary"), elsewhere),
    (("attacks", "inference", "target"), held),
    (("tables", "dominance"), _common_dominance),
    (("approvals", "required"), held),
)
