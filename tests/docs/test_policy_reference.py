"""The reference of the policy language is the language that is read, and commands and links of the docs exist."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import typer
from ruamel.yaml import YAML

from privrelease.cli.exit import MEANINGS
from privrelease.cli.main import app
from privrelease.errors import BudgetError, InputError, InternalError, PolicyError, UsageError
from privrelease.policy.language.approvals import ApproverList
from privrelease.policy.language.checks import CHECKS
from privrelease.policy.loader import load_policy
from privrelease.policy.output.json_schema import policy_schema
from privrelease.policy.validation.unsupported import UNAVAILABLE
from privrelease.release.approvers import load_approvers

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
WHOLE = [block for block in BLOCKS if "apiVersion:" in block]
LAYERED = [block for block in BLOCKS if "environments:" in block]
TABLES = re.findall(r"^<!-- keys of (.+?) -->\n((?:^\|.*\n)+)", PAGE, re.MULTILINE)
APPROVERS = ApproverList.model_json_schema()
DEFINITIONS = {
    **{name: made for name, made in policy_schema()["definitions"].items() if not name.startswith("overlay.")},
    **APPROVERS["$defs"],
    "ApproverList": APPROVERS,
    "Policy": policy_schema(),
}
WITH_KEYS = {name: made["properties"] for name, made in DEFINITIONS.items() if "properties" in made}


def cells(table: str) -> list[list[str]]:
    """The rows of a table without its head, each as its cells."""
    rows = [re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in table.splitlines()]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def named(schema: object) -> list[str]:
    """The definitions with keys that a value may be, or its items."""
    if isinstance(schema, list):
        return [name for item in schema for name in named(item)]
    if not isinstance(schema, dict):
        return []
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return [name] if name in WITH_KEYS else []
    return [name for key, value in schema.items() if key != "properties" for name in named(value)]


def resolved(roots: list[str], path: str) -> list[tuple[str, str]]:
    """(definition, key) of a dotted path that begins in one of ``roots``."""
    first, *rest = path.split(".", 1)
    found = [root for root in roots if first in WITH_KEYS[root]]
    if not rest:
        return [(root, first) for root in found]
    return [hit for root in found for hit in resolved(named(WITH_KEYS[root][first]), rest[0])]


ROWS = [
    (resolved(roots.split(", "), row[0].strip("`")), row) for roots, table in TABLES for row in cells(table) if row[0] != "`…`"
]


def loaded(text: str, folder: Path, name: str = "policy.yaml", environment: str | None = None):
    (folder / name).write_text(text, encoding="utf-8")
    return load_policy(folder / name, env=environment)


# ------------------------------------------------------------------------------------------------------------ the examples


@pytest.mark.parametrize("number", range(len(WHOLE)))
def test_every_whole_policy_of_the_reference_is_valid_without_a_warning(number, tmp_path):
    assert loaded(WHOLE[number], tmp_path).warnings == ()


def test_the_reference_has_a_whole_policy_and_a_layered_one():
    assert WHOLE
    assert LAYERED


@pytest.mark.parametrize("environment", [None, "ci", "strict"])
def test_the_layered_example_is_valid_over_the_whole_one(environment, tmp_path):
    (tmp_path / "org-base.yaml").write_text(WHOLE[0], encoding="utf-8")
    over = loaded(LAYERED[0], tmp_path, environment=environment).policy
    base = load_policy(tmp_path / "org-base.yaml").policy
    assert (over == base) == (environment is None)


def test_the_example_of_a_file_of_keys_is_one(tmp_path):
    (block,) = [block for block in BLOCKS if block.startswith("approvers:")]
    (tmp_path / "approvers.yaml").write_text(block, encoding="utf-8")
    (approver,) = load_approvers(tmp_path / "approvers.yaml", "approvers.yaml")
    assert approver.roles


# -------------------------------------------------------------------------------------------------------------- the tables


def test_every_key_of_the_tables_exists_in_the_schema():
    assert ROWS
    assert [row[0] for hits, row in ROWS if not hits] == []


def test_every_key_of_the_schema_stands_in_a_table():
    told = {hit for hits, _ in ROWS for hit in hits}
    assert {(name, key) for name, keys in WITH_KEYS.items() for key in keys} - told == set()


def test_a_key_that_nobody_reads_or_tells_is_noticed():
    assert resolved(["Threat"], "highest_rsk") == []
    assert resolved(["Threat"], "also.subsets.k") == [("SubsetsSpec", "k")]
    assert ("LedgerSpec", "url") in {hit for hits, _ in ROWS for hit in hits}


def test_the_tables_say_which_keys_are_required():
    wrong = [
        row[0]
        for hits, row in ROWS
        for name, key in hits
        if (row[2] == "required") != (key in DEFINITIONS[name].get("required", ()))
    ]
    assert wrong == []


def test_the_tables_say_the_default_where_the_schema_has_one():
    for hits, row in ROWS:
        for name, key in hits:
            default = WITH_KEYS[name][key].get("default")
            if isinstance(default, bool):
                assert row[2] == f"`{json.dumps(default)}`", row[0]
            elif isinstance(default, str):
                assert row[2] == f"`{default}`", row[0]


def test_the_tables_name_every_choice():
    for hits, row in ROWS:
        for name, key in hits:
            for choice in choices(WITH_KEYS[name][key]):
                assert f"`{choice}`" in row[1], (row[0], choice)


#: A number whose bounds the schema cannot say: 0 is refused by a rule, with the reason.
BY_A_RULE = {("Check", "mostly"): "number in (0, 1]"}


def test_the_tables_say_the_bounds_of_every_number():
    seen = set()
    for hits, row in ROWS:
        for name, key in hits:
            words = BY_A_RULE.get((name, key)) or numbers(WITH_KEYS[name][key])
            if words is not None:
                assert row[1] == words, row[0]
                seen.add(words)
    assert {"number in (0, 1]", "number above 0", "whole number from 1 to 20", "list of whole numbers from 2"} <= seen


def numbers(schema: dict[str, object]) -> str | None:
    """The words for a number, or a list of numbers, within the bounds that the model gives it; None for anything else."""
    parts = [part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
    if len(parts) != 1:
        return None
    (part,) = parts
    items = part.get("items")
    if isinstance(items, dict):
        one = numbers(items)
        several = one and (one.replace("list", "lists", 1) if one.startswith("list") else one.replace("number", "numbers", 1))
        return several and f"list of {several}"
    low, high = part.get("minimum", part.get("exclusiveMinimum")), part.get("maximum", part.get("exclusiveMaximum"))
    if part.get("type") == "integer":
        return f"whole number from {low}" + (f" to {high}" if high < 2**63 - 1 else "")
    if part.get("type") != "number":
        return None
    if high is None:
        return "number" if low is None else f"number above {low}"
    ends = "[("[("exclusiveMinimum" in part)], "])"[("exclusiveMaximum" in part)]
    return f"number in {ends[0]}{low}, {high}{ends[1]}"


def choices(schema: object) -> list[str]:
    """The words that a value may be."""
    if isinstance(schema, list):
        return [word for item in schema for word in choices(item)]
    if not isinstance(schema, dict):
        return []
    if "$ref" in schema:
        return DEFINITIONS[schema["$ref"].rsplit("/", 1)[1]].get("enum", [])
    words = [*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])]
    return [*words, *(word for key in ("anyOf", "allOf", "items") for word in choices(schema.get(key)))]


# ------------------------------------------------------------------------------------------- checks, what is not there, codes


def test_every_built_in_check_stands_in_the_reference_with_what_it_measures_and_takes():
    listed = {row[0].strip("`"): row[1:3] for row in cells(table_after("| expect |"))}
    keys = {kind.name: [key for key in ("threat", "column") if getattr(kind, key)] + list(kind.takes) for kind in CHECKS}
    takes = {name: ", ".join(named) or "—" for name, named in keys.items()}
    assert listed == {kind.name: [kind.measures, takes[kind.name]] for kind in CHECKS}


def test_what_is_not_in_this_version_is_all_that_the_reference_says_is_not():
    rows = cells(table_after("| written |"))
    said = " ".join(" ".join(row) for row in rows)
    for feature in UNAVAILABLE:
        name = re.sub(r"^the transform step (\w+)$", r"`\1`", feature.name)
        assert name in said, feature.name
        word = feature.path[-1]
        assert f"`{word}" in said or f"{word}:" in said, feature.path
    names = {re.sub(r"^the transform step .*", "transform steps", feature.name) for feature in UNAVAILABLE}
    assert {row[1] for row in rows} == names


def test_what_is_said_not_to_be_there_is_refused(tmp_path):
    text = WHOLE[0].replace("transform:\n", "transform:\n      - {swap: sex, within: [age], share: 0.05}\n", 1)
    assert text != WHOLE[0]
    with pytest.raises(PolicyError) as caught:
        loaded(text, tmp_path)
    assert [finding.code for finding in caught.value.findings] == ["P210"]


def test_the_exit_codes_are_those_of_the_command_line():
    codes = {int(row[0]): row[1] for row in cells(table_after("| code |"))}
    errors = (UsageError, PolicyError, InputError, BudgetError, InternalError)
    # a release that is parked (5) is an ending and no error
    assert set(codes) == {0, 1, 5, *(error.exit_code for error in errors)} == set(MEANINGS)
    told = typer.main.get_command(app).epilog or ""
    for code, meaning in codes.items():
        assert f"{code} {meaning}" in told


def table_after(head: str) -> str:
    start = PAGE.index(f"\n{head}") + 1
    return PAGE[start:].split("\n\n", 1)[0]


# ------------------------------------------------------------------------------------------------------- links and commands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_somewhere(page):
    for target, heading in re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)", prose(page)):
        aim = (page.parent / target) if target else page
        assert aim.exists(), target
        if heading:
            text = aim.read_text(encoding="utf-8")
            assert heading in {anchor(line) for line in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}, heading


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def commands(page: Path) -> list[str]:
    """Every command line of a page: in shell blocks and in running text."""
    text = page.read_text(encoding="utf-8")
    shell = [
        line.strip()
        for block in re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    return [line for line in (*shell, *re.findall(r"`(privrelease [^`\n]+)`", prose(page))) if line.startswith("privrelease ")]


LINES = [(page.name, line) for page in PAGES for line in commands(page)]


def fault(line: str) -> str | None:
    """What of a command line does not exist: the command, or an option of it; None where all does."""
    words = shlex.split(line, comments=True)[1:]
    command = typer.main.get_command(app)
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        if words[0] not in command.commands:
            return words[0]
        command = command.commands[words.pop(0)]
    options = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"--help", "-h"}
    return next((word for word in words if word.startswith("-") and word.split("=")[0] not in options), None)


@pytest.mark.parametrize(("page", "line"), LINES, ids=[f"{page}: {line}" for page, line in LINES])
def test_every_command_of_the_docs_exists_with_its_options(page, line):
    assert fault(line) is None


def test_a_command_or_option_that_does_not_exist_is_noticed():
    assert len(LINES) >= 10
    assert fault("privrelease aply policy.yaml") == "aply"
    assert fault("privrelease ledger int policy.yaml") == "int"
    assert fault("privrelease run policy.yaml --enviroment ci") == "--enviroment"


def test_every_yaml_block_of_the_reference_is_yaml():
    for block in BLOCKS:
        assert isinstance(YAML(typ="safe").load(block), dict)
