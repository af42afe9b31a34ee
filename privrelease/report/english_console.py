"""The English texts of the console, and of forms for machines."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_CONSOLE"]

ENGLISH_CONSOLE: Final[dict[str, str]] = {
    # forms for machines
    "case.pass": "holds",
    "case.warn": "warning",
    "case.fail": "fails",
    "case.waived": "fails, waived",
    "case.skipped": "not evaluated",
    "case.none": "Nothing was found.",
    # the console
    "console.pass": "PASS",
    "console.fail": "FAIL",
    "console.review": "REVIEW",
    "console.release": "release {release}: {verdict} ({passed} of {total} checks hold)",
    "console.release_not_made": "release {release}: {verdict} ({passed} of {total} checks hold; {n} could not be made)",
    "console.unlimited": "no limit set",
    "console.waiver.open": "waiver of {check} lets it pass until {expires}",
    "console.waiver.expired": "waiver of {check} does not count: it expired on {expires}",
    "console.waiver.self_approved": "waiver of {check} does not count: its owner approved it",
    "console.waiver.unused": "waiver of {check} is not used: the check did not fail",
    "console.waiver.not_made": "waiver of {check} does not count: the check could not be made, and only one that fails can be let pass",
    "console.waiver.warns": "waiver of {check} is not used: the check only warns",
    "console.waiver.absent": "waiver of {check} is not used: this release has no such check",
    "console.threat": "threat {name}",
    "console.k": "k {k}",
    "console.no_k": "no k: {k}",
    "console.before": " (before: {k})",
    "console.cells": "cells lost",
    "console.residual.records": "records without any known value",
    "console.residual.persons": "persons without any known value",
}
