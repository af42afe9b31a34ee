from __future__ import annotations

import pytest

from privrelease.policy.text.nodes import Mapping, Plain, Quoted, plain_data
from privrelease.policy.text.yaml import MAX_BYTES, MAX_DEPTH, MAX_VALUES, parse_yaml

REMOVED = "hint: remove it, or write it as an escape in double quotes"
BREAK = "a character that ends a line for some readers of YAML and not for others"


def read(content: str | bytes) -> tuple[object, list[str]]:
    tree, findings = parse_yaml(content, "p.yaml")
    return None if tree is None else plain_data(tree), [str(finding) for finding in findings]


@pytest.mark.parametrize(
    "text",
    ["NO", "on", "yes", "010", "08", "1e3", "12:30", "0x1F", "2026-01-01", "1_000", ".5", "+1", "True", "0o17", "=", "<"],
)
def test_a_plain_scalar_stays_the_text_that_is_written(text: str) -> None:
    data, findings = read(f"domain: [{text}]\n{text if text != '=' else 'eq'}: 1\n")
    assert findings == []
    assert data == {"domain": (text,), text if text != "=" else "eq": "1"}
    assert type(data["domain"][0]) is Plain


@pytest.mark.parametrize("text", ["null", "~", "Null", "NULL", ""])
def test_nothing_is_nothing_and_a_quoted_null_is_a_text(text: str) -> None:
    assert read(f"a: {text}")[0] == {"a": None}
    assert read(f'a: "{text}"')[0] == {"a": text}


def test_quotes_and_blocks_are_texts() -> None:
    data, _ = read("a: 'x'\nb: \"y\\n\"\nc: |\n  z\nd: >\n  u\n  v\n")
    assert data == {"a": "x", "b": "y\n", "c": "z\n", "d": "u v\n"}
    assert all(type(value) is Quoted for value in data.values())


def test_every_key_and_value_has_its_place() -> None:
    tree, _ = parse_yaml("a:\n  - b: 1\n    'c d':   [x,\n  y]\n", "p.yaml")
    assert isinstance(tree, Mapping)
    item = tree.entries["a"].value.items[0]
    assert str(item.entries["c d"].location) == "p.yaml:3:5"
    assert [str(value.location) for value in item.entries["c d"].value.items] == ["p.yaml:3:15", "p.yaml:4:3"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("k: 10\nk: 2\n", "p.yaml:2:1: P103 duplicate key k (lines 1 and 2)\nhint: keep one of the two"),
        ("a: {k: 1,\n 'k': 2}", "p.yaml:2:2: P103 duplicate key k (lines 1 and 2)\nhint: keep one of the two"),
        (
            "a: &x {b: 1}\nc: {<<: *x}",
            "p.yaml:2:5: P105 merge keys (<<) are not allowed\nhint: write the keys out, or use `extends`",
        ),
        ("a: !!str x", "p.yaml:1:4: P105 YAML tags are not allowed\nhint: a policy is plain data: remove the tag"),
        (
            "a: !!python/object:os.system {}",
            "p.yaml:1:4: P105 YAML tags are not allowed\nhint: a policy is plain data: remove the tag",
        ),
        ("{[a]: b}", "p.yaml:1:2: P105 a key must be a text, not a list or a mapping"),
        ('"": b', "p.yaml:1:1: P105 a key is empty"),
        ("a: 1\n---\nb: 2", "p.yaml:2:1: P105 a second document starts here\nhint: one policy, one file: remove `---`"),
        ("%YAML 1.1\n---\na: b", "p.yaml:2:1: P105 a policy is YAML 1.2\nhint: remove the line that starts with %YAML"),
        ("%TAG ! !x\n---\na: b", "p.yaml:2:1: P105 %TAG is not allowed\nhint: remove the line"),
        ("a: &x [*x]", "p.yaml:1:8: P106 *x is inside itself"),
        ("a: *b", "p.yaml:1:4: P102 *b names no anchor above it"),
        ("", "p.yaml:1:1: P102 the file holds no policy: it is empty"),
        ("# nothing\n", "p.yaml:1:1: P102 the file holds no policy: it is empty"),
        ("a:\n\t- b", "p.yaml:2:1: P102 a tab cannot indent YAML\nhint: indent with spaces"),
        ("a: \x01", f"p.yaml:1:4: P102 a character that YAML does not allow: U+0001\n{REMOVED}"),
        ("a: 1 # b\x7f", f"p.yaml:1:9: P102 a character that YAML does not allow: U+007F\n{REMOVED}"),
        ("a: 1\n# b\uffff", f"p.yaml:2:4: P102 a character that YAML does not allow: U+FFFF\n{REMOVED}"),
        ("a: 1 # b\u0085c", f"p.yaml:1:9: P102 {BREAK}: U+0085\n{REMOVED}"),
        ("a: 1\n# b\u2028k: 2", f"p.yaml:2:4: P102 {BREAK}: U+2028\n{REMOVED}"),
        ("a: 'b\u2029c'", f"p.yaml:1:6: P102 {BREAK}: U+2029\n{REMOVED}"),
        (
            "a: b: c",
            "p.yaml:1:5: P102 no valid YAML: mapping values are not allowed here\nhint: quote the text if it holds ': ', ' #' or starts with a special sign",
        ),
        (
            "a: [1,\n b: }",
            "p.yaml:2:5: P102 no valid YAML: expected the node content, but found '}' (while parsing a flow node that starts in line 2)",
        ),
    ],
)
def test_what_is_no_plain_yaml_is_told_at_its_place(text: str, says: str) -> None:
    assert read(text)[1] == [says]


