"""A tokenizer.json of version 2.0 produces the ids of the library that reads it, tokenizers
1.0.0rc3, or is refused.

The ids in fixtures/version_2 are from that library (fixtures/make_version_2.py); if it is
installed, the files are also compared with it on random strings.
"""

import copy
import json
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from command_line import Run
from hypothesis import given
from hypothesis import strategies as st
from json_parts import metaspace, pre_tokenizers
from reader_samples import BYTE_LEVEL, read_document
from references import assert_same, converted, reference_for
from repository import FIXTURES, script

from tokexport import Tokenizer
from tokexport.cli.diagnose import parts_of
from tokexport.errors import SourceError, TokexportError, UnsupportedError
from tokexport.model import Dialect, NormalForm, Provenance
from tokexport.model.normalization.normalize import normal_form
from tokexport.sources.tokenizer_json_2 import unicode_17
from tokexport.unicode import property_set

FOLDER = FIXTURES / "version_2"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
IS_INSTALLED = int(tokenizers.__version__.partition(".")[0]) >= 1
MAKER = script(FIXTURES / "make_version_2.py")
TEMPLATE: Any = {"allowed_special": "all", "add_special_tokens": True}


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def tokenizer(name: str) -> Tokenizer:
    return converted(FOLDER / f"{name}.json", self_test=IS_INSTALLED)


def test_the_ids_and_texts_equal_those_of_the_library(name: str, tokenizer: Tokenizer) -> None:
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    before = "the"
    for case in map(json.loads, lines):
        text = case["text"]
        assert tokenizer.encode(text, allowed_special="all") == case["ids"], text
        assert tokenizer.encode(text) == case["plain"], text
        ids = tokenizer.encode(text, **TEMPLATE)
        assert ids == case["template"], text
        assert tokenizer.decode(ids) == case["decoded"], text
        assert tokenizer.decode(ids, skip_special_tokens=True) == case["skipped"], text
        assert tokenizer.encode_pair(text, before, **TEMPLATE) == case["pair"], text
        before = text


def test_the_files_equal_the_output_of_the_script() -> None:
    written = {name: json.loads((FOLDER / f"{name}.json").read_text("utf-8")) for name in NAMES}
    assert written == MAKER.documents()


@pytest.mark.skipif(not IS_INSTALLED, reason="tokenizers 1.0 is not installed")
def test_random_strings_have_the_ids_of_the_library(name: str, tokenizer: Tokenizer) -> None:
    assert_same(tokenizer, reference_for(FOLDER / f"{name}.json"), strings=2000)


@pytest.mark.skipif(IS_INSTALLED, reason="tokenizers 1.0 is installed")
def test_with_another_library_a_sentence_says_what_to_do(run: Run, tmp_path: Path) -> None:
    source, target = FOLDER / "bytes_gpt2.json", tmp_path / "it.bin"
    done = run("convert", source, "-o", target)
    assert done.code == 0
    for part in ("Nothing was compared", "bytes_gpt2.json", tokenizers.__version__, "1.0.0rc3"):
        assert part in done.stderr
    with pytest.raises(TokexportError, match=r"from 1\.0 on"):
        reference_for(source)


ABSENT = object()


def changed(name: str, place: str, value: object) -> dict[str, Any]:
    """A file with another value at a path, such as ``model.merges.0``; ABSENT removes it."""
    document: dict[str, Any] = copy.deepcopy(MAKER.documents()[name])
    *path, last = place.split(".")
    inner: Any = document
    for step in path:
        inner = inner[int(step) if isinstance(inner, list) else step]
    if value is ABSENT:
        del inner[last]
    else:
        inner[int(last) if isinstance(inner, list) else last] = value
    return document


