"""The index over many audits: every release in one line, newest first, and how risk and budget changed over time.

One entry holds what a line needs and no more, so that thousands of audits fit in memory; table and charts are bounded, and say so.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.document.model import Outcome
from privrelease.report.charts.intervals import Steps, steps
from privrelease.report.charts.trend import Trend, trend
from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition, for_edition
from privrelease.report.view.page import Shown, exact, shown, shown_beside
from privrelease.report.view.standing import standing_status
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from privrelease.audit.document.model import AuditResult, ThreatResult
    from privrelease.audit.document.privacy import PrivacyFacts
    from privrelease.report.view.page import Sentence, Status
    from privrelease.report.view.standing import Standing
    from privrelease.texts.catalogue import Catalogue

__all__ = ["Entry", "IndexPage", "build_index", "entry_of"]

#: Lines of the table, charts of each kind, points of a chart.
MOST_ROWS, MOST_CHARTS, MOST_POINTS = 500, 12, 40

_STATUSES: dict[Outcome, Status] = {Outcome.PASS: "pass", Outcome.FAIL: "fail", Outcome.REVIEW: "review"}


@dataclass(frozen=True, slots=True)
class Budget:
    """A population's budget around one release: its cap, what was left before and after."""

    population: str
    cap: Fraction
    before: Fraction
    after: Fraction


@dataclass(frozen=True, slots=True)
class Entry:
    """One audit as the index shows it. ``link``: where its report is, as seen from the index; None where there is none."""

    audited_at: str
    run: str
    policy: str
    version: str
    release: str
    environment: str | None
    title: str
    status: Status
    passed: int
    total: int
    waived: int
    not_made: int
    not_asked: int
    risk: Fraction | None
    risk_limit: Fraction | None
    risk_shown: Shown | None
    risk_limit_shown: str | None
    lost: Shown | None
    epsilon: str | None
    budget: Budget | None
    link: str | None
    standing: Standing | None = None

    @property
    def stands(self) -> tuple[str, str] | None:
        """Return the mark of its state and the key of its word; None where no state is known."""
        if self.standing is None:
            return None
        return standing_status(self.standing), f"standing.short.{self.standing.state}"

    @property
    def stream(self) -> tuple[str, str, str]:
        """Return the name of one series of releases."""
        return self.policy, self.release, self.environment or ""


@dataclass(frozen=True, slots=True)
class IndexPage:
    """The whole page."""

    language: str
    edition: str
    summary: Sentence
    decided: Sentence | None
    unreadable: Sentence | None
    rows: tuple[Entry, ...]
    rest: Sentence | None
    risks: tuple[tuple[Sentence, Trend], ...]
    budgets: tuple[tuple[Sentence, Steps], ...]
    charts_rest: tuple[Sentence, ...]


def entry_of(
    audit: AuditResult, edition: Edition, catalogue: Catalogue, link: str | None, standing: Standing | None = None
) -> Entry | None:
    """Return the line of an audit as its edition admits it; None where it admits none: recipients see what passed only."""
    if edition is Edition.RECIPIENT and audit.decision.outcome is not Outcome.PASS:
        return None
    kept = for_edition(audit, edition)
    risk, limit = _highest(kept.threats)
    figure, limit_text = _written(kept.threats, catalogue)
    facts = _privacy(kept)
    utility = kept.utility
    identity = kept.identity
    return Entry(
        audited_at=identity.audited_at,
        run=identity.run or "",
        policy=identity.policy_id,
        version=identity.policy_version,
        release=identity.release,
        environment=identity.environment,
        title=identity.policy_title,
        status=_STATUSES[kept.decision.outcome],
        passed=kept.decision.checks_passed,
        total=kept.decision.checks_total,
        waived=sum(check.waived for check in kept.checks),
        not_made=kept.decision.checks_not_made,
        not_asked=kept.decision.checks_not_asked,
        risk=risk,
        risk_limit=limit,
        risk_shown=figure,
        risk_limit_shown=limit_text,
        lost=None if utility is None or exact(utility.cells_share) is None else shown(utility.cells_share, catalogue),
        epsilon=None if facts is None else numbers.number(Fraction(facts.epsilon)),
        budget=None if facts is None else _budget(facts),
        link=link,
        standing=standing if edition is Edition.INTERNAL else None,
    )


