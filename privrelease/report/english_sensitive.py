"""The English texts of sensitive values within classes, part of section 7."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_SENSITIVE"]

ENGLISH_SENSITIVE: Final[dict[str, str]] = {
    "sensitive.heading": "Sensitive values within classes",
    "sensitive.caption": "The least varied class of each threat, over known values. Limits on l and t are checks of the policy; here they are "
    "information.",
    "sensitive.column": "Sensitive column",
    "sensitive.threat": "Threat",
    "sensitive.distinct": "Distinct l",
    "sensitive.entropy": "Entropy l",
    "sensitive.t": "t",
    "sensitive.distance.equal": "equal distance",
    "sensitive.distance.ordered": "ordered distance",
    "sensitive.shared": "Records whose class shares one value",
    "sensitive.left_out": "Pairs of threat and column that were not looked at: {n}.",
}
