"""The English texts of section 0, the decision and what stands beside it."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_DECISION"]

ENGLISH_DECISION: Final[dict[str, str]] = {
    "decision.heading": "Decision",
    "decision.basis": "ACRO",
    "decision.pass": "Passes its policy",
    "decision.fail": "Fails its policy",
    "decision.review": "Needs review before it may leave",
    "decision.checks": "{passed} of {total} checks hold.",
    "decision.checks_shown": "Counted are the checks that this edition shows; others, where there are any, stay with the controller.",
    "decision.not_made_count": "{n} could not be made.",
    "decision.not_made": "{n} could not be made: {checks}.",
    "decision.unlimited": "No limit set for these attacks: {attacks}.",
    "decision.checks_none": "No check was made, so nothing was shown.",
    "decision.evidence": "This is evidence, not an assessment: what remains for a person is listed below.",
    "decision.not_published": "It must not leave as it is.",
    "decision.remaining": "What remains for a person to assess",
    "decision.reasons": "Why",
    "decision.figures": "The figures that decide",
    "decision.worst": "Nearest to its limit: {what}",
    "decision.worst_failed": "Furthest over its limit: {what}",
    "decision.k": "Smallest class, worst threat",
    "decision.k_persons": "Smallest class in persons, worst threat",
    "decision.k_unit": "that share all an attacker knows",
    "decision.cells": "Cells lost",
    "decision.records": "Records released",
    "decision.figures_released": "Figures released",
    "decision.cells_released": "Cells in the table",
    "decision.limit": "limit {limit}",
    "decision.of": "of {total}",
    "decision.checks_heading": "Checks in figures, and any that do not hold",
    "decision.checks_caption": "What fails, warns or has a figure; what fails comes first.",
    "decision.held": "Checks that hold",
    "decision.check": "Check",
    "decision.observed": "Observed",
    "decision.said": "What it says",
    "decision.findings": "Also noted",
    "decision.signoff": "Waits for approval by {roles}.",
    "decision.waived": "Fails and is waived, see Waivers: {checks}.",
    "decision.signed": "Approved by {roles}.",
}
