"""What every change of the ledger, of approvals and waivers, and of the words about people and law must read as."""

from __future__ import annotations

from typing import Any

from tests.unit.policy.changes.diff_keys import Base, Row, rows
from tests.unit.policy.changes.diff_rows_data import HEAD

WORDS: Base = HEAD | {
    "datasets": {
        "patients": {
            "source": "data/patients.csv",
            "columns": {"age": {"role": "quasi", "type": "integer"}, "sex": {"role": "quasi", "type": "category"}},
        }
    },
    "threats": {"t": {"dataset": "patients", "knows": "[age]", "highest_risk": "0.2"}},
    "releases": {"m": {"kind": "microdata", "from": "patients", "protect": "[t]", "output": "out/m.csv"}},
    "checks": {"c": {"release": "m", "expect": "rows", "min": "10"}, "d": {"release": "m", "expect": "classes", "min": "1"}},
    "ledger": {"cap": {"epsilon": "1"}, "url": '"sqlite:///ledger.db"'},
    "approvals": {"required": "[dpo]", "keys": "keys.yaml"},
    "legal": {
        "controller": {"name": "A", "contact": "a"},
        "representative": {"name": "B", "contact": "b"},
        "dpo": {"name": "C", "contact": "c"},
        "basis": {"art6": "A6-1-e"},
        "retention": {"source": "P10Y"},
        "notice": {"ref": "page 1"},
        "dpia": {"description": "d"},
    },
    "context": {"motives": "none"},
    "review": {"triggers": "[a new column]"},
}
LEDGER = "ledger"
WAIVER = "{{check: {check}, release: m, reason: {reason}, owner: {owner}, approved_by: {by}, expires: {expires}}}"


def words(at: str, first: Any, second: Any, verdicts: str, **other: Any) -> list[Row]:
    return rows(WORDS, at, (first, second), verdicts, **other)


def waiver(**other: str) -> str:
    return WAIVER.format(**({"check": "c", "reason": "r", "owner": "a", "by": "b", "expires": "2027-01-01"} | other))


def waivers(key: str, before: str, after: str, effect: str) -> list[Row]:
    return words(f"waivers.[].{key}", f"[{before}]", f"[{after}]", f"altered {effect}")


