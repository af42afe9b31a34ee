"""Each attack on the ground that was prepared: one function an attack, one line each in :data:`TRIED`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.audit.attacks.closest_record import distance
from privrelease.audit.attacks.inference import InferenceAttack
from privrelease.audit.attacks.linkability import Halves
from privrelease.audit.attacks.membership import GUESSING, member_rates
from privrelease.audit.attacks.nearest import nearest
from privrelease.audit.attacks.rates import Rate
from privrelease.audit.attacks.record_linkage import guess_rate, links
from privrelease.audit.attacks.records import Attribute, Tuples
from privrelease.audit.attacks.sampling import drawn_rows
from privrelease.audit.attacks.singling_out import (
    isolated,
    isolating,
    multivariate_of,
    random_predicates,
    scaled_control,
    strongest,
    univariate,
)
from privrelease.engine.protocol.attacks import Drawn
from privrelease.texts.sentences import say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.attacks.sampling import Draws
    from privrelease.audit.attacks.setup import AttackSetup, Table
    from privrelease.audit.attacks.singling_out import Predicate
    from privrelease.audit.document.attacks import AttackName
    from privrelease.engine.protocol.attacks import SharedPersons
    from privrelease.plan.attacks import AttackLimits, AttacksPlan, InferencePlan
    from privrelease.texts.sentences import Said

__all__ = ["TRIED", "AttackAttempt", "Distances", "distances", "planned", "tried"]

ControlKind = Literal["held_out", "scaled", "by_definition", "none"]


@dataclass(frozen=True, slots=True)
class AttackAttempt:
    """One attack. ``missing``: why it could not be made; rates are then None. ``unsound``: why the control that it is held against shows nothing."""

    attack: AttackName
    limits: AttackLimits
    knows: tuple[str, ...]
    main: Rate | None = None
    baseline: Rate | None = None
    control: Rate | None = None
    control_kind: ControlKind = "none"
    other: tuple[str, ...] = ()
    target: str | None = None
    combine: int | None = None
    strongest: tuple[str, ...] = ()
    exist: int | None = None
    """Of singling out by several columns, how many predicates match one released record; None where they were not counted."""
    missing: Said | None = None
    unsound: Said | None = None
    covered: float | None = None
    """Of inference of labels, the mean share of the domain that right guesses cover."""


def planned(plan: AttacksPlan, why: Said) -> Iterator[AttackAttempt]:
    """Yield every attack of the plan as not made, with the reason."""
    single, link, find, member = plan.singling_out, plan.linkability, plan.record_linkage, plan.membership
    if single is not None:
        yield AttackAttempt("singling_out_univariate", single.limits, single.columns, combine=1, missing=why)
        yield AttackAttempt("singling_out_multivariate", single.limits, single.columns, combine=single.combine, missing=why)
    if link is not None:
        yield AttackAttempt("linkability", link.limits, link.first, other=link.second, missing=why)
    for guess in plan.inference:
        yield AttackAttempt("inference", guess.limits, guess.knows, target=guess.target, missing=why)
    if find is not None:
        yield AttackAttempt("record_linkage", find.limits, find.knows, missing=why)
    if member is not None:
        yield AttackAttempt("membership", member.limits, member.knows, missing=why)


def tried(ground: AttackSetup) -> Iterator[AttackAttempt]:
    """Yield every attack of the plan, made where it can be; where it is held against a control that shows nothing, the attempt says so."""
    for one in _tried(ground):
        yield replace(one, unsound=ground.unsound) if one.control_kind in {"held_out", "scaled"} else one


def _tried(ground: AttackSetup) -> Iterator[AttackAttempt]:
    inference = iter(ground.plan.inference)
    for one in planned(ground.plan, say("no_attempt")):
        needed = (*one.knows, *one.other, *(() if one.target is None else (one.target,)))
        if one.attack == "inference":
            guess = next(inference)
        if not ground.has(needed):
            yield _not_made(one, say("attack_lacks_column"))
        elif one.attack == "inference":
            yield _inference(ground, one, guess)
        else:
            yield TRIED[one.attack](ground, one)


def _not_made(one: AttackAttempt, why: Said) -> AttackAttempt:
    return replace(one, missing=why)


# ------------------------------------------------------------------------------------------------------------------ singling out


def _univariate(ground: AttackSetup, one: AttackAttempt) -> AttackAttempt:
    columns = ground.released.columns_of(sorted(one.knows))
    draws = ground.draws.named(one.attack)
    return _predicates(ground, one, univariate(columns, draws, ground.plan.sample, ground.released.counts), 1)


def _multivariate(ground: AttackSetup, one: AttackAttempt) -> AttackAttempt:
    columns = ground.released.columns_of(sorted(one.knows))
    combine = one.combine or 1
    draws = ground.draws.named(one.attack)
    predicates, exist = multivariate_of(columns, combine, draws, ground.plan.sample, ground.released.counts)
    return _predicates(ground, replace(one, exist=exist), predicates, combine)


def _predicates(ground: AttackSetup, one: AttackAttempt, predicates: tuple[Predicate, ...], combine: int) -> AttackAttempt:
    names = sorted(one.knows)  # by name: how a policy orders its columns picks no predicates
    data, released = ground.data, ground.released.columns_of(names)
    guessed = random_predicates(released, combine, ground.draws.named(f"{one.attack} guessed"), len(predicates))
    hits = isolating(predicates, data.columns_of(names), data.counts, data.spans)
    made = replace(
        one,
        missing=None,
        main=Rate(sum(hits), len(hits)),
        strongest=tuple(names[place] for place in strongest(predicates, hits)),
        baseline=isolated(guessed, data.columns_of(names), data.counts, data.spans),
    )
    if ground.control is None:
        return made
    # whether a predicate isolates depends on how many it is tried on
    control = ground.control
    columns, counts, spans = control.columns_of(names), control.counts, control.spans
    if control.number > data.number:
        part = Drawn(ground.draws.named(f"{one.attack} control").seed, data.number)
        counts, spans = ground.engine.drawn_counts(control.records, part)
    rate = isolated(predicates, columns, counts, spans)
    if control.number >= data.number:
        return replace(made, control=rate, control_kind="held_out")
    scaled = scaled_control(predicates, columns, rate, data.rows, counts)
    return replace(made, control=scaled, control_kind="scaled")


# ----------------------------------------------------------------------------------------------------------- the nearest records


def _linkability(ground: AttackSetup, one: AttackAttempt) -> AttackAttempt:
    released, draws = ground.released, ground.draws.named(one.attack)
    ranks, _ = ground.lot(draws.named("lot"))
    halves = Halves(released.columns_of(one.knows), released.columns_of(one.other), ranks)
    made = replace(one, missing=None, baseline=guess_rate(released.rows))
    if ground.auxiliary is None:
        at = ground.targets(ground.data, draws.named("targets"))
        made = replace(made, main=halves.linked(ground.data.at(one.knows, at), ground.data.at(one.other, at)))
        if ground.control is None:
            return made
        at = ground.targets(ground.control, draws.named("control"))
        rate = halves.linked(ground.control.at(one.knows, at), ground.control.at(one.other, at))
        return replace(made, control=rate, control_kind="held_out")
    found = ground.auxiliary
    made = replace(made, main=_listed(ground, one, halves, found.in_data, ground.data, draws.named("targets")))
    if ground.control is None or found.in_control is None:
        return made
    rate = _listed(ground, one, halves, found.in_control, ground.control, draws.named("control"))
    return replace(made, control=rate, control_kind="held_out") if rate.attempts else made


def _listed(ground: AttackSetup, one: AttackAttempt, halves: Halves, shared: SharedPersons, table: Table, draws: Draws) -> Rate:
    """Link the attacker's list with the second halves of a table, for persons who are in both."""
    assert ground.auxiliary is not None
    engine, list_ = ground.engine, ground.auxiliary.table
    places = drawn_rows(draws, shared.rows, ground.plan.sample, lambda some: engine.shared_at(shared, some)[1])
    listed, rows = engine.shared_at(shared, places)
    first = list_.at(one.knows, engine.records_at(list_.records, listed))
    return halves.linked(first, table.at(one.other, engine.records_at(table.records, rows)))


