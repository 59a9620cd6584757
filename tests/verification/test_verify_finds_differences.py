"""verify finds, counts and reproduces every difference, and finds none if there is none."""

import dataclasses
import json
import os
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest
import tiktoken
import tokenizers
from references import converted, reference_for
from regex_patterns import TIKTOKEN
from tiktoken_encodings import byte_encoding

from tokexport.errors import FormatError, TokexportError
from tokexport.runtime.offsets import Encoding
from tokexport.verification import Verification, compare
from tokexport.verification.comparison import shrink
from tokexport.verification.report import Difference
from tokexport.verification.work import in_order

MERGED = [b"th", b"the", b" t", b" the", b"12", b"123", b"\xc3\xa9", b"'s", b"aa", b"aaaa", b"  "]
MERGED += [b"\n\n", b"\xf0\x9f"]
PATTERN = TIKTOKEN["tiktoken 0.14.0 cl100k_base"]


def tiny_tiktoken() -> tiktoken.Encoding:
    return byte_encoding(PATTERN, MERGED, {"<|end|>": 300, "<|start|>": 301, "[MASK]": 303})


def tiny_tokenizers() -> tokenizers.Tokenizer:
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    tokens = [*sorted(alphabet), "th", "the", "Ġthe", "aa"]
    vocab = {token: number for number, token in enumerate(tokens)}
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("a", "a")]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, merges))
    tokenizer.normalizer = tokenizers.normalizers.NFC()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    mask = tokenizers.AddedToken("<mask>", lstrip=True, normalized=False)
    tokenizer.add_special_tokens(["<s>", mask])
    tokenizer.add_tokens(["é1"])
    special = [("<s>", tokenizer.token_to_id("<s>"))]
    template = tokenizers.processors.TemplateProcessing("<s> $A", "<s> $A <s> $B:1", special)
    tokenizer.post_processor = template
    return tokenizer


Span: TypeAlias = tuple[int, int]


class Twin:
    """A converted tokenizer that behaves like its reference except for the changes of a test."""

    def __init__(self, source: Any, **options: Any) -> None:
        self.source, self.reference = source, reference_for(source)
        self.subject = converted(source, self_test=False, **options)
        self.change_ids: Callable[[str, list[int]], list[int]] = lambda text, ids: ids
        self.change_streamed: Callable[[str], str] = lambda text: text
        self.change_bytes: Callable[[int, bytes], bytes] = lambda id, content: content
        self.change_offsets: Callable[[str, list[Span], str], list[Span]] = (
            lambda text, offsets, unit: offsets
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.subject, name)

    def _with_bulk_from(self, size: int) -> "Twin":
        other = object.__new__(Twin)
        vars(other).update(vars(self), subject=self.subject._with_bulk_from(size))
        return other

    def encode_batch(self, texts: Sequence[str], **options: Any) -> list[list[int]]:
        encoded = self.subject.encode_batch(texts, **options)
        return [self.change_ids(text, ids) for text, ids in zip(texts, encoded, strict=True)]

    def encode_with_offsets(self, text: str, *, unit: Any = "char", **options: Any) -> Encoding:
        encoding = self.subject.encode_with_offsets(text, unit=unit, **options)
        offsets = self.change_offsets(text, encoding.offsets, unit)
        return Encoding(self.change_ids(text, encoding.ids), offsets, [], [])

    def encode_pair(self, first: str, second: str, **options: Any) -> list[int]:
        return self.change_ids(first + second, self.subject.encode_pair(first, second, **options))

    def decode_stream(self, **options: Any) -> Any:
        """Returns the whole text at the end, which is allowed."""
        stream = self.subject.decode_stream(**options)
        parts: list[str | None] = []

        def flush() -> str | None:
            text = "".join(part or "" for part in (*parts, stream.flush()))
            return self.change_streamed(text) or None

        return SimpleNamespace(step=lambda id: parts.append(stream.step(id)), flush=flush)

    def decode_single_token_bytes(self, id: int) -> bytes:
        return self.change_bytes(id, self.subject.decode_single_token_bytes(id))


