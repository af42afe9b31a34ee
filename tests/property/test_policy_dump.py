from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privrelease.findings import Severity
from privrelease.policy.language.checks import CHECKS
from privrelease.policy.language.models import Policy
from privrelease.policy.loader import check_policy
from privrelease.policy.output.dump import canonical, dump
from privrelease.policy.text.nodes import plain_data
from privrelease.policy.text.yaml import parse_yaml
from privrelease.relational.expectations import EXPECTATIONS
from tests.depth import depth

#: Texts that tempt a reader of YAML to see something else.
TEMPTING = [
    "NO",
    "on",
    "null",
    "~",
    "true",
    "010",
    "1e3",
    "12:30",
    "- a",
    "a: b",
    "#",
    "{",
    "'",
    '"',
    "\\",
    "2026-01-01",
    "é",
    "\U0001f600",
]
LETTERS = st.characters(exclude_categories=("Cs",))
TEXTS = st.one_of(st.sampled_from(TEMPTING), st.text(LETTERS, min_size=1, max_size=12)).filter(lambda text: text.strip() != "")
COLUMN_NAMES = st.one_of(
    st.sampled_from(["NO", "on", "a b", "a:b", "010", "null", "#x", "é"]),
    st.text(st.characters(categories=("L", "N", "P", "S", "Zs"), max_codepoint=0x2027), min_size=1, max_size=8),
).filter(lambda text: text.strip() != "")
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,8}", fullmatch=True)
SHARES = st.decimals(0, 1, places=6)
RISKS = st.decimals("0.000001", 1, places=6)
TYPES = st.sampled_from(["string", "category", "integer", "number", "date", "datetime", "boolean"])
ROLES = st.sampled_from(["direct", "quasi", "sensitive", "insensitive"])


