from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from privrelease.policy.completeness import missing_legal_fields

if TYPE_CHECKING:
    from tests.unit.policy.conftest import Folder

COMPLETE = {
    "controller": "{name: A, contact: a@example.org}",
    "dpo": "{name: B, contact: b@example.org}",
    "purposes": "[{id: research}]",
    "basis": "{art6: A6-1-e, art9: A9-2-j}",
    "data_subjects": '["dpv:Patient"]',
    "recipients": "[]",
    "transfers": "[]",
    "retention": "{source: P10Y, release: P5Y}",
    "security_measures": "[encryption at rest]",
    "notice": "{exemption: art14-5-b}",
    "safeguards": "pseudonyms",
    "dpia": "{description: d, necessity: n, risks: [r], measures: [m]}",
}


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
        ({"dpo": None}, ("dpo.contact",)),
        ({"purposes": "[]"}, ("purposes",)),
        ({"basis": "{art9: A9-2-j}"}, ("basis.art6",)),
        ({"data_subjects": None}, ("data_subjects",)),
        ({"recipients": None}, ("recipients",)),
        ({"transfers": None}, ("transfers",)),
        ({"retention": "{source: P10Y}"}, ("retention.release",)),
        ({"retention": "{release: P10Y}"}, ("retention.source",)),
        ({"security_measures": "[]"}, ("security_measures",)),
        ({"notice": "{}"}, ("notice",)),
        ({"safeguards": None}, ("safeguards",)),
        ({"dpia": None}, ("dpia.description", "dpia.necessity", "dpia.risks", "dpia.measures")),
        ({"dpia": "{description: d, necessity: n, risks: [], measures: [m]}"}, ("dpia.risks",)),
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


def test_article_9_is_asked_for_where_a_column_is_special(folder: Folder, sound: str) -> None:
    text = sound + legal(basis="{art6: A6-1-e}")
    assert missing(folder, text) == ()
    assert missing(folder, text.replace("role: sensitive", "role: sensitive, category: special")) == ("basis.art9",)
