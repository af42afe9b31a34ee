"""Waivers: a failed check of a release that somebody lets pass, openly, for a time.

Only checks that the policy itself lists can be waived. A threshold of a threat cannot: who tolerates more risk writes it into the
threat, where the policy's diff shows it. Nor can what guards the release's identity and integrity (``AUDIT-…``).
"""

from __future__ import annotations

import unicodedata
from typing import Annotated

from privrelease.policy.language.keys import Ref
from privrelease.policy.language.values import Day, Frozen, Text

__all__ = ["Waiver", "same_person"]


class Waiver(Frozen):
    """A failed check that is let pass, until a day."""

    check: Annotated[Text, Ref("checks")]
    """The check of this policy that may fail."""
    release: Annotated[Text, Ref("releases")]
    """The one release for which it may fail."""
    reason: Text
    """Why it is tolerable."""
    owner: Text
    """Who asks for it and answers for it."""
    approved_by: Text
    """Who approved it; a waiver approved by its owner does not count."""
    expires: Day
    """The last day on which it counts (UTC)."""


def same_person(one: str, other: str) -> bool:
    """Whether two names mean the same, however they are spaced, cased and composed, with signs that nobody sees or without, and whether
    or not a role is called one.

    >>> same_person("role:DPO ", "role:dpo"), same_person("dpo", "role: dpo"), same_person("role:steward", "role:dpo")
    (True, True, False)
    """
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    seen = "".join(sign for sign in unicodedata.normalize("NFKC", name) if unicodedata.category(sign) != "Cf")
    return " ".join(seen.split()).casefold().removeprefix("role:").strip()
