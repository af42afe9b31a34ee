"""The catalogue of codes holds exactly the codes that the package can give, and what is made of it is current."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

from privrelease.audit.all_checks import ALL_CHECKS
from privrelease.cli.commands.explain import codes_page
from privrelease.cli.main import main
from privrelease.policy.language.releases import STEPS
from privrelease.policy.validation.unsupported import _STEPS as UNSUPPORTED_STEPS
from privrelease.texts.codes import FAMILIES, code_of, every_code, nearest_codes

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"(DP|[PDALRC])\d{3}(?![\w-])")
CODES = tuple(every_code())
NAMES = {code.name for code in CODES}


def texts_in(source: str) -> list[str]:
    return [one.value for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


@cache
def texts_by_file() -> dict[str, list[str]]:
    """Every text of the package's code, by the name of its file."""
    paths = sorted((ROOT / "privrelease").rglob("*.py"))
    return {str(path): texts_in(path.read_text(encoding="utf-8")) for path in paths}


def given(texts: list[str]) -> set[str]:
    """Codes with which a text of the source begins; comments, docstrings and texts that mention one in passing do not count."""
    return {found[0] for text in texts if (found := CODE.match(text))}


def test_a_code_is_found_where_it_is_given():
    assert given(
        texts_in('a = X("P403", f"R147 {b}", code="DP105")\n# P999\n"""Raises D101."""\nnoqa = "C901-like", "P12345"')
    ) == {
        "P403",
        "R147",
        "DP105",
    }


def test_every_code_of_the_package_is_in_the_catalogue_and_none_is_left_over():
    used = set().union(*map(given, texts_by_file().values()))
    assert sorted(used - NAMES) == []
    assert sorted(NAMES - used) == []


def test_every_code_of_the_documentation_and_the_templates_exists():
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "ci").rglob("*.yml")]
    named = {
        found[0] for page in pages for found in re.finditer(rf"(?<=`){CODE.pattern}(?=`)", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    assert sorted(named - NAMES) == []


def test_an_entry_is_a_clause_and_sentences():
    for code in CODES:
        assert CODE.fullmatch(code.name), code
        assert re.fullmatch(r"\S.*[^.\s]", code.meaning), code
        for text in (code.cause, code.remedy):
            assert re.fullmatch(r"[A-Z`][^\n]*\.", text), code
        assert max(len(code.cause), len(code.remedy)) < 260, code


def test_a_family_has_its_codes_alone():
    assert {code.family for code in CODES} == set(FAMILIES)
    assert [code.name for code in CODES] == [
        name for family in FAMILIES for name in sorted(one.name for one in CODES if one.family == family)
    ]


def test_the_catalogue_names_the_checks_of_the_auditor():
    checks = {check.code: check.id for check in ALL_CHECKS}
    assert {code.name: code.check for code in CODES if code.check} == checks
    assert code_of("audit-order") is code_of("A215")


def test_docs_codes_is_what_the_command_writes():
    page = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    assert page == codes_page(CODES), "run: privrelease explain --format markdown > docs/codes.md"


def test_no_remedy_weakens_the_attacker_or_names_a_step_that_does_not_exist():
    """A remedy is followed without a second thought: one that made the attacker know less would make the policy pass by saying less."""
    steps = {step.named for step in STEPS}
    missing = re.compile(r"\b(" + "|".join(sorted(set(UNSUPPORTED_STEPS) - steps)) + r")\b|know less|fewer columns in `knows`")
    texts = [text for code in CODES for text in (code.cause, code.remedy)]
    for path, written in texts_by_file().items():
        if Path(path).name != "unsupported.py":
            texts += written
    assert missing.search("know less in the threats, or microaggregate") is not None
    assert [text for text in texts if missing.search(text)] == []


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("P402X", "P402"), ("P999", "P782"), ("DP999", "DP143"), ("AUDIT-ODER", "AUDIT-ORDER"), ("D119", "D118")],
)
def test_the_nearest_code_is_named(name, nearest):
    assert nearest in nearest_codes(name)


def said(capsys, *arguments):
    code = main(["explain", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_explain_prints_the_entries_in_the_order_in_which_they_are_asked(capsys):
    code, out, err = said(capsys, "p403", "AUDIT-DIRECT", "P403")
    assert code == 0
    assert re.findall(r"^(\w+)", out, re.MULTILINE) == ["P403", "A216"]
    assert code_of("P403").cause in out
    assert code_of("A216").remedy in out
    assert err == "exit 0: 2 codes are explained\n"


def test_explain_without_a_code_lists_all_of_them(capsys):
    code, out, _ = said(capsys)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [code.name for code in CODES]


def test_explain_as_json(capsys):
    code, out, _ = said(capsys, "L120", "--format", "json")
    (entry,) = json.loads(out)
    assert code == 0
    assert entry["code"] == "L120"
    assert entry["family"] == "Ledger of privacy budgets"
    assert entry["check"] is None
    assert entry["remedy"] == code_of("L120").remedy


def test_an_unknown_code_prints_nothing_and_names_the_nearest(capsys):
    code, out, err = said(capsys, "P403", "P999", "nothing-like-it\x1b[31m")
    assert (code, out) == (2, "")
    assert "C160 there is no code P999, nothing-like-it" in err
    assert "\x1b" not in err
    assert "hint: nearest: P783" in err