@pytest.fixture(params=["tiktoken", "tokenizers"])
def twin(request: pytest.FixtureRequest) -> Twin:
    return Twin(tiny_tiktoken() if request.param == "tiktoken" else tiny_tokenizers())


def outcome(twin: Twin, **options: Any) -> Verification:
    """All of verify except the code points, which take ten seconds."""
    subject: Any = twin
    return compare(subject, twin.reference, **{"strings": 300, "code_points": False, **options})


def first_of(result: Verification) -> Difference:
    assert not result.ok
    assert result.first is not None
    return result.first


def test_a_file_does_not_differ_from_its_source_and_all_checks_are_counted(twin: Twin) -> None:
    result = outcome(twin)
    assert result.ok
    assert result.differences == 0
    assert result.first is None
    assert result.counts["bytes of ids"] == len(twin.reference.ids())
    assert result.counts["ids decoded"] == 2 * len(twin.reference.ids())
    assert result.counts["tokens encoded"] >= 7 * 256
    encoded = [name for name in result.counts if "decoded" not in name]
    assert sum(result.counts[name] for name in encoded if name.startswith("strings")) > 300
    assert f"{result.compared:,} comparisons: no differences" in result.lines()


def test_both_ids_of_a_piece_that_unigram_lists_twice_are_known() -> None:
    """WangchanBERTa lists <mask> twice."""
    pieces = [("<unk>", 0.0), ("<mask>", 0.0), ("a", -1.0), ("<mask>", 0.0)]
    source = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=0))
    assert list(source.get_vocab().values()).count(1) == 0
    twin = Twin(source)
    assert twin.reference.ids() == [0, 1, 2, 3]
    assert outcome(twin).ok


