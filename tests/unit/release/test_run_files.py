"""Files of earlier runs are parsed once a run, and never believed without their bytes."""

from __future__ import annotations

import os

import pytest

from privrelease.release.run_files import Look, ParsedFiles


class Counted:
    """Parses digits, and counts how often it is asked."""

    def __init__(self):
        self.asked = 0

    def __call__(self, content, path):
        del path
        self.asked += 1
        return int(content)


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "state.json"
    made.write_bytes(b"12")
    return made


def test_the_same_bytes_are_parsed_once(file):
    parse, files = Counted(), ParsedFiles()
    assert [files.read(file, parse) for _ in range(3)] == [12, 12, 12]
    assert parse.asked == 1


def test_other_bytes_are_parsed_again_though_size_and_times_are_the_same(file):
    parse, files = Counted(), ParsedFiles()
    assert files.read(file, parse) == 12
    known = file.stat()
    with file.open("r+b") as stream:
        stream.write(b"21")
    os.utime(file, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert files.read(file, parse) == 21


def test_a_file_that_is_gone_is_not_believed(file):
    files = ParsedFiles()
    assert files.read(file, Counted()) == 12
    file.unlink()
    with pytest.raises(FileNotFoundError):
        files.read(file, Counted())


def test_a_file_that_cannot_be_parsed_is_not_remembered_as_it_was_before(file):
    parse, files = Counted(), ParsedFiles()
    assert files.read(file, parse) == 12
    file.write_bytes(b"x")
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            files.read(file, parse)


def test_one_look_rests_on_one_content_and_the_next_reads_again(file):
    parse, files = Counted(), ParsedFiles()
    look = Look(files)
    assert look.read(file, parse) == 12
    file.write_bytes(b"21")
    assert look.read(file, parse) == 12
    assert Look(files).read(file, parse) == 21


def test_what_one_parser_made_of_a_file_is_not_given_to_another(file):
    files = ParsedFiles()
    assert files.read(file, Counted()) == 12
    assert files.read(file, lambda content, path: (content, path.name)) == (b"12", "state.json")
