"""Identifiers in other forms as the plain engine finds them: every run of the words of every text, one text at a time.

It folds with methods of ``str`` and compares texts; the search that is shared by real engines compares hashes of runs.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from functools import cache

import numpy as np

from privrelease.engine.protocol.identifiers import FORMS, IdentifierMatches, LinkedRows, OwnMatches
from tests.contract.engine.plain_audit import key, text

__all__ = ["PlainIdentifiers"]

STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
ALONE = "\u3005-\u3007\u3040-\u312f\u31a0-\u31ff\u3400-\u9fff\uf900-\ufaff"
MOST_PARTS = 8


@cache
def words(cell):
    """The words of a text: runs of letters and digits without case, accents and leading zeros; a Chinese sign is one."""
    bare = re.sub(r"\.0+$", "", cell)
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", bare).casefold()).casefold()
    plain = unicodedata.normalize("NFKD", plain).translate(STROKES)
    kept = (one for one in plain if not unicodedata.combining(one) and unicodedata.category(one) != "Cf")
    plain = "".join(str(unicodedata.digit(one)) if unicodedata.category(one) == "Nd" else one for one in kept)
    return tuple(re.findall(rf"[{ALONE}]|[^\W_{ALONE}]+", plain))


def joined(parts):
    return "".join(parts).lstrip("0")


def numbers_in(cell):
    """Runs of digits, leading zeros dropped."""
    return {run.lstrip("0") for word in words(cell) for run in re.findall("[0-9]+", word)}


def is_hash(cell):
    return re.fullmatch("[0-9a-fA-F]{16,}", cell) is not None


def signs(cell, form):
    """What an identifier is known by in a form: texts of one of which is enough; none where it has no such form."""
    whole = joined(words(cell))
    if form == "plain":
        bare = re.sub(r"\.0+$", "", cell)
        return {bare} - {""}
    if form == "folded":
        return {whole} - {""}
    if form == "digits":
        return {joined(one for one in "".join(words(cell)) if one.isascii() and one.isdigit())} - {""}
    if form == "reversed":
        return {"".join(words(cell))[::-1].lstrip("0")} - {""}
    if form == "hashed":
        return {getattr(hashlib, name)(cell.encode()).hexdigest()[:16] for name in ("md5", "sha1", "sha256")}
    if not whole:
        return set()
    several = 2 <= len(words(cell)) <= MOST_PARTS
    return {whole} | ({tuple(sorted(word.lstrip("0") for word in words(cell)))} if several else set())


def held(cell, form):
    """What a text holds that could be the sign of an identifier."""
    if form == "plain":
        return signs(cell, "plain")
    if form in {"folded", "reversed"}:
        return {joined(words(cell))} - {""}
    if form == "digits":
        return numbers_in(cell)
    if form == "hashed":
        return {cell[:16].lower()} if is_hash(cell) else set()
    found = words(cell)
    runs = [found[low:high] for low in range(len(found)) for high in range(low + 1, len(found) + 1)]
    return {joined(run) for run in runs} | {tuple(sorted(word.lstrip("0") for word in run)) for run in runs}


def weak(cell, form):
    """Numbers of at most seven digits, texts of at most three letters."""
    if form == "hashed":
        return False
    if form == "plain":
        bare = re.sub(r"\.0+$", "", cell)
        return re.fullmatch("[0-9]{1,7}", bare) is not None or (len(bare) <= 3 and bare.isalpha()) or len(bare) == 1
    (sign,) = (one for one in signs(cell, "folded" if form == "part" else form) if isinstance(one, str))
    digits = sum(one.isascii() and one.isdigit() for one in sign)
    if form == "digits":
        return len(sign) <= 7
    return (digits >= len(sign) and len(sign) <= 7) or (digits == 0 and len(sign) <= 3) or len(sign) <= 1


class Named:
    """The identifiers of a column in one form: the key of each sign, of each row, and which keys are weak. Identifiers that share a sign are one."""

    def __init__(self, cells, form):
        of = {cell: signs(cell, form) for cell in dict.fromkeys(cells) if cell is not None}
        key_of = {}
        for own in of.values():
            merged = {key_of[sign] for sign in own if sign in key_of}
            number = min(merged, default=len(key_of))
            if len(merged) > 1:
                key_of = {sign: number if old in merged else old for sign, old in key_of.items()}
            key_of.update(dict.fromkeys(own, number))
        self.key_of = key_of
        self.rows = [None if cell is None or not of[cell] else key_of[min(of[cell], key=str)] for cell in cells]
        self.keys = set(self.rows) - {None}
        self.weak = {self.rows[row] for row, cell in enumerate(cells) if self.rows[row] is not None and weak(cell, form)}

    def hits(self, cell, form):
        return {self.key_of[sign] for sign in held(cell, form) if sign in self.key_of}


class PlainIdentifiers:
    """See :class:`privrelease.engine.protocol.identifiers.IdentifierEngine`."""

    def _texts(self, of, name):
        return [text(cell) for cell in self._of(of).cells[name]]

    def identifier_matches(self, source, released, pairs, forms):
        found = []
        for form in sorted(forms, key=FORMS.index):
            for direct, name in pairs:
                ours, cells = Named(self._texts(source, direct), form), self._texts(released, name)
                pairs_of = {(row, one) for row, cell in enumerate(cells) if cell is not None for one in ours.hits(cell, form)}
                if pairs_of:
                    found.append(self._matches((direct, name, form), ours, cells, pairs_of, self._texts(source, direct)))
        return tuple(found)

    def _matches(self, names, ours, cells, pairs, identifiers):
        form = names[2]
        times, theirs = Counter(one for one in ours.rows if one is not None), Counter(one for _, one in pairs)
        alone = {one: row for row, one in enumerate(ours.rows) if one is not None and times[one] == 1}
        links = sorted({(alone[one], row) for row, one in pairs if one in alone})
        name = f"i{len(self._kept)}"
        self._kept[name] = links
        there = [cell for cell in dict.fromkeys(cells) if cell is not None]
        folded = {joined(words(cell)) for cell in there} - {""}
        second = {
            "plain": len(there),
            "digits": len({joined(words(cell)) for cell in there if numbers_in(cell)} - {""}),
            "hashed": len({joined(words(cell)) for cell in there if is_hash(cell)}),
        }.get(form, len(folded))
        return IdentifierMatches(
            *names,
            first=len(ours.keys),
            second=second,
            both=len(theirs),
            weak=len(theirs.keys() & ours.weak),
            matched=sum(theirs.values()),
            own=sum(min(times[one], n) for one, n in theirs.items()),
            expected=self._expected(form, identifiers, there),
            links=len(links),
            handle=name,
        )

    @staticmethod
    def _expected(form, identifiers, cells):
        """Shared numbers, were the file's numbers drawn from all whole numbers between their ends."""

        def whole(cell):
            found = joined(words(cell)) or ("0" if any("0" in word for word in words(cell)) else "")
            return {int(found)} if re.fullmatch("[0-9]{1,18}", found) else set()

        def inside(cell):
            return {int(run or "0") for run in numbers_in(cell) if len(run) <= 18}

        theirs = set().union(*map(inside if form in {"digits", "part"} else whole, cells))
        if not theirs:
            return None
        known = [cell for cell in dict.fromkeys(identifiers) if cell is not None]
        if form == "reversed":
            known = ["".join(words(cell))[::-1] for cell in known]
        if form == "digits":
            known = [re.sub("[^0-9]", "", "".join(words(cell))) for cell in known]
        ours = set() if form == "hashed" else set().union(*map(whole, known))
        low, high = min(theirs), max(theirs)
        return sum(low <= one <= high for one in ours) * len(theirs) / (high - low + 1)

    def linked_rows(self, source, released, found, columns, *, shuffles, seed):
        links = self._kept[found.handle]
        ours, theirs = ([tuple(map(key, row)) for row in self._listed_cells(of, columns)] for of in (source, released))
        randomness = np.random.default_rng(seed)
        orders = [range(len(links)), *(randomness.permutation(len(links)).tolist() for _ in range(shuffles))]

        def agree(one, other):
            return all(b in {(0, 0), a} for a, b in zip(one, other, strict=True))

        counts = [
            sum(agree(ours[links[one][0]], theirs[links[place][1]]) for place, one in enumerate(order)) for order in orders
        ]
        return LinkedRows(len(links), counts[0], sum(counts[1:]) / shuffles)

    def _listed_cells(self, of, columns):
        table = self._of(of)
        return [[table.cells[name][row] for name in columns] for row in range(table.n)]

    def own_identifiers(self, source, pairs, forms):
        found = []
        for form in sorted(forms, key=FORMS.index):
            for direct, name in pairs:
                ours, cells = self._texts(source, direct), self._texts(source, name)
                of = Named(ours, form)
                times = Counter(one for one in of.rows if one is not None)
                both = [row for row, cell in enumerate(cells) if None not in (cell, ours[row])]
                compared = sum(form != "hashed" or is_hash(cells[row]) for row in both)
                hits = defaultdict(set) | {row: of.hits(cell, form) for row, cell in enumerate(cells) if cell is not None}
                same = [row for row in both if of.rows[row] in hits[row]]
                if same:
                    expected = sum(times[one] for own in hits.values() for one in own) / len(cells)
                    strong = sum(of.rows[row] not in of.weak for row in same)
                    most = max(times.values())
                    found.append(OwnMatches(direct, name, form, compared, len(same), strong, most, expected))
        return tuple(found)