def optional(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.one_of(st.none(), strategy)


def waivers(release: str) -> st.SearchStrategy[object]:
    days = st.dates().map(lambda day: day.isoformat())
    texts = dict.fromkeys(("reason", "owner", "approved_by"), TEXTS)
    return st.fixed_dictionaries({"check": st.just("C"), "release": st.just(release), **texts, "expires": days})


@st.composite
def column_specs(draw: st.DrawFn) -> dict[str, object]:
    kind = draw(TYPES)
    spec: dict[str, object] = {"role": draw(ROLES), "type": kind, "description": draw(optional(TEXTS))}
    if draw(st.booleans()):
        spec["domain"] = draw(
            st.sampled_from(
                [
                    {"values": ("a", "NO", "010")},
                    {"values": ("1", "2")},
                    {"values": ("1", "2", "3")},
                    {"values": ()},
                    {"range": ("1", "2")},
                    {"range": ("-5", "1.50")},
                    {"range": ("01", "é")},
                ]
            )
        )
        spec["outside"] = draw(st.sampled_from(["error", "drop"]))
    if draw(st.booleans()):
        spec["grid"] = draw(st.decimals("0.001", 100, places=3))
    if draw(st.booleans()):
        spec["format"] = {"missing": tuple(draw(st.lists(st.text(LETTERS, max_size=4), max_size=3))), "normalise": ("trim",)}
    return spec


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Policies of the right structure; what they mean may be nonsense."""
    columns = draw(st.dictionaries(COLUMN_NAMES, column_specs(), min_size=1, max_size=4))
    known = tuple(draw(st.lists(st.sampled_from(list(columns)), min_size=1, max_size=3)))
    dataset = {
        "source": draw(st.sampled_from([{"path": "a b.csv"}, {"csv": "x"}, {"duckdb": "d", "table": "t: 1"}])),
        "columns": columns,
        "unit": draw(optional(st.just({"column": known[0], "max_rows": 3}))),
        "snapshot": draw(optional(TEXTS)),
        "unlisted_columns": draw(st.sampled_from(["error", "drop"])),
    }
    threat = {
        "dataset": "d",
        "knows": known,
        "highest_risk": draw(optional(RISKS)),
        "average_risk": draw(optional(RISKS)),
        "records_at_risk": draw(optional(st.fixed_dictionaries({"above": st.decimals(0, "0.99", places=4), "share": SHARES}))),
        "missing": draw(st.sampled_from(["category", "wildcard"])),
        "also": draw(optional(st.just({"subsets": {"up_to": 2, "k": 3}}))),
    }
    steps = draw(
        st.lists(
            st.one_of(
                st.just({"drop": known}),
                st.just({"pseudonymise": known, "key": "KEY_1"}),
                st.fixed_dictionaries(
                    {"suppress": st.just("cells"), "limit": optional(SHARES), "weights": st.just({known[0]: Decimal("2.50")})}
                ),
            ),
            max_size=3,
        )
    )
    release = {
        "id": draw(NAMES),
        "kind": "microdata",
        "from": "d",
        "protect": ("t",),
        "columns": draw(optional(st.just(known))),
        "transform": tuple(steps),
        "output": draw(
            st.sampled_from(
                [
                    ({"path": "o.csv"},),
                    ({"path": "o", "format": "csv"},),
                    ({"path": "a.csv"}, {"path": "b.duckdb", "table": "x"}),
                ]
            )
        ),
    }
    check = {"id": "C", "release": release["id"], "expect": draw(st.sampled_from(CHECKS)).name, "max": draw(optional(SHARES))}
    values = st.lists(st.text(LETTERS, max_size=6) | st.sampled_from(TEMPTING), min_size=1, max_size=3).map(tuple)
    bounds = st.tuples(optional(SHARES), optional(SHARES))
    expected = {
        "id": "E",
        "release": release["id"],
        "expect": draw(st.sampled_from(sorted(EXPECTATIONS))),
        "on": draw(st.sampled_from(["release", "source"])),
        "value_set": draw(optional(values)),
        "min_value": draw(optional(st.sampled_from(TEMPTING))),
        "strict_min": draw(optional(st.booleans())),
        "regex": draw(optional(TEXTS)),
        "column_list": known,
        "value_pairs_set": draw(optional(st.just((("a", "NO"), ("010", ""))))),
        "quantile_ranges": draw(optional(bounds.map(lambda pair: {"quantiles": (Decimal("0.5"),), "value_ranges": (pair,)}))),
        "mostly": draw(optional(SHARES)),
        "type_": draw(optional(TEXTS)),
    }
    return Policy.model_validate(
        {
            "apiVersion": "privrelease/v1",
            "kind": "ReleasePolicy",
            "id": draw(NAMES),
            "version": draw(TEXTS),
            "title": draw(TEXTS),
            "datasets": {"d": dataset},
            "threats": {"t": threat},
            "releases": (release,),
            "checks": (check, expected),
            "waivers": tuple(draw(st.lists(waivers(release["id"]), max_size=2))),
            "approvals": draw(
                optional(
                    st.fixed_dictionaries(
                        {"required": st.lists(NAMES, min_size=1, max_size=2).map(tuple), "keys": st.just("k.yaml")}
                    )
                )
            ),
            "legal": draw(optional(st.fixed_dictionaries({"safeguards": TEXTS, "recipients": optional(st.just(()))}))),
        }
    )


@given(policies())
@settings(max_examples=depth(40, 150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_policy_that_is_written_and_read_is_the_same(policy: Policy) -> None:
    text = dump(policy)
    tree, findings = parse_yaml(text, "p.yaml")
    assert findings == ()
    assert tree is not None
    read = Policy.model_validate(plain_data(tree))
    assert read == policy
    assert canonical(read) == canonical(policy)
    assert dump(read) == text


@given(policies(), policies())
@settings(max_examples=depth(20, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_canonical_texts_are_equal_exactly_where_policies_are(one: Policy, other: Policy) -> None:
    assert (canonical(one) == canonical(other)) == (one == other)


@given(policies())
@settings(max_examples=depth(20, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_a_policy_means_is_judged_without_a_fault_of_ours(policy: Policy) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.yaml"
        path.write_text(dump(policy), encoding="utf-8")
        loaded, findings = check_policy(path)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    assert (loaded is None) == bool(errors)
    assert not [finding for finding in errors if finding.code < "P209" and finding.code != "P104"]
    assert all(finding.location is not None and "\n" not in finding.message for finding in findings)
