"""The case r01: data and column names that look like markup, through the real command line; and names of the same kind that are longer."""

from __future__ import annotations

import json
from collections import Counter
from html.parser import HTMLParser

import pytest

ODD = "<img src=x onerror=alert(1)>"
POLICY = """datasets:
  d:
    source: input.csv
    columns:
      id: {role: direct, type: string}
      ward: {role: quasi, type: category}
      'ODD': {role: quasi, type: category}
threats:
  t: {dataset: d, knows: [ward, 'ODD'], highest_risk: 0.5}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.csv}}
"""
FORMS = ("html", "text", "json", "sarif", "junit", "github", "markdown", "in-toto", "dpv")


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found[tag] += 1
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


def elements(html: str) -> Elements:
    parser = Elements()
    parser.feed(html)
    parser.close()
    return parser


def reports(case) -> dict[tuple[str, str], str]:
    """Every form of both editions, and every file that the run left for people or machines."""
    (run,) = case.folder.glob(".privrelease/runs/*")
    made = {
        (form, edition): case("report", run, "--format", form, "--edition", edition).out
        for form in FORMS
        for edition in ("internal", "recipient")
    }
    made["index", "internal"] = case("report", "--index", ".privrelease").out
    for path in (*run.glob("internal/*.json"), *run.glob("outgoing/*.json"), *run.glob("*/*.html")):
        made[path.name, "file"] = path.read_text(encoding="utf-8")
    return made


@pytest.mark.case("r01-markup-in-data-and-column-names")
def test_a_report_on_markup_has_the_elements_of_a_report_on_harmless_names_and_shows_it_as_written(case):
    case.policy(POLICY.replace("ODD", ODD))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert case.threat("t")["after"]["k"]["value"] == 2
    odd = reports(case)

    for path in (".privrelease", "out", "publications.jsonl"):
        (case.folder / path).rename(case.folder / f"odd-{path.strip('.')}")
    data = (case.folder / "input.csv").read_text(encoding="utf-8")
    script = "</script><script>window.pwn=1</script>"
    assert script in data
    (case.folder / "input.csv").write_text(data.replace(script, "harmless").replace(ODD, "column"), encoding="utf-8")
    case.policy(POLICY.replace("ODD", "column"))
    assert case("run", "policy.yaml").code == 0
    harmless = reports(case)

    pages = [name for name in odd if name[0] in {"html", "index"} or name[0].endswith(".html")]
    assert len(pages) == 5
    for name in pages:
        bad, good = elements(odd[name]), elements(harmless[name])
        for tag in ("script", "img", "a", "style", "meta", "svg"):
            assert bad.found[tag] == good.found[tag], (name, tag)
        assert bad.found["script"] == bad.found["img"] == 0
        assert not any(key.startswith("on") for key, _ in bad.attributes)
        assert '<meta charset="utf-8">' in odd[name][:400]
    assert ODD in "".join(elements(odd["html", "internal"]).text)
    assert ODD in "".join(elements(odd["html", "recipient"]).text)
    for name, text in odd.items():
        assert "<script>window.pwn" not in text, name
        assert "Müller" not in text, name
        assert "MÃ¼ller" not in text, name
        if name[0] in {"json", "sarif", "in-toto", "dpv", "audit.json"}:
            json.loads(text)
            assert "<" not in text, name
        elif name[0] != "text" and not name[0].endswith(".json"):
            assert "<img src=x" not in text, name
    assert "\\u003cimg src=x onerror=alert(1)>" in odd["json", "recipient"]


@pytest.mark.case("r01-markup-in-data-and-column-names")
def test_letters_beyond_ascii_in_names_are_right_in_every_page(case):
    name = "Stationsgröße 東京"
    data = (case.folder / "input.csv").read_text(encoding="utf-8").replace(ODD, name)
    (case.folder / "input.csv").write_text(data, encoding="utf-8")
    case.policy(POLICY.replace("ODD", name))
    assert case("run", "policy.yaml").code == 0
    for form, text in reports(case).items():
        if form[0] == "html" or form[0].endswith(".html"):
            assert name in text, form
        assert "Ã" not in text, form
