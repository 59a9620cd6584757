"""A tokenizer is a view of its file, which it cannot change: it opens, or says why not."""

import copy
import errno
import json
import math
import os
import pickle
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bare_models import tokenizer_model
from construct import Array
from damage import Sections, damaged
from references import converted
from repository import SMALL
from runtime_samples import NAMES, content, encoding, tokenizer

import tokexport
from tokexport._core import REPLACE_SURROGATES
from tokexport.conversion import file_bytes
from tokexport.errors import FormatError
from tokexport.file import layout
from tokexport.model import UnigramModel
from tokexport.runtime import chat
from tokexport.runtime import tokenizer as runtime
from tokexport.runtime.failure import failure
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.special_tokens import AddedToken

FILE = content("ranks")


def section(subject: Tokenizer, tag: bytes) -> int:
    bounds = subject._core.section(tag)
    assert bounds is not None
    return bounds[0]


def changed(data: bytes, offset: int) -> bytes:
    """The file with one bit of a byte flipped."""
    return data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :]


def make_newer(sections: Sections) -> None:
    sections.file[9] ^= 1


RECORDS = int.from_bytes(FILE[64 + 8 : 64 + 16], "little")
REFUSED = {
    "empty": (b"", -20),
    "wrong magic": (b"GGUF" + FILE[4:], -21),
    "text mode": (FILE.replace(b"\r\n", b"\n"), -22),
    "too new": (damaged(FILE, make_newer), -23),
    "truncated": (FILE[:-1], -24),
    "truncated header": (FILE[:40], -24),
    "trailing": (FILE + b"\0", -25),
    "header bit": (changed(FILE, 25), -26),
    "section bit": (changed(FILE, RECORDS + dict(tokenizer("ranks").sections())["RECS"] - 1), -35),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_error_names_the_file_the_problem_and_a_remedy(name: str, tmp_path: Path) -> None:
    data, code = REFUSED[name]
    path = tmp_path / "it.bin"
    path.write_bytes(data)
    for source, shown in ((path, str(path)), (data, f"tokexport file of {len(data)} bytes")):
        with pytest.raises(FormatError, match="; ") as raised:
            load(source)
        assert raised.value.code == code
        assert str(raised.value).startswith(f"{shown}: ")


def test_a_damaged_file_is_not_called_a_bug_of_the_program_that_wrote_it() -> None:
    for offset in range(0, len(FILE), 331):
        with pytest.raises(FormatError, match=r"damaged|copy it again|newer|begins with"):
            load(changed(FILE, offset))


def test_every_error_code_of_the_header_has_its_own_sentence() -> None:
    header = (Path(tokexport.get_include()) / "tokexport.h").read_text(encoding="utf-8")
    codes = dict(re.findall(r"^    (TKX_E_\w+) = (-\d+)", header, re.MULTILINE))
    assert len(codes) > 25
    for code in (code for code in map(int, codes.values()) if code <= -20):
        error = failure("x.bin", code, 0, "What is wrong.")
        assert isinstance(error, FormatError)
        assert error.code == code
        assert str(error).startswith("x.bin: what is wrong; ")
    assert isinstance(failure("x.bin", int(codes["TKX_E_ARGUMENT"]), 0, "too long"), ValueError)


def test_a_path_that_cannot_be_read_is_an_os_error_with_a_sentence(tmp_path: Path) -> None:
    missing = tmp_path / "missing.bin"
    with pytest.raises(FileNotFoundError) as caught:
        load(missing)
    assert str(caught.value) == f"{missing}: cannot be read: No such file or directory"
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(missing))
    with pytest.raises(IsADirectoryError) as found:
        load(tmp_path)
    assert str(found.value) == f"{tmp_path}: cannot be read: Is a directory; name a file in it"
    with pytest.raises(OSError, match=r"^an empty path: cannot be read: No such file"):
        load("")
    wrong: Any = None
    with pytest.raises(TypeError, match="source must be a path or a file's bytes, not NoneType"):
        load(wrong)


def test_it_loads_from_a_path_a_str_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.bin"
    path.write_bytes(FILE)
    expected = encoding().encode_ordinary("the lighthouse")
    for source in (path, str(path), FILE, bytearray(FILE), memoryview(FILE)):
        assert load(source).encode("the lighthouse") == expected
        assert load(source, check=False).encode("the lighthouse") == expected
    assert load(path).path == path
    assert load(FILE).path is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_and_pickled_as_its_bytes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(FILE,))
    writer.start()
    subject = load(pipe)
    writer.join()
    assert subject.to_bytes() == FILE
    assert pickle.loads(pickle.dumps(subject)).to_bytes() == FILE