def _inference(ground: AttackSetup, one: AttackAttempt, guess: InferencePlan) -> AttackAttempt:
    released, draws = ground.released, ground.draws.named(one.attack)
    guesser = InferenceAttack(
        released.columns_of(one.knows), released.columns[guess.target], float(guess.tolerance), released.counts
    )

    def rates(table: Table, name: str) -> tuple[Rate, Rate]:
        at = ground.targets(table, draws.named(name))
        secret = table.columns[guess.target].of(at)
        blind = guesser.blind(secret)
        return guesser.rate(table.at(one.knows, at), secret), blind

    main, blind = rates(ground.data, "targets")
    covered = None if ground.data.columns[guess.target].cover is None else guesser.covered
    made = replace(one, missing=None, main=main, baseline=blind, covered=covered)
    if ground.control is None:
        return made
    return replace(made, control=rates(ground.control, "control")[0], control_kind="held_out")


def _record_linkage(ground: AttackSetup, one: AttackAttempt) -> AttackAttempt:
    owners = ground.owners
    if owners is None:
        return replace(one, missing=say("attack_unled"))
    draws = ground.draws.named(one.attack)
    rows = ground.target_rows(ground.data, draws.named("targets"))
    targets = ground.data.at(one.knows, ground.engine.records_at(ground.data.records, rows))
    ranks, places = ground.lot(draws.named("lot"))
    released = ground.released.columns_of(one.knows)
    main = links(targets, ground.person_of(rows), released, lambda found: owners(places[found]), ranks)
    return replace(
        one,
        missing=None,
        main=main,
        baseline=guess_rate(ground.released.rows),
        control=Rate(known=Fraction(0)),
        control_kind="by_definition",
    )


