"""A pickled tiktoken encoding is read by its opcodes; other pickles are refused, and none runs."""

import base64
import io
import pickle
import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from references import converted, refused
from tiktoken_encodings import byte_encoding

from tokexport.errors import SourceError, TokexportError, UnsupportedError
from tokexport.sources import read
from tokexport.sources.tiktoken.pickled import read_pickle

PATTERN = r" ?\p{L}+| ?\p{N}{1,2}|\s+|[^\s\p{L}\p{N}]+"
BYTES = [bytes([byte]) for byte in range(256)]


def encoding(seed: int = 0, merges: int = 40) -> tiktoken.Encoding:
    """An encoding whose tokens are merged from random ones."""
    generator = random.Random(seed)
    tokens: list[bytes] = []
    letters = "abcde é日".encode()
    while len(tokens) < merges:
        left, right = generator.choice(letters), generator.choice((*tokens, *b"abcde "))
        token = bytes([left]) + (right if isinstance(right, bytes) else bytes([right]))
        if token not in tokens:
            tokens.append(token)
    special = {f"<|special_{n}|>": 256 + merges + n for n in range(9)}
    return byte_encoding(PATTERN, tokens, special)


def pickled(subject: object, protocol: int = 4) -> bytes:
    """The pickle of an object by the pickler in Python."""
    out = io.BytesIO()
    pickle._Pickler(out, protocol).dump(subject)
    return out.getvalue()


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize("dump", [pickle.dumps, pickled], ids=["C", "Python"])
def test_a_pickle_is_read_like_its_encoding(
    dump: Callable[[object, int], bytes], protocol: int, tmp_path: Path
) -> None:
    for merges in (0, 1, 40, 2000):
        subject = encoding(protocol, merges)
        (tmp_path / "tokenizer.pkl").write_bytes(dump(subject, protocol))
        model, expected = read(tmp_path / "tokenizer.pkl"), read(subject)
        assert replace(model, provenance=expected.provenance) == expected
        assert [*model.provenance.sha256] == ["tokenizer.pkl"]


def test_the_pickle_of_nanochat_has_the_ids_of_its_ranks(shared: Path) -> None:
    folder = shared / "tokenizers" / "nanochat-rustbpe-8k"
    by_pickle = converted(folder / "tokenizer.pkl")
    by_ranks = converted(folder / "tokenizer.tiktoken", pattern="nanochat")
    assert by_pickle.n_vocab == by_ranks.n_vocab == 8192
    text = (shared / "corpora" / "cs336" / "german.txt").read_text(encoding="utf-8") + "<|bos|>"
    for allowed in ((), "all"):
        ids = by_ranks.encode(text, allowed_special=allowed)
        assert by_pickle.encode(text, allowed_special=allowed) == ids


def test_a_directory_is_read_by_its_pickle_not_by_ranks_without_a_pattern(tmp_path: Path) -> None:
    subject, ranks = encoding(), tmp_path / "tokenizer.tiktoken"
    lines = [
        b"%s %d\n" % (base64.b64encode(token), rank)
        for token, rank in subject._mergeable_ranks.items()
    ]
    ranks.write_bytes(b"".join(lines))
    (tmp_path / "tokenizer.pkl").write_bytes(pickle.dumps(subject))
    model = read(tmp_path)
    assert model.tokens == read(subject).tokens
    assert any("tokenizer.pkl is read; not read: tokenizer.tiktoken" in n for n in model.notes)
    assert [*read(tmp_path, pattern=PATTERN).provenance.sha256] == [ranks.name]
    (tmp_path / "tokenizer.pkl").write_bytes(pickle.dumps({"another": 1}))
    refused(UnsupportedError, r"tokenizer\.tiktoken: .* without a pattern", tmp_path)
    ranks.unlink()
    refused(UnsupportedError, "it is a Python pickle", tmp_path)


def short(text: str) -> bytes:
    return b"\x8c" + bytes([len(text)]) + text.encode()


CLASS = b"\x80\x04" + short("tiktoken.core") + short("Encoding") + b"\x93"
MADE = CLASS + b")\x81"
WHOLE = pickle.dumps(encoding(), 4)


def state(**changed: object) -> bytes:
    """The pickle of an encoding with another state."""
    known: dict[str, Any] = {
        "name": "x",
        "pat_str": PATTERN,
        "mergeable_ranks": {token: id for id, token in enumerate(BYTES)},
        "special_tokens": {"<|a|>": 256},
    }
    whole = {name: value for name, value in (known | changed).items() if value is not None}
    return MADE + pickle.dumps(whole, 3)[2:-1] + b"b."


