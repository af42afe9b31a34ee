"""One check as a value, its outcome, and the one way from both to the results and findings of an audit.

The checks of a kind of release are a visible tuple (``MICRODATA_CHECKS``, ``STATISTICS_CHECKS``, ``TABLE_CHECKS``, ``ATTACK_CHECKS``,
``THREAT_CHECKS``, ``EARLIER_CHECKS``), in the order in which they are reported. Title and
remedy of each are in the catalogue, by its id.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from privrelease.audit.checks.findings import place
from privrelease.audit.document.model import CheckResult, FindingRecord, Outcome, Visibility
from privrelease.audit.document.sentences import coded
from privrelease.texts.catalogue import english, sentences
from privrelease.texts.sentences import of_key, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from privrelease.audit.checks.findings import Place
    from privrelease.audit.document.model import Figure
    from privrelease.findings import Location
    from privrelease.texts.sentences import Said

__all__ = [
    "NOT_MADE_HINT",
    "POLICY_CHECK",
    "SOURCE_CHECK_HINT",
    "Check",
    "CheckOutcome",
    "Need",
    "absent",
    "check_findings",
    "failed",
    "fails",
    "fault",
    "not_asked",
    "nothing_to_look_at",
    "passed",
    "place_of",
    "result_of",
    "run_checks",
    "unevaluated",
    "warned",
]

#: Codes of the titles of checks that a policy writes on its source.
_ON_SOURCE: Final = frozenset({"sentence.on_source", "sentence.on_source_alone"})
SOURCE_CHECK_HINT: Final = "correct the source until it holds, since no change of the release can; where someone can answer for it, a waiver lets one check of one release pass until a day"
#: Of a check of the policy, or of the limit of an attack, that could not be made.
NOT_MADE_HINT: Final = "hand over what it lacks, or have a person decide without it"


#: Evidence that a check compares the file with.
Need = Literal["manifest", "source", "ledger"]

Evidence_ = TypeVar("Evidence_")


# ---------------------------------------------------------------------------------------------------------------------- values


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of one check with its sentence; failures are internal, because their sentence counts.

    ``message`` None: it holds, and the catalogue says what was looked at (``holds``, by the id of the check).
    ``absent``: it could not be looked at because what it compares with was never handed over. ``vacuous``: it must hold and there was nothing
    to look at, which is left to a person.
    """

    outcome: Outcome
    message: Said | None
    observed: Figure | None = None
    limit: Figure | None = None
    visibility: Visibility = Visibility.INTERNAL
    absent: bool = False
    vacuous: bool = False


@dataclass(frozen=True, slots=True)
class Check(Generic[Evidence_]):
    """One check: the code of its finding, its id, and the function that judges. What it looks at and what to do where it does not hold are in the
    catalogue, by its id; ``words``: both, of a check that the catalogue does not know.

    ``needs``: what it compares with besides the file. A judge that needs the source is not asked without it; the others are, and ``alone``,
    where there is one: what the file alone shows to be wrong is wrong. ``promised``: the policy's protection itself, so that without what it
    needs a person has to decide. ``asked``: where it is listed at all. ``declined``: why the policy does not ask for it,
    None where it does. ``unmade``: the code and the remedy where it could not be made, if
    they are others than that of failure and none.
    """

    code: str
    id: str
    judge: Callable[[Evidence_], CheckOutcome]
    needs: Need | None = None
    alone: Callable[[Evidence_], CheckOutcome] | None = None
    promised: bool = False
    asked: Callable[[Evidence_], bool] = field(default=lambda _: True)
    declined: Callable[[Evidence_], Said | None] = field(default=lambda _: None)
    unmade: tuple[str, str | None] | None = None
    severity: Literal["error", "warn"] = "error"
    private: bool = False
    location: Location | None = None
    words: tuple[str, str] | None = None

    @property
    def title(self) -> str:
        """Title, in English: the thing that it looks at."""
        return sentences()[f"title.{self.id}"] if self.words is None else self.words[0]

    @property
    def hint(self) -> str:
        """Remedy, in English, where it does not hold."""
        return sentences()[f"hint.{self.id}"] if self.words is None else self.words[1]

    def code_of(self, result: CheckResult) -> str:
        """Return the code of the finding about ``result``."""
        return self.unmade[0] if self.unmade is not None and result.outcome is Outcome.NOT_EVALUATED else self.code

    def hint_of(self, result: CheckResult) -> str | None:
        """Say what to do about a result that is no pass. Of the auditor's own checks that could not be made there is nothing to do here: what
        they compare with was not handed over, or another check says what is wrong.
        """
        if result.outcome is not Outcome.NOT_EVALUATED:
            on_source = result.title_coded is not None and result.title_coded.code in _ON_SOURCE
            return SOURCE_CHECK_HINT if on_source else self.hint
        if self.unmade is not None:
            return self.unmade[1]
        return NOT_MADE_HINT if result.vacuous else None