METASPACE = metaspace("first", False)
CUT = {"type": "Split", "pattern": {"String": ""}, "behavior": "Isolated", "invert": False}
OVERLAPPING = [MAKER.added(24, "[[a]]"), MAKER.added(25, "[[b]]", special=False)]
FIRST = "pre_tokenizer.pretokenizers.0"
LONGER = MAKER.LLAMA3.replace("{1,3}", "{1,4}")
MANY = {"Regex": "a+"}
PATTERNS = "word_level_patterns"
SPECIAL = {"SpecialToken": {"id": "<s>", "type_id": 0}}
S, U = SourceError, UnsupportedError
EARLY = MAKER.early_character(taken=False)
NUL = "\0"
REFUSED: list[tuple[str, Any, str, object, str]] = [
    ("bytes_cl100k", S, FIRST, pre_tokenizers(BYTE_LEVEL), "another Sequence in it"),
    ("bytes_cl100k", U, f"{FIRST}.pattern.Regex", LONGER, "no engine"),
    ("bytes_deepseek", U, "pre_tokenizer.pretokenizers.1.pattern.Regex", r"\s", "DeepSeek"),
    ("bytes_gpt2", (S, U), "post_processor", {**BYTE_LEVEL}, "post_processor"),
    ("bytes_gpt2", S, "model.merges.0", "t h", "a pair of strings"),
    ("bytes_gpt2", S, "pre_tokenizer", BYTE_LEVEL, "byte_level of the model"),
    ("bytes_gpt2", S, "pre_tokenizer", METASPACE, "MetaspaceNormalizer"),
    ("bytes_gpt2", S, "pre_tokenizer", CUT, "non-empty"),
    ("bytes_gpt2", U, "model.type", "Trie", "use BPE"),
    ("bytes_gpt2", S, "model.vocab", {"a": 0}, "byte 0x00"),
    ("bytes_gpt2", S, "model.dropout", 1.5, "a number from 0 to 1"),
    ("bytes_gpt2", U, "extra", 1, "the fields known here"),
    ("bytes_gpt2", U, "pre_tokenizer.pattern.Regex", r"\w+|\s+", "no engine"),
    ("bytes_gpt2", U, "pre_tokenizer.behavior", "Removed", "Isolated"),
    ("bytes_gpt2", U, "model.end_of_word_suffix", "</w>", "byte_level is true"),
    ("bytes_gpt2", U, "version", "3.0", 'version "3.0" is unknown'),
    ("bytes_gpt2", U, "model.merges", [], "no merges make the character"),
    ("bytes_gpt2", U, "model", EARLY, "before its own bytes"),
    ("characters_first", S, "normalizer.prepend", True, "a string"),
    ("characters_first", S, "normalizer.prepend", "sometimes", "always"),
    ("characters_first", S, "post_processor.single", [{"seq": "B"}], "each once"),
    ("characters_first", S, "post_processor.pair", [{"seq": "B"}, {"seq": "A"}], "each once"),
    ("characters_first", S, "post_processor.single.0", {"ids": [1], "seq": "A"}, "each once"),
    ("characters_first", S, "normalizer.replacement", "▁▁", "a single character"),
    ("characters_first", S, "model.unk_token", "<none>", "a token of the vocabulary"),
    ("characters_first", S, "model.vocab.<0x41>", ABSENT, "one for every byte"),
    ("characters_first", U, "post_processor.single.0", SPECIAL, "SpecialToken"),
    ("characters_prefixed", U, "model.end_of_word_suffix", "</w>", "a token of one character"),
    ("unigram_dropping", U, "added_tokens", OVERLAPPING, "does not find this token"),
    ("unigram_dropping", U, "normalizer.normalizers.1.prepend", "first", "with drop_whitespace"),
    ("unigram_dropping", U, "normalizer.normalizers.1.prepend", "never", "with drop_whitespace"),
    ("unigram_marks", U, "added_tokens.2.content", "<Mask>", "normalizes to the same text"),
    ("unigram_marks", U, "added_tokens.1.content", "<mask>", "normalizes to the same text"),
    ("word_piece", U, "normalizer.clean_text", False, "with U\\+0000 in a text"),
    ("word_piece", S, f"model.vocab.{NUL}", 99, "a token with U\\+0000"),
    ("word_level_added", U, "added_tokens.1.content", "\u00e9", "an ASCII character"),
    (PATTERNS, U, "normalizer.normalizers.0.content", "", "match at least one character"),
    (PATTERNS, U, "normalizer.normalizers.1.pattern.Regex", r"(a+)\1", "a reference to a group"),
    (PATTERNS, U, "decoder.decoders.0.pattern", MANY, "use a pattern without special characters"),
]


