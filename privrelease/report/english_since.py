"""The English texts of what changed since the previous release."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_SINCE"]

ENGLISH_SINCE: Final[dict[str, str]] = {
    "since.heading": "Since the previous release",
    "since.caption": "Compared with the release audited {date}.",
    "since.nothing": "Nothing changed since the release audited {date}.",
    "since.what": "What",
    "since.before": "Before",
    "since.after": "Now",
    "since.decision": "Decision",
    "since.policy_id": "Policy",
    "since.policy_version": "Version of the policy",
    "since.policy_sha256": "Digest of the policy",
    "since.release": "Release",
    "since.environment": "Environment",
    "since.snapshot": "Snapshot",
    "since.file": "Digest of file",
    "since.released_rows": "Rows released",
    "since.threat": "Threat",
    "since.column": "Column that leaves",
    "since.epsilon": "Epsilon of the release",
    "since.knows": "What is known to threat",
    "since.k": "Smallest class, threat",
    "since.cells_lost": "Share of cells lost",
    "since.rows_dropped": "Rows dropped",
    "since.check": "Check",
    "since.waiver": "Waiver of check",
    "since.effect.better": "better",
    "since.effect.worse": "worse",
    "since.effect.changed": "changed",
}