def test_the_second_of_two_keys_never_wins() -> None:
    assert read("k: 10\nk: 2")[0] == {"k": "10"}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (r'a: "x\ud800y"', "1:4: P102 an escape that is half a character (a surrogate): U+D800"),
        (r"a: 1" + "\n" + r'"\udfff": 2', "2:1: P102 an escape that is half a character (a surrogate): U+DFFF"),
        (r'a: [b, "\ud83d\ude00"]', "1:8: P102 an escape that is half a character (a surrogate): U+D83D"),
    ],
)
def test_half_of_a_surrogate_pair_is_refused_at_its_place(text: str, place: str) -> None:
    hint = 'hint: write the character itself, or its whole code point as in "\\U0001F600"'
    assert read(text)[1] == [f"p.yaml:{place}\n{hint}"]
    assert read(r'a: "\U0001F600"') == ({"a": "\U0001f600"}, [])


def test_what_is_no_utf8_is_told_with_line_and_column() -> None:
    assert read("a: b\nä: ".encode() + b"\xff")[1] == ["p.yaml:2:4: P102 the file is not UTF-8\nhint: save it as UTF-8"]


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    assert read(b"\xef\xbb\xbfa: b") == ({"a": "b"}, [])


def test_anchors_are_plain_data() -> None:
    assert read("a: &x [1, 2]\nb: *x") == ({"a": ("1", "2"), "b": ("1", "2")}, [])


def test_what_aliases_expand_to_is_bounded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    _, findings = read("\n".join(lines))
    assert findings == [f"p.yaml:6:10: P106 more than {MAX_VALUES} values\nhint: a policy is written by people"]


def test_depth_is_bounded() -> None:
    assert read("[" * MAX_DEPTH + "]" * MAX_DEPTH)[1] == []
    assert read("[" * 5000)[1] == [f"p.yaml:1:{MAX_DEPTH + 1}: P106 nested deeper than {MAX_DEPTH} levels"]


def test_size_is_bounded() -> None:
    assert read(b"#" * (MAX_BYTES + 1))[1] == [
        f"p.yaml: P106 the file is larger than {MAX_BYTES} bytes\nhint: a policy is written by people"
    ]
