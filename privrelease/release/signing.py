"""Ed25519 signatures: key pairs, signatures of bytes, and DSSE envelopes.

A private key is a PEM file of mode 0600, or an environment variable named by the caller that holds the PEM. Sources: RFC 8032
(Ed25519); DSSE 1.0 (github.com/secure-systems-lab/dsse: the pre-authentication encoding keeps payload and its type apart).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from dataclasses import field
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from privrelease.errors import InputError
from privrelease.release.files import canonical_json, flush_folder, os_errors
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["SigningKey", "VerifyingKey", "opened", "pre_authentication_encoding", "sealed", "unverified"]


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public Ed25519 key. ``id``: SHA-256 of its DER form (SubjectPublicKeyInfo), 64 hexadecimal digits."""

    key: Ed25519PublicKey

    @property
    def id(self) -> str:
        """Names the key; follows from it."""
        der = self.key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return hashlib.sha256(der).hexdigest()

    @property
    def pem(self) -> str:
        """The key as PEM, which may be shown to everyone."""
        return self.key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    def verifies(self, signature: bytes, content: bytes) -> bool:
        """Return True if ``signature`` is this key's over exactly ``content``."""
        try:
            self.key.verify(signature, content)
        except InvalidSignature:
            return False
        return True

    @classmethod
    def from_pem(cls, pem: str) -> VerifyingKey:
        """Read a public key. Raises InputError (R140) where it is no Ed25519 key."""
        try:
            key = load_pem_public_key(pem.encode())
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PublicKey):
            raise InputError(
                code="R140", message="this is not a public Ed25519 key in PEM form", hint="make one with `privrelease keygen`"
            )
        return cls(key)


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private Ed25519 key.

    >>> key = SigningKey.generate()
    >>> key.public.verifies(key.sign(b"digest"), b"digest"), key.public.verifies(key.sign(b"digest"), b"other")
    (True, False)
    """

    key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls) -> SigningKey:
        """Make a new key from the operating system's randomness."""
        return cls(Ed25519PrivateKey.generate())

    @property
    def public(self) -> VerifyingKey:
        """The key that verifies this one's signatures."""
        return VerifyingKey(self.key.public_key())

    def sign(self, content: bytes) -> bytes:
        """Return the 64-byte signature; the same content gives the same signature."""
        return self.key.sign(content)

    def save(self, path: Path) -> None:
        """Write the private key to a new file of mode 0600. Raises InputError (R141) where the file exists: no key is overwritten."""
        pem = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        with os_errors("writing a signing key"):
            try:
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            except FileExistsError:
                raise InputError(
                    code="R141", message=f"{path.name} exists", hint="name another file: a key is never overwritten"
                ) from None
            with os.fdopen(handle, "wb") as stream:
                stream.write(pem)
                stream.flush()
                os.fsync(stream.fileno())
            flush_folder(path.parent)

    @classmethod
    def load(cls, path: Path) -> SigningKey:
        """Read a private key from a file that only its owner can read. Raises InputError (R142, R143)."""
        with os_errors("reading a signing key"):
            if path.stat().st_mode & 0o077:
                if path.is_file() and path.stat().st_size < _MOST_BYTES:
                    _refuse_public(path.read_bytes(), path.name)
                raise InputError(code="R142", message=f"{path.name} is open to other users", hint=f"chmod 600 {path}")
            pem = path.read_bytes()
        return cls._from_pem(pem, path.name)

    @classmethod
    def from_environment(cls, variable: str, environment: Mapping[str, str]) -> SigningKey:
        """Read a private key from the PEM in an environment variable. Raises InputError (R143, R144)."""
        pem = environment.get(variable)
        if not pem:
            raise InputError(
                code="R144",
                message=f"the environment variable {variable} is not set",
                hint="put the PEM of the signing key in it",
            )
        return cls._from_pem(pem.encode(), variable)

    @classmethod
    def _from_pem(cls, pem: bytes, where: str) -> SigningKey:
        _refuse_public(pem, where)
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise InputError(
                code="R143",
                message=f"{where} holds no private Ed25519 key without passphrase in PEM form",
                hint="make one with `privrelease keygen`",
            )
        return cls(key)


#: A key in PEM form has a few hundred.
_MOST_BYTES: Final = 65_536


def _refuse_public(pem: bytes, where: str) -> None:
    """Raise InputError (R143) where a public key was given to sign with: it is no secret, whoever can read it."""
    if b"-----BEGIN PUBLIC KEY-----" in pem:
        raise InputError(
            code="R143",
            message=f"{where} holds a public key, which signs nothing",
            hint="name the private key that `privrelease keygen` wrote next to it",
        )


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return DSSE's PAE, the bytes that are signed: type and payload with their lengths, so that neither can pass as the other.

    >>> pre_authentication_encoding("http://example.com/HelloWorld", b"hello world")
    b'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
    """
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sealed(payload: bytes, payload_type: str, keys: Iterable[SigningKey]) -> bytes:
    """Return a DSSE envelope, as canonical JSON, of ``payload`` signed by every key."""
    signed = pre_authentication_encoding(payload_type, payload)
    signatures = [{"keyid": key.public.id, "sig": base64.b64encode(key.sign(signed)).decode()} for key in keys]
    if not signatures:
        msg = "an envelope needs at least one key"
        raise ValueError(msg)
    return canonical_json(
        {"payload": base64.b64encode(payload).decode(), "payloadType": payload_type, "signatures": signatures}
    )


def opened(envelope: bytes, payload_type: str, keys: Iterable[VerifyingKey]) -> tuple[bytes, tuple[str, ...]]:
    """Return the payload of a DSSE envelope and the ids of those of ``keys`` that signed it, each once, in the order of ``keys``.

    The key ids in the envelope are only hints and are not trusted: every signature is tried with every key. Raises InputError: R145
    no such envelope, R146 none of the keys signed it.
    """
    payload, signatures = _parts(envelope, payload_type)
    signed = pre_authentication_encoding(payload_type, payload)
    ids = tuple(key.id for key in keys if any(key.verifies(signature, signed) for _, signature in signatures))
    if not ids:
        raise InputError(
            code="R146",
            message="no known key signed the envelope",
            hint="is the signer's public key listed, and is the file unchanged?",
        )
    return payload, tuple(dict.fromkeys(ids))


def unverified(envelope: bytes, payload_type: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the payload of a DSSE envelope and the ids of the keys that it says signed it: claims, which were not verified.
    Raises InputError (R145).
    """
    payload, signatures = _parts(envelope, payload_type)
    return payload, tuple(dict.fromkeys(name for name, _ in signatures))


def _parts(envelope: bytes, payload_type: str) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Payload and signatures, each with the id that accompanies it."""
    try:
        document = json.loads(envelope)
        payload = _base64(document["payload"])
        kind = document["payloadType"]
        signatures = [(str(entry.get("keyid") or ""), _base64(entry["sig"])) for entry in document["signatures"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(code="R145", message="this is not a DSSE envelope", hint="was the file cut off or changed?") from None
    if kind != payload_type:
        raise InputError(
            code="R145", message="the envelope holds another type of document", hint=f"one of type {payload_type} is needed"
        )
    return payload, signatures


def _base64(text: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return base64.b64decode(text, altchars=b"-_", validate=True)
