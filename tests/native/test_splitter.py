"""The splitter cuts every text like the core, in every vector width, and reads nothing outside."""

import ctypes
import mmap
import random
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from bare_models import merge_rows, tokenizer_model
from c_harness import COMPILERS, EMULATE, RUNTIME, compile_c, run, run_for_bytes
from numpy.typing import NDArray
from regex_patterns import PUBLISHED, TIKTOKEN, TOKENIZER_JSON, TRINITY, UNBOUNDED_LOOK_AHEAD
from repository import ROOT, SLOW

from tokexport._core import Core, SplitText, split_widths
from tokexport.conversion import file_bytes
from tokexport.model import Behavior, BytePairModel, CharacterTest, PreTokenizerStep, Split

Ends = NDArray[np.uint32]
CoreSplits = Callable[[bytes, memoryview], Ends]

TEXTS = 10_000 if SLOW else 250
EMULATED_TEXTS = 5_000 if SLOW else 250
LONGEST = 40_000

PATTERNS = {**TOKENIZER_JSON, **TIKTOKEN, **PUBLISHED, **TRINITY, **UNBOUNDED_LOOK_AHEAD}
# Two have 500 states, to count spaces. Matches of the others are empty, or depend on text before
# them, or on unbounded text after them.
UNSUPPORTED = {
    *("llama.cpp jais2 #1", "llama.cpp jais2 #2"),
    *("llm-jp normalizer", "Bengali colon", "Trinity #1", "Trinity #2", "Trinity #3"),
    *("llama.cpp tiny-aya", "llama.cpp superbpe"),
}

# Text that patterns distinguish, similar text, and characters with unexpected lengths in UTF-8.
ITEMS = [
    *(" ", "  ", "\t", "\n", "\r", "\r\n", "\n\n", "\u00a0", "\u2028", "\u3000", "\v", "\u0085"),
    *("0", "7", "12", "123", "1234567", "\u0663", "\u096a", "\u00b2", "\u2167"),
    *("'", "'s", "'S", "'re", "'LL", "\u2019", "\u017f", "'\u017f", "\u212a"),
    *("\u01c5", "A", "B", "a", "b", "hello", "World", "HTTPServer", "\u00e9", "\u02b0", "\u0345"),
    *("e\u0301", "\u0301", "\u093e", "中", "文字", "か", "カー", "・", "한글", "。", "，", "Ａ"),
    *("😀", "👨\u200d👩", "\U00020000", "\U0002a6d6", "\u200d", "\ufe0f", "\U000e0001"),
    *(".", ",", "!", "/", "//", "_", "-", "(", "=", "+", "$", "€", "Пр", "ш", "س", "ก"),
    *("\0", "\x01", "\x7f", "\ufffd", "\ue000", "\U0010fffd", "[START_SMILES]", "[END_SMILES]"),
]


def random_text(r: random.Random) -> str:
    """A text of up to 40 KB of few or all items, with long runs."""
    longest = r.choices([60, 700, 6000, LONGEST], [60, 30, 9, 1])[0]
    items = r.sample(ITEMS, r.randrange(1, 7)) if r.random() < 0.5 else ITEMS
    parts, size, target = [], 0, r.randrange(longest)
    while size < target:
        repeats = 1 if r.random() < 0.9 else r.randrange(20) if r.random() < 0.98 else 3000
        part = r.choice(items) * min(repeats, target - size + 1)
        parts.append(part)
        size += len(part)
    return "".join(parts)


def byte_model(*stages: PreTokenizerStep) -> bytes:
    """A file with these stages and a token for each byte."""
    vocab = {bytes([byte]): byte for byte in range(256)}
    return file_bytes(
        tokenizer_model(vocab, BytePairModel(vocab, merge_rows()), pre_tokenizer=stages)
    )