def _unknown(_: object) -> CheckOutcome:
    return CheckOutcome(Outcome.NOT_EVALUATED, say("unknown_check"), visibility=Visibility.RECIPIENT)


#: Code and remedy of every check that a policy writes; id, title and judge come with the check, a judge only where its name is known.
POLICY_CHECK: Final[Check[Any]] = Check(
    "A301",
    "",
    _unknown,
    unmade=("A302", NOT_MADE_HINT),
    words=(
        "a check of the policy does not hold",
        "change what is released until it holds; where someone can answer for it, a waiver lets one check of one release pass until a day",
    ),
)


def passed(message: Said, observed: Figure | None = None, limit: Figure | None = None) -> CheckOutcome:
    """Say that it holds. The sentence is for recipients too: it must not count the source."""
    return CheckOutcome(Outcome.PASS, message, observed, limit, Visibility.RECIPIENT)


def failed(message: Said, observed: Figure | None = None, limit: Figure | None = None) -> CheckOutcome:
    """Say that it does not hold."""
    return CheckOutcome(Outcome.FAIL, message, observed, limit)


def warned(message: Said, observed: Figure | None = None) -> CheckOutcome:
    """Say that it holds, with something to know."""
    return CheckOutcome(Outcome.WARN, message, observed)


def unevaluated(message: Said) -> CheckOutcome:
    """Say that it could not be looked at: no pass."""
    return CheckOutcome(Outcome.NOT_EVALUATED, message)


def not_asked(message: Said) -> CheckOutcome:
    """Say why the policy does not ask for it: neither a pass nor a fault. Recipients may read it."""
    return CheckOutcome(Outcome.NOT_ASKED, message, visibility=Visibility.RECIPIENT)


def nothing_to_look_at(message: Said) -> CheckOutcome:
    """Say that it must hold, and that there is nothing to tell by: no pass, and left to a person. Recipients may read it."""
    return CheckOutcome(Outcome.NOT_EVALUATED, message, visibility=Visibility.RECIPIENT, vacuous=True)


def absent(message: Said) -> CheckOutcome:
    """Say that there is nothing to compare with: no pass; no failure either where the file came from elsewhere, and a person has to assess it."""
    return CheckOutcome(Outcome.NOT_EVALUATED, message, absent=True)


def fault(judge: Callable[[Evidence_], Said | None]) -> Callable[[Evidence_], CheckOutcome]:
    """Make a judge of a function that says what is wrong with a file of figures, None where nothing is: then the catalogue says what was looked at
    (``holds``, by the id of the check). Recipients may read both.
    """

    def judged(evidence: Evidence_) -> CheckOutcome:
        wrong = judge(evidence)
        outcome = Outcome.PASS if wrong is None else Outcome.FAIL
        return CheckOutcome(outcome, wrong, visibility=Visibility.RECIPIENT)

    return judged


