r"""Deliberate faults: the educational reader with one change in one module.

A line of the table is ``what is wrong: the text in the module => its replacement``, and a heading
names the module and the golden file that must reveal the fault.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from repository import ROOT, script

READER = ROOT / "formats" / "tokexport" / "reader" / "tokexport_reader"

TABLE = r"""
[tables added]
the shortest added token wins: found = end, token => return end, token
[lookup holes]
the words of a long key are not multiplied: u64(b, i)) * K2 & MASK => u64(b, i)) & MASK
the key is not compared: if key_of(file, token) == key => if True
[lookup keys]
KEYS is ignored: file.sections.get(b"KEYS", file => file.sections.get(b"RECS", file
[added_tokens holes]
RESCAN_SPECIAL is ignored:   at = next_character =>   pass
[added_tokens search-anew]
SEARCH_ANEW is ignored after a token: at = edge = stop => pass
SEARCH_ANEW is ignored where a token is not allowed:       edge = stop =>       pass
SEARCH_ANEW is ignored after a word: at = edge = next_character => pass
[added_tokens added]
every special token is allowed: else index in allowed => else True
SEARCH_ANEW is always there: search_anew = bool(file => search_anew = True or bool(file
a token that is not allowed hides nothing: if file.header.flags & RESCAN_SPECIAL: => if True:
SINGLE_WORD looks before only: (stop < len(text) and => (False and
SINGLE_WORD looks after only: (start > edge and => (False and
LSTRIP is ignored: while start > done and => while False and
LSTRIP takes one character: while start > done and => if start > done and
LSTRIP takes back white space: start = max(start, done) => pass
RSTRIP is ignored: while stop < len(text) and is_in => while False and is_in
RSTRIP takes one character: while stop < len(text) and is_in => if stop < len(text) and is_in
a token without text is found: if start >= stop: => if False:
normalized contents are not found: raw.at + raw.size, nodes, edges) => raw.at, 0, 0)
[operations added]
UNLESS_PRESENT is ignored: self.flags & UNLESS_PRESENT and => False and
[operations sequences]
APPEND is ignored: if adds and not self.flags & APPEND: => if adds:
UNLESS_PRESENT is always there: not (self.flags & UNLESS_PRESENT and => not (
[operations rewriting]
a map drops what it keeps: character * bool(keep) => b''
[operations fused-words]
a map keeps what it drops: character * bool(keep) => character
[operations stripped-marks]
MAP_LETTERS is ignored: if keep == MAP_LETTERS: => if False:
[operations spelled]
the alphabet has U+00AD: *range(0xA1, 0xAD), *range(0xAE, 0x100) => *range(0xA1, 0x100)
bytes have the source of the first byte: ALPHABET[byte].encode(), at => ALPHABET[byte].encode(), 0
[operations empty-matches]
the content of REPLACE has no source: end - 1 if end else NOWHERE => NOWHERE
what is put first has the source of the text: end - 1 if end else NOWHERE => max(end - 1, 0)
[normal_forms decomposed]
Hangul syllables stay: if c in SYLLABLES: => if False:
the last letter of a syllable is lost: [0x11A7 + i % 28] * (i % 28 != 0) => []
marks are not sorted: key=lambda p: self._combining_class(p[0]) => key=lambda p: 0
sorting is not stable: = sorted(points[at:end], => = sorted(points[at:end][::-1],
the first letter is subtracted: 0x1100 + i // 588 => 0x1100 - i // 588
the second letter depends on the first: i % 588 // 28 => i // 28
all forms compose: in (NFC, NFKC) else points => in (NFC, NFD, NFKC, NFKD) else points
[normal_forms normalized]
L and V do not compose: if 0x1100 <= a <= 0x1112 and => if False and
LVT and T compose: (a - 0xAC00) % 28 == 0 and =>
U+11A7 composes: 0x11A8 <= b => 0x11A7 <= b
U+11C3 composes: b <= 0x11C2 => b <= 0x11C3
U+1113 composes: <= a <= 0x1112 and => <= a <= 0x1113 and
U+1176 composes: b <= 0x1175 => b <= 0x1176
what comes before T need not be a syllable: if a in SYLLABLES and => if
a mark is a starter: if own == 0: => if True:
no mark blocks: all(other < own for other in between) => True
only a larger mark blocks: all(other < own for => all(other <= own for
a composite takes one character: kept[starter][1] + takes => kept[starter][1]
[charsmap rewriting]
the longest sequence of a cluster wins: yield cluster, whole[0][1] => yield cluster, whole[-1][1]
long clusters are looked up: if len(cluster) <= MAX_CLUSTER else [] =>
clusters are characters: [text[start:end]] if matched => characters(text[start:end]) if matched
what is left is not taken: takes[-1] = takes[-1][0], takes[-1][1] + left => pass
[charsmap sequences]
the shortest sequence wins: [(len(character), character)])[-1] => [(len(character), character)])[0]
[charsmap collapsed]
texts are not protected: end, _ = self.protected.longest(text, at) => end = at
[stages behaviors]
INVERT is ignored: matched != invert) for start => matched) for start
REMOVED keeps matches: in parts if not matched] => in parts]
MERGED_WITH_PREVIOUS merges with the next one: if self.behavior == MERGED_WITH_NEXT: => if True:
two matches side by side are merged: before is False => before is not None
CONTIGUOUS joins nothing: joins = before == matched != invert => joins = False
[stages fused-words]
MERGED_WITH_NEXT merges with the previous one: if self.behavior == MERGED_WITH_NEXT: => if False:
[stages rewriting]
a match does not look back: column = read[start - 1] if start else => column =
[stages added]
a match does not see the end of the text: (start, len(read) + 1): => (start, len(read)):
the shortest match wins: transition & ACCEPT: => transition & ACCEPT and end is None:
[stages look-ahead]
SEARCH_STARTS is ignored: if self.flags & SEARCH_STARTS and => if False and
labels are given from the front: reversed(classes): => classes:
[stages contiguous]
CONTIGUOUS joins gaps over an empty match: before == matched != invert => before == matched
empty matches divide nothing: gap = at => pass
no match is empty: end == start and not self.flags & EMPTY_MATCHES => end == start
[stages empty-matches]
a text has no empty match at its end: len(read) + bool(self.flags & EMPTY_MATCHES) => len(read)
[bpe holes]
WHOLE_FIRST is ignored: file.header.flags & WHOLE_FIRST or => False or
[bpe ranked]
WHOLE is ignored: file.record(whole)[2] & WHOLE => True
RANK is ignored: if b"RANK" in file.sections else merged => if False else merged
[bpe behaviors]
the pair of largest rank comes first: min(ranks) => max(ranks)
the rightmost pair comes first: _, at = min(ranks) => at = -min((r, -p) for r, p in ranks)[1]
[bpe byte-fallback]
unknown text is dropped: elif unknown_id != NONE: => elif False:
unknown text stays apart: if pending and not flags & FUSE_UNKNOWN: => if pending:
an unknown id has the length of one unit: pending += length => pending = length
characters do not become bytes: elif bytes_of_unit and NONE not in bytes_of_unit: => elif False:
[bpe byte-suffix]
unknown text is fused: if pending and not flags & FUSE_UNKNOWN: => if False:
[bpe stopping]
UNKNOWN_STOPS is ignored: elif flags & UNKNOWN_STOPS: => elif False:
[bpe affixes]
all units have one place: place = (position > 0) + 2 * (position + 1 == len(units)) => place = 0
a unit alone is the last one: (position + 1 == len(units)) => (position + 1 == len(units) > 1)
[bpe dropped]
a byte has one length: 0x21 <= byte <= 0x7E else 2 => 0x21 <= byte <= 0x7E else 1
U+0021 has two: 0x21 <= byte => 0x22 <= byte
U+007F has one: byte <= 0x7E => byte <= 0x7F
[trie_models single-precision]
SINGLE_PRECISION rounds nothing: total = rounded(total) if single else total => pass
large sums stay: if single and abs(total) > LARGEST_SUM: => if False:
bytes of unknown text are not used: if b"BIDS" in self.file.sections: => if False:
unknown text is one span: start + i, start + i + 1) for => start, end) for
[trie_models unigram]
the last of equal sums wins: total > best[end][0] => total >= best[end][0]
[trie_models unigram-fallback]
sums are singles: total = rounded(total) if single else total => total = rounded(total)
unknown text is not looked up: if whole is not None and not => if False and not
bytes of unknown text have spans of their own: if b"ALGN" in self.file.sections: => if True:
[trie_models wordpiece]
max_characters counts bytes: len(characters(text)) <= => len(text) <=
max_characters is ignored: if len(characters(text)) <= trie.max_characters: => if True:
max_characters is too many: len(characters(text)) <= trie => len(characters(text)) < trie
a word is known in part: if all(id is not None for id, _, _ in found): => if True:
a word has no prefix inside: trie, text, trie.continuation) => trie, text, trie.root)
[trie_models greedy]
the shortest token wins: max(trie.tokens(text[at:], base), => min(trie.tokens(text[at:], base),
[encode first]
ONLY_FIRST is ignored: operation.flags & ONLY_FIRST and => False and
ONLY_FIRST is true of each part of a first text: self.is_first and start == 0 => self.is_first
[encode spelled]
FIRST_SOURCE is ignored: operation.flags & FIRST_SOURCE and => False and
FIRST_SOURCE is by position: text.source(0, 1)[0] != 0 => not text.is_first
[encode collapsed]
nothing is normalized: rewritten = rewrite(segment, file.normalizer) => rewritten = segment
[encode fused-words]
unknown words stay apart: and last.is_unknown_word => and False
a fused word has the span of its last: last.source[0], next_found.source[1] => next_found.source
[encode wordlevel]
unknown words are always fused: and file.header.flags & FUSE_UNKNOWN =>
[template added]
a pair has the template of one text: items[single_count:] if => items[:single_count] if
all type ids are 0: type_ids += [item.type_id] * len(added) => type_ids += [0] * len(added)
a template adds nothing: if item.kind == ID and not special: => if item.kind == ID:
a template always adds its ids: if item.kind == ID and not special: => if False:
[decode decode-content]
FIRST_BY_CONTENT is ignored: by_content = bool(rules.flags & FIRST_BY_CONTENT) => by_content = False
BYTE_FALLBACK is ignored: if not rules.flags & BYTE_FALLBACK: => if True:
BY_CHARACTER is ignored: by_character = bool(rules.flags & BY_CHARACTER) => by_character = False
BY_CHARACTER is for runs only: if by_character: => if by_character and in_run:
tokens are joined before they are replaced: if in_run else data: => if True else data:
runs are not joined: if in_run else data: => if False else data:
the first token has no form of its own:     if is_first: =>     if False:
[decode decode-pieces]
special tokens are never left out: skip_special and flags[id] & SPECIAL => False
special tokens are always left out: skip_special and flags[id] & SPECIAL => flags[id] & SPECIAL
FIRST_MORE is ignored: start += first_skip - first_more => start += first_skip
[decode decode-first]
FIRST_BY_TEXT is ignored: if rules.flags & FIRST_BY_TEXT: => if False:
[decode decode-last]
the last token has no form of its own:     if is_last: =>     if False:
[decode decode-fallback]
strip_left is ignored: one.removeprefix(rules.strip_left) for => one for
a run is replaced as other text: REPLACEMENT * len(one) => replaced(one)
[decode decode-runs]
READS_TOKENS is ignored: if self.flags & READS_TOKENS and => if False and
[decode decode-edited]
nothing is appended at the end: made[-1] + end] => made[-1]]
[spans added]
KEEP_FIRST is ALL: keeps = one == KEEP_FIRST and => keeps = False and
trailing space stays: if 0 < trailing <= end: => if False:
an end moves before the start: end = max(end - trailing, start) => end = end - trailing
white space of added tokens is U+0020: is_in(file, character, SPACE) => character == b" "
[spans trimmed-first]
KEEP_FIRST keeps two spaces: one == KEEP_FIRST and leading == 1 and => one == KEEP_FIRST and
KEEP_FIRST is for the first id: (not spans or start == 0) => not spans
KEEP_FIRST is for the start of the text: (not spans or start == 0) => start == 0
[spans trimmed-all]
exceptions are ignored: if found.id in exceptions: => if False:
U+0120 is no space: character == "\u0120".encode() or =>
one pass trims: passes >>= 2 => break
a start moves after the end: start = min(start + leading, end) => start = start + leading
[align collapsed]
PREFIX is ignored: if flags & PREFIX: => if False:
spaces at the start are not passed over: while collapse and pending and => while False and
a missing space does not move the end: end = end if missing is None else missing => pass
spaces are not dropped: kept = new.lstrip(b" ") if spaced else new => kept = new
the charsmap is ignored: isinstance(operation, Charsmap) and not => False and not
[spans suffix]
with ALGN, the end of the input is in bytes: or b"ALGN" in file.sections => or False
[align suffix]
SUFFIX is ignored: if flags & SUFFIX else b"" => if False else b""
[align fused-words]
texts are not protected: end, _ = protected.longest(segment, at) => end = at
[prefixes holes]
tokens are compared whole: file.token_bytes(token)[: len(prefix)] => file.token_bytes(token)
a token that is the prefix is left out: begin = bisect_left => begin = bisect_right
ids of equal beginnings are left out: order[begin : bisect_right => order[begin : bisect_left
[chat holes]
special tokens are found in messages: Places(frozenset(marks)) => range(9)
special tokens are found nowhere: Places(frozenset(marks)) => ()
every conversation has a system message: if messages[0][0] == "system" else START => if True else 0
a message of the user is not stripped: STRIP << ROLES.index(role) => STRIP << 9
an answer is stripped: STRIP << ROLES.index(role) => STRIP << 1
white space at ends is not looked for: not is_trimmed or => True or
a system message may come late: (turn < 0 or role == => (turn < 0 or role == "system" or role ==
a text of white space is not empty: stripped(text)), "TKX_E_MESSAGE") => text), "TKX_E_MESSAGE")
reserved texts are taken: require(not any(part in text => require(True or any(part in text
the last message may be the assistant's: require(len(rest) % 2 == 1, "TKX_E_ROLE") => pass
"""


@dataclass(frozen=True)
class Fault:
    """In a module ``old`` becomes ``new``; ``golden`` is the file that must reveal it."""

    title: str
    module: str
    golden: str
    old: str
    new: str


def faults() -> Iterator[Fault]:
    """The faults of the table."""
    module = golden = ""
    for line in TABLE.strip().splitlines():
        if line.startswith("["):
            module, golden = line.strip("[]").split()
        else:
            title, change = line.split(": ", 1)
            old, new = (change + " ").split(" => ")
            yield Fault(title, module, golden, old, new.removesuffix(" "))


def dropped_checks(errors: set[str]) -> Iterator[Fault]:
    """For each condition of each check that returns one of ``errors``, and for the size of each
    section: the reader without it.
    """
    for path in sorted(READER.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "require":
                expression, error = call.args
                old = ast.get_source_segment(text, call)
                if old is not None and ast.literal_eval(error) in errors:
                    for condition in map(ast.unparse, _conditions(expression)):
                        new = ast.unparse(call).replace(condition, "True", 1)
                        yield Fault(condition, path.stem, ast.literal_eval(error), old, new)
            if path.stem == "file" and isinstance(call, ast.Return) and "*" in ast.unparse(call):
                old = ast.get_source_segment(text, call)
                if old is not None and "None" not in old:
                    yield Fault(old, path.stem, "TKX_E_SECTION_SIZE", old, "return None")


def _conditions(expression: ast.expr) -> list[ast.expr]:
    if isinstance(expression, ast.BoolOp) and isinstance(expression.op, ast.And):
        return [part for value in expression.values for part in _conditions(value)]
    return [expression]


def faulty_reader(fault: Fault, folder: Path) -> ModuleType:
    """The reader with a fault, as a package of another name with the changed module first."""
    text = (READER / f"{fault.module}.py").read_text(encoding="utf-8")
    assert text.count(fault.old) == 1, f"{fault} occurs {text.count(fault.old)} times"
    changed = text.replace(fault.old, fault.new)
    (folder / f"{fault.module}.py").write_text(changed, encoding="utf-8")
    for name in [name for name in sys.modules if name.partition(".")[0] == "faulty_reader"]:
        del sys.modules[name]
    return script(READER / "__init__.py", "faulty_reader", [str(folder), str(READER)])
