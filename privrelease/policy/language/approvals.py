"""Approvals: who must sign a release before it is published. Who that is stands outside the policy, in the file of keys."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from privrelease.policy.changes.directions import always, held
from privrelease.policy.language.keys import Judged, Stricter
from privrelease.policy.language.values import Day, Frozen, Identifier, PathText, Text

__all__ = ["ApprovalsSpec", "ApproverList", "ApproverSpec"]


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
