"""Pseudonym keys: no key, no release.

A pseudonym is an HMAC of the value. Without a secret, whoever can list the possible values computes all pseudonyms in seconds (a
telephone number of 7 digits has 10^7 values), so a missing or short key is an error before anything is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.errors import InputError
from privrelease.findings import Finding
from privrelease.relational.treatments import Pseudonym

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.plan.model import MicrodataPlan

__all__ = ["SHORTEST_KEY", "pseudonym_keys"]

#: Bytes that a pseudonym key has at least.
SHORTEST_KEY = 16
_HINT = "make one with `openssl rand -hex 32`, keep it outside the policy, and use the same key where pseudonyms must match"


def pseudonym_keys(plan: MicrodataPlan, environment: Mapping[str, str]) -> dict[str, bytes]:
    """Return the key of every column that is released as a pseudonym, by column name.

    Raises InputError (D610 not set, D611 too short), with a finding for each variable at fault; never a part of a key.
    """
    keys: dict[str, bytes] = {}
    faults: dict[str, Finding] = {}
    for column in plan.columns:
        if not isinstance(column.treatment, Pseudonym):
            continue
        variable = column.treatment.key
        secret = environment.get(variable, "").encode("utf-8", "surrogateescape") if variable else b""
        subject = f"releases.{plan.id}"
        if not secret:
            named = f"the environment variable {variable}" if variable else "an environment variable to name"
            message = f"the pseudonym of {column.name} needs a key: {named} is not set"
            faults.setdefault(variable, Finding("D610", message, location=plan.location, hint=_HINT, subject=subject))
        elif len(secret) < SHORTEST_KEY:
            message = f"the pseudonym key in {variable} is shorter than {SHORTEST_KEY} bytes"
            faults.setdefault(variable, Finding("D611", message, location=plan.location, hint=_HINT, subject=subject))
        keys[column.name] = secret
    if faults:
        first, *_ = faults.values()
        raise InputError(first.code, first.message, hint=first.hint, location=first.location, findings=tuple(faults.values()))
    return keys
