"""Digests of files: plain SHA-256 of what is published, keyed HMAC-SHA256 of what came in.

A plain digest of an input would confirm guesses: whoever can list the possible tables can hash them all. Inputs are therefore
digested under a secret key, and the digest stays internal. The key is the environment variable ``PRIVRELEASE_DIGEST_KEY``, or a
random file of mode 0600 in the state folder.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import field
from typing import TYPE_CHECKING

from privrelease.errors import InputError
from privrelease.release.files import flush_folder, os_errors
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Protocol

    class _Hash(Protocol):
        def update(self, data: memoryview, /) -> None: ...
        def hexdigest(self) -> str: ...


__all__ = ["DIGEST_KEY", "DigestKey", "digest_key", "keyed_digest", "sha256_of"]

DIGEST_KEY = "PRIVRELEASE_DIGEST_KEY"
_SHORTEST_KEY = 16
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class DigestKey:
    """A secret of at least 16 bytes; ``id`` distinguishes two keys without showing either."""

    secret: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """16 hexadecimal digits that follow from the key and do not show it."""
        return hmac.new(self.secret, b"privrelease digest key id", hashlib.sha256).hexdigest()[:16]


def _fed(path: Path, digest: _Hash) -> str:
    block = memoryview(bytearray(_BLOCK))
    with path.open("rb", buffering=0) as stream:
        while size := stream.readinto(block):
            digest.update(block[:size])
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits, read as a stream. Raises OSError."""
    return _fed(path, hashlib.sha256())


def keyed_digest(path: Path, key: DigestKey) -> str:
    """Return the HMAC-SHA256 of a file under ``key`` as 64 hexadecimal digits, read as a stream. Raises OSError."""
    return _fed(path, hmac.new(key.secret, digestmod=hashlib.sha256))


def digest_key(state: Path, environment: Mapping[str, str]) -> DigestKey:
    """Return the key for digests of inputs: from the environment, else from ``state/digest.key``, made when it is not there.

    An empty variable is not a key: a secret of a pipeline that is not set arrives so. Of several processes that make the file
    at once, one wins and all read the same key. Raises InputError (R130, R131) where the key is
    too short or other users have access to the file.
    """
    named = environment.get(DIGEST_KEY)
    if named:
        secret = named.encode()
        if len(secret) < _SHORTEST_KEY:
            raise InputError(
                code="R130",
                message=f"{DIGEST_KEY} is shorter than {_SHORTEST_KEY} bytes",
                hint="set at least 16 random bytes, or unset it",
            )
        return DigestKey(secret)
    path = state / "digest.key"
    with os_errors("reading the key for digests of inputs"):
        if not path.exists():
            _make_key(path)
        if path.stat().st_mode & 0o077:
            raise InputError(
                code="R131", message="digest.key in the state folder is open to other users", hint=f"chmod 600 {path}"
            )
        secret = path.read_bytes()
    if len(secret) < _SHORTEST_KEY:
        raise InputError(
            code="R130", message="digest.key in the state folder is too short", hint="remove it: a new one is made"
        )
    return DigestKey(secret)


def _make_key(path: Path) -> None:
    draft = path.with_name(f".digest.key.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(secrets.token_bytes(32))
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(draft, path)  # fails where another process was first: theirs is complete, and is the key
        except FileExistsError:
            return
    finally:
        draft.unlink(missing_ok=True)
    flush_folder(path.parent)