def test_it_cannot_be_changed() -> None:
    subject = tokenizer("ranks")
    for name in ("path", "_core", "extra"):
        with pytest.raises(AttributeError):
            setattr(subject, name, Path("other"))
    with pytest.raises(AttributeError):
        del subject._core
    for array in (subject.records, subject.scores):
        assert array is not None
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    mutable = bytearray(FILE)
    subject = load(mutable)
    mutable[:] = bytes(len(mutable))
    assert subject.encode("the lighthouse") == encoding().encode_ordinary("the lighthouse")


def test_it_is_pickled_by_path_or_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.bin"
    path.write_bytes(FILE)
    by_path = pickle.dumps(load(path))
    assert len(by_path) < 1000
    expected = encoding().encode_ordinary("the lighthouse")
    assert pickle.loads(by_path).encode("the lighthouse") == expected
    assert pickle.loads(pickle.dumps(load(FILE))).encode("the lighthouse") == expected
    path.write_bytes(content("gpt2"))
    with pytest.raises(FormatError, match="not the file that was pickled"):
        pickle.loads(by_path)


def test_a_copy_is_the_same_tokenizer() -> None:
    subject = tokenizer("ranks")
    assert copy.copy(subject) is subject
    assert copy.deepcopy([subject])[0] is subject


@pytest.mark.parametrize("name", NAMES)
def test_records_have_the_location_of_each_token(name: str) -> None:
    subject = tokenizer(name)
    offset = section(subject, b"BYTS")
    assert subject.records.dtype == layout.RECORD
    assert len(subject.records) == subject.n_vocab
    tokens = 0
    for id, record in enumerate(subject.records):
        kind = record["flags"] & layout.RecordFlag.KIND_MASK
        if kind == layout.RecordFlag.KIND_HOLE:
            with pytest.raises(KeyError):
                subject.decode_single_token_bytes(id)
            continue
        tokens += 1
        start = offset + int(record["offset"])
        written = content(name)[start : start + int(record["length"])]
        assert written == subject.decode_single_token_bytes(id)
        assert subject.is_special_token(id) == bool(record["flags"] & layout.RecordFlag.SPECIAL)
    assert tokens == subject.token_count


def test_scores_follow_from_the_merges() -> None:
    ranks = sorted(encoding()._mergeable_ranks.values())
    scores = tokenizer("ranks").scores
    assert scores is not None
    assert scores.dtype == np.float32
    merged = [id for id in ranks if len(encoding().decode_single_token_bytes(id)) > 1]
    assert scores[merged].tolist() == [float(np.float32(-math.log(rank + 1))) for rank in merged]
    assert {float(scores[id]) for id in ranks if id not in merged} == {-1e6}
    assert load(content("gpt2", decode_only=True)).scores is None


def test_ranks_exist_if_they_are_not_the_order_of_ids() -> None:
    assert tokenizer("gpt2").ranks is None
    model = json.loads((SMALL / "shuffled.json").read_text("utf-8"))["model"]
    merged = {model["vocab"]["".join(pair)]: rank for rank, pair in enumerate(model["merges"])}
    ranks, scores = tokenizer("shuffled").ranks, tokenizer("shuffled").scores
    assert ranks is not None
    assert {id: rank for id, rank in enumerate(ranks.tolist()) if rank != layout.NONE} == merged
    expected = [-math.log(merged[id] + 1) if id in merged else -1e6 for id in range(len(ranks))]
    assert scores is not None
    assert scores.tolist() == np.array(expected, np.float32).tolist()


def test_scores_that_need_64_bits_are_stored_only_in_64_bits() -> None:
    for score, tag in ((-0.1, "SC64"), (-0.5, "SCOR")):
        unigram = UnigramModel({b"a": 0, b"b": 1}, (score, -1.0), 0, -11.0)
        subject = load(file_bytes(tokenizer_model((b"a", b"b"), unigram)))
        assert {"SC64", "SCOR"} & dict(subject.sections()).keys() == {tag}
        assert subject.scores is not None
        assert subject.scores.tolist() == [score, -1.0]


