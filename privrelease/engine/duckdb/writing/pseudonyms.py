"""Keyed pseudonyms: HMAC-SHA-256 (RFC 2104) in the database, the first 128 bits in hexadecimal.

Without the key a token reveals nothing, not even for a column of few possible values (case c06); the same value gives the same token in
every column under one key. The key enters as prepared parameters, never as text of a query.
"""

from __future__ import annotations

import hashlib

from sqlglot import exp

from privrelease.engine.duckdb import sql

__all__ = ["key_pads", "pseudonym"]

_BLOCK = 64
_HEX_DIGITS = 32
_DIGEST = "sha256"


def key_pads(key: bytes) -> tuple[bytes, bytes]:
    """Return the inner and the outer padded key of HMAC with SHA-256."""
    block = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)


def pseudonym(value: exp.Expr, key: bytes, secrets: list[bytes]) -> exp.Expr:
    """Return the token of a value, as its text (NULL stays NULL); what the query needs as parameters is added to ``secrets``."""

    def parameter(secret: bytes) -> exp.Expr:
        if secret not in secrets:
            secrets.append(secret)
        return exp.Parameter(this=exp.Literal.number(secrets.index(secret) + 1))

    inner, outer = key_pads(key)
    message = exp.DPipe(this=parameter(inner), expression=sql.call("encode", sql.cast(value, "VARCHAR")))
    digest = sql.call("from_hex", sql.call(_DIGEST, message))
    mac = sql.call(_DIGEST, exp.DPipe(this=parameter(outer), expression=digest))
    return sql.call("left", mac, sql.integer(_HEX_DIGITS))
