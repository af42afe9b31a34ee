from __future__ import annotations

import json

import jsonschema
import pytest
from pydantic import ValidationError

from privrelease.errors import InputError
from privrelease.release.manifest import InternalManifest, InternalTable, Manifest, StatisticsInternalManifest, internal_part


@pytest.fixture
def parked(desk):
    return desk.store.folder(desk.park(b"a\n1\n"))


def test_a_manifest_is_canonical_json_that_comes_back_the_same(parked):
    manifest = parked.manifest()
    content = parked.manifest_path.read_bytes()
    assert content == manifest.canonical()
    document = json.loads(content)
    assert list(document) == sorted(document)
    assert document["created_at"] == "2026-05-01T12:00:00Z"
    assert Manifest.load(parked.manifest_path) == manifest
    assert parked.internal_manifest().manifest_sha256 == manifest.digest()


@pytest.mark.parametrize("kind", [Manifest, InternalManifest])
def test_a_manifest_fits_its_json_schema(parked, kind):
    path = parked.manifest_path if kind is Manifest else parked.internal / "manifest.json"
    jsonschema.validate(json.loads(path.read_bytes()), kind.model_json_schema())


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"format": "other"},
        {"more": 1},
        {"outputs": []},
        {"created_at": "2026-05-01T12:00:00"},
        {"created_at": "2026-05-01T12:00:00.5Z"},
        {"created_at": "2026-05-01T12:00:00+02:00"},
    ],
)
def test_what_is_no_manifest_of_this_version_is_refused(parked, change):
    document = json.loads(parked.manifest_path.read_bytes()) | change
    parked.manifest_path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="R125"):
        parked.manifest()


@pytest.mark.parametrize("name", ["", ".", "..", "../x.csv", "/etc/x", "a/b", "a\0b"])
def test_an_output_is_a_plain_file_name(parked, name):
    output = parked.manifest().outputs[0]
    with pytest.raises(ValidationError):
        type(output).model_validate(output.model_dump() | {"file": name})


def test_two_outputs_never_have_one_name(parked):
    manifest = parked.manifest()
    with pytest.raises(ValidationError):
        Manifest.model_validate(manifest.model_dump() | {"outputs": [manifest.outputs[0]] * 2})


def test_a_manifest_that_is_cut_off_is_refused_without_its_content(parked):
    parked.manifest_path.write_bytes(parked.manifest_path.read_bytes()[:-20])
    with pytest.raises(InputError, match="R125") as caught:
        parked.manifest()
    assert "registry" not in str(caught.value)


def internal(form, **more):
    return {
        "format": f"privrelease/internal-{form}",
        "version": 1,
        "run": "r",
        "manifest_sha256": "ab" * 32,
        "inputs": [],
    } | more


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (internal("table", source_rows=3), InternalTable),
        (internal("statistics", source_rows=3, reservation=None), StatisticsInternalManifest),
    ],
)
def test_what_stays_inside_is_of_the_kind_that_it_says(tmp_path, document, kind):
    """A table of an older run is in the form of statistics, and read as such."""
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    found = internal_part(path)
    assert isinstance(found, kind)
    assert (found.inputs, found.source_rows) == ((), 3)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"format": "privrelease/internal-other"}', b"[" * 50_000])
def test_what_stays_inside_of_no_known_kind_is_refused(tmp_path, content):
    path = tmp_path / "manifest.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="R125"):
        internal_part(path)


def test_what_stays_inside_and_is_not_there_is_an_input_fault(tmp_path):
    with pytest.raises(InputError, match="R10"):
        internal_part(tmp_path / "manifest.json")