def test_added_tokens_have_the_flags_of_the_source() -> None:
    added = {token.content: token for token in tokenizer("added").added_tokens}
    both, cat = added["<|both|>"], added["cat"]
    assert (both.special, both.lstrip, both.rstrip) == (True, True, True)
    assert (cat.single_word, cat.special, cat.normalized) == (True, False, False)
    assert added["né"].normalized
    assert tokenizer("added").special_tokens_set == {"<|end|>", "<|end|><|end|>", "<|both|>"}


def test_the_tokens_of_the_model_are_listed_like_in_tiktoken() -> None:
    assert tokenizer("ranks").token_byte_values() == encoding().token_byte_values()
    assert tokenizer("ranks").n_vocab == encoding().n_vocab
    assert tokenizer("ranks").special_tokens_set == encoding().special_tokens_set
    gpt2 = tokenizer("gpt2")
    assert gpt2.eot_token == gpt2.encode_single_token("<|endoftext|>")
    with pytest.raises(KeyError):
        _ = tokenizer("roberta").eot_token


def test_provenance_names_source_and_reference() -> None:
    provenance = tokenizer("gpt2").provenance
    assert provenance["exporter"] == f"tokexport {tokexport.__version__}"
    assert list(provenance["sha256"]) == ["gpt2.json"]
    assert "tokenizers" in provenance["reference"]


def test_the_self_test_counts_its_cases_and_finds_a_wrong_id() -> None:
    subject = converted(encoding())
    assert subject.self_test() >= 8
    assert tokenizer("ranks").self_test() == 0  # it was written without one
    data = bytearray(subject.to_bytes())
    start, size = section(subject, b"TEST"), layout.SelfTestHeader.sizeof()
    cases = layout.SelfTestHeader.parse(data[start : start + size]).case_count
    data[start + size + layout.SELF_TEST_CASE.itemsize * cases] ^= 1  # the first id
    with pytest.raises(FormatError, match="self test") as raised:
        load(bytes(data), check=False).self_test()
    assert raised.value.code == -11


def test_its_repr_describes_it(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(FILE)
    count = tokenizer("ranks").token_count
    assert repr(tokenizer("ranks")) == f"<tokexport.Tokenizer {count:,} tokens, from bytes>"
    assert str(tmp_path / "x.bin") in repr(load(tmp_path / "x.bin"))


def test_the_numbers_of_the_runtime_are_those_of_the_layout() -> None:
    assert layout.HeaderFlag.REPLACE_SURROGATES == REPLACE_SURROGATES
    flags = layout.RecordFlag
    expected = (flags.KIND_MASK, flags.KIND_MODEL, flags.SPECIAL)
    assert expected == (runtime.KIND_MASK, runtime.KIND_MODEL, runtime.SPECIAL)
    added = [layout.AddedFlag[field.upper()] for field in AddedToken.__slots__[2:-1]]
    assert list(runtime.ADDED_FLAGS) == added
    subject = tokenizer("ranks")
    assert (subject.records.dtype, runtime.MAGIC) == (layout.RECORD, layout.MAGIC)
    assert layout.FrameHeader.sizeof() == chat.HEADER_SIZE
    for number, role in enumerate(chat.ROLES):
        assert chat.STRIP_SYSTEM << number == layout.FrameFlag[f"STRIP_{role.upper()}"]
        assert chat.TRIMMED_SYSTEM << number == layout.FrameFlag[f"TRIMMED_{role.upper()}"]
    both = layout.FrameFlag.HAS_SYSTEM, layout.FrameFlag.TAKES_EMPTY
    assert both == (chat.HAS_SYSTEM, chat.TAKES_EMPTY)
    data = subject.to_bytes()
    parsed = Array(layout.Header.parse(data).section_count, layout.Section)
    sections = parsed.parse(data[layout.Header.sizeof() :])
    assert subject.sections() == [(one.tag.decode(), one.size) for one in sections]


def test_opening_does_not_read_the_vocabulary() -> None:
    subject = tokenizer("ranks")
    for tag, size in subject.sections():
        if tag in ("RECS", "BYTS", "TEST", "CUTS"):
            start = section(subject, tag.encode())
            noise = bytes(255 - byte for byte in FILE[start : start + size])
            file = FILE[:start] + noise + FILE[start + size :]
            assert load(file, check=False).n_vocab == subject.n_vocab
