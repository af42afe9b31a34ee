from __future__ import annotations

import itertools
import json
import re
from base64 import b64encode
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from privrelease.audit.document.model import ColumnLoss, Figure, Outcome, Visibility
from privrelease.audit.document.schema import audit_bytes, audit_of
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition

BLOCKS = {"td", "th", "p", "li", "h1", "h2", "h3", "dt", "dd"}
VOID = {"meta", "link", "br", "hr", "img", "input"}


@dataclass
class Page(HTMLParser):
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    badly_closed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.text.append(" " * (tag in BLOCKS))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.badly_closed.append(tag)

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text.append(data)

    @property
    def counts(self) -> Counter[str]:
        return Counter(tag for tag, _ in self.elements)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


def parsed(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    return page


HOSTILE = "<img src=x onerror=alert(1)>\"'&</script><script>window.pwn=1</script> Müller \u202e"


@pytest.fixture(scope="module", params=list(Edition))
def page(audit, request):
    return parsed(render_html(audit, request.param))


def named(audit, name):
    """The audit with a name from data or policy put wherever one can stand."""
    threat = audit.threats[0].model_copy(update={"name": name, "columns": (name, "sex")})
    verdicts = tuple(verdict.model_copy(update={"means": name}) for verdict in threat.verdicts)
    column = audit.data.columns[0].model_copy(update={"name": name, "treatment": name})
    check = audit.checks[0].model_copy(update={"id": name, "title": name, "message": name})
    finding = audit.findings[0].model_copy(update={"message": name, "hint": name, "file": name, "code": name})
    loss = ColumnLoss(
        column=name,
        suppressed=Figure.of(3, "count"),
        in_dropped_rows=Figure.of(0, "count"),
        share=Figure.of(Fraction(3, 10), "share"),
    )
    output = audit.identity.outputs[0].model_copy(update={"label": name})
    identity = audit.identity.model_copy(
        update={
            "policy_title": name,
            "policy_id": name,
            "policy_file": name,
            "environment": name,
            "release": name,
            "outputs": (output,),
            "versions": {name: name},
        }
    )
    worst = audit.decision.worst.model_copy(update={"what": name})
    return audit.model_copy(
        update={
            "decision": audit.decision.model_copy(update={"worst": worst, "reasons": (name,), "assessment_remaining": (name,)}),
            "identity": identity,
            "legal": audit.legal.model_copy(
                update={"stated": {"controller.name": name, "purposes.1.text": name}, "missing": (name,)}
            ),
            "context": {"release_model": name},
            "data": audit.data.model_copy(update={"dataset": name, "unit": name, "columns": (column,)}),
            "threats": (threat.model_copy(update={"verdicts": verdicts}), audit.threats[1]),
            "utility": audit.utility.model_copy(update={"columns": (loss,)}),
            "checks": (check,),
            "findings": (finding,),
        }
    )


@pytest.mark.parametrize("edition", Edition)
def test_markup_in_names_adds_no_element_and_is_shown_as_it_is_written(audit, edition):
    hostile, harmless = (render_html(named(audit, name), edition) for name in (HOSTILE, "harmless"))
    bad, good = parsed(hostile), parsed(harmless)
    assert bad.counts - good.counts <= parsed("<text></text>" * 30).counts  # long labels wrap over more lines of a chart
    assert bad.counts["script"] == bad.counts["img"] == 0
    assert "<img src=x" not in hostile
    assert "<script" not in hostile
    assert bad.words.count("<img src=x onerror=alert(1)>\"'&</script>") > 10
    assert "Müller" in hostile
    assert not bad.badly_closed


def test_names_are_isolated_so_that_right_to_left_text_stays_within(audit):
    html = render_html(named(audit, "\u202eabc"), Edition.INTERNAL)
    for place in re.finditer("\u202eabc", html):
        before = html[: place.start()]
        opened = (
            before.rfind("<bdi>") > before.rfind("</bdi>")
            or before.endswith(("<code>", "\u2068"))
            or before.rfind("\u2068") > max(before.rfind("\u2069"), before.rfind(">"))
        )
        text = before[max(0, before.rfind("<", 0, before.rfind(">"))) :]
        assert opened or re.search(r"<(code|title|dt|th|td|text|desc|span|h3)\b", text), text[-80:]


def test_the_page_reaches_no_network_and_needs_no_script(audit):
    html = render_html(audit, Edition.INTERNAL)
    page = parsed(html)
    assert page.counts["script"] == page.counts["img"] == page.counts["link"] == page.counts["iframe"] == 0
    assert not re.search(r"(https?:)?//|url\(|@import|javascript:", html.replace("content-security-policy", ""), re.IGNORECASE)
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert not any(name.startswith("on") or name == "style" for _, attributes in page.elements for name in attributes)


def test_the_style_sheet_is_the_one_that_the_security_policy_admits(audit):
    html = render_html(audit, Edition.INTERNAL)
    css = html[html.index("<style>") + len("<style>") : html.index("</style>")]
    assert b64encode(sha256(css.encode()).digest()).decode() in html[: html.index("<style>")].replace("&#43;", "+").replace(
        "&#x2B;", "+"
    )


def test_charset_is_declared_first_and_language_is_set(audit):
    html = render_html(audit, Edition.INTERNAL)
    assert b'<meta charset="utf-8">' in html.encode()[:256]
    assert parsed(html).all("html") == [{"lang": "en"}]


def test_ids_are_unique_and_every_reference_has_its_target(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.elements:
        for name in (attributes.get("aria-labelledby") or "").split():
            assert name in ids, (tag, name)
        target = attributes.get("href")
        if tag == "a":
            assert target.startswith("#")
            assert target[1:] in ids


def test_every_table_has_a_caption_and_every_header_a_scope(page):
    assert page.counts["table"] == page.counts["caption"] > 10
    assert all(header.get("scope") in {"col", "row"} for header in page.all("th"))


def test_every_chart_has_a_title_and_a_description(page):
    charts = [attributes for attributes in page.all("svg") if attributes.get("role") == "img"]
    assert charts
    assert all(len(attributes["aria-labelledby"].split()) == 2 for attributes in charts)
    decorations = [attributes for attributes in page.all("svg") if attributes.get("role") != "img"]
    assert all(attributes.get("aria-hidden") == "true" for attributes in decorations)


def test_headings_go_down_one_level_at_a_time(page):
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in itertools.pairwise(levels))


def test_what_scrolls_can_be_reached_by_keyboard_and_has_a_name(page):
    regions = [attributes for tag, attributes in page.elements if tag == "div" and attributes.get("class") == "scroll"]
    assert regions
    assert all(region["tabindex"] == "0" and region["role"] == "group" for region in regions)
    assert all(region.get("aria-labelledby") or region.get("aria-label") for region in regions)


def test_the_same_audit_gives_the_same_bytes(audit):
    assert render_html(audit, Edition.INTERNAL) == render_html(audit.model_copy(deep=True), Edition.INTERNAL)


def test_sections_come_in_their_order_and_what_is_lacking_is_said(audit):
    page = parsed(render_html(audit, Edition.INTERNAL))
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section" and "id" in attributes]
    assert sections == (
        [
            "decision",
            "identity",
            "record",
            "lawfulness",
            "dpia",
            "context",
            "data",
            "risk",
            "evidence",
            "attacks",
            "dp",
            "utility",
            "waivers",
            "signoff",
            "review",
        ]
    )
    assert "No attack was tried" in page.words
    assert "Transfers to third countries, and safeguards not stated in the policy" in page.words
    assert "Joint controllers none" in page.words


def test_no_edition_calls_a_release_anonymous_or_compliant(page):
    assert not re.search(r"anonymous: yes|GDPR[- ]compliant|is anonymous\b(?! for)|safe to publish", page.words, re.IGNORECASE)


def test_a_failure_is_told_by_words_and_shape_not_by_colour_alone(audit):
    limit = Figure.of(Fraction(1, 10), "risk", Visibility.RECIPIENT)
    verdicts = (audit.threats[0].verdicts[0].model_copy(update={"holds": False, "threshold": limit}),)
    threat = audit.threats[0].model_copy(update={"verdicts": verdicts, "holds": False})
    decision = audit.decision.model_copy(update={"outcome": Outcome.FAIL, "checks_passed": 8, "reasons": ("highest risk",)})
    page = parsed(render_html(audit.model_copy(update={"threats": (threat,), "decision": decision}), Edition.INTERNAL))
    assert "Fails its policy 8 of 9 checks hold. It must not be released as it is." in page.words
    assert "fails" in page.words


def test_a_release_without_records_has_no_k_and_says_so(audit):
    nothing = Figure(value=None, note="no released records", visibility=Visibility.RECIPIENT)
    zero = Figure.of(0, "count", Visibility.RECIPIENT)
    after = audit.threats[0].after.model_copy(
        update={
            "records": zero,
            "classes": zero,
            "uniques": zero,
            "k": nothing,
            "highest": nothing,
            "average": nothing,
            "buckets": (),
        }
    )
    threat = audit.threats[0].model_copy(update={"after": after, "verdicts": (), "holds": False})
    page = parsed(render_html(audit.model_copy(update={"threats": (threat,), "union": None}), Edition.INTERNAL))
    assert "No records were released" in page.words
    assert "this is no pass" in page.words
    assert "Smallest class, k 1 no released records" in page.words


def test_a_long_column_name_wraps_in_the_chart_and_is_whole_in_the_table(audit):
    name = "a_very_long_name_" * 9
    page = parsed(render_html(named(audit, name), Edition.INTERNAL))
    lines = re.findall(r"(?:a_very_long_name_)\S*", page.words)
    assert name in page.words
    assert len(lines) > 1


def test_two_threats_of_seventy_columns_stay_below_a_megabyte(audit):
    columns = tuple(f"column-{number}" for number in range(70))
    losses = tuple(audit.utility.columns[0].model_copy(update={"column": column}) for column in columns)
    threats = tuple(threat.model_copy(update={"columns": columns}) for threat in audit.threats)
    big = audit.model_copy(update={"threats": threats, "utility": audit.utility.model_copy(update={"columns": losses})})
    html = render_html(big, Edition.INTERNAL)
    assert len(html.encode()) < 1_000_000
    assert "The chart shows the" in html


def reversed_keys(value):
    """The same JSON with the keys of every object the other way round."""
    if isinstance(value, dict):
        return {name: reversed_keys(item) for name, item in reversed(value.items())}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[4] / "reports").glob("*/audit.json")), ids=lambda p: p.parent.name
)
def test_the_order_of_keys_in_the_audit_changes_no_byte(path, edition):
    content = path.read_bytes()
    turned = audit_of(json.dumps(reversed_keys(json.loads(content))).encode())
    assert render_html(turned, edition) == render_html(audit_of(content), edition)


def test_a_page_from_a_file_is_the_page_of_the_run(audit):
    assert render_html(audit_of(audit_bytes(audit)), Edition.INTERNAL) == render_html(audit, Edition.INTERNAL)
