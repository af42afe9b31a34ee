"""Strict YAML 1.2 with the place of every key and value.

Plain data only: no tags, no merge keys, one document, keys are texts and occur once. Anchors and aliases are plain data and allowed,
but what they expand to is counted. Everything is bounded: bytes, depth and number of values.

Source: YAML 1.2.2 (https://yaml.org/spec/1.2.2/), chapters 3, 6.9 and 7. Parsing is ruamel.yaml's; nothing of its value
construction is used, so no scalar is ever read as a truth value, a date or a float here.

Signs in the text of a policy that make it read otherwise than it is: whoever looks at its diff would approve something else.

Source: Boucher and Anderson, "Trojan Source: Invisible Vulnerabilities", USENIX Security 2023; the signs are the explicit directional
embeddings, overrides and isolates of Unicode Standard Annex 9, section 2. Marks of a direction (U+200E, U+200F) reorder nothing by
themselves and belong to texts in Arabic or Hebrew.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from privrelease.findings import Finding, Location, Severity
from privrelease.policy.text.messages import TURNING, code_point, shown
from privrelease.policy.text.nodes import Entry, Mapping, Node, Scalar, Sequence_
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_VALUES", "parse_yaml", "reordered"]


#: A policy is written by people: a megabyte is a mistake or an attack.
MAX_BYTES = 1_048_576
#: Lines whose tab before a comment is read as a blank, which the parser does not do; each is another reading of the text.
_MOST_TABS: Final = 20
_TABS_AT_END: Final = r"[ \t]*\t[ \t]*(?=#|\r?\n|\Z)"
#: Line breaks of YAML 1.1 that YAML 1.2 reads as any other character.
_BREAKS: Final = re.compile("[\u0085\u2028\u2029]")
#: Surrogates of UTF-16, which are no characters: YAML 1.2.2, section 5.1, excludes them.
_HALF: Final = re.compile("[\ud800-\udfff]")
MAX_DEPTH = 32
MAX_VALUES = 200_000


class _StopReading(Exception):  # noqa: N818  carries a finding to the top of this module, never beyond it
    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(slots=True)
class _Open:
    """A collection that is being read."""

    location: Location
    anchor: str | None
    mapping: bool
    entries: dict[str, Entry] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    key: str | None = None
    key_location: Location | None = None
    #: The key cannot be used; its value is read and left out.
    key_refused: bool = False
    size: int = 1


def parse_yaml(content: bytes | str, file: str) -> tuple[Node | None, tuple[Finding, ...]]:
    r"""Return the tree of ``content`` and every finding; ``file`` is the name that findings carry.

    The tree is None where the text is not valid YAML; with duplicate or unusable keys it is returned without them, so that the
    rest of the file can be checked too.

    >>> tree, findings = parse_yaml("k: 10\nk: 2\n", "p.yaml")
    >>> print(findings[0])
    p.yaml:2:1: P103 duplicate key k (lines 1 and 2)
    hint: keep one of the two
    """
    findings: list[Finding] = []
    try:
        text = _decoded(content, file)
    except _StopReading as stop:
        return None, (stop.finding,)
    refused = _line_break(text, file)
    if refused is not None:
        return None, (refused,)
    for left in range(_MOST_TABS, -1, -1):
        findings.clear()
        try:
            root = _Builder(file, findings).build(_events(text, file))
            break
        except _StopReading as stop:
            mended = _blank_for_tab(text, stop.finding.location) if left else None
            if mended is None:
                return None, (*findings, stop.finding)
            text = mended
    if root is None:
        return None, (Finding("P102", "the file holds no policy: it is empty", location=Location(file, 1, 1)),)
    return root, tuple(findings)


def _blank_for_tab(text: str, place: Location | None) -> str | None:
    """Replace the tab that the parser stumbled over by a blank where only a comment follows, which YAML allows; None where that is not the fault."""
    if place is None or place.line is None or place.column is None:
        return None
    lines = text.splitlines(keepends=True)
    line, at = lines[place.line - 1] if place.line <= len(lines) else "", place.column - 1
    tabs = re.compile(_TABS_AT_END).match(line, at)
    if tabs is None:
        return None
    lines[place.line - 1] = line[:at] + tabs[0].replace("\t", " ") + line[tabs.end() :]
    return "".join(lines)


def _decoded(content: bytes | str, file: str) -> str:
    if len(content) > MAX_BYTES:
        raise _StopReading(
            Finding(
                "P106",
                f"the file is larger than {MAX_BYTES} bytes",
                location=Location(file),
                hint="a policy is written by people",
            )
        )
    if isinstance(content, str):
        return content
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise _StopReading(
            Finding("P102", "the file is not UTF-8", location=Location(file, line, column), hint="save it as UTF-8")
        ) from error


def _events(text: str, file: str) -> Iterable[Any]:
    """Parsing events of ruamel.yaml; whatever it raises becomes one finding with a place."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except ReaderError as error:
        at = error.position if isinstance(error.position, int) else 0
        sign = f": {code_point(text[at])}" if at < len(text) else ""
        message = f"a character that YAML does not allow{sign}"
        hint = "remove it, or write it as an escape in double quotes"
        raise _StopReading(Finding("P102", message, location=_place(text, at, file), hint=hint)) from error
    except MarkedYAMLError as error:
        raise _StopReading(_syntax_finding(error, text, file)) from error
    except (YAMLError, ValueError, OverflowError, IndexError, KeyError, TypeError, AttributeError) as error:
        # faults of the parser itself on odd input (e.g. an escape beyond Unicode): the file is wrong, not the user's machine
        raise _StopReading(Finding("P102", "the file cannot be read as YAML", location=Location(file, 1, 1))) from error