@pytest.fixture(scope="module")
def core_splits(tmp_path_factory: pytest.TempPathFactory) -> CoreSplits:
    """The stages of the core, as a C function."""
    if not COMPILERS:
        pytest.skip("no C compiler")
    source = Path(__file__).with_name("core_splits.c")
    target = tmp_path_factory.mktemp("core") / "core_splits.so"
    flags = ("-O2", "-shared", "-fPIC", "-Wno-unused-function")
    function = ctypes.CDLL(str(compile_c(COMPILERS[0], [source], target, *flags))).core_splits
    function.restype = ctypes.c_size_t
    memory = ctypes.create_string_buffer(1 << 24)

    def splits(file: bytes, text: memoryview) -> Ends:
        array = np.frombuffer(text, np.uint8)
        ends = np.empty(len(array) + 1, np.uint32)
        count = function(
            file,
            ctypes.c_size_t(len(file)),
            ctypes.c_void_p(array.ctypes.data),
            ctypes.c_size_t(len(array)),
            ctypes.c_void_p(ends.ctypes.data),
            memory,
            ctypes.c_size_t(len(memory)),
        )
        assert count <= len(array)
        return ends[:count]

    return splits


class Memory:
    """Memory for a text: before an inaccessible page, or anywhere between bytes 00 or FF."""

    def __init__(self) -> None:
        size = 1 << 18
        self._map = mmap.mmap(-1, size + mmap.PAGESIZE)
        self._guarded = memoryview(self._map)[:size]
        address = np.frombuffer(self._map, np.uint8).ctypes.data + size
        libc = ctypes.CDLL(None)
        assert libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0

    def place(self, r: random.Random, text: bytes) -> memoryview:
        """A view of a copy of the text."""
        if r.random() < 0.5:
            self._guarded[len(self._guarded) - len(text) :] = text
            return self._guarded[len(self._guarded) - len(text) :]
        offset = r.randrange(64)
        buffer = bytearray(r.choice((b"\0", b"\xff")) * (offset + len(text) + 64))
        buffer[offset : offset + len(text)] = text
        return memoryview(buffer)[offset : offset + len(text)]


@pytest.fixture(scope="module")
def memory() -> Memory:
    return Memory()


def splitters(file: bytes) -> list[SplitText]:
    core = Core(file, "a file of the tests")
    return [SplitText(core, width) for width in split_widths()]


def is_supported(file: bytes) -> bool:
    return splitters(file)[0].ends(b"") is not None


def compare(
    file: bytes, texts: Iterator[str], reference: CoreSplits, memory: Memory, r: random.Random
) -> None:
    ours = splitters(file)
    for text in texts:
        view = memory.place(r, text.encode())
        expected = reference(file, view)
        for splitter in ours:
            ends = splitter.ends(view)
            assert ends is not None
            assert np.array_equal(ends, expected), repr(text[:1000])


def random_texts(r: random.Random, count: int) -> Iterator[str]:
    return (random_text(r) for _ in range(count))


@pytest.mark.parametrize("name", PATTERNS)
def test_a_published_pattern_cuts_like_the_core(
    name: str, core_splits: CoreSplits, memory: Memory
) -> None:
    file = byte_model(Split(PATTERNS[name]))
    assert is_supported(file) == (name not in UNSUPPORTED)
    if name in UNSUPPORTED:
        return
    r = random.Random(name)
    compare(file, random_texts(r, TEXTS), core_splits, memory, r)


def random_stages(r: random.Random) -> list[Split]:
    """One to three stages that keep the whole text."""
    kept = [behavior for behavior in Behavior if behavior is not Behavior.REMOVED]
    choices: Sequence[str | CharacterTest] = [*PATTERNS.values(), *CharacterTest]
    return [
        Split(r.choice(choices), r.choice(kept), r.random() < 0.3) for _ in range(r.randrange(1, 4))
    ]


