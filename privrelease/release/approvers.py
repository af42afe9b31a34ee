"""The file of keys: who may approve, in which role, with which key, from when to when. It is kept apart from the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from privrelease.errors import InputError
from privrelease.findings import Location
from privrelease.policy.language.approvals import ApproverList, same_person
from privrelease.policy.text.nodes import place_of, plain_data
from privrelease.policy.text.yaml import MAX_BYTES, parse_yaml
from privrelease.release.signing import VerifyingKey
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date
    from pathlib import Path

    from privrelease.policy.language.approvals import ApproverSpec
    from privrelease.policy.text.nodes import Node

__all__ = ["Approver", "approver_with", "load_approvers", "require_approvers"]


@dataclass(frozen=True, slots=True)
class Approver:
    """Person who may approve. ``revoked``: from that day on no signature of the key counts."""

    name: str
    roles: tuple[str, ...]
    key: VerifyingKey
    valid_from: date | None = None
    valid_until: date | None = None
    revoked: date | None = None

    def refusal(self, signed: date, today: date) -> str | None:
        """Return why a signature made on ``signed`` does not count on ``today``; None where it does."""
        if self.revoked is not None and today >= self.revoked:
            return f"the key of {self.name} was revoked on {self.revoked}"
        if self.valid_from is not None and signed < self.valid_from:
            return f"the key of {self.name} is valid from {self.valid_from} on"
        if self.valid_until is not None and signed > self.valid_until:
            return f"the key of {self.name} was valid until {self.valid_until}"
        return None

    def is_holder(self, key: str, approvers: Iterable[Approver]) -> bool:
        """Return True if the key of that id is this person's: this one, or another under the same name, as after a rotation."""
        return any(one.key.id == key and same_person(one.name, self.name) for one in approvers)

    def owns(self, owners: Iterable[str]) -> bool:
        """Return True if one of the owners of waivers is this approver, by name or by role."""
        names = (self.name, *self.roles, *(f"role:{role}" for role in self.roles))
        return any(same_person(owner, name) for owner in owners for name in names)


def load_approvers(path: Path, label: str) -> tuple[Approver, ...]:
    """Read the file of keys. Raises InputError: R150 it cannot be read or is not valid, R151 a key appears twice."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(
            code="R150",
            message=f"the file of approvers' keys cannot be read: {error.strerror or type(error).__name__}",
            hint="check `keys` in `approvals`",
            location=Location(label),
        ) from None
    tree, findings = parse_yaml(content, label)
    if findings or tree is None:
        first = findings[0] if findings else None
        message = first.message if first is not None else "the file is empty"
        raise _no_list(None if first is None else first.location, label, message=message)
    try:
        listed = ApproverList.model_validate(plain_data(tree))
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in fault["loc"]) or "the whole"
        raise _no_list(place_of(tree, tuple(fault["loc"])), label, message=f"{place}: {fault['msg']}") from None
    approvers = tuple(_approver(one, tree, number) for number, one in enumerate(listed.approvers))
    seen: set[str] = set()
    for number, approver in enumerate(approvers):
        if approver.key.id in seen:
            raise InputError(
                code="R151",
                message=f"the key of {approver.name} is listed twice",
                hint="a key belongs to one approver; list all of its roles there",
                location=place_of(tree, ("approvers", number, "key")),
            )
        seen.add(approver.key.id)
    return approvers


def _no_list(place: Location | None, label: str, *, message: str) -> InputError:
    hint = "write `approvers: [{name: …, roles: [dpo], key: …}]`, with the PEM that `privrelease keygen` made"
    return InputError(
        code="R150", message=f"this is not a list of approvers: {message}", hint=hint, location=place or Location(label)
    )


def _approver(spec: ApproverSpec, tree: Node, number: int) -> Approver:
    try:
        key = VerifyingKey.from_pem(spec.key)
    except InputError as error:
        place = place_of(tree, ("approvers", number, "key"))
        raise InputError(code=error.code, message=error.message, hint=error.hint, location=place) from None
    return Approver(spec.name, spec.roles, key, spec.valid_from, spec.valid_until, spec.revoked)


def require_approvers(required: Sequence[str], approvers: Sequence[Approver], today: date, label: str) -> None:
    """Refuse a list in which no one can sign for a required role. Raises InputError (R152)."""
    able = {role for one in approvers if one.refusal(today, today) is None for role in one.roles}
    lacking = [role for role in required if role not in able]
    if lacking:
        raise InputError(
            code="R152",
            message=f"no one can sign for the required role {', '.join(lacking)}",
            hint="list an approver with a valid key for it",
            location=Location(label),
        )


def approver_with(key: VerifyingKey, approvers: Iterable[Approver]) -> Approver | None:
    """Return the approver whose key it is."""
    return next((one for one in approvers if one.key.id == key.id), None)
