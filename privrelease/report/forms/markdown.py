"""A summary in Markdown, for job summaries and comments: verdict, what does not hold, figures next to limits, what remains.

Texts of data and policy are escaped: they make no markup, no link, no mention.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from privrelease.findings import Location
from privrelease.report.forms.results import cases_of, printable
from privrelease.report.sections.attacks import unlimited
from privrelease.report.view.edition import Edition, for_edition
from privrelease.texts.catalogue import english

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.audit.document.model import AuditResult
    from privrelease.report.forms.results import Result
    from privrelease.texts.catalogue import Catalogue

__all__ = ["escaped", "render_markdown", "render_results_markdown"]

_LONGEST = 400
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#!|~]|:(?=//)|^[-+])")
_NUMBERED = re.compile(r"^([0-9]+)(\\?[.)])(?= |$)")
_MARKS = {"pass": "✅", "fail": "❌", "warn": "⚠️", "waived": "⚠️", "error": "❌", "skipped": "▫️", "not_asked": "▫️"}
_ORDER = {"fail": 0, "error": 1, "waived": 2, "skipped": 3, "warn": 4, "not_asked": 5, "pass": 6}


def escaped(text: str) -> str:
    r"""Return a text that Markdown shows as it is, on one line, cut where it is very long.

    >>> escaped("a|b <b> [x](y)")
    'a\\|b &lt;b&gt; \\[x\\]\\(y\\)'
    >>> escaped("1. first"), escaped("1.0.0")
    ('1\\. first', '1.0.0')
    """
    flat = " ".join(printable(text).split())
    flat = flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]}…"
    marked = _NUMBERED.sub(lambda item: f"{item[1]}\\{item[2].lstrip(chr(92))}", _SPECIAL.sub(r"\\\1", flat))
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "@\u200b")


def render_markdown(audits: Sequence[AuditResult], edition: Edition = Edition.INTERNAL) -> str:
    """Return the summary of audits, one after the other."""
    return "\n".join("".join(f"{line}\n" for line in _lines(audit, edition, english())) for audit in audits)


def _lines(audit: AuditResult, edition: Edition, texts: Catalogue) -> Iterator[str]:
    kept = for_edition(audit, edition)
    decision, identity = kept.decision, kept.identity
    mark = {"pass": _MARKS["pass"], "fail": _MARKS["fail"]}.get(decision.outcome.value, _MARKS["warn"])
    yield f"## {mark} {escaped(identity.release)}: {texts.text(f'decision.{decision.outcome.value}')}"
    yield ""
    policy = texts.plain("page.policy", id=escaped(identity.policy_id), version=escaped(identity.policy_version))
    checks = texts.plain("decision.checks", passed=str(decision.checks_passed), total=str(decision.checks_total))
    if decision.checks_not_made:
        checks = f"{checks} {texts.plain('decision.not_made_count', n=str(decision.checks_not_made))}"
    if decision.checks_not_asked:
        checks = f"{checks} {texts.plain('decision.not_asked_count', n=str(decision.checks_not_asked))}"
    if edition is Edition.RECIPIENT:
        checks = f"{checks} {texts.plain('decision.checks_shown')}"
    if free := unlimited(kept, texts, isolated=False):
        checks = f"{checks} {escaped(texts.plain('decision.unlimited', attacks=free))}"
    yield f"{policy}, {texts.plain('page.audited', date=identity.audited_at)}. {checks}"
    if decision.reasons:
        yield ""
        yield f"**{texts.text('decision.reasons')}**"
        yield ""
        yield from (f"- {escaped(reason)}" for reason in decision.reasons)
    cases = sorted(cases_of(audit, edition), key=lambda case: _ORDER[case.outcome])
    if cases:
        yield ""
        header = ("decision.check", "word.result", "decision.said")
        yield f"| {' | '.join(texts.text(key) for key in header)} |"
        yield "|---|---|---|"
        for case in cases:
            said = texts.text(f"case.{case.outcome}")
            yield f"| {escaped(f'{case.name}: {case.title}')} | {_MARKS[case.outcome]} {said} | {escaped(case.message)} |"
    facts = kept.waivers
    for waiver in () if facts is None else facts.waivers:
        yield ""
        yield f"- {texts.text(f'waivers.state.{waiver.state}')}: {escaped(waiver.check)}, {escaped(waiver.reason)} ({waiver.expires})"
    yield ""
    yield f"**{texts.text('decision.remaining')}**"
    yield ""
    yield from (f"- {escaped(text)}" for text in decision.assessment_remaining)


def render_results_markdown(results: Sequence[Result]) -> str:
    """Return findings of a policy as a list, or the sentence that there is none."""
    if not results:
        return f"{_MARKS['pass']} {english().text('case.none')}\n"
    lines = []
    for result in results:
        mark = _MARKS["fail"] if result.level == "error" else _MARKS["warn"]
        where = f"{Location(result.file, result.line, result.column)}: " if result.file and result.line else ""
        hint = f" ({escaped(result.hint)})" if result.hint else ""
        lines.append(f"- {mark} {escaped(f'{where}{result.code} {result.message}')}{hint}\n")
    return "".join(lines)