def _membership(ground: AttackSetup, one: AttackAttempt) -> AttackAttempt:
    control = ground.control
    if control is None:
        return replace(one, missing=say("no_held_out"))
    draws = ground.draws.named(one.attack)
    records = Tuples.among(ground.released.columns_of(one.knows))
    apart = []
    for table, name in ((ground.data, "targets"), (control, "control")):
        at = ground.targets(table, draws.named(name))
        apart.append(nearest(table.at(one.knows, at), records).distance)
    main, others = member_rates(apart[0], apart[1])
    return replace(one, missing=None, main=main, baseline=GUESSING, control=others, control_kind="held_out")


#: What tries each attack; inference has its own, since it may have several targets.
TRIED: dict[str, Callable[[AttackSetup, AttackAttempt], AttackAttempt]] = {
    "singling_out_univariate": _univariate,
    "singling_out_multivariate": _multivariate,
    "linkability": _linkability,
    "record_linkage": _record_linkage,
    "membership": _membership,
}


# -------------------------------------------------------------------------------------------------------------------- information


@dataclass(frozen=True, eq=False, slots=True)
class Distances:
    """Distances to the closest record of the data: of released records, and of held-out persons (None: there are none)."""

    released: NDArray[np.float64]
    held_out: NDArray[np.float64] | None


def distances(ground: AttackSetup) -> Distances | None:
    """Return distances of a sample; None where there is nothing to compare."""
    names = [name for name in ground.plan.columns if name in ground.released.columns]
    if not names or not ground.data.rows:
        return None
    coarser = {name for name in names if ground.data.columns[name].cover is not None}

    def comparable(columns: Sequence[Attribute]) -> list[Attribute]:
        """Columns of labels by the label that each value is under; one beyond all for values under none."""
        return [one if one.name not in coarser else Attribute(one.name, _beyond(one)) for one in columns]

    real = comparable(ground.data.columns_of(names))

    def of(table: Table, name: str) -> NDArray[np.float64]:
        at = ground.targets(table, ground.draws.named(f"closest {name}"))
        return distance(comparable(table.at(names, at)), real, ground.data.records.first)

    return Distances(of(ground.released, "released"), None if ground.control is None else of(ground.control, "held out"))


def _beyond(one: Attribute) -> NDArray[np.int64]:
    codes = one.carried.astype(np.int64)
    return codes if one.cover is None else np.where(codes < 0, len(one.cover.leaves.of), codes)