def build_index(entries: Iterable[Entry], edition: Edition, catalogue: Catalogue, unreadable: int = 0) -> IndexPage:
    """Return the page of these entries, newest first."""
    newest = sorted(entries, key=lambda one: (one.audited_at, one.run, one.policy, one.release), reverse=True)
    summary: Sentence = ("index.none", {})
    if len(newest) == 1:
        summary = ("index.newest_one", {"date": newest[0].audited_at})
    elif newest:
        summary = ("index.newest", {"n": numbers.count(len(newest)), "date": newest[0].audited_at})
    rest: Sentence | None = None
    if len(newest) > MOST_ROWS:
        rest = ("index.rest", {"shown": numbers.count(MOST_ROWS), "total": numbers.count(len(newest))})
    risks: dict[tuple[str, str, str], list[Entry]] = {}
    budgets: dict[str, list[Entry]] = {}
    for entry in newest:
        if entry.risk is not None:
            risks.setdefault(entry.stream, []).append(entry)
        if entry.budget is not None:
            budgets.setdefault(entry.budget.population, []).append(entry)
    charts_rest: list[Sentence] = [
        (key, {"shown": numbers.count(MOST_CHARTS), "total": numbers.count(len(series))})
        for key, series in (("index.streams_rest", risks), ("index.populations_rest", budgets))
        if len(series) > MOST_CHARTS
    ]
    return IndexPage(
        language=catalogue.language,
        edition=edition.value,
        summary=summary,
        decided=_decided(newest) if edition is Edition.INTERNAL else None,
        unreadable=("index.unreadable", {"n": numbers.count(unreadable)}) if unreadable else None,
        rows=tuple(newest[:MOST_ROWS]),
        rest=rest,
        risks=tuple(_risk_chart(place, stream, catalogue) for place, stream in enumerate([*risks.values()][:MOST_CHARTS])),
        budgets=tuple(_budget_chart(place, one, catalogue) for place, one in enumerate([*budgets.values()][:MOST_CHARTS])),
        charts_rest=tuple(charts_rest),
    )


def _decided(entries: Sequence[Entry]) -> Sentence | None:
    """Say of several audits how many pass, wait and fail, so that no one has to look for the one that fails; recipients see
    what passed.
    """
    if len(entries) < 2:
        return None
    of = {status: numbers.count(sum(entry.status == status for entry in entries)) for status in ("pass", "review", "fail")}
    return "index.decided", {"passed": of["pass"], "review": of["review"], "failed": of["fail"]}


# --------------------------------------------------------------------------------------------------------------------- figures


def _worst(threats: Sequence[ThreatResult]) -> ThreatResult | None:
    """Return the threat of the highest risk; None where no risk may be shown."""
    known = [(risk, threat) for threat in threats if (risk := exact(threat.after.highest)) is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def _highest(threats: Sequence[ThreatResult]) -> tuple[Fraction | None, Fraction | None]:
    worst = _worst(threats)
    if worst is None:
        return None, None
    limits = [exact(verdict.threshold) for verdict in worst.verdicts if verdict.measure == "highest_risk"]
    return exact(worst.after.highest), limits[0] if limits else None


def _written(threats: Sequence[ThreatResult], catalogue: Catalogue) -> tuple[Shown | None, str | None]:
    worst = _worst(threats)
    if worst is None:
        return None, None
    for verdict in worst.verdicts:
        if verdict.measure == "highest_risk":
            figure, limit = shown_beside(verdict.figure, verdict.threshold, catalogue)
            return figure, numbers.unbroken(catalogue.plain("index.limit", limit=limit.text))
    value = exact(worst.after.highest)
    assert value is not None  # it was the largest of those that are known
    return Shown(numbers.percent(value)), None


def _privacy(audit: AuditResult) -> PrivacyFacts | None:
    return audit.statistics


def _budget(facts: PrivacyFacts) -> Budget | None:
    budget = facts.budget
    if budget is None or budget.cap_epsilon is None:
        return None
    cap = Fraction(budget.cap_epsilon)
    return Budget(budget.population, cap, cap - Fraction(budget.before_epsilon), cap - Fraction(budget.after_epsilon))


# ---------------------------------------------------------------------------------------------------------------------- charts


def _risk_chart(place: int, newest_first: Sequence[Entry], catalogue: Catalogue) -> tuple[Sentence, Trend]:
    entries = newest_first[:MOST_POINTS][::-1]
    first, last = entries[0], entries[-1]
    named = {"policy": last.policy, "release": last.release}
    points = [(one.audited_at[:10], one.risk, one.risk_limit) for one in entries if one.risk is not None]
    after = numbers.percent(points[-1][1])
    if len(points) == 1:
        described = catalogue.text("index.risk_one", first=points[0][0], after=after)
    else:
        said = {"n": numbers.count(len(points)), "first": first.audited_at[:10], "last": last.audited_at[:10], "after": after}
        said["before"] = numbers.percent(points[0][1])
        limit = points[-1][2]
        key = "index.risk_desc" if limit is None else "index.risk_desc_limit"
        described = catalogue.text(key, **said, **({} if limit is None else {"limit": numbers.percent(limit)}))
    title = catalogue.text("index.risk_chart", stream=catalogue.plain("index.of_stream", **named))
    return ("index.of_stream", named), trend(f"risk-{place}", title, described, points)


def _budget_chart(place: int, newest_first: Sequence[Entry], catalogue: Catalogue) -> tuple[Sentence, Steps]:
    entries = newest_first[:MOST_POINTS][::-1]
    budgets = [one.budget for one in entries if one.budget is not None]
    last = budgets[-1]
    left = numbers.number(last.after)
    described = catalogue.text(
        "index.budget_desc",
        n=numbers.count(len(newest_first)),
        population=last.population,
        left=left,
        cap=numbers.number(last.cap),
    )
    named = {"population": last.population}
    return ("index.of_population", named), steps(
        f"budget-{place}",
        catalogue.text("index.budget_chart", **named),
        described,
        [budgets[0].before, *(one.after for one in budgets)],
        labels=(entries[0].audited_at[:10], entries[-1].audited_at[:10]),
        axis_label=catalogue.text("chart.budget_axis"),
        end=catalogue.plain("chart.budget_left", left=left),
    )