# --------------------------------------------------------------------------------------------------------------------- results


def run_checks(
    checks: Iterable[Check[Evidence_]], evidence: Evidence_, lacking: Mapping[Need, Said] | None = None, *, excused: bool = True
) -> tuple[CheckResult, ...]:
    """Make every check that is asked for, in order.

    ``lacking``: what is not available, with the sentence for a check that needs it. ``excused``: what was never handed over is no fault of the
    release, unless it is promised.
    """
    return tuple(
        result_of(check, _outcome(check, evidence, lacking or {}), excused=excused) for check in checks if check.asked(evidence)
    )


def _outcome(check: Check[Evidence_], evidence: Evidence_, lacking: Mapping[Need, Said]) -> CheckOutcome:
    declined = check.declined(evidence)
    if declined is not None:
        return not_asked(declined)
    why = None if check.needs is None else lacking.get(check.needs)
    if why is None:
        return check.judge(evidence)
    judge = check.alone if check.needs == "source" else check.judge
    found = None if judge is None else judge(evidence)
    if found is not None and found.outcome is not Outcome.PASS:
        return found
    shown, promised = Visibility.RECIPIENT, check.promised
    return CheckOutcome(Outcome.NOT_EVALUATED, why, visibility=shown, absent=not promised, vacuous=promised)


def result_of(check: Check[Any], found: CheckOutcome, *, excused: bool = True) -> CheckResult:
    """Return a check and its outcome as they are written to ``audit.json``."""
    message = found.message or _holds(check)
    return CheckResult(
        id=check.id,
        title=check.title,
        outcome=found.outcome,
        severity="warn" if found.absent and excused else check.severity,
        message=message,
        title_coded=coded(check.title),
        message_coded=coded(message),
        observed=found.observed,
        limit=found.limit,
        visibility=found.visibility,
        vacuous=found.vacuous,
        private=check.private,
        **place(check.location),
    )


def _holds(check: Check[Any]) -> str:
    """Say what was looked at: by the id of the check, or its title where the catalogue has no sentence."""
    key = f"holds.{check.id}"
    return of_key(key) if english().has(key) else check.title


# -------------------------------------------------------------------------------------------------------------------- findings


def fails(check: CheckResult) -> bool:
    """Return True if a check fails the release."""
    unsound = check.outcome in {Outcome.FAIL, Outcome.NOT_EVALUATED} and not check.vacuous
    return check.severity == "error" and not check.waived and not check.private and unsound


def check_findings(
    release: Location | None, results: Iterable[CheckResult], checks: Iterable[Check[Any]] = (), *, informs: bool = False
) -> tuple[FindingRecord, ...]:
    """Return a finding for every result that was asked for and is no pass, at its place in the policy: where it was written, else that of the ``release``.

    ``checks``: those of the auditor among them; all others are checks of the policy. ``informs``: they decide nothing, and are information.
    """
    by_id = {check.id: check for check in checks}
    return tuple(
        _finding(by_id.get(result.id.rstrip("-0123456789"), POLICY_CHECK), result, release, informs=informs)
        for result in results
        if result.outcome not in {Outcome.PASS, Outcome.NOT_ASKED}
    )


def _finding(check: Check[Any], result: CheckResult, release: Location | None, *, informs: bool) -> FindingRecord:
    severity: Literal["error", "warn"] = "error" if fails(result) else "warn"
    message = say("check_finding", id=result.id, title=result.told_title, message=result.told)
    return FindingRecord(
        code=check.code_of(result),
        message=message,
        message_coded=coded(message),
        severity="info" if informs else severity,
        hint=None if informs else check.hint_of(result),
        subject=f"checks.{result.id}",
        **place_of(result, release),
    )


def place_of(check: CheckResult, release: Location | None) -> Place:
    """Return where a check was written; one that no policy wrote is about the release."""
    return {"file": check.file, "line": check.line, "column": check.column} if check.file is not None else place(release)
