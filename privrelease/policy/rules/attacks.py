"""Rules of attacks: something to attack, columns to go by, and the persons that an attack cannot do without."""

from __future__ import annotations

from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING, Final

from privrelease.policy.language.attacks import ATTACKS, SinglingOutSpec
from privrelease.policy.rules.attack_columns import attackable, attacked, can_be_attacked, holds_out
from privrelease.policy.rules.rule_context import duplicates
from privrelease.policy.text.messages import did_you_mean, shown
from privrelease.policy.validation.paths import PathFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.attacks import AttacksSpec
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.kinds import Release
    from privrelease.policy.rules.attack_columns import Attackable
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["attack_rules", "attempts_needed", "smallest_upper_end"]

#: The lowest confidence of the intervals that show whether a limit is kept.
_LEAST_CONFIDENCE: Final = Decimal("0.8")

_LEAVES = "name columns that leave as they are, or limit the attacks with `attacks.releases`"


def attack_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with attacks."""
    spec = reading.policy.attacks
    if spec is None:
        return
    tried = [name for name in ATTACKS if getattr(spec, name) is not None]
    if not tried and not reading.left_out("attacks"):
        yield reading.error("P460", "attacks names no attack", "attacks", key=True, hint=f"write one of: {', '.join(ATTACKS)}")
    yield from _releases(reading, spec)
    yield from _files(reading, spec)
    if spec.membership is not None and spec.control is None and _lacks_control(reading):
        message = "membership needs persons who are not in the data: control is missing"
        yield reading.error(
            "P460", message, "attacks", "membership", key=True, hint="write `control: holdout.csv` under attacks"
        )
    yield from _named_twice(reading, spec)
    yield from _meaningful(reading, spec)
    if reading.left_out("attacks", "releases"):
        return  # which releases are attacked is not known
    for _, release in attacked(reading.policy, reading.kinds):
        dataset = reading.policy.datasets.get(release.from_)
        if dataset is not None and ("datasets", release.from_) not in reading.broken:
            yield from _release(reading, spec, release, dataset)


def _lacks_control(reading: RuleContext) -> bool:
    """Return True if a release is attacked of which no one is held out."""
    if reading.left_out("attacks", "control") or reading.left_out("attacks", "releases"):
        return False
    there = attacked(reading.policy, reading.kinds)
    return not there or not all(holds_out(release) for _, release in there)


def _meaningful(reading: RuleContext, spec: AttacksSpec) -> Iterator[Finding]:
    """Refuse settings under which a pass would mean nothing: intervals of low confidence, too few attempts for the limit."""
    if spec.confidence < _LEAST_CONFIDENCE:
        message = (
            f"confidence {spec.confidence} is below {_LEAST_CONFIDENCE}: an interval that is often wrong shows no limit kept"
        )
        yield reading.error("P542", message, "attacks", "confidence", hint="write `confidence: 0.95`")
        return
    least = smallest_upper_end(spec.sample, spec.confidence)
    for name in ATTACKS:
        part = getattr(spec, name)
        for key in ("max_risk", "max_advantage"):
            limit = None if part is None else getattr(part, key)
            if limit and least > limit:
                message = f"{spec.sample} attempts cannot show {key} {limit} of {name}: where none succeeds, the interval still reaches {least:.4f}"
                needed = attempts_needed(limit, spec.confidence)
                yield reading.error(
                    "P543", message, "attacks", name, key, hint=f"write `sample: {needed}` or more under attacks"
                )


def smallest_upper_end(attempts: int, confidence: Decimal) -> float:
    """Return the upper end of the Wilson interval (1927) of a rate of which no attempt succeeded: z² / (n + z²).

    >>> round(smallest_upper_end(10, Decimal("0.95")), 4), round(smallest_upper_end(1000, Decimal("0.95")), 4)
    (0.2775, 0.0038)
    """
    square = _quantile(confidence) ** 2
    return square / (attempts + square)


def attempts_needed(limit: Decimal, confidence: Decimal) -> int:
    """Return the fewest attempts with which the upper end of no success is at most ``limit`` (above 0): z² (1 - limit) / limit.

    >>> attempts_needed(Decimal("0.1"), Decimal("0.95"))
    35
    """
    return max(1, ceil(_quantile(confidence) ** 2 * (1 - float(limit)) / float(limit)))


def _quantile(confidence: Decimal) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + float(confidence)) / 2)


def _releases(reading: RuleContext, spec: AttacksSpec) -> Iterator[Finding]:
    kinds = {release.id: release for release in reading.policy.releases}
    for number, name in duplicates(spec.releases or ()):
        yield reading.error(
            "P408", f"{shown(name)} appears twice in releases", "attacks", "releases", number, hint="remove one"
        )
    for number, name in enumerate(spec.releases or ()):
        if name not in kinds:
            if not reading.left_out("releases", name):
                hint = did_you_mean(name, kinds) or f"there is: {', '.join(kinds)}"
                yield reading.error("P304", f"release {shown(name)} does not exist", "attacks", "releases", number, hint=hint)
        elif not can_be_attacked(reading.kind(kinds[name])):
            message = f"release {name} is of kind {kinds[name].kind}: attacks are tried on rows about persons"
            yield reading.error(
                "P460", message, "attacks", "releases", number, hint="name releases of kind microdata or synthetic"
            )
    known = not reading.left_out("releases") and not reading.left_out("attacks", "releases")
    if spec.releases is None and known and not attacked(reading.policy, reading.kinds):
        message = "no release is of kind microdata: attacks are tried on rows about persons"
        synthetic = [release.id for release in reading.policy.releases if can_be_attacked(reading.kind(release))]
        hint = f"write `releases: [{synthetic[0]}]` under attacks, or remove attacks" if synthetic else "remove attacks"
        yield reading.error("P460", message, "attacks", key=True, hint=hint)


def _files(reading: RuleContext, spec: AttacksSpec) -> Iterator[Finding]:
    auxiliary = None if spec.linkability is None else spec.linkability.auxiliary
    named = ((("attacks", "control"), spec.control), (("attacks", "linkability", "auxiliary"), auxiliary))
    for path, written in named:
        if written is None:
            continue
        try:
            reading.roots.file(written)
        except PathFault as fault:
            yield reading.error(fault.code, fault.message, *path, hint=fault.hint)


def _named_twice(reading: RuleContext, spec: AttacksSpec) -> Iterator[Finding]:
    for attack in ("inference", "record_linkage", "membership"):
        part = getattr(spec, attack)
        for key in ("target", "knows"):
            for number, name in duplicates(getattr(part, key, None) or ()):
                yield reading.error(
                    "P408", f"{shown(name)} appears twice in {key}", "attacks", attack, key, number, hint="remove one"
                )
    if spec.inference is not None:
        both = set(spec.inference.target) & set(spec.inference.knows or ())
        for name in sorted(both):
            message = f"{shown(name)} is known and guessed at once"
            yield reading.error("P460", message, "attacks", "inference", "knows", hint="remove it from `knows`")
    link = spec.linkability
    if link is not None and link.columns is not None:
        for name in sorted({*link.columns[0]} & {*link.columns[1]}):
            message = f"{shown(name)} is in both sets: the two lists would have a key in common"
            yield reading.error("P460", message, "attacks", "linkability", "columns", hint="remove it from one of them")


def _release(reading: RuleContext, spec: AttacksSpec, release: Release, dataset: Dataset) -> Iterator[Finding]:
    """Check what an attack needs of one release."""
    there = attackable(release, dataset, reading.kinds)
    for path, names in _columns(spec):
        for number, name in enumerate(names):
            if name not in dataset.columns:
                hint = did_you_mean(name, dataset.columns)
                message = f"column {shown(name)} does not exist in dataset {shown(release.from_)}"
                if ("columns", release.from_, name) not in reading.broken:
                    yield reading.error("P302", message, *path, number, hint=hint)
            elif name not in there.columns:
                message = f"{shown(name)} does not leave as it is in release {release.id}: nothing could be compared"
                yield reading.error("P461", message, *path, number, hint=_LEAVES)
    yield from _widths(reading, spec, release, dataset)
    yield from _enough(reading, spec, release, there)
    link = spec.linkability
    if link is not None and link.auxiliary is not None and dataset.person is None:
        message = f"an auxiliary file is led to persons by the unit, and dataset {release.from_} has none"
        yield reading.error(
            "P460", message, "attacks", "linkability", "auxiliary", hint="write `unit: {column: …}` in the dataset"
        )


def _widths(reading: RuleContext, spec: AttacksSpec, release: Release, dataset: Dataset) -> Iterator[Finding]:
    """Warn of a tolerance for values that are released as labels."""
    guess, rows = spec.inference, reading.kind(release).rows
    if guess is None or not guess.tolerance or rows is None:
        return
    for name in sorted(rows(release, dataset).contained & set(guess.target)):
        message = f"tolerance says nothing about {shown(name)} in release {release.id}: a guessed label counts where it holds the value"
        yield reading.warning("P581", message, "attacks", "inference", "tolerance", hint="remove it, or guess another column")


def _columns(spec: AttacksSpec) -> Iterator[tuple[tuple[str | int, ...], Sequence[str]]]:
    if spec.inference is not None:
        yield ("attacks", "inference", "target"), spec.inference.target
    for attack in ("inference", "record_linkage", "membership"):
        knows = getattr(getattr(spec, attack), "knows", None)
        if knows is not None:
            yield ("attacks", attack, "knows"), knows
    if spec.linkability is not None and spec.linkability.columns is not None:
        for side, names in enumerate(spec.linkability.columns):
            yield ("attacks", "linkability", "columns", side), names


def _enough(reading: RuleContext, spec: AttacksSpec, release: Release, there: Attackable) -> Iterator[Finding]:
    """Columns to go by, where the policy names none."""
    if spec.singling_out is not None and spec.singling_out.combine > len(there.columns):
        message = (
            f"combine {spec.singling_out.combine} is more than the {len(there.columns)} columns that leave in {release.id}"
        )
        hint = f"write `combine: {max(1, len(there.columns))}` under singling_out; without the key it is {SinglingOutSpec().combine}"
        yield reading.error("P460", message, "attacks", "singling_out", "combine", hint=hint)
    lacking = []
    if spec.linkability is not None and not all(there.halves(spec)):
        lacking.append(("linkability", "two sets of columns", "write `columns: [[…], […]]`"))
    inference = spec.inference
    if inference is not None and not all(there.known(inference.knows, target) for target in inference.target):
        lacking.append(("inference", "a column that the attacker knows", "write `knows`"))
    if spec.record_linkage is not None and not there.known(spec.record_linkage.knows):
        lacking.append(("record_linkage", "a column that the attacker knows", "write `knows`"))
    if spec.membership is not None and not (spec.membership.knows or there.columns):
        lacking.append(("membership", "a released column", _LEAVES))
    for attack, what, hint in lacking:
        message = f"{attack} needs {what}, and release {release.id} gives none"
        yield reading.error("P460", message, "attacks", attack, key=True, hint=hint)
