"""The privacy-budget ledger: where it is, and what this policy would spend of it at most."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from privrelease.policy.changes import governance_changes as words
from privrelease.policy.language.keys import Judged, Ref, Stricter
from privrelease.policy.language.number_values import Exact, Positive
from privrelease.policy.language.values import Duration, Frozen, Text, as_text
from privrelease.policy.text.messages import problem

__all__ = ["CapSpec", "LedgerSpec"]

_VARIABLE = r"[A-Z_][A-Z0-9_]{0,127}"
_SQLITE = r"sqlite:///[^?#\x00]+"
_POSTGRESQL = r"postgresql://[^\s]+"
_HINT = "write sqlite:///FILE, postgresql://USER@HOST/DATABASE, or the name of an environment variable that holds the URL"


def _url(value: object) -> object:
    text = as_text(value)
    if not isinstance(text, str) or not re.fullmatch(f"{_VARIABLE}|{_SQLITE}|{_POSTGRESQL}", text):
        message = "must be the place of a ledger"
        raise problem(message, hint=_HINT)
    if re.match(r"postgresql://[^/@]*:[^/@]*@", text) or re.search(r"[?&]password=", text, re.IGNORECASE):
        message = "must not hold a password"
        raise problem(message, hint="put the whole URL into an environment variable and write its name")
    return text


LedgerUrl = Annotated[
    str,
    BeforeValidator(_url),
    WithJsonSchema({"type": "string", "pattern": f"^({_VARIABLE}|sqlite:///[^?#]+|{_POSTGRESQL})$"}),
]


class CapSpec(Frozen):
    """The most that all releases of a population, or of a dataset, may spend together, over its whole life."""

    epsilon: Annotated[Positive, Stricter.LOWER]
    """Privacy loss."""
    delta: Annotated[Exact | None, Stricter.LOWER_FROM_0] = None
    """Probability of a failure of the guarantee; 0 where it is not given."""


class LedgerSpec(Frozen):
    """The ledger that releases of differential privacy are charged to."""

    cap: CapSpec
    """The policy's cap; where the ledger's own is stricter, that one holds."""
    url: LedgerUrl
    """The place of the ledger; a file is relative to the policy."""
    datasets: dict[Annotated[Text, Ref("datasets")], Annotated[CapSpec, Stricter.ADDED]] = Field(default_factory=dict)
    """Caps of single datasets, next to that of their population: a release has to fit both."""
    retention: Annotated[Duration | None, Stricter.SET, Judged(words.answers_kept)] = None
    """The time for which stored answers are kept to be served again; as `legal.retention.release` says where it is not given."""
