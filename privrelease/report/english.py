"""The English texts of the reports, joined from one file a topic. Keys are dotted: the section or part, then what is said."""

from __future__ import annotations

from typing import Final

from privrelease.report.english_approval import ENGLISH_APPROVAL
from privrelease.report.english_attacks import ENGLISH_ATTACKS
from privrelease.report.english_console import ENGLISH_CONSOLE
from privrelease.report.english_data import ENGLISH_DATA
from privrelease.report.english_decision import ENGLISH_DECISION
from privrelease.report.english_earlier import ENGLISH_EARLIER
from privrelease.report.english_frontier import ENGLISH_FRONTIER
from privrelease.report.english_index import ENGLISH_INDEX
from privrelease.report.english_privacy import ENGLISH_PRIVACY
from privrelease.report.english_processing import ENGLISH_PROCESSING
from privrelease.report.english_risk import ENGLISH_RISK
from privrelease.report.english_sensitive import ENGLISH_SENSITIVE
from privrelease.report.english_simulation import ENGLISH_SIMULATION
from privrelease.report.english_since import ENGLISH_SINCE
from privrelease.report.english_tables import ENGLISH_TABLES
from privrelease.report.english_utility import ENGLISH_UTILITY

__all__ = ["ENGLISH"]

ENGLISH: Final[dict[str, str]] = {
    # the page
    "page.title": "Audit report: {title}",
    "page.skip": "Skip to the decision",
    "page.contents": "Sections",
    "page.untitled": "Release {release}",
    "page.edition.internal": "Audit report · internal edition · not for recipients",
    "page.edition.recipient": "Audit report · edition for recipients",
    "page.policy": "policy {id} version {version}",
    "page.commit": "at commit {commit}",
    "page.release": "release {release}",
    "page.audited": "audited {date}",
    "page.foot": "Every figure stands in audit.json, which this page was rendered from. It holds no cell of the source.",
    # words
    "word.none": "none",
    "word.yes": "yes",
    "word.no": "no",
    "word.before": "Before",
    "word.after": "After",
    "word.limit": "Limit",
    "word.result": "Result",
    "word.measure": "Measure",
    "word.column": "Column",
    "word.file": "File",
    "word.rows": "Rows",
    "word.withheld": "not shown in this edition",
    "word.undefined": "not defined",
    "word.not_measured": "not measured",
    "word.not_stated": "not stated in the policy",
    "units.bytes": "{n} bytes",
    # statuses
    "status.pass": "holds",
    "status.fail": "fails",
    "status.warn": "warning",
    "status.review": "review",
    "status.not_evaluated": "not evaluated",
    "status.info": "information",
    # 0 decision
    **ENGLISH_DECISION,
    # 1 to 5
    **ENGLISH_PROCESSING,
    # 6 data
    **ENGLISH_DATA,
    # 7 and 8
    **ENGLISH_RISK,
    **ENGLISH_SENSITIVE,
    **ENGLISH_EARLIER,
    # 9 to 11
    **ENGLISH_ATTACKS,
    **ENGLISH_PRIVACY,
    **ENGLISH_TABLES,
    # 12 synthesis
    "synthesis.heading": "Synthesis",
    "synthesis.basis": "SDMetrics",
    # 13 utility
    **ENGLISH_UTILITY,
    **ENGLISH_FRONTIER,
    # 14 to 16
    **ENGLISH_APPROVAL,
    # since the previous release
    **ENGLISH_SINCE,
    # other pages
    **ENGLISH_SIMULATION,
    **ENGLISH_INDEX,
    # the console, forms for machines
    **ENGLISH_CONSOLE,
}