@pytest.mark.parametrize("seed", range(400 if SLOW else 60))
def test_a_sequence_of_random_stages_cuts_like_the_core(
    seed: int, core_splits: CoreSplits, memory: Memory
) -> None:
    r = random.Random(seed)
    file = byte_model(*random_stages(r))
    if not is_supported(file):
        pytest.skip("a stage is unsupported, or the tables are too large")
    compare(file, random_texts(r, TEXTS // 5), core_splits, memory, r)


def cut_texts(file: bytes, r: random.Random, texts: Iterable[str]) -> int:
    """Compares both sides of cuts with the whole; returns the number of cuts."""
    splitter = SplitText(Core(file, "a file of the tests"), 0)
    cuts = 0
    for text in texts:
        data = text.encode()
        size = r.randint(0, len(data))
        if cut := splitter.last_cut(memoryview(data)[:size]):
            full, left, right = map(splitter.ends, (data, data[:cut], data[cut:]))
            assert full is not None
            assert left is not None
            assert right is not None
            assert np.array_equal(full, [*left, *(right + cut)]), (text[:1000], cut)
            cuts += 1
    return cuts


@pytest.mark.parametrize("name", [name for name in PATTERNS if name not in UNSUPPORTED])
def test_both_sides_of_a_certain_cut_of_a_pattern_are_split_like_the_whole(name: str) -> None:
    file, r = byte_model(Split(PATTERNS[name])), random.Random(name)
    cuts = cut_texts(file, r, random_texts(r, TEXTS))
    assert cuts > TEXTS // 2 or name not in TIKTOKEN


@pytest.mark.parametrize("seed", range(400 if SLOW else 60))
def test_both_sides_of_a_certain_cut_of_several_stages_are_split_like_the_whole(seed: int) -> None:
    r = random.Random(seed)
    cut_texts(byte_model(*random_stages(r)), r, random_texts(r, TEXTS // 5))


@pytest.mark.parametrize(
    "pattern", ["a+b(?=c)|[abc]", "a+(?=c)|[abc]", "a(?:bb)?(?!c)|b|c", r"\s+(?!\S)|\s|a+|b"]
)
def test_the_text_that_a_match_reads_is_on_one_side_of_a_cut(pattern: str) -> None:
    file, r = byte_model(Split(pattern)), random.Random(pattern)
    assert is_supported(file)
    letters = ("".join(r.choices("abc \n", k=r.randint(1, 12))) for _ in range(10 * TEXTS))
    assert cut_texts(file, r, letters) > TEXTS


@pytest.mark.parametrize("pattern", ["a*b|a", r" *\n|a+c| ", "(?:aa)*b|a", "(?:a| )*b|aa?| "])
def test_a_pattern_that_reads_on_in_vain_takes_linear_time(
    pattern: str, core_splits: CoreSplits, memory: Memory
) -> None:
    """A quadratic splitter would take minutes."""
    file = byte_model(Split(pattern))
    assert is_supported(file)
    r = random.Random(pattern)
    for repeated in ("a", " ", "aa "):
        texts = (repeated * (200_000 // len(repeated)) + end for end in ("", "b", "c", "\n"))
        compare(file, texts, core_splits, memory, r)


def test_an_unsupported_vector_width_is_an_error() -> None:
    core = Core(byte_model(Split("a")), "a file of the tests")
    with pytest.raises(ValueError, match="no vectors of that width"):
        SplitText(core, 100)


@pytest.fixture(scope="module")
def neon_program(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    """The command that cuts with NEON, or without vectors, on an emulated machine."""
    compiler, emulator = "aarch64-linux-gnu-g++", "qemu-aarch64"
    if not (shutil.which(compiler) and shutil.which(emulator)):
        pytest.skip(f"{compiler} or {emulator} is not installed")
    target, bridge = (tmp_path_factory.mktemp("neon") / name for name in ("splits", "bridge.o"))
    native = ROOT / "tokexport" / "native"
    core, include = native / "engine" / "bridge" / "bridge.c", f"-I{native}"
    compile_c("aarch64-linux-gnu-gcc", [core], bridge, "-c", "-DTKX_BULK", include)
    sources = [Path(__file__).with_name("splits.cpp"), *sorted((native / "engine").rglob("*.cpp"))]
    sources += [native / "memory" / "large_pages.cpp", bridge]
    flags = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-static"]
    folders = [f"-I{RUNTIME}", include]
    run([compiler, *flags, *folders, "-DTKX_BULK", *sources, "-o", target])
    return [emulator, target]


@EMULATE
@pytest.mark.parametrize("name", [name for name in PATTERNS if name not in UNSUPPORTED])
def test_a_published_pattern_cuts_with_neon_like_the_core(
    name: str, core_splits: CoreSplits, neon_program: list[str | Path]
) -> None:
    file, r = byte_model(Split(PATTERNS[name])), random.Random(name)
    texts = [text.encode() for text in random_texts(r, EMULATED_TEXTS)]
    blocks = b"".join(struct.pack("<I", len(block)) + block for block in (file, *texts))
    cuts = np.frombuffer(run_for_bytes([*neon_program, "128"], stdin=blocks), "<u4")
    for text in texts:
        count = int(cuts[0])
        assert np.array_equal(cuts[1 : 1 + count], core_splits(file, memoryview(text))), text[:999]
        cuts = cuts[1 + count :]
    assert not len(cuts)
