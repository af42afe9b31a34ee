"""Claims about the words of an audit that every audit of a test may be held against: codes beside sentences, in every language."""

from __future__ import annotations

import json
from typing import Any

from privrelease.audit.document.schema import audit_bytes, audit_of
from privrelease.audit.document.sentences import Coded, said_of
from privrelease.texts.catalogue import LANGUAGES, catalogue_of, sentences
from privrelease.texts.sentences import Said, fill

SUFFIX = "_coded"


def english_of(sentence: Said) -> str:
    """The English text, made again from code and values."""
    return fill(sentences(), "en", sentence.code, sentence.values)


def coded_pairs(value: Any) -> list[tuple[str, Any]]:
    """Every sentence of a document with its code and values."""
    if isinstance(value, list):
        return [pair for one in value for pair in coded_pairs(one)]
    if not isinstance(value, dict):
        return []
    found = [pair for one in value.values() for pair in coded_pairs(one)]
    for name, made_of in value.items():
        if name.endswith(SUFFIX) and made_of is not None:
            text = value[name.removesuffix(SUFFIX)]
            found += list(zip(text, made_of, strict=True)) if isinstance(text, list) else [(text, made_of)]
    return found


def assert_codes_are_of_their_sentences(content: bytes) -> int:
    """Every code of a document makes the sentence that it is beside, which is there: none gives away what an edition withholds."""
    pairs = [(text, Coded.model_validate(one)) for text, one in coded_pairs(json.loads(content)) if one is not None]
    for text, one in pairs:
        said = said_of(text, one)
        assert isinstance(said, Said)
        assert english_of(said) == text
    return len(pairs)


def assert_said_in_every_language(audit: Any) -> None:
    """What checks, findings, reasons and remaining assessment say has a code, and so have German and French pages it in their words."""
    read = audit_of(audit_bytes(audit))
    assert_codes_are_of_their_sentences(audit_bytes(audit))
    texts = [one.told for one in read.checks] + [one.told for one in read.findings]
    texts += [*read.decision.told_reasons, *read.decision.told_remaining]
    texts += [verdict.told for threat in read.threats for verdict in threat.verdicts]
    for text in texts:
        assert isinstance(text, Said), text
        for language in LANGUAGES:
            if language != "en":
                assert not catalogue_of(language).is_foreign(text), (language, text.code)
    hints = {one.hint for one in read.findings if one.hint is not None}
    assert not [hint for hint in hints if catalogue_of("de").is_foreign(hint)]
