"""Work memory: the promised bounds are sufficient, and so is the size reported with TKX_E_WORK,
except for the texts that the header names.
"""

import ctypes
import itertools
import re

import pytest
import runtime_samples
from c_harness import RUNTIME, Library, Work
from json_parts import normalizers
from parts.cases import document as whole
from reader_samples import BYTES, document, reference
from tiktoken_encodings import byte_encoding

from tokexport.conversion import file_bytes
from tokexport.sources import read

OK, WORK = 0, -7
# The automaton has a state for each letter of the first part, which it reads in vain.
UNBOUNDED = r"(?:[a-z]{250}-)+!|[a-z]"
TEXTS = [
    ("a" * 250 + "-") * 12,
    ("a" * 250 + "-") * 4 + "A" * 3000,
    "A" * 1500 + ("a" * 250 + "-") * 6 + "!",
    "a" * 3000,
    "a",
    "",
]
PROSE = "The quick brown fox, Ünïcödé ẞtraße, 東京に行きました。\n" + "ha" * 60 + " ﷺ x" * 40


def macro(size: int) -> int:
    """``TKX_WORK_SIZE(size)``."""
    header = (RUNTIME / "tokexport.h").read_text(encoding="utf-8")
    pattern = r"#define TKX_WORK_SIZE\(size\) \(\(size_t\)(\d+) \+ \(size_t\)(\d+) \*"
    ((fixed, per_byte),) = re.findall(pattern, header)
    return int(fixed) + int(per_byte) * size


def bound(library: Library, text: bytes, *, spans: bool) -> int:
    name = "tkx_spans_work_size" if spans else "tkx_work_size"
    getattr(library._c, name).restype = ctypes.c_size_t
    return library.call(name, library._tkx, len(text))


def encode(library: Library, text: bytes, memory_size: int, *, spans: bool) -> tuple[int, int]:
    """Code and count, with ``memory_size`` bytes of work memory."""
    if not spans:
        return library.encode_within(text, memory_size)[:2]
    capacity = 12 * len(text) + 1
    memory = ctypes.create_string_buffer(max(memory_size, 1))
    work = Work(ctypes.addressof(memory), memory_size, None, 0)
    count = ctypes.c_size_t()
    texts = (text, len(text), None, 0, ctypes.c_int(1))
    results = ((ctypes.c_uint32 * capacity)(), (ctypes.c_uint32 * (2 * capacity))(), capacity)
    end = (ctypes.byref(count), ctypes.byref(work))
    return library.call("tkx_encode_spans", library._tkx, *texts, *results, *end), count.value


@pytest.mark.parametrize("spans", [False, True])
def test_the_macro_is_sufficient_for_a_pattern_with_many_states_and_unbounded_lookahead(
    library: Library, spans: bool
) -> None:
    assert library.open(file_bytes(read(byte_encoding(UNBOUNDED)))) == OK
    needs = []
    for text in TEXTS:
        data = text.encode()
        assert bound(library, data, spans=spans) <= macro(len(data))
        assert encode(library, data, macro(len(data)), spans=spans)[0] == OK
        needs.append(encode(library, data, 0, spans=spans)[0])
    assert WORK in needs


def test_the_bound_holds_what_was_read_in_vain_while_a_long_word_is_merged(
    library: Library,
) -> None:
    pattern = r"x(?:[a-z]{250})+!|x|[a-wyz]+"
    assert library.open(file_bytes(read(byte_encoding(pattern)))) == OK
    # After 8 vain reads all states are memoized; 31 x and the word are a batch.
    text = b"x" * (8 + 31) + b"a" * 25_000
    limit = bound(library, text, spans=False)
    assert encode(library, text, limit, spans=False)[0] == OK
    assert encode(library, text, 40 * len(text), spans=False)[0] == WORK


@pytest.mark.parametrize("name", runtime_samples.NAMES)
def test_the_bound_and_the_first_retry_have_enough_memory(library: Library, name: str) -> None:
    assert library.open(runtime_samples.content(name)) == OK
    for text in [PROSE, PROSE * 20, "é" * 3000, "x" * 5000, "ﷺ" * 300, *TEXTS]:
        data = text.encode()
        plain, aligned = (bound(library, data, spans=spans) for spans in (False, True))
        assert plain <= aligned
        for spans, limit in ((False, plain), (True, aligned)):
            code, needed = encode(library, data, 0, spans=spans)
            assert code != WORK or needed <= limit
            for size in (needed, limit):
                assert encode(library, data, size, spans=spans)[0] != WORK, text[:20]


def retries(library: Library, text: bytes) -> int:
    code, needed = encode(library, text, 0, spans=False)
    for count in range(9):
        if code != WORK:
            return count
        code, needed = encode(library, text, needed, spans=False)
    raise AssertionError("no amount of memory is enough")


def test_rewritten_text_needs_a_second_retry_only_for_a_long_run(library: Library) -> None:
    merging = {"vocab": BYTES | {"ab": 256}, "merges": [["a", "b"]]}
    source = document(normalizer={"type": "Lowercase"}, model=merging)
    assert library.open(file_bytes(read(reference(source)))) == OK
    prose = b"The Quick Brown Fox. "
    for count in (0, 10, 100, 1000):
        for size in (0, 1, 300, 1000):
            text = prose * count + b"aB" * (size // 2) + b" " + prose * count
            assert retries(library, text) <= 1, (count, size)
        assert retries(library, prose * count + b"aB" * 30_000) == 2


LONGEST = "صلى الله عليه وسلم"  # the normal form of U+FDFA: 33 bytes instead of 3
# Pairs of its letters, one of which crosses each position in it.
PAIRS = {left + right for left, right in itertools.pairwise(LONGEST * 2)}


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_text_needs_almost_the_bound_with_many_normalizers(library: Library, rounds: int) -> None:
    pieces = [["?", -9.0], *([text, -2.0] for text in sorted({*PAIRS, *LONGEST}))]
    model = {"type": "Unigram", "unk_id": 0, "vocab": pieces}
    source = whole(
        model, normalizer=normalizers(*[{"type": "NFKC"}, {"type": "Lowercase"}] * rounds)
    )
    assert library.open(file_bytes(read(reference(source)))) == OK
    text = ("\ufdfa" * 300).encode()
    limit = bound(library, text, spans=False)
    assert encode(library, text, limit, spans=False)[0] == OK
    assert encode(library, text, limit * 9 // 10, spans=False)[0] == WORK
