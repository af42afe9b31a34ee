"""Checks by the names of Great Expectations, on the released file or on the source: its boolean, next to counts of our own.

The share that fails is that of the values looked at (missing ones are not, unless they are what the check is about), and it is the share that
is compared with the limit and shown. A check passes where our exact count holds and Great Expectations says so too; where it cannot evaluate
an expectation on DuckDB (regular expressions, patterns, types) our count decides alone. Where nothing is there to look at, nothing passes:
a person decides.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from privrelease.audit.check import POLICY_CHECK, CheckOutcome, result_of
from privrelease.audit.checks.findings import per_cent
from privrelease.audit.document.model import Figure, Outcome, Visibility
from privrelease.audit.document.visibility import DEFAULT_MINIMUM, Audience
from privrelease.errors import PrivreleaseError
from privrelease.relational.schema import Column, ColumnFormat, Role
from privrelease.texts.sentences import listed, say, share_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.audit.document.model import CheckResult
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.model import CheckPlan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.relational.expectations import Counted, Expectation
    from privrelease.relational.schema import ColumnType, Sink
    from privrelease.texts.sentences import Said

__all__ = ["Places", "figure_checks", "source_checks", "standard_checks"]

#: Great Expectations compares shares as floats: a difference of this size is its rounding, not another result.
_ROUNDING: Final = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Places:
    """Places where checks look: the released file with its columns of the planned types, the source. None: it was not read.

    ``minimum``: the smallest count that recipients may see. ``private``: the release is protected by noise, so that what a check finds in
    the source warns, is reported internally, and decides nothing.
    """

    released: ReleasedFile | None
    usable: frozenset[str]
    source: Staged | None
    minimum: int
    private: bool = False

    def of(self, check: CheckPlan) -> Staged | ReleasedFile | None:
        """Return the place where this check looks."""
        return self.source if check.on == "source" else self.released


@dataclass(frozen=True, slots=True)
class _Found:
    """Result of one check: the count, and the verdict of Great Expectations; ``why``: it could not be looked at."""

    count: Counted | None = None
    said: bool | None = None
    why: Said | None = None


def standard_checks(checks: Sequence[CheckPlan], places: Places, engine: AuditEngine | None) -> tuple[CheckResult, ...]:
    """Make checks that have an expectation; the library is loaded only where it is needed, and asked once for each place.

    ``engine`` None: nothing can be looked at.
    """
    found = {check.id: _counted(check, places, engine) for check in checks}
    for on in ("release", "source"):
        asked = [check for check in checks if check.on == on and _is_asked(check, found[check.id])]
        of = places.of(asked[0]) if asked else None
        if of is None or engine is None:
            continue
        pairs = [(_expectation(check), float(_share(check))) for check in asked]
        for check, said in zip(asked, engine.great_expectations(of, pairs), strict=True):
            found[check.id] = _Found(found[check.id].count, said)
    return tuple(_result(check, found[check.id], places) for check in checks)


def figure_checks(
    checks: Sequence[CheckPlan], columns: Mapping[str, ColumnType], files: Sequence[Sink], engine: AuditEngine | None
) -> tuple[CheckResult, ...]:
    """Make the checks on the file of a release of figures: a table's, or one of statistics.

    ``columns``: of the file as planned. The first of ``files`` is looked at: another check holds that all say the same. Recipients hold this very
    file and nothing else is looked at, so they see what is found; under differential privacy it follows from noisy figures alone, and may
    decide (DESIGN, semantics 12).
    """
    asked = [check for check in checks if check.on == "release" and check.expectation is not None]
    released = None
    if asked and files and engine is not None:
        blank = ColumnFormat(missing=("",))  # of a key that is summed over, or a figure that is suppressed
        wanted = [Column(name, kind, Role.INSENSITIVE, format=blank) for name, kind in columns.items()]
        with suppress(PrivreleaseError):
            released = engine.open_release(files[0], wanted, marked=True)
    found = {} if released is None else dict(released.columns)
    usable = frozenset(name for name, kind in columns.items() if found.get(name) is kind)
    return standard_checks(asked, Places(released, usable, None, 1), engine)


def source_checks(plan: StatisticsPlan | SyntheticPlan, engine: AuditEngine | None) -> tuple[CheckResult, ...]:
    """Make the checks on the source of a release with differential privacy. Nothing they find, and no fault on the way, may stop the release."""
    checks = [check for check in plan.checks if check.on == "source"]
    source = None
    if engine is not None and plan.checked is not None:
        with suppress(PrivreleaseError):
            source = engine.stage(plan.checked)
    places = Places(None, frozenset(), source, DEFAULT_MINIMUM, private=True)
    return standard_checks(checks, places, engine)


def _expectation(check: CheckPlan) -> Expectation:
    assert check.expectation is not None
    return check.expectation


def _share(check: CheckPlan) -> Fraction:
    """The share that must meet the expectation."""
    return Fraction(1) if check.mostly is None else check.mostly


def _of_table(expectation: Expectation) -> bool:
    """Return True if it looks at the table as such, which exists without a single row."""
    return expectation.name.startswith("expect_table_") or expectation.name == "expect_column_to_exist"


def _is_asked(check: CheckPlan, found: _Found) -> bool:
    expectation, count = _expectation(check), found.count
    if expectation.form.alone or count is None:
        return False
    return bool(count.looked_at) or _of_table(expectation)


def _counted(check: CheckPlan, places: Places, engine: AuditEngine | None) -> _Found:
    of, expectation = places.of(check), _expectation(check)
    if of is None or engine is None:
        return _Found(why=say("source_not_read") if check.on == "source" else say("no_file"))
    if check.on == "release" and not _of_table(expectation) and not _measurable(expectation, places):
        return _Found(why=say("lacks_column"))
    where = check.on == "source" and not places.private
    try:
        return _Found(engine.count_expectation(of, expectation, places=where))
    except PrivreleaseError as error:
        if error.code == "D120" and not places.private:
            raise
        return _Found(why=say("engine_could_not"))


def _measurable(expectation: Expectation, places: Places) -> bool:
    if "type_" in expectation.named or "type_list" in expectation.named:
        released = places.released
        return released is not None and set(expectation.columns) <= {name for name, _ in released.columns}
    return set(expectation.columns) <= places.usable


# ---------------------------------------------------------------------------------------------------------------------- results


def _result(check: CheckPlan, found: _Found, places: Places) -> CheckResult:
    """Make the check of the policy, and judge what was found."""
    expectation = _expectation(check)
    made = replace(
        POLICY_CHECK,
        id=check.id,
        words=(_title(expectation, on_source=check.on == "source"), POLICY_CHECK.hint),
        severity="warn" if places.private else check.severity,
        private=places.private,
        location=check.location,
    )
    return result_of(made, _outcome(check, found, places, Outcome.FAIL if made.severity == "error" else Outcome.WARN))


def _title(expectation: Expectation, *, on_source: bool) -> str:
    """Name an expectation, where it looks, and at which columns."""
    columns = () if expectation.name.startswith("expect_table_") else expectation.columns
    if on_source:
        what = expectation.name
        return say("on_source", what=what, columns=listed(columns)) if columns else say("on_source_alone", what=what)
    return say("title_of", what=expectation.name, columns=listed(columns)) if columns else expectation.name


def _outcome(check: CheckPlan, found: _Found, places: Places, failing: Outcome) -> CheckOutcome:
    """Judge what was found of a check. ``failing``: its outcome where it does not hold."""
    count = found.count
    shown = Visibility.INTERNAL if check.on == "source" else Visibility.RECIPIENT
    unmade, of_table = (
        CheckOutcome(Outcome.NOT_EVALUATED, found.why or say("gx_could_not"), visibility=shown),
        _of_table(_expectation(check)),
    )
    if count is None:
        return unmade
    if not count.looked_at and not of_table:
        what = say("no_rows") if not count.rows else say("all_missing")
        return replace(unmade, message=what, vacuous=True)
    if count.failing is not None:
        return _of_count(check, count, found.said, places, failing)
    holds = found.said if count.holds is None else count.holds and found.said is not False
    if holds is None:
        return unmade
    return CheckOutcome(Outcome.PASS if holds else failing, say("holds") if holds else say("holds_not"), visibility=shown)


def _of_count(check: CheckPlan, count: Counted, said: bool | None, places: Places, failing_outcome: Outcome) -> CheckOutcome:
    """Judge a counted check: the share that fails, of what was looked at, compared with the share that may."""
    failing, looked_at = count.failing or 0, count.looked_at
    share, limit = Fraction(failing, looked_at), 1 - _share(check)
    alone = _expectation(check).form.alone
    if share <= limit and not alone and (said is None or (not said and (not failing or limit - share > _ROUNDING))):
        inside = Visibility.INTERNAL if check.on == "source" else Visibility.RECIPIENT
        return CheckOutcome(
            Outcome.NOT_EVALUATED, say("gx_could_not") if said is None else say("gx_disagrees"), visibility=inside
        )
    shown = _visibility(check, count, places)
    observed, most = Figure.of(share, "share", shown), Figure.of(limit, "share", Visibility.RECIPIENT)
    what = "values" if len(_expectation(check).columns) == 1 else "rows"
    if not failing:
        meets = say("meets") if what == "values" else say("meets_rows")
        return CheckOutcome(Outcome.PASS, meets, observed, most, shown)
    part, allowed = share_of(per_cent(share)), share_of(per_cent(limit))
    told = say(f"{what}_fail", share=part, most=allowed)
    if shown is Visibility.INTERNAL:
        how = listed((part, *_rows(count)))
        told = say(f"{what}_failing", failing=failing, all=looked_at, how=how, most=allowed)
    return CheckOutcome(Outcome.PASS if share <= limit else failing_outcome, told, observed, most, shown)


def _rows(count: Counted) -> tuple[Said, ...]:
    """Say where the first failing rows are: by their place alone."""
    if not count.places:
        return ()
    rows = say("at_rows", n=len(count.places), rows=listed(count.places))
    return (say("and_more", what=rows),) if count.failing is not None and count.failing > len(count.places) else (rows,)


def _visibility(check: CheckPlan, count: Counted, places: Places) -> Visibility:
    """Recipients see a share where no count behind it is small: what fails, what does not, and the rows that were not looked at."""
    if check.on == "source" or count.failing is None:
        return Visibility.INTERNAL
    if not count.failing or count.failing == count.looked_at:
        return Audience(places.minimum).of(count.failing)
    parts = (count.failing, count.looked_at - count.failing, count.rows - count.looked_at)
    return Audience(places.minimum).all_of(parts)
