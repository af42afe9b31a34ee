"""Transform steps as values: what the policy may say of each, and who makes and who verifies what it declares.

``STEPS`` lists the steps of this package. What makes released values and what verifies them are functions of two rooms that share the declaration
alone: the model of a step returns a treatment, by default :class:`~privrelease.relational.treatments.Recoded` with a map of the step's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from privrelease.policy.language.releases import CodeStep, DropStep, GeneraliseStep, PseudonymiseStep, RoundStep, SuppressCells
from privrelease.relational.hierarchies import Coded, Generalised, RoundedTo
from privrelease.relational.treatments import Pseudonym
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.execute.microdata.recoding import Makers
    from privrelease.pipeline.kinds import Kind
    from privrelease.plan.explain import StepWords
    from privrelease.plan.model import ReleasePlan
    from privrelease.policy.language.releases import Step
    from privrelease.relational.recoding import Recoding

__all__ = ["STEPS", "Steps", "TransformStep", "makers_of", "steps_of", "verifiers_of", "words_of"]

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class TransformStep(Generic[D]):
    """A transform step; ``D``: the class of what it declares of a column, a map of values or a treatment of the column."""

    spec: type[Step]
    """The policy's part of a step: its keys, how two of them are compared, its rules, and the treatment of each column."""
    declares: type[D] | None = None
    """None: the step changes no value by itself; columns are removed, or cells suppressed."""
    words: Callable[[str, D], str] | None = None
    """Say what becomes of the column of that name, for ``plan``."""
    make: Callable[[D, Any], Any] | None = None
    """Return the released values of an Arrow array of values of the source, none of them missing; None where the engine makes them itself."""
    verify: Callable[[D, Any, Any], Any] | None = None
    """Tell of values of the source and released ones whether the second represent the first, without what makes them."""
    level: Callable[[D, Any], Any] | None = None
    """Tell of released values whether they are of the planned level; None: there are no levels."""
    under: Callable[[D, Any, Any], Any] | None = None
    """Return, for each value of the source, the one of distinct released values that represents it, null where none does; None: not known."""
    covers: Callable[..., Any] | None = None
    """Return which values each released value may represent; None: not known, and no attack can be tried on such columns."""
    recoding: Callable[[D], Recoding] | None = None
    """Return how values that are released alike are drawn together, for an engine to render; None: it asks for every value."""


def _pseudonym_words(column: str, declared: Pseudonym) -> str:
    from privrelease.plan.microdata.step_words import pseudonym_words

    return pseudonym_words(column, declared)


def _label_words(column: str, declared: Generalised) -> str:
    from privrelease.plan.microdata.step_words import label_words

    return label_words(column, declared)


def _end_words(column: str, declared: Coded) -> str:
    from privrelease.plan.microdata.step_words import end_words

    return end_words(column, declared)


def _multiple_words(column: str, declared: RoundedTo) -> str:
    from privrelease.plan.microdata.step_words import multiple_words

    return multiple_words(column, declared)


def _labels(declared: Generalised, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    from privrelease.disclosure.hierarchies.labels import generalised

    return generalised(declared, values)


def _ends(declared: Coded, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    from privrelease.disclosure.hierarchies.labels import ends

    return ends(declared, values)


def _multiples(declared: RoundedTo, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    from privrelease.disclosure.hierarchies.labels import multiples

    return multiples(declared, values)


def _recoding(declared: Generalised | Coded | RoundedTo) -> Recoding:
    from privrelease.disclosure.hierarchies.labels import recoding_of

    return recoding_of(declared)


def _stands(declared: object, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    from privrelease.audit.microdata.generalised.judge import stands

    return stands(declared, source, released)


def _at_level(declared: object, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    from privrelease.audit.microdata.generalised.judge import at_level

    return at_level(declared, released)


def _under(declared: object, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    from privrelease.audit.microdata.generalised.judge import under

    return under(declared, source, released)


def _covers(declared: object, values: Any, labels: Any, domain: Any) -> Any:  # noqa: ANN401  Arrow has no types
    from privrelease.audit.microdata.generalised.covers import coverer

    return coverer(declared, values, labels, domain)


Steps = tuple[TransformStep[Any], ...]

#: Every transform step; a new one adds its line here.
STEPS: Steps = (
    TransformStep(DropStep),
    TransformStep(PseudonymiseStep, Pseudonym, _pseudonym_words),
    TransformStep(GeneraliseStep, Generalised, _label_words, _labels, _stands, _at_level, _under, _covers, _recoding),
    TransformStep(CodeStep, Coded, _end_words, _ends, _stands, _at_level, _under, _covers, _recoding),
    TransformStep(RoundStep, RoundedTo, _multiple_words, _multiples, _stands, _at_level, _under, _covers, _recoding),
    TransformStep(SuppressCells),
)


def steps_of(release: ReleasePlan, kinds: Sequence[Kind[Any]]) -> Steps:
    """Return the transform steps that a planned release may have, by its kind."""
    from privrelease.pipeline.kinds import kind_of

    steps = kind_of(release, kinds).steps
    return () if steps is None else steps()


def makers_of(steps: Steps = STEPS) -> Makers:
    """Return what makes released values, for the executor."""
    return tuple((one.declares, one.make, one.recoding) for one in steps if one.declares is not None and one.make is not None)


def verifiers_of(steps: Steps = STEPS) -> Verifiers:
    """Return what verifies released values, for the auditor."""
    from privrelease.audit.microdata.recoding import Verifier

    return tuple(
        Verifier(one.declares, one.verify, one.level, one.under, one.covers, one.words)
        for one in steps
        if one.declares is not None and one.verify is not None
    )


def words_of(steps: Steps = STEPS) -> StepWords:
    """Return what says in words what becomes of columns."""
    return tuple((one.declares, one.words) for one in steps if one.declares is not None and one.words is not None)
