"""Approvals: who must sign a release before it is published. The signers are declared outside the policy, in the file of keys.

Waivers: a failed check of a release that somebody lets pass, openly, for a time.

Only checks that the policy itself lists can be waived. A threshold of a threat cannot: who tolerates more risk writes it into the
threat, where the policy's diff shows it. Nor can what guards the release's identity and integrity (``AUDIT-…``).
"""

import unicodedata
from typing import Annotated

from pydantic import Field

from privrelease.policy.changes.directions import always, held
from privrelease.policy.language.keys import Judged, Ref, Stricter
from privrelease.policy.language.values import Day, Frozen, Identifier, PathText, Text

__all__ = ["ApprovalsSpec", "ApproverList", "ApproverSpec", "Waiver", "same_person"]


class ApprovalsSpec(Frozen):
    """Signatures without which a release stays parked."""

    required: Annotated[tuple[Identifier, ...], Field(min_length=1, max_length=20), Stricter.MORE, Judged(held)]
    """Roles that must each sign, with a key of their own."""
    keys: Annotated[PathText, Judged(always("weaker"))]
    """The file that lists approvers and their public keys, relative to the policy."""


class ApproverSpec(Frozen):
    """A person or office that may approve, and the public key of its signatures."""

    name: Text
    """Name of the approver."""
    roles: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    """Roles that the approver may sign for."""
    key: Annotated[str, Field(max_length=2_000)]
    """The public Ed25519 key, PEM."""
    valid_from: Day | None = None
    """First day on which the key may sign (UTC)."""
    valid_until: Day | None = None
    """Last day on which the key may sign (UTC)."""
    revoked: Day | None = None
    """From this day on no signature of the key counts, whenever it was made."""


class ApproverList(Frozen):
    """The file of keys."""

    approvers: Annotated[tuple[ApproverSpec, ...], Field(min_length=1, max_length=1_000)]
    """Everybody who may approve."""


class Waiver(Frozen):
    """A failed check that is let pass, until a day."""

    check: Annotated[Text, Ref("checks")]
    """The check of this policy that may fail."""
    release: Annotated[Text, Ref("releases")]
    """The one release for which it may fail."""
    reason: Text
    """Why it is tolerable."""
    owner: Text
    """The person who asks for it and answers for it."""
    approved_by: Text
    """The person who approved it; a waiver approved by its owner does not count."""
    expires: Day
    """The last day on which it counts (UTC)."""


def same_person(one: str, other: str) -> bool:
    """Return True if two names mean the same, however they are spaced, cased and composed, with signs that no one sees or
    without, and whether or not a role is called one.

    >>> same_person("role:DPO ", "role:dpo"), same_person("dpo", "role: dpo"), same_person("role:steward", "role:dpo")
    (True, True, False)
    """
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    seen = "".join(sign for sign in unicodedata.normalize("NFKC", name) if unicodedata.category(sign) != "Cf")
    return " ".join(seen.split()).casefold().removeprefix("role:").strip()
