from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from privrelease.policy.rules.required_legal_fields import missing_legal, missing_legal_fields

if TYPE_CHECKING:
    from tests.unit.policy.conftest import Folder

COMPLETE = {
    "controller": "{name: A, contact: a@example.org}",
    "joint_controllers": "[]",
    "representative": "null",
    "dpo": "{name: B, contact: b@example.org}",
    "purposes": "[{id: research}]",
    "basis": "{art6: A6-1-e, art9: A9-2-j}",
    "data_subjects": '["dpv:Patient"]',
    "data_categories": "[health data]",
    "recipients": "[]",
    "transfers": "[]",
    "retention": "{source: P10Y, release: P5Y}",
    "security_measures": "[encryption at rest]",
    "notice": "{exemption: art14-5-b}",
    "safeguards": "pseudonyms",
    "dpia": "{description: d, necessity: n, risks: [r], measures: [m], dpo_advice: {text: proceed, followed: true}}",
}
ADVICE = "dpo_advice: {text: t, followed: true}"


def legal(profile: str | None = "gdpr", **changes: str | None) -> str:
    fields = {"profile": profile, **COMPLETE, **changes}
    return "legal:\n" + "".join(f"  {key}: {value}\n" for key, value in fields.items() if value is not None)


def missing(folder: Folder, text: str) -> tuple[str, ...]:
    loaded, _ = folder.load(text)
    assert loaded is not None
    return missing_legal_fields(loaded.policy)


def test_a_complete_record_lacks_nothing(folder: Folder, sound: str) -> None:
    assert missing(folder, sound + legal()) == ()
    assert folder.check(sound + legal()) == []


def test_without_a_profile_nothing_is_required(folder: Folder, sound: str) -> None:
    assert missing(folder, sound) == ()
    assert missing(folder, sound + "legal: {}\n") == ()


@pytest.mark.parametrize(
    ("change", "lacks"),
    [
        ({"controller": None}, ("controller.name", "controller.contact")),
        ({"controller": "{name: A}"}, ("controller.contact",)),
        ({"joint_controllers": None}, ("joint_controllers",)),
        ({"joint_controllers": "[{name: C}]"}, ("joint_controllers.1.contact",)),
        ({"representative": None}, ("representative",)),
        ({"representative": "{name: D}"}, ("representative.contact",)),
        ({"dpo": None}, ("dpo.contact",)),
        ({"dpo": "{name: B}"}, ("dpo.contact",)),
        ({"purposes": "[]"}, ("purposes",)),
        ({"basis": "{art9: A9-2-j}"}, ("basis.art6",)),
        ({"data_subjects": None}, ("data_subjects",)),
        ({"data_categories": "[]"}, ("data_categories",)),
        ({"recipients": None}, ("recipients",)),
        ({"transfers": "[{country: CH, safeguard: adequacy decision}, {country: US}]"}, ("transfers.2.safeguard",)),
        ({"transfers": None}, ("transfers",)),
        ({"retention": "{source: P10Y}"}, ("retention.release",)),
        ({"retention": "{release: P10Y}"}, ("retention.source",)),
        ({"security_measures": "[]"}, ("security_measures",)),
        ({"notice": "{}"}, ("notice",)),
        ({"safeguards": None}, ("safeguards",)),
        ({"dpia": None}, ("dpia.description", "dpia.necessity", "dpia.risks", "dpia.measures", "dpia.dpo_advice")),
        ({"dpia": f"{{description: d, necessity: n, risks: [], measures: [m], {ADVICE}}}"}, ("dpia.risks",)),
        ({"dpia": "{description: d, necessity: n, risks: [r], measures: [m]}"}, ("dpia.dpo_advice",)),
        ({"basis": "{art6: A6-1-f}"}, ("dpia.legitimate_interest",)),
    ],
)
def test_a_missing_field_is_named(change: dict[str, str | None], lacks: tuple[str, ...], folder: Folder, sound: str) -> None:
    text = sound + legal(**change)
    assert missing(folder, text) == lacks
    says = (
        f"p.yaml:30:1: P606 warn: the profile gdpr requires fields that are missing in legal: {', '.join(lacks)}\n"
        "hint: without them the decision is `review`, not `pass`"
    )
    assert folder.check(text) == [says]


def test_null_says_that_there_is_no_officer_whose_advice_could_be_asked(folder: Folder, sound: str) -> None:
    assert missing(folder, sound + legal(dpo="null", dpia="{description: d, necessity: n, risks: [r], measures: [m]}")) == ()


def test_a_profile_asked_for_from_outside_needs_what_the_policy_does_not_ask_for(folder: Folder, sound: str) -> None:
    loaded, _ = folder.load(sound)
    assert loaded is not None
    assert missing_legal_fields(loaded.policy) == ()
    asked = missing_legal(loaded.policy, "gdpr")
    assert {"controller.name", "representative", "data_categories", "dpia.risks"} <= {one.name for one in asked}
    assert {one.article[:10] for one in asked} >= {"Art. 30(1)", "Art. 35(7)", "Art. 6(1)", "Art. 89(1)"}


def test_article_9_is_asked_for_where_a_column_is_special(folder: Folder, sound: str) -> None:
    text = sound + legal(basis="{art6: A6-1-e}")
    assert missing(folder, text) == ()
    assert missing(folder, text.replace("role: sensitive", "role: sensitive, category: special")) == ("basis.art9",)