# Each begins like the pickle of an encoding.
REFUSED = [
    (CLASS[:2] + short("tiktoken.core") + b"0cos\nsystem\n(X\x02\0\0\0lstR.", "POP at byte 17"),
    (b"\x80\x04ctiktoken.core\nEncoding\ncos\nsystem\n\x8c\x02ls\x85R.", "imports os.system"),
    (MADE + short("os") + short("system") + b"\x93" + short("ls") + b"\x85R.", "imports os.system"),
    (MADE + b"cbuiltins\nexec\n" + short("1") + b"\x85R.", "imports builtins.exec, at byte 30"),
    (b"\x80\x04ctiktoken core.Encoding\nx\n.", "a Python pickle"),
    (b"\x80\x04" + short("tiktoken.core") + short("os.system") + b"\x93.", "tiktoken.core.os.sys"),
    (b"\x80\x04ctiktoken.core\nread_file\n.", "imports tiktoken.core.read_file"),
    (CLASS + b")R.", "REDUCE at byte"),
    (CLASS + short("ls") + b"\x85\x81.", "TUPLE1 at byte"),
    (CLASS + b"}\x81.", "NEWOBJ at byte"),
    (CLASS + b")}\x92.", "NEWOBJ_EX at byte"),
    (MADE + b"(ios\nsystem\n.", "INST at byte"),
    (MADE + b"(" + CLASS[2:] + b"o.", "OBJ at byte"),
    (MADE + b"\x82\x01.", "EXT1 at byte"),
    (MADE + b"Pid\n.", "PERSID at byte"),
    (MADE + short("id") + b"Q.", "BINPERSID at byte"),
    (MADE + b"\x97.", "NEXT_BUFFER at byte"),
    (MADE + b"]b.", "EMPTY_LIST at byte"),
    (MADE + b"2.", "DUP at byte"),
    (MADE + b"}bNb.", "NONE at byte"),
    (MADE + short("gpt2") + b"b.", "the name 'gpt2', which tiktoken looks up"),
]
# What follows the class and its object.
DAMAGED_STATES = (
    *(b"h\x07b.", b"j\xff\xff\xff\xffb.", b"}u.", b"(" + short("a") + b"}u.", b"}}K\x01s."),
    *(b"}}b.", b"b.", b"(b.", b"\x8e" + b"\xff" * 7 + b"\x7f.", b"\x8d" + b"\xff" * 8 + b"."),
    *(b"\x8e" + b"\0" * 5 + b"\x10\0\0.", b"B\xff\xff\xff\x7f.", b"\x8b\xff\xff\xff\x7f."),
    *(b"X\x02\0\0\0\xff\xff.", b"\xff."),
)
DAMAGED = [*(MADE + data for data in DAMAGED_STATES), MADE[:-1], WHOLE + b"cos\nsystem\n."]
OTHER_STATES: list[Any] = [
    *({"name": None}, {"explicit_n_vocab": 1}, {"name": b"x"}, {"pat_str": b"x"}),
    *({"pat_str": "\ud800"}, {"special_tokens": {"\udfff": 1}}, {"special_tokens": {b"a": 256}}),
    *({"special_tokens": {"a": -1}}, {"mergeable_ranks": {"a": 1}}, {"mergeable_ranks": 7}),
    {"mergeable_ranks": {b"a": b"b"}},
]
OTHERS = [
    *(CLASS + b".", b"\x80\x02ctiktoken.core\nEncoding\n)\x81}b."),
    *(MADE + data for data in (b"}b}b.", b"}b}.", b".", b"}b.")),
    *(state(**changed) for changed in OTHER_STATES),
]
BROKEN = [
    *((data, "the pickle is damaged at byte .*; fetch it again") for data in DAMAGED),
    *((data, "does not hold an encoding as tiktoken saves it; expected") for data in OTHERS),
    (state(mergeable_ranks={b"a": 1}), "lack 255 of the 256 single bytes"),
    (state(mergeable_ranks=dict.fromkeys(BYTES, 7)), "the rank 7 has two tokens"),
]


@pytest.mark.parametrize(
    ("error", "data", "message"),
    [*((UnsupportedError, *case) for case in REFUSED), *((SourceError, *case) for case in BROKEN)],
)
def test_a_pickle_of_another_object_is_refused(
    error: type[TokexportError], data: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.pkl"
    path.write_bytes(data)
    tracemalloc.start()
    with pytest.raises(error, match=message) as caught:
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "tokenizer.pkl" in str(caught.value)
    assert peak < 50_000_000


def test_the_unchanged_pickle_of_these_tests_is_read(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.pkl").write_bytes(state())
    assert len(read(tmp_path / "tokenizer.pkl").tokens) == 257


def test_a_truncated_pickle_is_refused() -> None:
    for end in range(len(WHOLE)):
        with pytest.raises(SourceError):
            read_pickle(WHOLE[:end], "x.pkl")


@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=4)
)
def test_changed_bytes_are_read_or_refused_with_a_sentence(changes: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for place, byte in changes:
        data[place] = byte
    with suppress(TokexportError):
        read_pickle(bytes(data), "x.pkl")


def test_code_in_a_pickle_is_not_run(tmp_path: Path) -> None:
    class Trap:
        """An object whose pickle creates a file when it is loaded."""

        def __reduce__(self) -> tuple[object, tuple[str, ...]]:
            return (exec, (f"open({str(tmp_path / 'sprung')!r}, 'w').close()",))

    trap = pickle.dumps(Trap(), 4)[2:-1]
    for data in (
        pickle.dumps(Trap(), 4),
        MADE + trap + b"b.",
        WHOLE[:-1] + trap + b"b.",
        MADE + b"}(" + short("name") + trap + b"ub.",
    ):
        (tmp_path / "tokenizer.pkl").write_bytes(data)
        for source in (tmp_path / "tokenizer.pkl", tmp_path):
            refused(UnsupportedError, r"imports builtins\.exec|a Python pickle", source)
        assert not (tmp_path / "sprung").exists()
    with pytest.raises(TypeError):
        pickle.loads(MADE + trap + b"b.")
    assert (tmp_path / "sprung").exists()