@pytest.mark.parametrize(("name", "error", "place", "value", "words"), REFUSED)
def test_documents_that_the_library_refuses_or_treats_differently_are_refused(
    name: str, error: Any, place: str, value: object, words: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        read_document(changed(name, place, value), tmp_path)


DEFAULTS = [
    ("bytes_gpt2", f"model.{name}", False)
    for name in ("fuse_unk", "byte_fallback", "ignore_merges")
]
DEFAULTS += [("word_level", "pre_tokenizer.pretokenizers.1.individual_digits", False)]


@pytest.mark.parametrize(("name", "place", "value"), DEFAULTS)
def test_omitted_fields_have_defaults(name: str, place: str, value: object, tmp_path: Path) -> None:
    absent, given = (
        replace(read_document(changed(name, place, one), tmp_path), provenance=Provenance("test"))
        for one in (ABSENT, value)
    )
    assert absent == given


def test_empty_pre_tokens_are_not_cuts(tmp_path: Path) -> None:
    document = changed("word_level", "truncation", None)
    whole = read_document(document, tmp_path)
    document["pre_tokenizer"]["pretokenizers"].insert(1, {"type": "FixedLength", "length": 0})
    none = read_document(document, tmp_path)
    assert replace(none, provenance=whole.provenance) == whole
    if IS_INSTALLED:
        assert_same(converted(tmp_path), reference_for(tmp_path), strings=300)


def test_inspect_shows_whether_each_part_is_refused(tmp_path: Path) -> None:
    token = MAKER.added(0, "\u00e9", single_word=True)
    document = changed("characters_first", "added_tokens.0", token)
    document["model"]["dropout"] = 0.1
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), "utf-8")
    refused = [part.place for part in parts_of(tmp_path).parts if part.refusals]
    assert refused == ["model", "added_tokens[0]"]


def test_a_property_of_unicode_17_only_adds_new_characters_to_16() -> None:
    letters = {name: ranges for name, ranges in unicode_17._NEW.items() if ranges}
    assigned = ~property_set("Cn", Dialect.ONIGURUMA)
    for name, ranges in letters.items():
        members = property_set(name, Dialect.ONIGURUMA)
        for part in ranges.split():
            first, _, last = part.partition("-")
            for code_point in range(int(first, 16), int(last or first, 16) + 1):
                assert not members[code_point]
                assert code_point == 0x295 or not assigned[code_point]


def test_a_newer_python_agrees_about_these_characters() -> None:
    if unicodedata.unidata_version < "17":
        pytest.skip("needs Unicode 17 in Python")
    for name, ranges in unicode_17._NEW.items():
        for part in ranges.split():
            assert unicodedata.category(chr(int(part.partition("-")[0], 16))).startswith(name)


def test_the_normal_forms_of_unicode_17_include_characters_after_unicode_9() -> None:
    assert normal_form("\u32ff", NormalForm.NFKC) == "\u32ff"
    assert normal_form("\u32ff", NormalForm.NFKC_17) == "令和"
    # U+1AC9 has class 230, and is new in Unicode 14: it is sorted after a mark of class 220.
    assert normal_form("a\u1ac9\u0323", NormalForm.NFD) == "a\u1ac9\u0323"
    assert normal_form("a\u1ac9\u0323", NormalForm.NFD_17) == "a\u0323\u1ac9"


@given(st.text())
def test_old_characters_are_normalized_as_in_python(text: str) -> None:
    # Python has Unicode 13 or newer; normal forms of assigned characters never change.
    assigned = "".join(character for character in text if unicodedata.category(character) != "Cn")
    for name in ("NFC", "NFD", "NFKC", "NFKD"):
        expected = unicodedata.normalize(name, assigned)
        assert normal_form(assigned, NormalForm[f"{name}_17"]) == expected
