"""The English texts of section 9, attacks, and of what section 8 says of them."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_ATTACKS"]

ENGLISH_ATTACKS: Final[dict[str, str]] = {
    "attacks.heading": "Attacks tried",
    "attacks.basis": "ICO motivated intruder, Anonymeter",
    "attacks.absent": "No attack was tried on this release; the risk figures above are measured, not attacked.",
    "attacks.figures": "No attack was tried: attacks need rows, and what leaves are figures.",
    "attacks.damaged": "This section of the audit cannot be read.",
    "attacks.intro": "Each attack was tried on the file that leaves, on at most {sample} persons or predicates. They are chosen by the "
    "digests of policy and file, so that the same audit gives the same figures. A rate is successes over the attempts that could be made; "
    "intervals cover with {confidence}.",
    "attacks.risk_said": "Risk: of what could not be had about persons outside the release, the share that was had about those inside, "
    "(main - control) / (1 - control).",
    "attacks.membership_said": "Telling who was in the data: an attack that takes nearly everybody for a member is right about nearly everybody in "
    "the data, and wrong about nearly everybody outside. What it tells is main less control. Risk sets that against the persons outside whom it "
    "does not take for members; where they are few it is large, also where main less control is small.",
    "attacks.control_said": "Control: persons of {control}, who are not in the data.",
    "attacks.no_control": "There is no file of control persons: risk is counted against guessing, and blames the release also for what it "
    "teaches about everybody.",
    "attacks.rounded": "Rates are rounded to whole per cent, intervals outwards; where few succeeded or failed they are not shown.",
    "attacks.not_dp": "The release is made with differential privacy: no attack decides, since what reads the source must not select the noise.",
    "attacks.caption": "What each attack had to go by, how often it succeeded, and what that means beside the limit.",
    "attacks.attack": "Attack",
    "attacks.main": "Main",
    "attacks.baseline": "Guessing",
    "attacks.control": "Control",
    "attacks.risk": "Risk",
    "attacks.advantage": "Main less control",
    "attacks.limit": "Limit",
    "attacks.limit_risk": "risk {limit}",
    "attacks.limit_advantage": "main less control {limit}",
    "attacks.no_limit": "none: information",
    "attacks.not_made": "not made",
    "attacks.by_definition": "0: nobody outside can be found",
    "attacks.scaled": "{rate}, scaled to the size of the data",
    "attacks.of": "{rate} ({successes} of {attempts}; {low} to {high})",
    "attacks.between": "{rate} ({low} to {high})",
    "attacks.name.singling_out_univariate": "Singling out by one column",
    "attacks.name.singling_out_multivariate": "Singling out by {combine} columns",
    "attacks.name.linkability": "Linking two lists: {knows} with {other}",
    "attacks.name.inference": "Guessing {target} from {knows}",
    "attacks.name.record_linkage": "Finding a person's record by {knows}",
    "attacks.name.membership": "Telling who was in the data by {knows}",
    "attacks.closest": "Distance to the closest record",
    "attacks.closest_said": "For information, and no evidence of privacy: a copy with one value changed lies as far from its original as a "
    "stranger may. The same of held-out persons stands beside it where there are any.",
    "attacks.closest_of": "Of",
    "attacks.closest_released": "released records",
    "attacks.closest_held_out": "held-out persons",
    "attacks.closest_rows": "Records",
    "attacks.closest_median": "Median distance",
    "attacks.closest_copies": "Equal to a record of the data",
    "chart.attacks": "Success of each attack, with intervals",
    "chart.attacks_desc": "{n} rates from 0 to 1. Highest: {most}. All stand in the table.",
    "chart.attacks_caption": "Point: rate of success. Line: its interval.",
    "chart.attacks.main": "{name}: main",
    "chart.attacks.control": "{name}: control",
    "attacks.short.singling_out_univariate": "Singling out by 1",
    "attacks.short.singling_out_multivariate": "Singling out by {combine}",
    "attacks.short.linkability": "Linking two lists",
    "attacks.short.inference": "Guessing {target}",
    "attacks.short.record_linkage": "Finding a record",
    "attacks.short.membership": "Telling membership",
    "evidence.attack_said": "Attack tried, {name}: main {main}, risk {risk}.",
    "evidence.attack_beside": "Attack tried, {name}: main {main}, control {control}, risk {risk}.",
    "evidence.attack_membership": "Attack tried, {name}: it takes {main} of the persons in the data for members, and {control} of persons who are "
    "not in it. What it tells of membership is the difference, {advantage}.",
    "evidence.attack_undefined": "Attack tried, {name}: {why}.",
}
