"""The methods of synthesis: a visible tuple; which one is meant is declared under ``method``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.synthesis.dpcocgen import DPCOCGEN
from privrelease.synthesis.histogram import HISTOGRAM
from privrelease.synthesis.marginals.methods import AIM, MST
from privrelease.synthesis.privbayes import PRIVBAYES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.synthesis.method import SynthesisMethod

__all__ = ["METHODS", "method_named"]

#: Every method of synthesis; a new one adds its line here.
METHODS: tuple[SynthesisMethod, ...] = (HISTOGRAM, MST, AIM, DPCOCGEN, PRIVBAYES)


def method_named(name: str, methods: Sequence[SynthesisMethod] = METHODS) -> SynthesisMethod:
    """Return the method of that name. Raises LookupError where there is none."""
    for one in methods:
        if one.name == name:
            return one
    message = "no method of synthesis has that name"
    raise LookupError(message)
