"""The English texts of earlier releases beside this one, in sections 7, 10 and 11."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_EARLIER"]

ENGLISH_EARLIER: Final[dict[str, str]] = {
    "earlier.heading": "Beside earlier releases of the same persons",
    "earlier.inside": "What they tell together with this one. Releases that nobody named, and outside data, were not looked at.",
    "earlier.outside.pass": "This release was also judged together with earlier releases of the same persons, and holds.",
    "earlier.outside.warn": "This release was also judged together with earlier releases of the same persons; what remains is for its controller.",
    "earlier.outside.fail": "This release was also judged together with earlier releases of the same persons, and does not hold.",
    "earlier.outside.not_evaluated": "There are earlier releases of the same persons, and this release was not judged together with them.",
    "earlier.checks": "What was judged",
    "earlier.check": "Check",
    "earlier.said": "What came of it",
    "earlier.caption": "Every earlier release that was found, the newest first, and what it tells together with this one.",
    "earlier.release": "Earlier release",
    "earlier.how": "How it was looked at",
    "earlier.together": "What both tell together",
    "earlier.looked.combined": "combined with this release",
    "earlier.looked.same_file": "holds the same: it tells nothing more",
    "earlier.looked.not_held": "not combined: the policy says that no recipient holds it",
    "earlier.looked.other_kind": "not combined: a release of another kind",
    "earlier.looked.unreadable": "could not be looked at",
    "earlier.looked.nothing_shared": "not combined: nothing is written alike in both",
    "earlier.by.source": "records brought together by their source rows",
    "earlier.by.place": "records brought together by their place in the file",
    "earlier.by.columns": "records brought together by the columns that both show",
    "earlier.linked": "Records brought together",
    "earlier.exposed": "Exposed by both, threat {name}",
    "earlier.joined": "Small classes only in this release, threat {name}",
    "earlier.left": "Small classes only in the earlier release, threat {name}",
    "earlier.epsilon": "Epsilon it cost",
    "earlier.delta": "Delta it cost",
    "earlier.cells_in_both": "Figures printed in both",
    "earlier.small_differences": "Counts that differ by a few",
    "earlier.older": "Older releases that were not combined: {n}.",
}
