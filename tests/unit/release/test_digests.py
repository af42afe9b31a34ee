from __future__ import annotations

import hashlib
import hmac
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from privrelease.errors import InputError
from privrelease.release.digests import DIGEST_KEY, DigestKey, digest_key, keyed_digest, sha256_of


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_streamed_digests_are_those_of_the_whole(tmp_path, size):
    content = bytes(range(256)) * (size // 256 + 1)
    (tmp_path / "f").write_bytes(content[:size])
    assert sha256_of(tmp_path / "f") == hashlib.sha256(content[:size]).hexdigest()
    key = DigestKey(b"k" * 32)
    assert keyed_digest(tmp_path / "f", key) == hmac.new(b"k" * 32, content[:size], "sha256").hexdigest()


def test_the_key_comes_from_the_environment_where_it_is_set(tmp_path):
    assert digest_key(tmp_path, {DIGEST_KEY: "0123456789abcdef"}).secret == b"0123456789abcdef"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("short", [" ", "0123456789abcde"])
def test_a_short_key_is_refused_and_not_shown(tmp_path, short):
    with pytest.raises(InputError, match="R130") as caught:
        digest_key(tmp_path, {DIGEST_KEY: short})
    assert short.isspace() or short not in str(caught.value)


def test_a_made_key_is_random_private_and_kept(tmp_path):
    key = digest_key(tmp_path, {})
    assert len(key.secret) == 32
    assert stat.S_IMODE((tmp_path / "digest.key").stat().st_mode) == 0o600
    assert digest_key(tmp_path, {}) == key
    (tmp_path / "other").mkdir()
    assert digest_key(tmp_path / "other", {}) != key


def test_an_empty_variable_is_as_one_that_is_not_set(tmp_path):
    assert digest_key(tmp_path, {DIGEST_KEY: ""}) == digest_key(tmp_path, {})


def test_all_who_make_the_key_at_once_read_the_same(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: digest_key(tmp_path, {}), range(32)))
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["digest.key"]


def test_a_key_file_open_to_others_is_refused(tmp_path):
    digest_key(tmp_path, {})
    os.chmod(tmp_path / "digest.key", 0o644)  # noqa: PTH101 -- as an administrator might
    with pytest.raises(InputError, match="R131"):
        digest_key(tmp_path, {})


def test_a_key_does_not_show_itself():
    key = DigestKey(b"very secret bytes 123")
    assert "secret" not in repr(key)
    assert len(key.id) == 16
    assert key.id != DigestKey(b"very secret bytes 124").id
