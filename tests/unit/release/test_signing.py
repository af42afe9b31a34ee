from __future__ import annotations

import base64
import json
import stat

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from privrelease.errors import InputError
from privrelease.release.signing import SigningKey, VerifyingKey, opened, pre_authentication_encoding, sealed

KIND = "application/vnd.privrelease.manifest+json"


def test_signature_of_rfc_8032_test_2():
    secret = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    key = SigningKey(Ed25519PrivateKey.from_private_bytes(secret))
    assert key.sign(b"\x72").hex() == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )


def test_pae_keeps_type_and_payload_apart():
    assert pre_authentication_encoding("a 1", b"b") != pre_authentication_encoding("a", b"1 b")
    assert pre_authentication_encoding("ä", b"") == b"DSSEv1 2 \xc3\xa4 0 "


def test_an_envelope_opens_with_the_keys_that_signed_it():
    first, second, other = (SigningKey.generate() for _ in range(3))
    envelope = sealed(b"payload", KIND, [first, second])
    payload, signers = opened(envelope, KIND, [other.public, second.public, first.public])
    assert payload == b"payload"
    assert signers == (second.public.id, first.public.id)


def test_one_key_listed_twice_counts_once():
    key = SigningKey.generate()
    _, signers = opened(sealed(b"p", KIND, [key, key]), KIND, [key.public, key.public])
    assert signers == (key.public.id,)


@pytest.mark.parametrize("change", ["payload", "type", "signature", "keyid"])
def test_a_changed_envelope_does_not_open(change):
    key, other = SigningKey.generate(), SigningKey.generate()
    document = json.loads(sealed(b"payload", KIND, [key]))
    if change == "payload":
        document["payload"] = base64.b64encode(b"other").decode()
    elif change == "type":
        document["payloadType"] = "text/plain"
    elif change == "signature":
        document["signatures"][0]["sig"] = base64.b64encode(bytes(64)).decode()
    else:  # a key id is a hint only: claiming another's changes nothing
        document["signatures"] = [{"keyid": key.public.id, "sig": base64.b64encode(other.sign(b"payload")).decode()}]
    with pytest.raises(InputError, match=r"R14[56]"):
        opened(json.dumps(document).encode(), document["payloadType"] if change != "type" else KIND, [key.public])


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"payload": 1, "payloadType": "x", "signatures": []}', b"\xff"])
def test_what_is_no_envelope_is_refused(content):
    with pytest.raises(InputError, match="R145"):
        opened(content, KIND, [SigningKey.generate().public])


def test_an_envelope_needs_a_key():
    with pytest.raises(ValueError, match="at least one key"):
        sealed(b"p", KIND, [])


def test_a_saved_key_is_private_comes_back_and_is_not_overwritten(tmp_path):
    key = SigningKey.generate()
    key.save(tmp_path / "k.pem")
    assert stat.S_IMODE((tmp_path / "k.pem").stat().st_mode) == 0o600
    assert SigningKey.load(tmp_path / "k.pem").public.id == key.public.id
    assert VerifyingKey.from_pem(key.public.pem).id == key.public.id
    with pytest.raises(InputError, match="R141"):
        SigningKey.generate().save(tmp_path / "k.pem")
    (tmp_path / "k.pem").chmod(0o640)
    with pytest.raises(InputError, match="R142"):
        SigningKey.load(tmp_path / "k.pem")


def test_a_key_comes_from_the_environment_variable_that_is_named(tmp_path):
    key = SigningKey.generate()
    key.save(tmp_path / "k.pem")
    pem = (tmp_path / "k.pem").read_text()
    assert SigningKey.from_environment("SIGN", {"SIGN": pem}).public.id == key.public.id
    with pytest.raises(InputError, match="R144"):
        SigningKey.from_environment("SIGN", {})
    with pytest.raises(InputError, match="R143") as caught:
        SigningKey.from_environment("SIGN", {"SIGN": "not-a-key-but-secret"})
    assert "secret" not in str(caught.value)


def test_a_key_of_another_kind_is_refused(tmp_path):
    pem = X25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "k.pem").write_bytes(pem)
    (tmp_path / "k.pem").chmod(0o600)
    with pytest.raises(InputError, match="R143"):
        SigningKey.load(tmp_path / "k.pem")
    with pytest.raises(InputError, match="R140"):
        VerifyingKey.from_pem(pem.decode())


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_public_key_that_is_to_sign_is_called_one(tmp_path, mode):
    (tmp_path / "k.pub").write_text(SigningKey.generate().public.pem, encoding="utf-8")
    (tmp_path / "k.pub").chmod(mode)
    with pytest.raises(InputError, match=r"R143 k\.pub holds a public key"):
        SigningKey.load(tmp_path / "k.pub")
    with pytest.raises(InputError, match="R143 SIGN holds a public key"):
        SigningKey.from_environment("SIGN", {"SIGN": SigningKey.generate().public.pem})


def test_a_signing_key_does_not_show_itself():
    assert "Ed25519" not in repr(SigningKey.generate())