CAPS = (("ledger.datasets", {"patients": {"epsilon": "0.5"}}),)
CONTROLS: list[Row] = [
    *words(LEDGER, WORDS["ledger"], None, "added S removed W"),
    *words(f"{LEDGER}.cap.epsilon", "1", "2", "raised W lowered S"),
    *words(f"{LEDGER}.cap.delta", "0.000001", "0.00001", "added W raised W lowered S removed S"),
    *words(f"{LEDGER}.url", '"sqlite:///a.db"', '"sqlite:///b.db"', "altered W"),
    *words(f"{LEDGER}.datasets.patients", {"epsilon": "0.5"}, None, "added S removed W"),
    *words(f"{LEDGER}.datasets.patients.epsilon", "0.5", "0.6", "raised W lowered S"),
    *words(f"{LEDGER}.datasets.patients.delta", "0.000001", "0.00001", "added W raised W lowered S removed S", given=CAPS),
    # answers are kept as long as the release where nothing is said
    *words(f"{LEDGER}.retention", "P1Y", "P2Y", "added S altered W removed W"),
    *words(f"{LEDGER}.retention", "P2Y", "P1Y", "altered S"),
    *words(f"{LEDGER}.retention", "P2Y", None, "added W removed S", given=(("legal.retention.release", "P1Y"),)),
    *words("publications", "a.jsonl", "b.jsonl", "added W altered W removed W"),
    *words("publications", "publications.jsonl", None, "added N removed N"),
    *words("approvals", WORDS["approvals"], None, "added S removed W"),
    *words("approvals.required", "[dpo]", "[dpo, ciso]", "more S fewer W"),
    *words("approvals.required", "[dpo, ciso]", "[ciso, dpo]", "reordered N"),
    *words("approvals.keys", "keys.yaml", "other.yaml", "altered W"),
    *words("waivers", f"[{waiver()}]", f"[{waiver()}, {waiver(check='d')}]", "added W more W fewer S removed S"),
    *words("waivers", f"[{waiver()}, {waiver(check='d')}]", f"[{waiver(check='d')}, {waiver()}]", "reordered N"),
    *waivers("check", waiver(), waiver(check="d"), "W"),
    *waivers("reason", waiver(), waiver(reason="other"), "W"),
    *waivers("owner", waiver(), waiver(owner="x"), "W"),
    *waivers("approved_by", waiver(), waiver(by="x"), "W"),
    *waivers("expires", waiver(), waiver(expires="2027-02-01"), "W"),
    *waivers("expires", waiver(), waiver(expires="2026-12-30"), "S"),
    Row(
        WORDS | {"releases": WORDS["releases"] | {"n": WORDS["releases"]["m"] | {"output": "out/n.csv"}}},
        "waivers.[].release",
        f"[{waiver()}]",
        f"[{waiver().replace('release: m', 'release: n')}]",
        "weaker",
        only_new=(("checks.c.release", "n"),),
        beside=("checks.c.release",),
        does="altered",
    ),
]
L = "legal"
STATED = "added N altered N removed W"
ADVISED = {"text": "t", "followed": "true"}
ASKED = ((f"{L}.dpia.prior_consultation", {"authority": "a"}),)
LEVELS = "{before: maximum, after: negligible}"
PLAN = "[{text: a, by: 2027-01-01}]"
LEGAL: list[Row] = [
    *words(L, {"controller": {"name": "A"}}, None, "added S removed W"),
    # what is written for the first time may let somebody in, or leave somebody untold
    *words(L, {"recipients": "[{name: U}]"}, None, "added W"),
    *words(L, {"notice": {"exemption": "art14-5-b"}}, None, "added W"),
    *words(f"{L}.profile", "gdpr", None, "added S removed W"),
    *words(f"{L}.controller", {"name": "A"}, None, "added N removed W"),
    *(
        row
        for who in ("controller", "representative", "dpo")
        for row in (*words(f"{L}.{who}.name", "A", "B", "altered N"), *words(f"{L}.{who}.contact", "a", "b", STATED))
    ),
    *words(f"{L}.representative", {"name": "A"}, None, "added N removed W"),
    *words(f"{L}.dpo", {"name": "A"}, None, "added N removed W"),
    # `null` says that there is none
    *words(f"{L}.representative", "null", None, "added N removed W"),
    *words(f"{L}.dpo", "null", None, "added N removed W"),
    *words(f"{L}.joint_controllers", "[{name: X}]", "[{name: X}, {name: Y}]", "added W more W fewer S removed W"),
    *words(f"{L}.joint_controllers", "[]", None, "added N removed W"),
    *words(f"{L}.joint_controllers.[].name", "[{name: X}]", "[{name: Y}]", "altered W"),
    *words(f"{L}.joint_controllers.[].contact", "[{name: X}]", "[{name: X, contact: x}]", "altered N"),
    # the first purposes limit what nothing limited
    *words(f"{L}.purposes", "[{id: x}]", "[{id: x}, {id: y}]", "added N more W fewer S removed W"),
    *words(f"{L}.purposes.[].id", "[{id: x}]", "[{id: y}]", "altered W"),
    *words(f"{L}.purposes.[].dpv", "[{id: x}]", '[{id: x, dpv: "dpv:Marketing"}]', "altered W"),
    *words(f"{L}.purposes.[].text", "[{id: x, text: a}]", "[{id: x, text: b}]", "altered W"),
    *words(f"{L}.basis", {"art6": "A6-1-e"}, None, "added N removed W"),
    *words(f"{L}.basis.art6", "A6-1-e", "A6-1-f", "added N altered W removed W", given=((f"{L}.basis.national_law", "Act"),)),
    *words(f"{L}.basis.art9", "A9-2-j", "A9-2-a", "added N altered W removed W"),
    *words(f"{L}.basis.national_law", "Act 1", "Act 2", STATED),
    *words(f"{L}.data_subjects", "[patients]", "[patients, relatives]", "added N more W fewer S removed W"),
    *words(f"{L}.data_categories", "[health]", "[health, religion]", "added N more W fewer S removed W"),
    *words(f"{L}.recipients", "[{name: U}]", "[{name: U}, {name: V}]", "added W more W fewer S removed W"),
    *words(f"{L}.recipients.[].name", "[{name: U}]", "[{name: V}]", "altered W"),
    *words(f"{L}.recipients.[].id", "[{name: U, id: u}]", "[{name: U, id: v}]", "altered W"),
    *words(f"{L}.recipients.[].country", "[{name: U, country: DE}]", "[{name: U, country: US}]", "altered W"),
    *words(f"{L}.recipients.[].access", "[{name: U, access: room}]", "[{name: U, access: download}]", "altered W"),
    *words(f"{L}.transfers", "[{country: US}]", "[{country: US}, {country: CN}]", "added W more W fewer S removed W"),
    *words(f"{L}.transfers.[].country", "[{country: US}]", "[{country: CN}]", "altered W"),
    *words(f"{L}.transfers.[].recipient", "[{country: US}]", "[{country: US, recipient: U}]", "altered W"),
    *words(f"{L}.transfers.[].safeguard", "[{country: US, safeguard: a}]", "[{country: US, safeguard: b}]", "altered W"),
    *words(f"{L}.retention", {"source": "P10Y"}, None, "added S removed W"),
    *words(f"{L}.retention.source", "P1Y", "P2Y", "added S altered W removed W", given=((f"{L}.retention.release", "P1Y"),)),
    *words(f"{L}.retention.release", "P24M", "P18M", "added S altered S removed W"),
    *words(f"{L}.retention.release", "P12M", "P13M", "altered W"),
    *words(f"{L}.security_measures", "[x]", "[x, y]", "added S more S fewer W removed W"),
    *words(f"{L}.notice", {"ref": "p"}, None, "added N removed W"),
    *words(f"{L}.notice", {"exemption": "art14-5-b"}, None, "added W"),
    *words(f"{L}.notice.ref", "p", "q", STATED, given=((f"{L}.notice.exemption", "art14-5-b"),)),
    *words(f"{L}.notice.exemption", "art14-5-b", "art14-5-c", "added W altered W removed S"),
    *words(f"{L}.safeguards", "a", "b", "added S altered W removed W"),
    *words(f"{L}.dpia", {"description": "d"}, None, "added N removed W"),
    *words(f"{L}.dpia.description", "a", "b", STATED, given=((f"{L}.dpia.views", "v"),)),
    *words(f"{L}.dpia.legitimate_interest", "a", "b", STATED),
    *words(f"{L}.dpia.necessity", "a", "b", STATED),
    *words(f"{L}.dpia.risks", "[x]", "[x, y]", "added S more S fewer W removed W"),
    *words(f"{L}.dpia.measures", "[x]", "[x, y]", "added S more S fewer W removed W"),
    *words(f"{L}.dpia.dpo_advice", {"text": "t", "followed": "true"}, None, "added S removed W"),
    *words(f"{L}.dpia.dpo_advice", {"text": "t", "followed": "false"}, None, "added W"),
    *words(f"{L}.dpia.dpo_advice.text", "a", "b", "altered N", given=((f"{L}.dpia.dpo_advice", {"followed": "true"}),)),
    *words(f"{L}.dpia.dpo_advice.followed", "false", "true", "on S off W", given=((f"{L}.dpia.dpo_advice", {"text": "t"}),)),
    *words(f"{L}.dpia.dpo_advice.author", "a", "b", STATED, given=((f"{L}.dpia.dpo_advice", ADVISED),)),
    *words(f"{L}.dpia.dpo_advice.date", "2026-01-01", "2026-02-01", STATED, given=((f"{L}.dpia.dpo_advice", ADVISED),)),
    *words(f"{L}.dpia.views", "a", "b", STATED),
    *words(f"{L}.dpia.risks.[].text", "[{text: a}]", "[{text: b}]", "altered W"),
    *words(f"{L}.dpia.risks.[].likelihood", "[{text: a}]", f"[{{text: a, likelihood: {LEVELS}}}]", "altered W"),
    *words(
        f"{L}.dpia.risks.[].likelihood.after",
        f"[{{text: a, likelihood: {LEVELS}}}]",
        "[{text: a, likelihood: {before: maximum, after: limited}}]",
        "altered W",
    ),
    *words(
        f"{L}.dpia.risks.[].likelihood.before",
        f"[{{text: a, likelihood: {LEVELS}}}]",
        "[{text: a, likelihood: {before: significant, after: negligible}}]",
        "altered W",
    ),
    *words(f"{L}.dpia.risks.[].severity", "[{text: a}]", f"[{{text: a, severity: {LEVELS}}}]", "altered W"),
    *words(
        f"{L}.dpia.risks.[].severity.after",
        f"[{{text: a, severity: {LEVELS}}}]",
        "[{text: a, severity: {before: maximum, after: limited}}]",
        "altered W",
    ),
    *words(
        f"{L}.dpia.risks.[].severity.before",
        f"[{{text: a, severity: {LEVELS}}}]",
        "[{text: a, severity: {before: significant, after: negligible}}]",
        "altered W",
    ),
    *words(
        f"{L}.dpia.risks.[].measures",
        "[{text: a}]",
        "[{text: a, measures: [m]}]",
        "altered W",
        given=((f"{L}.dpia.measures", "[{id: m, text: m}]"),),
    ),
    *words(f"{L}.dpia.measures.[].id", "[{id: a, text: x}]", "[{id: b, text: x}]", "altered W"),
    *words(f"{L}.dpia.measures.[].text", "[{id: a, text: x}]", "[{id: a, text: y}]", "altered W"),
    *words(f"{L}.dpia.action_plan", PLAN, f"{PLAN[:-1]}, {{text: b, by: 2027-01-01}}]", "added S more S fewer W removed W"),
    *words(f"{L}.dpia.action_plan.[].text", PLAN, "[{text: b, by: 2027-01-01}]", "altered W"),
    *words(f"{L}.dpia.action_plan.[].by", PLAN, "[{text: a, by: 2028-01-01}]", "altered W"),
    *words(f"{L}.dpia.action_plan.[].owner", PLAN, "[{text: a, by: 2027-01-01, owner: o}]", "altered W"),
    *words(f"{L}.dpia.prior_consultation", {"authority": "a"}, None, "added N removed W"),
    # `null` says that none is needed
    *words(f"{L}.dpia.prior_consultation", "null", None, "added N removed W"),
    *words(f"{L}.dpia.prior_consultation.authority", "a", "b", "altered N"),
    *words(f"{L}.dpia.prior_consultation.date", "2026-01-01", "2026-02-01", STATED, given=ASKED),
    *words(f"{L}.dpia.prior_consultation.outcome", "a", "b", STATED, given=ASKED),
    *words(f"{L}.processors", "[{name: X}]", "[{name: X}, {name: Y}]", "added W more W fewer S removed W"),
    *words(f"{L}.processors", "[]", None, "added N removed W"),
    *words(f"{L}.processors.[].name", "[{name: X}]", "[{name: Y}]", "altered W"),
    *(
        words(f"{L}.processors.[].{key}", "[{name: X}]", f"[{{name: X, {key}: DE}}]", "altered N")[0]
        for key in ("contact", "country", "task")
    ),
    *words(f"{L}.rights", {"access": "a"}, None, "added N removed W"),
    *(
        row
        for right in ("access", "rectification", "erasure", "restriction", "portability", "objection")
        for row in words(f"{L}.rights.{right}", "a", "b", STATED, given=((f"{L}.rights", {"access": "x", "erasure": "x"}),))
    ),
]
X = "context"
AROUND: list[Row] = [
    *words(X, {"harms": "h"}, None, "added N removed W"),
    *words(X, {"release_model": "public"}, None, "added W"),
    *words(f"{X}.release_model", "internal", "controlled", "added N on W off S removed W"),
    *words(f"{X}.release_model", "internal", "public", "on W off S"),
    *words(f"{X}.release_model", "public", "controlled", "added W on S off W"),
    *words(f"{X}.population", {"size": "5"}, None, "added N removed W"),
    *words(
        f"{X}.population.size", "5", "6", "added N raised N lowered N removed W", given=((f"{X}.population", {"source": "s"}),)
    ),
    *words(f"{X}.population.source", "a", "b", STATED, given=((f"{X}.population", {"size": "5"}),)),
    *words(f"{X}.controls", "[x]", "[x, y]", "added S more S fewer W removed W"),
    *words(f"{X}.motives", "a", "b", STATED, given=((f"{X}.harms", "h"),)),
    *words(f"{X}.harms", "a", "b", STATED),
    *words("report", {"editions": "[internal]"}, None, "added B removed N"),
    *words("report", {"language": "de"}, None, "added N removed N"),
    *words("report.language", "de", "fr", "added N on N off N removed N", given=(("report", {"editions": "[internal]"}),)),
    *words("report.language", "en", "de", "on N off N"),
    *words("report.language", "en", "fr", "on N off N"),
    *words("report.editions", "[internal]", "[internal, recipient]", "more N fewer B"),
    # the internal edition is written always
    *words("report.editions", "[recipient]", "[internal, recipient]", "more N fewer N"),
    *words("review", {"next": "2027-01-01"}, None, "added S removed W"),
    *words("review.next", "2027-01-01", "2027-02-01", "added S altered W removed W"),
    *words("review.next", "2027-02-01", "2027-01-01", "altered S"),
    *words("review.triggers", "[x]", "[x, y]", "added S more S fewer W removed W", given=(("review.next", "2027-01-01"),)),
]
