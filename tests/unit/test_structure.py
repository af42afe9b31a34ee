"""Ratchets of structure: numbers over the package that may only fall. Who lowers one lowers its ceiling here too."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from privrelease.pipeline.kinds import KINDS
from privrelease.pipeline.steps import STEPS as PIPELINE_STEPS
from privrelease.policy.language.kinds import KINDS as POLICY_KINDS
from privrelease.policy.language.releases import STEPS

ROOT = Path(__file__).resolve().parents[2] / "privrelease"
NAMES = {kind.name for kind in KINDS}

#: Files of one folder, and lines below which a file is small.
MOST_FILES, FEWEST_LINES = 24, 60

Site = tuple[str, int]


@cache
def nodes(tree: ast.Module) -> dict[type[ast.AST], list[ast.AST]]:
    """Every node of a module by its class, walked once for all that is counted."""
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in ast.walk(tree):
        found.setdefault(type(node), []).append(node)
    return found


def every(tree: ast.Module, *classes: type[ast.AST]) -> list[ast.AST]:
    return [node for one in classes for node in nodes(tree).get(one, [])]


def calls(tree: ast.Module, *names: str) -> list[ast.Call]:
    found = every(tree, ast.Call)
    return [one for one in found if isinstance(one.func, ast.Name) and one.func.id in names]


def mentions(node: ast.AST) -> set[str]:
    """Names that an expression is made of, whether read from a module or not."""
    named = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return named | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def texts(node: ast.AST) -> set[object]:
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def asked_by_class(tree: ast.Module) -> list[int]:
    """``isinstance`` on classes of releases, plans and explanations."""
    of_kind = re.compile(r"(Microdata|Statistics|Table|Synthetic)(Plan|Release|Explanation)|Release(Plan|Explanation)")
    asked = [one for one in calls(tree, "isinstance", "issubclass") if len(one.args) > 1]
    return [one.lineno for one in asked if any(map(of_kind.fullmatch, mentions(one.args[1])))]


def is_kind(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "kind") or (isinstance(node, ast.Name) and node.id == "kind")


def compared_by_name(tree: ast.Module) -> list[int]:
    """Comparisons of a ``kind`` with the name of one, and matches of it."""
    found = []
    for node in every(tree, ast.Compare):
        sides = (node.left, *node.comparators)
        if any(map(is_kind, sides)) and any(texts(side) & NAMES for side in sides):
            found.append(node.lineno)
    matches = [one for one in every(tree, ast.Match) if is_kind(one.subject)]
    return found + [one.lineno for one in matches if any(texts(case.pattern) & NAMES for case in one.cases)]


def keyed_by_name(tree: ast.Module) -> list[int]:
    """Dictionaries with the names of two kinds or more as keys."""
    dictionaries = every(tree, ast.Dict)
    return [one.lineno for one in dictionaries if len(set().union(*(texts(key) for key in one.keys if key)) & NAMES) > 1]


def asked_of_steps(tree: ast.Module) -> list[int]:
    """``isinstance`` on transform steps and matches of their classes; comparisons with the name of one that is no other word too."""
    names = {step.named for step in STEPS} - {"drop", "code", "round"}
    classes = {step.__name__ for step in STEPS}
    asked = [one for one in calls(tree, "isinstance", "issubclass") if len(one.args) > 1]
    found = [one.lineno for one in asked if mentions(one.args[1]) & classes]
    found += [node.lineno for node in every(tree, ast.MatchClass) if mentions(node.cls) & classes]
    compared = every(tree, ast.Compare)
    return found + [one.lineno for one in compared if any(texts(side) & names for side in (one.left, *one.comparators))]


def asked_by_attribute(tree: ast.Module) -> list[int]:
    return [one.lineno for one in calls(tree, "hasattr")]


def dispatched(tree: ast.Module) -> list[int]:
    """Uses of ``singledispatch`` and ``singledispatchmethod``, however they are imported."""
    wanted = {"singledispatch", "singledispatchmethod"}
    named = every(tree, ast.Name, ast.Attribute)
    used = [node.lineno for node in named if (node.id if isinstance(node, ast.Name) else node.attr) in wanted]
    imports = every(tree, ast.ImportFrom)
    return used + [one.lineno for one in imports if wanted & {name.name for name in one.names}]


def opened_by_a_question(tree: ast.Module) -> list[int]:
    """Docstrings that begin with a question word, those of fields included: a docstring names a thing or says what a function does."""
    strings = [node for node in every(tree, ast.Expr) if isinstance(node.value, ast.Constant)]
    opening = re.compile(r"\s*(What|Whether|Where|Which|Who|How)\b")
    return [one.lineno for one in strings if isinstance(one.value, ast.Constant) and opening.match(str(one.value.value))]


#: What is counted, its ceiling, and a line in which it must be found.
RATCHETS: tuple[tuple[Callable[[ast.Module], list[int]], int, tuple[str, ...]], ...] = (
    (
        asked_by_class,
        0,
        ("isinstance(a, TablePlan)", "issubclass(a, (model.MicrodataRelease, X))", "isinstance(a, B | StatisticsPlan)"),
    ),
    (
        compared_by_name,
        0,
        ("a.kind == 'table'", "kind in {'microdata', b}", "match a.kind:\n    case 'statistics':\n        pass"),
    ),
    (keyed_by_name, 0, ("a = {'microdata': 1, 'table': 2}",)),
    (
        asked_of_steps,
        0,
        ("isinstance(a, DropStep)", "match a:\n    case SuppressCells():\n        pass", "a.names[2:3] == ('pseudonymise',)"),
    ),
    (asked_by_attribute, 0, ("hasattr(a, 'b')",)),
    (opened_by_a_question, 0, ('"""What a module holds."""', 'a: int\n"""Whether it is."""', 'def a():\n    """How it is."""')),
    (dispatched, 0, ("from functools import singledispatch", "@functools.singledispatch\ndef a(): ...")),
)
NAMED = [pytest.param(*one, id=one[0].__name__) for one in RATCHETS]


@cache
def trees() -> tuple[tuple[str, ast.Module], ...]:
    paths = sorted(ROOT.rglob("*.py"))
    return tuple((path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


@pytest.mark.parametrize(("count", "ceiling", "lines"), NAMED)
def test_a_number_of_places_only_falls(count, ceiling, lines):
    del lines
    found: list[Site] = [(path, line) for path, tree in trees() for line in count(tree)]
    assert len(found) <= ceiling, found


@pytest.mark.parametrize(("count", "ceiling", "lines"), NAMED)
def test_each_is_found_where_it_stands(count, ceiling, lines):
    del ceiling
    assert [bool(count(ast.parse(line))) for line in lines] == [True] * len(lines)
    assert count(ast.parse("isinstance(a, Mapping); a.kind == b.kind; {'table': 1}; a.kind == 'csv'")) == []


def test_both_tuples_name_the_same_kinds():
    assert [kind.name for kind in KINDS] == [kind.name for kind in POLICY_KINDS]
    assert [kind.spec() for kind in KINDS] == list(POLICY_KINDS)


def test_both_tuples_name_the_same_steps():
    assert [step.spec for step in PIPELINE_STEPS] == list(STEPS)
    (having,) = [kind for kind in KINDS if kind.steps is not None]
    assert having.steps() == PIPELINE_STEPS
    assert having.spec().steps == tuple((step.named, step) for step in STEPS)


def test_no_folder_is_long():
    folders = {path.parent for path in ROOT.rglob("*.py")}
    long = {folder.relative_to(ROOT).as_posix(): n for folder in folders if (n := len(list(folder.glob("*.py")))) > MOST_FILES}
    assert long == {}


def test_small_files_become_fewer():
    small = [
        path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.rglob("*.py"))
        if path.name not in {"__init__.py", "__main__.py"} and len(path.read_text(encoding="utf-8").splitlines()) < FEWEST_LINES
    ]
    assert len(small) <= SMALL_FILES, small


def test_long_files_become_fewer():
    lines = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.rglob("*.py")
    }
    long = {path: n for path, n in lines.items() if n > MOST_LINES}
    assert len(long) <= LONG_FILES, long


#: Files under 60 lines, ``__init__.py`` apart. The end is 40.
SMALL_FILES = 40

#: Lines above which a file is long, and how many are: each argues for itself. The end is none.
MOST_LINES, LONG_FILES = 400, 0
