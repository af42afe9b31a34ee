"""The English texts of the index over many releases."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_INDEX"]

ENGLISH_INDEX: Final[dict[str, str]] = {
    "index.title": "Releases",
    "index.skip": "Skip to the releases",
    "index.edition.internal": "Index of audits · internal edition · not for recipients",
    "index.edition.recipient": "Index of audits · edition for recipients",
    "index.newest": "{n} releases, newest audited {date}",
    "index.newest_one": "1 release, audited {date}",
    "index.decided": "Of them pass their policy: {passed}; need review: {review}; fail: {failed}.",
    "index.unreadable": "Files that are no audit of a known version, and are not shown: {n}.",
    "index.none": "No release may be shown in this edition.",
    "index.trends": "Trends",
    "index.releases": "Releases, newest first",
    "index.caption": "Each line is one audit; its report has all figures.",
    "index.rest": "The table shows the newest {shown} of {total} audits.",
    "index.streams_rest": "Charts show the {shown} releases that were audited last, of {total}.",
    "index.populations_rest": "Budget is charted for the {shown} populations that were charged last, of {total}.",
    "index.when": "Audited",
    "index.release": "Release",
    "index.decision": "Decision",
    "index.checks": "Checks that hold",
    "index.checks_said": "{passed} of {total}",
    "index.not_made": "could not be made: {n}",
    "index.waived": "of them waived: {n}",
    "index.risk": "Highest risk",
    "index.lost": "Cells lost",
    "index.epsilon": "Epsilon",
    "index.left": "Budget left",
    "index.of_stream": "{policy}, release {release}",
    "index.of_population": "Population {population}",
    "index.risk_chart": "Highest risk over time, {stream}",
    "index.risk_desc": "{n} audits, from {first} to {last}. Highest risk went from {before} to {after}.",
    "index.risk_desc_limit": "{n} audits, from {first} to {last}. Highest risk went from {before} to {after}; the limit is now {limit}.",
    "index.risk_one": "One audit, of {first}: highest risk {after}.",
    "index.risk_caption": "Highest risk of the worst threat as audited; the broken line is its limit in the policy.",
    "index.limit": "limit {limit}",
    "index.budget_chart": "Epsilon left, population {population}",
    "index.budget_desc": "Audits of releases that charged the budget of {population}: {n}. Epsilon {left} of {cap} is left.",
    "index.budget_caption": "What is left of the population's budget after each audited release.",
    "index.foot": "Every figure stands in an audit.json. Whether a release is lawful and harmless remains for people to assess.",
}
