"""The sections of the report, one file each, in REPORT.md's order. A later kind of release fills its slot here."""

from __future__ import annotations

from privrelease.report.sections import (
    attacks,
    data,
    decision,
    evidence,
    identity,
    impact,
    legal,
    privacy,
    risk,
    signoff,
    synthetic,
    tables,
    utility,
    waivers,
)
from privrelease.report.view.page import SectionSpec

__all__ = ["SECTIONS"]


SECTIONS = (
    SectionSpec(0, "decision", decision.build),
    SectionSpec(1, "identity", identity.build),
    SectionSpec(2, "record", legal.build_record),
    SectionSpec(3, "lawfulness", legal.build_lawfulness),
    SectionSpec(4, "dpia", impact.build),
    SectionSpec(5, "context", legal.build_context),
    SectionSpec(6, "data", data.build),
    SectionSpec(7, "risk", risk.build),
    SectionSpec(8, "evidence", evidence.build),
    SectionSpec(9, "attacks", attacks.build),
    SectionSpec(10, "dp", privacy.build),
    SectionSpec(11, "tables", tables.build, kind="table"),
    SectionSpec(12, "synthesis", synthetic.build, kind="synthetic"),
    SectionSpec(13, "utility", utility.build),
    SectionSpec(14, "waivers", waivers.build),
    SectionSpec(15, "signoff", signoff.build),
    SectionSpec(16, "review", legal.build_review),
)