def _line_break(text: str, file: str) -> Finding | None:
    """Refuse a character that ends a line for the parser (as in YAML 1.1) and not in YAML 1.2: of what reads as a comment, the rest would be keys."""
    found = _BREAKS.search(text)
    if found is None:
        return None
    message = f"a character that ends a line for some readers of YAML and not for others: {code_point(found[0])}"
    hint = "remove it, or write it as an escape in double quotes"
    return Finding("P102", message, location=_place(text, found.start(), file), hint=hint)


def _place(text: str, at: int, file: str) -> Location:
    before = text[:at]
    return Location(file, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _syntax_finding(error: Any, text: str, file: str) -> Finding:  # noqa: ANN401  an untyped library's error
    mark = error.problem_mark or error.context_mark
    place = Location(file, mark.line + 1, mark.column + 1) if mark is not None else Location(file, 1, 1)
    problem = " ".join(str(error.problem or error.context or "cannot be read").split())
    line = text.splitlines()[mark.line] if mark is not None and mark.line < len(text.splitlines()) else ""
    if "\t" in line[: len(line) - len(line.lstrip())] or "'\\t'" in problem:
        return Finding("P102", "a tab cannot indent YAML", location=place, hint="indent with spaces")
    context = ""
    if error.context and error.context_mark is not None and error.problem_mark is not None:
        context = f" ({' '.join(str(error.context).split())} that starts in line {error.context_mark.line + 1})"
    hint = (
        "quote the text if it holds ': ', ' #' or starts with a special sign"
        if "mapping values are not allowed" in problem
        else None
    )
    return Finding("P102", f"no valid YAML: {problem}{context}", location=place, hint=hint)


class _Builder:
    """Builds the tree from events with a stack of its own, so depth is bounded by us and not by the interpreter."""

    def __init__(self, file: str, findings: list[Finding]) -> None:
        self._file = file
        self._findings = findings
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._open_anchors: set[str] = set()
        self._root: Node | None = None
        self._total = 0
        self._documents = 0

    def build(self, events: Iterable[Any]) -> Node | None:
        from ruamel.yaml import events as kinds

        for event in events:
            match event:
                case kinds.ScalarEvent():
                    self._scalar(event)
                case kinds.MappingStartEvent() | kinds.SequenceStartEvent():
                    self._start(event, mapping=isinstance(event, kinds.MappingStartEvent))
                case kinds.MappingEndEvent() | kinds.SequenceEndEvent():
                    self._end()
                case kinds.AliasEvent():
                    self._alias(event)
                case kinds.DocumentStartEvent():
                    self._document(event)
                case _:
                    pass
        root = self._root
        return None if isinstance(root, Scalar) and root.is_null and root.text == "" else root

    def _place(self, event: Any) -> Location:  # noqa: ANN401  an untyped library's event
        return Location(self._file, event.start_mark.line + 1, event.start_mark.column + 1)

    def _document(self, event: Any) -> None:  # noqa: ANN401
        self._documents += 1
        if self._documents > 1:
            raise _StopReading(
                Finding(
                    "P105",
                    "a second document starts here",
                    location=self._place(event),
                    hint="one policy, one file: remove `---`",
                )
            )
        if event.tags:
            raise _StopReading(Finding("P105", "%TAG is not allowed", location=self._place(event), hint="remove the line"))
        if event.version is not None and tuple(event.version) != (1, 2):
            raise _StopReading(
                Finding(
                    "P105", "a policy is YAML 1.2", location=self._place(event), hint="remove the line that starts with %YAML"
                )
            )

    def _refuse_tag(self, event: Any) -> None:  # noqa: ANN401
        if event.tag:
            self._findings.append(
                Finding(
                    "P105",
                    "YAML tags are not allowed",
                    location=self._place(event),
                    hint="a policy is plain data: remove the tag",
                )
            )

    def _scalar(self, event: Any) -> None:  # noqa: ANN401
        self._refuse_tag(event)
        plain = event.style in (None, "")
        node = Scalar(self._characters(event), plain, self._place(event))
        self._count(1, node.location)
        self._remember(event.anchor, node)
        self._add(node)

    def _characters(self, event: Any) -> str:  # noqa: ANN401
        """Return the text of a scalar. Half of a surrogate pair, which only an escape can write, is refused: no file could hold it."""
        text = str(event.value)
        half = _HALF.search(text)
        if half is None:
            return text
        message = f"an escape that is half a character (a surrogate): {code_point(half[0])}"
        hint = 'write the character itself, or its whole code point as in "\\U0001F600"'
        self._findings.append(Finding("P102", message, location=self._place(event), hint=hint))
        return _HALF.sub("\ufffd", text)

    def _start(self, event: Any, *, mapping: bool) -> None:  # noqa: ANN401
        self._refuse_tag(event)
        place = self._place(event)
        self._count(1, place)
        if len(self._stack) >= MAX_DEPTH:
            raise _StopReading(Finding("P106", f"nested deeper than {MAX_DEPTH} levels", location=place))
        if event.anchor is not None:
            self._open_anchors.add(event.anchor)
        self._stack.append(_Open(place, event.anchor, mapping))

    def _end(self) -> None:
        done = self._stack.pop()
        node: Node = (
            Mapping(done.entries, done.location, done.size)
            if done.mapping
            else Sequence_(tuple(done.items), done.location, done.size)
        )
        if done.anchor is not None:
            self._open_anchors.discard(done.anchor)
            self._remember(done.anchor, node)
        self._add(node)

    def _alias(self, event: Any) -> None:  # noqa: ANN401
        place = self._place(event)
        if event.anchor in self._open_anchors:
            raise _StopReading(Finding("P106", f"*{shown(event.anchor)} is inside itself", location=place))
        if event.anchor not in self._anchors:
            raise _StopReading(Finding("P102", f"*{shown(event.anchor)} names no anchor above it", location=place))
        node = self._anchors[event.anchor]
        self._count(node.size, place)
        self._add(node)

    def _remember(self, anchor: str | None, node: Node) -> None:
        if anchor is not None:
            self._anchors[anchor] = node

    def _count(self, size: int, place: Location) -> None:
        self._total += size
        if self._total > MAX_VALUES:
            raise _StopReading(
                Finding("P106", f"more than {MAX_VALUES} values", location=place, hint="a policy is written by people")
            )

    def _add(self, node: Node) -> None:
        if not self._stack:
            self._root = node
            return
        top = self._stack[-1]
        top.size += node.size
        if not top.mapping:
            top.items.append(node)
        elif top.key_location is None:
            self._take_key(top, node)
        else:
            if not top.key_refused and top.key is not None:
                top.entries[top.key] = Entry(top.key, top.key_location, node)
            top.key = top.key_location = None
            top.key_refused = False

    def _take_key(self, top: _Open, node: Node) -> None:
        top.key_location = node.location
        refusal: Finding | None = None
        if not isinstance(node, Scalar):
            refusal = Finding("P105", "a key must be a text, not a list or a mapping", location=node.location)
        elif node.plain and node.text == "<<":
            hint = "write the keys out, or use `extends`"
            refusal = Finding("P105", "merge keys (<<) are not allowed", location=node.location, hint=hint)
        elif node.text == "":
            refusal = Finding("P105", "a key is empty", location=node.location)
        elif node.text in top.entries:
            first = top.entries[node.text].location.line
            message = f"duplicate key {shown(node.text)} (lines {first} and {node.location.line})"
            refusal = Finding("P103", message, location=node.location, hint="keep one of the two")
        else:
            top.key = node.text
        if refusal is not None:
            self._findings.append(refusal)
            top.key_refused = True


#: Lines that are told of one file; who sees these knows to look at the rest.
MOST_LINES: Final = 50


def reordered(content: bytes, file: str) -> tuple[Finding, ...]:
    r"""Return a warning for the first such sign of each line, comments included; it names the sign, and never the text around it.

    >>> print(*reordered("a: 1\nb: x # \u202e3 = k\n".encode(), "p.yaml"))
    p.yaml:2:8: P613 warn: U+202E (right-to-left override): this text reads otherwise than it is
    hint: remove it; where a value needs it, write it as "\u202E" in double quotes
    """
    from unicodedata import name

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return ()  # reported where the text is read
    found: list[Finding] = []
    for number, line in enumerate(text.split("\n") if TURNING.search(text) else (), 1):
        sign = TURNING.search(line)
        if sign is not None and len(found) < MOST_LINES:
            code = f"{ord(sign[0]):04X}"
            message = f"U+{code} ({name(sign[0]).lower()}): this text reads otherwise than it is"
            hint = f'remove it; where a value needs it, write it as "\\u{code}" in double quotes'
            found.append(Finding("P613", message, Severity.WARN, Location(file, number, sign.start() + 1), hint))
    return tuple(found)
