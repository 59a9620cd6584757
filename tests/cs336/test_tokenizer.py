"""The tokenizer of the assignment: special tokens first, then all merges in order."""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tokexport import load
from tokexport.cs336 import Merge, Tokenizer, get_tokenizer, run_train_bpe
from tokexport.errors import TokexportError, UnsupportedError

PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
END, PAIR, OTHER = "<|end|>", "<|end|><|end|>", "|>"
SPECIAL = [END, PAIR, OTHER]
BYTES = {byte: bytes([byte]) for byte in range(256)}
TEXTS = st.sampled_from(
    [
        *SPECIAL,
        *("<|", "end", "banana", " band", "anan", "é", "日本語", "12", "'s", "  ", "\n\n", "🙂"),
    ]
)
WORDS = ["banana", "band", "bananas", "end", "été", "日本", "日本語", "1234", "it's", "\n", "<|"]
Learned = tuple[dict[int, bytes], list[Merge]]


def prose() -> str:
    return " ".join(random.Random(336).choices(WORDS, k=3000))


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    path = tmp_path_factory.mktemp("cs336") / "text.txt"
    path.write_text(prose(), encoding="utf-8")
    return run_train_bpe(path, 310, [END])


def slowly_encoded(
    text: str, vocab: dict[int, bytes], merges: list[Merge], special: list[str]
) -> list[int]:
    """Applies every merge in order to every word."""
    ids = {token: id for id, token in vocab.items()}
    for name in special:
        ids.setdefault(name.encode(), len(ids))
    longest_first = "|".join(re.escape(name) for name in sorted(special, key=len, reverse=True))
    result = []
    for part in re.split(f"({longest_first})", text) if special else [text]:
        if part in special:
            result.append(ids[part.encode()])
            continue
        for word in regex.findall(PATTERN, part):
            symbols = [bytes([byte]) for byte in word.encode()]
            for left, right in merges:
                at = 0
                while at + 1 < len(symbols):
                    if (symbols[at], symbols[at + 1]) == (left, right):
                        symbols[at : at + 2] = [left + right]
                    at += 1
            result += [ids[symbol] for symbol in symbols]
    return result


@pytest.mark.parametrize("special", [[], [END], SPECIAL, SPECIAL[::-1]], ids=str)
def test_ids_equal_those_of_all_merges_in_order(special: list[str], learned: Learned) -> None:
    tokenizer = get_tokenizer(*learned, special)

    @given(st.lists(TEXTS | st.text(max_size=3).filter(_is_encodable)), st.data())
    def compare(texts: list[str], data: st.DataObject) -> None:
        text = "".join(texts)
        ids = slowly_encoded(text, *learned, special)
        assert tokenizer.encode(text) == ids
        assert tokenizer.decode(ids) == text
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
        parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        assert list(tokenizer.encode_iterable(parts)) == ids

    compare()


def _is_encodable(text: str) -> bool:
    """Whether both engines know all characters: those that are old in Unicode."""
    return all(character < "\u0250" for character in text)


def test_a_long_text_in_parts_has_the_ids_of_the_whole(learned: Learned) -> None:
    tokenizer = get_tokenizer(*learned, SPECIAL)
    text = "".join(f"{line}{END * (n % 3)}\n" for n, line in enumerate([prose()] * 40))
    ids = tokenizer.encode(text)
    for size in (1, 7, 4096, len(text)):
        parts = (text[at : at + size] for at in range(0, len(text), size))
        assert list(tokenizer.encode_iterable(parts)) == ids
    assert tokenizer.decode(ids) == text


def test_special_tokens_that_the_vocabulary_lacks_get_the_next_ids() -> None:
    tokenizer = get_tokenizer(BYTES | {300: b"<|end|>"}, [], [OTHER, END, PAIR, END])
    assert tokenizer.encode("<|end|><|end|>|><|end|>a") == [302, 301, 300, 97]
    assert get_tokenizer(BYTES | {300: b"<|end|>"}, []).encode(END) == list(END.encode())


