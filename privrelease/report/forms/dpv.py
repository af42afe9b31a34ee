"""The record of processing and the impact assessment in the W3C Data Privacy Vocabulary 2.3, as JSON-LD.

Every IRI that is written is a term of the vocabulary; nodes are blank. A term that a policy states is written as such where it is in the
tables here, which a test compares with the published vocabulary; any other stays a text, as the policy states it.
Sources: w3id.org/dpv, w3id.org/dpv/legal/eu/gdpr; Art. 30(1), 35(7) GDPR.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from privrelease.relational.treatments import Family, family_of
from privrelease.report.view.edition import Edition, for_edition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.audit.document.model import AuditResult

__all__ = ["DATA_SUBJECTS", "PURPOSES", "render_dpv"]

_CONTEXT: Final = {"dpv": "https://w3id.org/dpv#", "eu-gdpr": "https://w3id.org/dpv/legal/eu/gdpr#"}

PURPOSES: Final = frozenset(
    [
        "AcademicResearch",
        "CommercialResearch",
        "ImproveHealthcare",
        "ImprovePublicServices",
        "NonCommercialResearch",
        "ProvideOfficialStatistics",
        "PublicBenefit",
        "PublicPolicyMaking",
        "ResearchAndDevelopment",
        "ScientificResearch",
    ]
)
DATA_SUBJECTS: Final = frozenset(
    [
        "Adult",
        "Applicant",
        "Child",
        "Citizen",
        "Consumer",
        "Customer",
        "DataSubject",
        "ElderlyDataSubject",
        "Employee",
        "Immigrant",
        "JobApplicant",
        "Member",
        "MentallyVulnerableDataSubject",
        "NonCitizen",
        "Participant",
        "Patient",
        "Student",
        "Tourist",
        "User",
        "Visitor",
        "VulnerableDataSubject",
    ]
)
#: What released cells are, by what was done to them; others are as their column is declared.
_OF_FAMILY: Final[dict[Family | None, str]] = {
    Family.PSEUDONYMISATION: "dpv:PseudonymisedData",
    Family.SYNTHETIC: "dpv:SyntheticData",
}
_ART6: Final = re.compile(r"A6-1-[a-f]")
_ART9: Final = re.compile(r"A9-2-[a-j]")
_TERM: Final = re.compile(r"(?:dpv:)?([A-Za-z]+)")


def render_dpv(audit: AuditResult, edition: Edition) -> str:
    """Return the JSON-LD of one edition, ASCII; recipients get no impact assessment and no security measure."""
    kept = for_edition(audit, edition)
    stated = kept.legal.stated
    record: dict[str, Any] = {"@type": "dpv:ROPA", "dpv:hasName": kept.identity.policy_title or kept.identity.policy_id}
    record["dpv:hasIdentifier"] = f"{kept.identity.policy_id} {kept.identity.policy_version}"
    for name, relation, kind in (
        ("controller", "dpv:hasDataController", "dpv:DataController"),
        ("joint_controllers", "dpv:hasJointDataControllers", "dpv:JointDataControllers"),
        ("representative", "dpv:hasRepresentative", "dpv:Representative"),
        ("dpo", "dpv:hasDataProtectionOfficer", "dpv:DataProtectionOfficer"),
    ):
        bodies = [_body(group, kind) for group in _groups(stated, name)]
        if bodies:
            record[relation] = bodies
    process = _process(kept, edition)
    record["dpv:hasProcess"] = [process]
    text = json.dumps({"@context": _CONTEXT, **record}, indent=2, ensure_ascii=True, sort_keys=False)
    return text.replace("<", "\\u003c") + "\n"


def _process(audit: AuditResult, edition: Edition) -> dict[str, Any]:
    stated = audit.legal.stated
    process: dict[str, Any] = {"@type": "dpv:PersonalDataProcess", "dpv:hasName": audit.identity.release}
    parts: tuple[tuple[str, list[object]], ...] = (
        ("dpv:hasPurpose", [_purpose(group) for group in _groups(stated, "purposes")]),
        ("dpv:hasLegalBasis", list(_bases(stated))),
        ("dpv:hasDataSubject", [_term(text, DATA_SUBJECTS, "dpv:DataSubject") for text in _texts(stated.get("data_subjects"))]),
        ("dpv:hasPersonalData", list(_data(audit))),
        ("dpv:hasRecipient", [_recipient(group) for group in _groups(stated, "recipients")]),
        (
            "dpv:hasThirdCountry",
            [_named("dpv:Country", group["country"]) for group in _groups(stated, "transfers") if "country" in group],
        ),
        (
            "dpv:hasTechnicalOrganisationalMeasure",
            [
                _named("dpv:SafeguardForDataTransfer", one["safeguard"])
                for one in _groups(stated, "transfers")
                if "safeguard" in one
            ],
        ),
        ("dpv:hasStorageCondition", [_storage(key, text) for key, text in stated.items() if key.startswith("retention.")]),
        ("dpv:hasNotice", [_named("dpv:Notice", text) for text in _texts(stated.get("notice.ref"))]),
        ("dpv:hasTechnicalMeasure", list(_measures(audit))),
        (
            "dpv:hasOrganisationalMeasure",
            [_named("dpv:OrganisationalMeasure", text) for text in _texts(stated.get("security_measures"))],
        ),
    )
    process |= {relation: values for relation, values in parts if values}
    if edition is Edition.INTERNAL and any(name.startswith("dpia.") for name in stated):
        process["dpv:hasImpactAssessment"] = [_impact(stated)]
    return process


def _impact(stated: dict[str, str | tuple[str, ...]]) -> dict[str, Any]:
    impact: dict[str, Any] = {"@type": "dpv:DPIA"}
    texts = [*_texts(stated.get("dpia.description"))]
    if texts:
        impact["dpv:hasName"] = texts[0]
    for name, relation, kind in (
        ("dpia.legitimate_interest", "dpv:hasLegalBasis", "dpv:LegitimateInterestOfController"),
        ("dpia.necessity", "dpv:hasNecessity", "dpv:Necessity"),
        ("dpia.risks", "dpv:hasRisk", "dpv:Risk"),
        ("dpia.measures", "dpv:hasTechnicalOrganisationalMeasure", "dpv:TechnicalOrganisationalMeasure"),
        ("dpia.dpo_advice.text", "dpv:hasRecommendation", None),
        ("dpia.views", "dpv:hasOrganisationalMeasure", "dpv:ConsultationWithDataSubject"),
    ):
        values: list[Any] = [_named(kind, text) if kind else text for text in _listed(stated, name)]
        if values:
            impact[relation] = values
    return impact


def _listed(stated: dict[str, str | tuple[str, ...]], name: str) -> tuple[str, ...]:
    """Return the texts of a field: of a list whose entries are mappings, the words of each."""
    entries = [
        text
        for key, value in stated.items()
        if re.fullmatch(rf"{re.escape(name)}\.\d+(\.text)?", key)
        for text in _texts(value)
    ]
    return (*_texts(stated.get(name)), *entries)


def _texts(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else value


def _groups(stated: dict[str, str | tuple[str, ...]], name: str) -> list[dict[str, str]]:
    """The fields of one mapping (``name.field``) or of each of a list of them (``name.1.field``)."""
    found: dict[str, dict[str, str]] = {}
    for key, value in stated.items():
        if key.startswith(f"{name}.") and isinstance(value, str):
            first, _, rest = key.removeprefix(f"{name}.").partition(".")
            number, field = (first, rest) if first.isdigit() and rest else ("", first)
            found.setdefault(number, {})[field] = value
    return [found[number] for number in sorted(found, key=lambda text: int(text or 0))]


def _named(kind: str, text: str) -> dict[str, Any]:
    return {"@type": kind, "dpv:hasName": text}


def _body(group: dict[str, str], kind: str) -> dict[str, Any]:
    body: dict[str, Any] = {"@type": kind}
    if "name" in group:
        body["dpv:hasName"] = group["name"]
    if "contact" in group:
        body["dpv:hasContact"] = group["contact"]
    return body


def _term(text: str, known: frozenset[str], kind: str) -> dict[str, Any]:
    match = _TERM.fullmatch(text)
    return {"@id": f"dpv:{match[1]}"} if match and match[1] in known else _named(kind, text)


def _purpose(group: dict[str, str]) -> dict[str, Any]:
    match = _TERM.fullmatch(group.get("dpv", ""))
    purpose: dict[str, Any] = {"@type": f"dpv:{match[1]}" if match and match[1] in PURPOSES else "dpv:Purpose"}
    return purpose | {"dpv:hasName": group.get("text") or group.get("id") or group.get("dpv", "")}


def _bases(stated: dict[str, str | tuple[str, ...]]) -> Iterator[dict[str, Any]]:
    for name, pattern in (("basis.art6", _ART6), ("basis.art9", _ART9)):
        for text in _texts(stated.get(name)):
            yield {"@id": f"eu-gdpr:{text}"} if pattern.fullmatch(text) else _named("dpv:LegalBasis", text)
    yield from (_named("dpv:LegalBasis", text) for text in _texts(stated.get("basis.national_law")))


def _recipient(group: dict[str, str]) -> dict[str, Any]:
    body = _body(group, "dpv:Recipient")
    if "country" in group:
        body["dpv:hasCountry"] = _named("dpv:Country", group["country"])
    return body


def _storage(key: str, value: str | tuple[str, ...]) -> dict[str, Any]:
    duration = ", ".join(_texts(value))
    return {"@type": "dpv:StorageDuration", "dpv:hasName": key.removeprefix("retention."), "dpv:hasDuration": duration}


def _data(audit: AuditResult) -> Iterator[dict[str, Any]]:
    """Categories as the policy states them, then the released columns."""
    yield from (_named("dpv:PersonalData", text) for text in _texts(audit.legal.stated.get("data_categories")))
    for column in audit.data.columns:
        if column.leaves:
            kind = "dpv:SpecialCategoryPersonalData" if column.category == "special" else "dpv:PersonalData"
            yield _named(_OF_FAMILY.get(family_of(column.treated), kind), column.name)


def _measures(audit: AuditResult) -> Iterator[dict[str, Any]]:
    """Say which measures were taken, and never that the result is anonymous: that is for a person to assess."""
    families = {family_of(column.treated) for column in audit.data.columns}
    if Family.PSEUDONYMISATION in families:
        yield {"@id": "dpv:Pseudonymisation"}
    if Family.SYNTHETIC in families:
        yield {"@id": "dpv:UseSyntheticData"}
    if Family.SUPPRESSION in families or audit.threats:
        yield {"@id": "dpv:Deidentification"}
    if audit.statistics is not None:
        yield {"@id": "dpv:DifferentialPrivacy"}
