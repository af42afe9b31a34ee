"""The English texts of sections 1 to 5, what the policy states: identity, record of processing, lawfulness, impact assessment, context."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_PROCESSING"]

ENGLISH_PROCESSING: Final[dict[str, str]] = {
    # 1 identity
    "identity.heading": "Identity",
    "identity.basis": "Art. 5(2) GDPR",
    "identity.caption": "What was audited, and under what.",
    "identity.policy": "Policy",
    "identity.policy_file": "Policy file",
    "identity.policy_sha256": "SHA-256 of the resolved policy",
    "identity.commit": "Git commit",
    "identity.environment": "Environment",
    "identity.release": "Release",
    "identity.run": "Run",
    "identity.audited_at": "Audited at",
    "identity.input_digest": "Keyed digest of the input",
    "identity.outputs": "Files",
    "identity.outputs_caption": "What the recipient gets, byte for byte.",
    "identity.size": "Size",
    "identity.sha256": "SHA-256",
    "identity.versions": "Versions",
    "identity.versions_caption": "Tool and libraries that made and measured it.",
    "identity.version": "Version",
    "identity.software": "Software",
    # 2 record of processing
    "record.heading": "Record of processing",
    "record.basis": "Art. 30(1) GDPR",
    "record.caption": "As the policy states it.",
    "record.field": "Field",
    "record.stated": "Stated",
    "record.controller": "Controller",
    "record.joint_controllers": "Joint controllers",
    "record.representative": "Representative",
    "record.dpo": "Data-protection officer",
    "record.purposes": "Purposes",
    "record.data_subjects": "Categories of persons",
    "record.data_categories": "Categories of data",
    "record.recipients": "Recipients",
    "record.transfers": "Transfers to third countries, and safeguards",
    "record.retention": "Time limits for erasure",
    "record.security_measures": "Security measures",
    "record.with_controller": "kept with the controller",
    "record.profile": "The policy asks for the fields of the profile {profile}; these are missing: {missing}.",
    # 3 lawfulness
    "lawfulness.heading": "Lawfulness",
    "lawfulness.basis": "Art. 6, 9, 13, 14 and 89 GDPR",
    "lawfulness.art6": "Basis, Art. 6(1)",
    "lawfulness.art9": "Exception, Art. 9(2)",
    "lawfulness.national_law": "National law",
    "lawfulness.notice": "Notice to the persons",
    "lawfulness.safeguards": "Safeguards, Art. 89(1)",
    # 4 impact assessment
    "dpia.heading": "Impact assessment",
    "dpia.basis": "Art. 35(7) GDPR",
    "dpia.description": "Systematic description",
    "dpia.legitimate_interest": "Legitimate interest, where it is the basis",
    "dpia.necessity": "Necessity and proportionality",
    "dpia.risks": "Risks to the persons",
    "dpia.measures": "Measures",
    "dpia.dpo_advice": "Advice of the data-protection officer",
    "dpia.views": "Views of the persons, Art. 35(9)",
    "dpia.recipient": "The impact assessment stays with the controller and is no part of this edition.",
    # 5 context
    "context.heading": "Context of the release",
    "context.basis": "ISO/IEC 27559, ICO",
    "context.release_model": "Release model",
    "context.population": "Population",
    "context.controls": "Recipients' controls",
    "context.motives": "Motives and capacity of an attacker",
    "context.harms": "Possible harms",
}
