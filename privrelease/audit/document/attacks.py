"""Field ``attacks`` of ``audit.json``: the attacks that were tried, how often each succeeded, and distances as information.

Rates of success come from the source, so counts are internal: attempts too, which are all persons of the source where the sample takes
everybody in. Recipients see rates in whole per cent, and only where neither successes nor failures are fewer than the policy's minimum;
under differential privacy they see none (DESIGN semantics 12).
"""

from fractions import Fraction
from math import ceil, floor
from typing import Literal

from pydantic import Field

from privrelease.audit.document.sentences import Coded, said_of
from privrelease.audit.figure_model import Figure, Outcome, Visibility
from privrelease.documents import Document, optional_field

__all__ = [
    "AttackFacts",
    "AttackName",
    "AttacksFacts",
    "BoundedFacts",
    "ClosestFacts",
    "RateFacts",
    "for_recipients",
]

AttackName = Literal[
    "singling_out_univariate", "singling_out_multivariate", "linkability", "inference", "record_linkage", "membership"
]


class BoundedFacts(Document):
    """A figure and the ends of its interval."""

    value: Figure
    low: Figure
    high: Figure


class RateFacts(Document):
    """Successes of the attempts that could be made, and their rate. No counts: the rate is known without trying."""

    successes: Figure | None
    attempts: Figure | None
    rate: BoundedFacts


class AttackFacts(Document):
    """One attack. ``main``: on persons in the data; ``baseline``: by guessing; ``control``: on persons who are not in the release."""

    attack: AttackName
    knows: tuple[str, ...]
    """Columns that the attacker goes by; of linkability the first set."""
    other: tuple[str, ...] = ()
    """Of linkability the second set."""
    target: str | None = None
    """Of inference the column that is guessed."""
    combine: int | None = None
    """Of singling out the columns of a predicate."""
    covered: Figure | None = Field(default=None, exclude_if=lambda figure: figure is None)
    """Of inference of a column that is released as labels: the mean share of the domain that right guesses cover."""
    strongest: tuple[str, ...] = Field(default=(), exclude_if=lambda columns: not columns)
    """Of singling out the columns of the predicates that succeeded most often; internal."""
    exist: Figure | None = Field(default=None, exclude_if=lambda figure: figure is None)
    """Of singling out by several columns, how many predicates match one released record; internal, left out where they were not counted."""
    main: RateFacts | None
    baseline: RateFacts | None
    control: RateFacts | None
    control_kind: Literal["held_out", "scaled", "by_definition", "none"]
    """Persons of the control file; those, scaled to the size of the data; no one outside can be found; or there is no control file."""
    risk: BoundedFacts | None
    """(main - control) / (1 - control); without control persons against guessing, which is at most as good."""
    advantage: BoundedFacts | None
    """main - control, or main - baseline."""
    max_risk: Figure | None
    max_advantage: Figure | None
    outcome: Outcome | None
    """None: the policy sets no limit."""
    said: str
    """The result, or why there is none."""
    said_coded: Coded | None = optional_field()
    """The sentence as code and values."""
    visibility: Visibility

    @property
    def told(self) -> str:
        """Return the sentence, with its code and values where it has them."""
        return said_of(self.said, self.said_coded)


class ClosestFacts(Document):
    """Distances of released records, and of held-out persons, to the closest record of the data."""

    rows: Figure
    median: Figure
    copies: Figure
    """Share at distance 0."""
    held_out_rows: Figure | None
    held_out_median: Figure | None
    held_out_copies: Figure | None


class AttacksFacts(Document):
    """All attacks on one release."""

    sample: int
    confidence: str
    decides: bool
    """False: under differential privacy no figure of the source decides."""
    control: str | None
    """The control file, as the policy writes it."""
    held_out: Figure | None = Field(default=None, exclude_if=lambda figure: figure is None)
    """Rows of persons who were kept out of the model and are the control; internal, left out where there are none."""
    auxiliary: str | None
    attacks: tuple[AttackFacts, ...]
    closest: ClosestFacts | None = None


def for_recipients(facts: AttacksFacts) -> AttacksFacts | None:
    """Return what recipients may see: rates in whole per cent; None under differential privacy, where no budget paid for a figure."""
    if not facts.decides:
        return None
    shown = tuple(_rounded_attack(one) for one in facts.attacks)
    return facts.model_copy(update={"attacks": shown, "closest": None, "control": None, "auxiliary": None})


def _rounded_attack(one: AttackFacts) -> AttackFacts:
    changes: dict[str, object] = {name: _rounded_rate(getattr(one, name)) for name in ("main", "baseline", "control")}
    changes |= {name: _rounded_bounds(getattr(one, name)) for name in ("risk", "advantage")}
    outcome = None if one.visibility is Visibility.INTERNAL else one.outcome
    # what is said of anything but a pass holds figures that are not rounded
    changes["covered"] = None if one.covered is None else _whole_per_cent(one.covered, round)
    return one.model_copy(
        update={
            **changes,
            "outcome": outcome,
            "strongest": (),
            "exist": None,
            "said": one.said if outcome is Outcome.PASS else "",
            "said_coded": one.said_coded if outcome is Outcome.PASS else None,
        }
    )


def _rounded_rate(rate: RateFacts | None) -> RateFacts | None:
    if rate is None:
        return None
    bounds = _rounded_bounds(rate.rate)
    assert bounds is not None
    # a sample of everybody: attempts less released records are the few who were dropped
    attempts = (
        None if rate.attempts is None else Figure(value=None, unit="count", visibility=Visibility.INTERNAL, note="withheld")
    )
    return RateFacts(successes=None, attempts=attempts, rate=bounds)


def _rounded_bounds(bounds: BoundedFacts | None) -> BoundedFacts | None:
    if bounds is None:
        return None
    if bounds.low.value == bounds.value.value == bounds.high.value:
        known = _whole_per_cent(bounds.value, round)
        return BoundedFacts(value=known, low=known, high=known)
    return BoundedFacts(
        value=_whole_per_cent(bounds.value, round),
        low=_whole_per_cent(bounds.low, floor),
        high=_whole_per_cent(bounds.high, ceil),
    )


def _whole_per_cent(figure: Figure, rounding: object) -> Figure:
    """Round to whole per cent; what is neither 0 nor 1 does not become so unless it is the end of an interval."""
    if figure.value is None or not callable(rounding):
        return figure
    value = Fraction(figure.exact) if figure.exact is not None else Fraction(figure.value)
    whole = int(rounding(value * 100))
    if rounding is round and 0 < value < 1:
        whole = min(max(whole, 1), 99)
    return Figure.of(Fraction(whole, 100), figure.unit, figure.visibility)