def test_a_token_that_no_merge_produces_is_only_decoded() -> None:
    tokenizer = get_tokenizer(BYTES | {256: b"ab"}, [])
    assert (tokenizer.encode("ab"), tokenizer.decode([256])) == ([97, 98], "ab")


@given(st.lists(st.integers(0, 255) | st.sampled_from([0xE2, 0x98, 0x83, 0xF0, 0x9F])))
def test_invalid_utf8_is_decoded_as_in_python(ids: list[int]) -> None:
    assert ONLY_BYTES.decode(ids) == bytes(ids).decode(errors="replace")


ONLY_BYTES = Tokenizer(BYTES, [])


def test_invalid_ids_and_texts_are_refused() -> None:
    with pytest.raises(KeyError):
        ONLY_BYTES.decode([256])
    with pytest.raises(UnicodeEncodeError):
        ONLY_BYTES.encode("\ud800")


MERGES = [(b"a", b"b"), (b"ab", b"c")]
VOCAB = BYTES | {256: b"ab", 257: b"abc"}


@pytest.mark.parametrize(
    ("vocab", "merges", "special", "message"),
    [
        (VOCAB, MERGES[::-1], [], r"merges\[0\]: it needs b'ab', which no earlier merge produces"),
        (VOCAB, [*MERGES, (b"a", b"b")], [], r"merges\[2\]: it produces b'ab', which an earlier"),
        (VOCAB, [(b"", b"b")], [], r"merges\[0\]: it needs b''"),
        (BYTES, MERGES, [], r"merges\[0\]: it produces b'ab', which is not in the vocabulary"),
        (VOCAB | {258: b"ab"}, MERGES, [], "the ids 256 and 258 are both b'ab'"),
        ({1: b"a"}, [], [], r"255 of the 256 bytes are not tokens, the first of them b'\\x00'"),
        (BYTES | {-1: b"ab"}, [], [], "the id -1 is negative"),
        (BYTES | {1 << 30: b"ab"}, [], [], "the id 1073741824 is too large"),
        (BYTES, [], [""], "special_tokens: one of them is empty"),
    ],
)
def test_ambiguous_vocabularies_are_refused(
    vocab: dict[int, bytes], merges: list[Merge], special: list[str], message: str
) -> None:
    with pytest.raises(UnsupportedError, match=message):
        get_tokenizer(vocab, merges, special)


def test_one_special_token_is_given_in_a_list() -> None:
    with pytest.raises(TypeError, match="must be several special tokens, not str"):
        get_tokenizer(BYTES, [], "<|end|>")


def test_the_saved_file_has_the_same_ids(learned: Learned, tmp_path: Path) -> None:
    tokenizer = get_tokenizer(*learned, [END])
    tokenizer.save(tmp_path / "tokenizer.bin")
    text = prose() + END
    saved = load(tmp_path / "tokenizer.bin")
    assert saved.encode(text, allowed_special="all") == tokenizer.encode(text)
    with pytest.raises(TokexportError, match="exists"):
        tokenizer.save(tmp_path / "tokenizer.bin")


MEMORY = """
import sys
from tokexport.cs336 import get_tokenizer, run_train_bpe

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))

tokenizer = get_tokenizer(*run_train_bpe(sys.argv[1], 1000, ["<|end|>"]), ["<|end|>"])
with open("/proc/self/clear_refs", "w") as peaks:
    peaks.write("5")
before = peak()
with open(sys.argv[1], encoding="utf-8") as file:
    count = sum(1 for id in tokenizer.encode_iterable(file))
print(count, peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_five_megabytes_of_text_need_less_than_one_of_memory(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    document = prose() + END + "\n"
    path.write_text(document * (5_000_000 // len(document.encode()) + 1), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    count, growth = map(int, result.stdout.split())
    assert count > 900_000
    assert growth < 1_000_000