def test_every_code_point_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids do not matter here: the reference returns the same ones for every text."""
    twin = Twin(tiny_tiktoken())
    monkeypatch.setattr(twin.reference, "encode_batch", lambda texts, mode: [[1, 2]] * len(texts))
    seen: set[str] = set()

    def record(text: str, ids: list[int]) -> list[int]:
        seen.update(text)
        return [2, 1] if any(point in text for point in "\u017f\U0010ffff\ue000\x00") else [1, 2]

    twin.change_ids = record
    result = compare(twin, twin.reference, strings=0)  # type: ignore[arg-type]
    scalar_values = set(range(0x110000)) - set(range(0xD800, 0xE000))
    assert {ord(point) for point in seen} >= scalar_values
    assert result.counts["code points in context"] > len(scalar_values) + 3 * 0x40000
    # Those below U+40000 in four contexts each, U+10FFFF in one.
    assert result.differing["code points in context"] == 4 + 4 + 4 + 1
    assert outcome(twin, only="digits:0").ok


def test_one_wrong_id_in_one_string_is_found_and_shown(twin: Twin) -> None:
    wrong = max(twin.reference.ids())
    twin.change_ids = lambda text, ids: (
        [*ids[:-1], wrong] if "the" in text and "12" in text else ids
    )
    result = outcome(twin, strings=1000)
    first = first_of(result)
    assert result.differences == sum(result.differing.values()) > 0
    assert first.text is not None
    assert first.smallest is not None
    assert len(first.smallest) <= len("the12")
    assert first.found != first.expected
    assert first.found[-1] == wrong
    assert first.index == len(first.expected) - 1
    assert first.byte_offset is not None
    assert 0 <= first.byte_offset < len(first.text.encode())


def test_a_difference_that_is_not_found_alone_has_a_note_instead_of_a_command(twin: Twin) -> None:
    texts = count()
    twin.change_ids = lambda text, ids: ids[1:] if next(texts) == 1000 else ids
    result = outcome(twin, again="tokexport verify")
    first = first_of(result)
    assert result.differences == 1
    assert first.reproduce == ()
    assert any(f"not --only {first.key}" in note for note in result.notes)
    assert outcome(twin, only=first.key).ok


def test_the_report_has_a_command_that_reproduces_the_difference(twin: Twin) -> None:
    twin.change_ids = lambda text, ids: ids[1:]
    result = outcome(twin, seed=7, again="tokexport verify a.bin --against b.json")
    command = f"tokexport verify a.bin --against b.json --seed 7 --only {first_of(result).key}"
    assert first_of(result).reproduce == (command,)
    assert f"  again: {command}" in result.lines()


@pytest.mark.parametrize("unit", ["char", "byte"])
def test_an_id_at_another_position_is_found(unit: str) -> None:
    twin = Twin(tiny_tokenizers())
    assert outcome(twin).counts["offsets"] == 3 * (300 // 20)

    def shifted(text: str, offsets: list[Span], requested: str) -> list[Span]:
        return [
            (start, end + 1) if requested == unit and text[start:end] == " " else (start, end)
            for start, end in offsets
        ]

    twin.change_offsets = shifted
    result = outcome(twin)
    assert set(result.differing) == {"offsets"}
    assert first_of(result).smallest == " "
    repeated = outcome(twin, only=first_of(result).key)
    assert first_of(repeated).text == first_of(result).text


def test_a_file_without_offsets_is_compared_without_them_and_the_report_says_so() -> None:
    twin = Twin(tiny_tokenizers())

    def refuse(text: str, offsets: list[Span], unit: str) -> list[Span]:
        raise FormatError("the file cannot say", code=-13)

    twin.change_offsets = refuse
    result = outcome(twin)
    assert result.ok
    assert "offsets" not in result.counts
    assert any("cannot give offsets" in note for note in result.notes)


def test_two_tokens_with_swapped_bytes_are_found(twin: Twin) -> None:
    swapped = {65: 66, 66: 65}
    token_bytes = twin.reference.token_bytes
    twin.change_bytes = lambda id, content: token_bytes(swapped.get(id, id)) or b""
    result = outcome(twin)
    assert result.differing["bytes of ids"] == 2
    assert first_of(result).key == "id:65"


def test_a_stream_that_produces_another_text_is_found(twin: Twin) -> None:
    twin.change_streamed = lambda text: text.replace("a", "b", 1)
    result = outcome(twin)
    assert set(result.differing) == {"id sequences decoded one at a time"}
    first = first_of(result)
    assert first.action.startswith("decode as a stream")
    assert isinstance(first.expected, str)
    assert first.found == first.expected.replace("a", "b", 1)


def test_an_id_unknown_to_the_reference_is_a_difference(
    twin: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = twin.reference.ids()
    hole = 302 if 302 not in known and max(known) > 302 else max(known) + 1
    original = twin.decode_single_token_bytes

    def of_every_id(id: int) -> bytes:
        return b"x" if id == hole else original(id)

    monkeypatch.setattr(twin, "decode_single_token_bytes", of_every_id)
    result = outcome(twin)
    assert result.differing == {"ids that are refused": 1}
    assert (first_of(result).ids, first_of(result).expected) == ((hole,), "no such id")


def test_an_error_of_the_file_is_a_difference_not_a_crash(twin: Twin) -> None:
    def fail(text: str, ids: list[int]) -> list[int]:
        if "12" in text:
            raise TokexportError("the scratch memory is too small")
        return ids

    twin.change_ids = fail
    result = compare(twin, twin.reference, only="class:640")  # type: ignore[arg-type]
    assert first_of(result).found == "TokexportError: the scratch memory is too small"
    assert 0 < result.differences < result.compared


def test_special_tokens_in_text_are_compared_in_every_mode(twin: Twin) -> None:
    result = outcome(twin)
    contexts = result.counts["added tokens encoded"]
    assert contexts == 25 * len(twin.reference.added_tokens()) * len(twin.reference.modes)


def test_a_text_is_compared_whole_and_by_lines(twin: Twin, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(
        "the first\nthe é\u2028second <|end|>\r\n\xff".encode("latin-1", "ignore") + b"\xff"
    )
    result = outcome(twin, strings=0, texts=[path])
    assert result.counts["files"] == 2
    assert result.counts["lines of files"] == 2 * 3
    assert any("UTF-8" in note for note in result.notes)


def test_a_decode_only_file_is_compared_only_in_decoding_and_the_report_says_so(twin: Twin) -> None:
    result = outcome(Twin(twin.source, decode_only=True))
    assert result.ok
    sequences = {"id sequences decoded", "id sequences decoded one at a time"}
    assert set(result.counts) == {"bytes of ids", "ids decoded", "ids that are refused", *sequences}
    assert any("decode-only" in note for note in result.notes)


def test_the_report_mentions_another_release_of_the_library(twin: Twin) -> None:
    assert not outcome(twin, only="id:65").notes
    twin.reference.version = "0.1.0"
    notes = outcome(twin, only="id:65").notes
    assert len(notes) == 1
    assert "0.1.0 is installed" in notes[0]


def test_a_text_at_which_the_library_itself_fails_is_skipped_and_reported() -> None:
    tokenizer = tiny_tokenizers()
    # The first includes the white space that begins the second: "AddedVocabulary bad split".
    first = tokenizers.AddedToken("[R]", rstrip=True, normalized=False)
    second = tokenizers.AddedToken(" ", lstrip=True, normalized=False)
    tokenizer.add_special_tokens([first, second])
    result = outcome(Twin(tokenizer))
    assert result.ok
    assert any("itself fails" in note for note in result.notes), result.notes


def test_an_unknown_key_is_an_error(twin: Twin) -> None:
    for key in ("nonsense:1", "token:x", "digits", "class:", "class:D800", "class:110000", ""):
        with pytest.raises(TokexportError, match="names no comparison"):
            outcome(twin, only=key)
    with pytest.raises(TokexportError, match="names no comparison"):
        outcome(Twin(byte_encoding(PATTERN, MERGED)), only="added-tokens:7")
    for key in ("token:9999999", "added:65"):
        with pytest.raises(TokexportError, match="nothing to compare there"):
            outcome(twin, only=key)


def test_the_report_is_json_and_always_the_same(twin: Twin) -> None:
    twin.change_ids = lambda text, ids: ids[1:] if "é" in text else ids
    first, second = outcome(twin, strings=200), outcome(twin, strings=200)
    assert first.lines() == second.lines()
    assert json.loads(json.dumps(first.to_json()))["differences"] == first.differences
    assert dataclasses.asdict(first) == dataclasses.asdict(second)


def test_progress_is_reported_and_never_decreases_within_a_check(twin: Twin) -> None:
    seen: dict[str, list[int]] = {}
    outcome(twin, progress=lambda check, done, total: seen.setdefault(check, []).append(done))
    assert {"ids decoded", "tokens encoded", "strings: tokens"} <= set(seen)
    assert all(
        done == sorted(done) for name, done in seen.items() if not name.startswith("strings")
    )


def test_tasks_in_processes_return_results_in_order_and_errors() -> None:
    def refuse() -> int:
        raise TokexportError("refused")

    tasks = [lambda number=number: number * number for number in range(50)]
    assert list(in_order(tasks, 4)) == list(in_order(tasks, 1)) == [n * n for n in range(50)]
    with pytest.raises(TokexportError, match="refused"):
        list(in_order([*tasks, refuse], 4))
    with pytest.raises(TokexportError, match="ended early"):
        list(in_order([lambda: os._exit(3)], 2))


def test_the_smallest_differing_part_is_minimal() -> None:
    text = "lorem ipsum dolor" * 40 + "needle" + "sit amet" * 40
    assert shrink(text, lambda part: "needle" in part) == "needle"
    assert shrink("ab", lambda part: part == "ab") == "ab"
