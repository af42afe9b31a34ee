from __future__ import annotations

import io
from types import SimpleNamespace

from tests.unit.cli.conftest import POLICY

JUMBLED = POLICY.replace("title: Made-up\n", "").replace("threats:\n", "title: Made-up   \nthreats:\n")


def test_check_writes_nothing_and_a_second_run_changes_nothing(desk):
    desk.policy(JUMBLED)
    said = desk("fmt", "policy.yaml", "--check")
    assert (said.code, said.out) == (1, "would change  policy.yaml\n")
    assert (desk.folder / "policy.yaml").read_text(encoding="utf-8") == JUMBLED
    assert desk("fmt", "policy.yaml").out == "changed  policy.yaml\n"
    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    assert text.index("title:") < text.index("datasets:")
    assert desk("diff", "policy.yaml", "policy.yaml").out == ""
    assert (desk("fmt", "policy.yaml").out, desk("fmt", "policy.yaml", "--check").code) == ("", 0)


def test_a_folder_is_formatted_and_other_files_are_passed_over(desk):
    (desk.folder / "policies").mkdir()
    (desk.folder / "policies" / "a.yaml").write_text(JUMBLED, encoding="utf-8")
    (desk.folder / "policies" / "approvers.yaml").write_text("b: 1\na: 2   \n", encoding="utf-8")
    assert desk("fmt", "policies").out == "changed  policies/a.yaml\n"
    assert (desk.folder / "policies" / "approvers.yaml").read_text(encoding="utf-8") == "b: 1\na: 2   \n"


def test_nothing_is_written_where_one_is_no_yaml(desk):
    desk.policy(JUMBLED)
    (desk.folder / "b.yaml").write_text("a: [", encoding="utf-8")
    said = desk("fmt", "policy.yaml", "b.yaml")
    assert (said.code, "b.yaml:1:" in said.err) == (2, True)
    assert (desk.folder / "policy.yaml").read_text(encoding="utf-8") == JUMBLED
    assert desk("fmt", "absent.yaml").code == 3


def test_a_policy_on_stdin_goes_to_stdout(desk, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(JUMBLED.encode())))
    said = desk("fmt", "-")
    assert said.code == 0
    assert said.out.index("title:") < said.out.index("datasets:")


def test_a_policy_that_extends_another_or_has_environments_is_in_order_inside_too(desk):
    written = (
        "id: a\nextends: b.yaml\ndatasets:\n  d:\n    columns:\n      area:\n        type: category\n        role: quasi\n    source: x.csv\n"
        "environments:\n  prod:\n    releases:\n      - id: r\n        protect: [t]\n        kind: microdata\n    threats:\n      t:\n"
        "        highest_risk: 0.1\n        dataset: d\n"
    )
    (desk.folder / "p.yaml").write_text(written, encoding="utf-8")
    assert desk("fmt", "p.yaml").code == 0
    lines = [line.strip() for line in (desk.folder / "p.yaml").read_text(encoding="utf-8").splitlines()]
    for first, second in (
        ("source: x.csv", "columns:"),
        ("role: quasi", "type: category"),
        ("threats:", "releases:"),
        ("dataset: d", "highest_risk: 0.1"),
        ("kind: microdata", "protect: [t]"),
    ):
        assert lines.index(first) < lines.index(second), (first, second)
    assert desk("fmt", "--check", "p.yaml").code == 0


def written(desk, content: bytes) -> bytes:
    (desk.folder / "policy.yaml").write_bytes(content)
    assert desk("fmt", "policy.yaml").code == 0
    assert desk("fmt", "policy.yaml", "--check").code == 0
    return (desk.folder / "policy.yaml").read_bytes()


def test_the_line_ends_of_a_file_stay_as_they_are(desk):
    desk.policy(JUMBLED)
    assert desk("fmt", "policy.yaml").code == 0
    plain = (desk.folder / "policy.yaml").read_bytes()
    assert b"\r" not in plain
    ended = written(desk, JUMBLED.replace("\n", "\r\n").encode())
    assert ended == plain.replace(b"\n", b"\r\n")
    assert written(desk, ended) == ended, "nothing is left to change"
    few = JUMBLED.replace("\n", "\r\n", 2).encode()
    assert written(desk, few) == plain, "where most lines end otherwise, all do"


def test_line_ends_of_old_machines_stay_and_a_single_one_among_others_does_not(desk):
    plain = written(desk, JUMBLED.encode())
    assert written(desk, JUMBLED.replace("\n", "\r").encode()) == plain.replace(b"\n", b"\r")
    assert written(desk, JUMBLED.replace("\n", "\r\n", 1).replace("\n", "\r", 2).encode()) == plain


def test_a_byte_order_mark_stays_at_the_front(desk):
    made = written(desk, b"\xef\xbb\xbf" + ("title: Made-up\n" + JUMBLED.replace("title: Made-up   \n", "")).encode())
    assert made.startswith(b"\xef\xbb\xbfapiVersion:")
    assert made.count(b"\xef\xbb\xbf") == 1


def test_comments_at_the_end_stay_there_whatever_moves(desk):
    """The keys of the last section move, and the section itself does."""
    comment = b"# of the file,\n# not of its last section\n"
    text = JUMBLED.replace("title: Made-up   \n", "") + "title: Made-up\n"
    assert written(desk, text.encode() + comment).endswith(b"r.csv}\n" + comment)
    assert written(desk, text.encode() + b"\n" + comment).endswith(b"r.csv}\n\n" + comment)
    moved = POLICY.replace("    output: {path: out/r.csv}\n", "").replace(
        "    kind:", "    output: {path: out/r.csv}\n    kind:"
    )
    assert written(desk, moved.encode() + comment).endswith(b"out/r.csv}\n" + comment)
    above = b"# of the title\n"
    assert above + b"title:" in written(desk, text.replace("title:", "# of the title\ntitle:").encode() + comment)


def test_what_is_no_mapping_is_refused_and_left_alone(desk):
    for text in ("- a\n- b\n", "just a text\n", "7\n", ""):
        desk.policy(text)
        said = desk("fmt", "policy.yaml")
        assert said.code == 2, text
        assert "a policy is a mapping of keys and values" in said.err or not text
        assert (desk.folder / "policy.yaml").read_text(encoding="utf-8") == text
        assert desk("fmt", "--check", "policy.yaml").code == 2
