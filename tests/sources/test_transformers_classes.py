"""A directory with a class of ``transformers`` produces the ids, texts and offsets of
AutoTokenizer, for every class of that library that has a tokenizer.json.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from reader_samples import CHARACTERS, added
from references import assert_same, converted, reference_for, refused
from sentencepiece_training import train

import tokexport
from tokexport.errors import MissingLibraryError, SourceError, UnsupportedError
from tokexport.sources import read
from tokexport.sources.reference import Mode, ReferenceStopsError
from tokexport.sources.sentencepiece.proto import Piece, PieceType, SentencePieceModel, serialize

transformers = pytest.importorskip("transformers")

WORDS = [*"abcehilnorstwABT.,!?'1é中", "the", "he", "##s", "##a", "##t", "cat", "sat", "##at"]
PAIRS = [("t", "h"), ("th", "e"), ("a", "t"), ("c", "at"), ("\u0120", "the"), ("e", "\u0120")]
PARTS = [*"abcehstTH 1.,'é中\t\n", "the ", " cat", "[SEP]", "<mask>", "</s>", "<x>"]
RANDOM = random.Random(1)
TEXTS = ["The cat's at 1  é中 <x> sat!", "  the\tTHE\n</s> [MASK] <mask> cat", "", " "]
TEXTS += ["".join(RANDOM.choices(PARTS, k=RANDOM.randrange(1, 16))) for _ in range(100)]
BPE = {"type": "BPE", "vocab": {"[UNK]": 0, "t": 1, "he": 2}, "merges": []}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}
# Classes that require boxes or nodes with a text.
WITH_BOXES = ("LayoutLMv2Tokenizer", "LayoutLMv3Tokenizer", "MarkupLMTokenizer")


def wordpiece(folder: Path, *special: str) -> None:
    tokens = [*special, "[QUESTION]", *WORDS, *(f"##{word}" for word in WORDS if len(word) == 1)]
    (folder / "vocab.txt").write_text("\n".join([*dict.fromkeys(tokens), ""]), "utf-8")


def pair(folder: Path, *special: str, suffix: str = "") -> None:
    """Every byte, also at the end of a word if there is a ``suffix``, and merged tokens."""
    alphabet, merges = CHARACTERS, PAIRS
    if suffix:
        alphabet = [*CHARACTERS, *(character + suffix for character in CHARACTERS)]
        merges = [("t", "h"), ("th", "e" + suffix), ("a", "t" + suffix)]
    tokens = [*special, *alphabet, *("".join(merge) for merge in merges)]
    vocab = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    (folder / "vocab.json").write_text(json.dumps(vocab), "utf-8")
    lines = ["#version: 0.2", *(" ".join(merge) for merge in merges), ""]
    (folder / "merges.txt").write_text("\n".join(lines), "utf-8")


def pieces(folder: Path, name: str, model_type: str, **special: Any) -> None:
    size = 60 if model_type == "unigram" else 70
    sentences = ["the cat sat on the mat", "that hat, this bat: 1 é 中"] * 4
    options = {"normalization_rule_name": "identity", **special}
    model = train(sentences, model_type=model_type, vocab_size=size, **options)
    (folder / name).write_bytes(model)


BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
GPT2 = ("<|endoftext|>",)
CLIP = ("<|startoftext|>", "<|endoftext|>")
WORDPIECES = {
    **dict.fromkeys(
        (
            *("BertTokenizer", "DistilBertTokenizerFast", "DPRQuestionEncoderTokenizer"),
            *("ElectraTokenizer", "LayoutLMv2Tokenizer", "LxmertTokenizer"),
            *("MobileBertTokenizer", "SplinterTokenizer"),
        ),
        BERT,
    ),
    "MPNetTokenizer": (*ROBERTA, "[UNK]"),
    "FunnelTokenizer": ("<unk>", "<sep>", "<pad>", "<cls>", "<mask>", "<s>", "</s>"),
}
BYTE_PAIRS = {
    **dict.fromkeys(("GPT2Tokenizer", "Qwen2Tokenizer", "GPTNeoXTokenizer"), GPT2),
    **dict.fromkeys(
        ("RobertaTokenizer", "BartTokenizer", "LEDTokenizer", "MvpTokenizer", "MarkupLMTokenizer"),
        ROBERTA,
    ),
    "BlenderbotTokenizer": ROBERTA,
    "CohereTokenizer": (
        *("<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>"),
        "<|END_OF_TURN_TOKEN|>",
    ),
    "DebertaTokenizer": BERT,
    "LayoutLMv3Tokenizer": ROBERTA,
}
T5 = {"normalization_rule_name": "nmt_nfkc", "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
ALBERT = {"control_symbols": ["[CLS]", "[SEP]", "[MASK]"], "pad_id": 3}
XLNET = {"control_symbols": ["<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]}
SENTENCEPIECES: dict[str, tuple[Any, ...]] = {
    "AlbertTokenizer": ("spiece.model", "unigram", ALBERT),
    "BarthezTokenizer": ("sentencepiece.bpe.model", "unigram"),
    "BigBirdTokenizer": ("spiece.model", "unigram"),
    "CamembertTokenizer": ("sentencepiece.bpe.model", "unigram"),
    "DebertaV2Tokenizer": ("spm.model", "unigram"),
    "LlamaTokenizer": ("tokenizer.model", "bpe"),
    "MBartTokenizer": ("sentencepiece.bpe.model", "unigram"),
    "MBart50Tokenizer": ("sentencepiece.bpe.model", "unigram"),
    "NllbTokenizer": ("sentencepiece.bpe.model", "bpe"),
    "PegasusTokenizer": ("spiece.model", "unigram", T5),
    "RemBertTokenizer": ("sentencepiece.model", "unigram"),
    "SeamlessM4TTokenizer": ("sentencepiece.bpe.model", "bpe"),
    "T5Tokenizer": ("spiece.model", "unigram", T5),
    "XLMRobertaTokenizer": ("sentencepiece.bpe.model", "unigram"),
    "XLNetTokenizer": ("spiece.model", "unigram", XLNET),
}


def write(folder: Path, name: str) -> None:
    """A small vocabulary for a class, and the settings that name the class."""
    if name in WORDPIECES:
        wordpiece(folder, *WORDPIECES[name])
    elif name in BYTE_PAIRS:
        pair(folder, *BYTE_PAIRS[name])
    elif name in SENTENCEPIECES:
        file, kind, *special = SENTENCEPIECES[name]
        pieces(folder, file, kind, **(special[0] if special else {}))
    else:
        pair(folder, *CLIP, *ROBERTA, suffix="</w>")
    tags = {"tags_dict": {"a": 0}} if name == "MarkupLMTokenizer" else {}
    settle(folder, tokenizer_class=name, **tags)


def settle(folder: Path, **config: object) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")


def auto(folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)


TEMPLATE: Any = {"allowed_special": "all", "add_special_tokens": True}


def same(tokenizer: tokexport.Tokenizer, theirs: Any) -> None:
    """Asserts that ids, offsets, texts and pairs are equal, for somewhat more than 100 texts."""
    plain = type(theirs).__name__ not in WITH_BOXES
    if plain:
        theirs("")  # sets the languages of a translation class
    backend = theirs.backend_tokenizer
    for text, single, two in zip(
        TEXTS,
        backend.encode_batch(TEXTS),
        backend.encode_batch([(text, "a cat") for text in TEXTS]),
        strict=True,
    ):
        found = tokenizer.encode_with_offsets(text, **TEMPLATE)
        assert (found.ids, list(map(tuple, found.offsets))) == (single.ids, single.offsets), text
        for skip in (False, True):
            wanted = backend.decode(found.ids, skip_special_tokens=skip)
            assert tokenizer.decode(found.ids, skip_special_tokens=skip) == wanted
        assert tokenizer.encode_pair(text, "a cat", **TEMPLATE) == two.ids
    if plain:
        assert [one.ids for one in backend.encode_batch(TEXTS)] == theirs(TEXTS)["input_ids"]


@pytest.mark.parametrize(
    "name", [*WORDPIECES, *BYTE_PAIRS, *SENTENCEPIECES, "CLIPTokenizer", "HerbertTokenizer"]
)
def test_a_class_produces_the_ids_of_autotokenizer(name: str, tmp_path: Path) -> None:
    write(tmp_path, name)
    done = tokexport.convert(tmp_path, tmp_path / "it.tkx")
    theirs = auto(tmp_path)
    assert type(theirs).__name__ in done.model.provenance.source
    same(tokexport.load(tmp_path / "it.tkx"), theirs)
    assert done.model.special_ids.eos == theirs.eos_token_id or theirs.eos_token is None


def test_scores_that_nearly_tie_are_those_of_the_class_and_the_reference(tmp_path: Path) -> None:
    """`tokenizers` would read other scores from the file that the object saves."""
    scores = {'▁"': -6.248338222503662, "l": -9.356104850769043, "ll": -11.208784103393555}
    special = [Piece("<unk>", type=PieceType.UNKNOWN), Piece("</s>", type=PieceType.CONTROL)]
    pieces = (*special, *(Piece(text, score) for text, score in scores.items()), Piece("▁", -4.0))
    (tmp_path / "spiece.model").write_bytes(serialize(SentencePieceModel("t5", pieces)))
    settle(tmp_path, tokenizer_class="T5Tokenizer", extra_ids=0)
    theirs = auto(tmp_path)
    backend = theirs.backend_tokenizer
    wanted = backend.encode('"lll').ids
    assert tokenizers.Tokenizer.from_str(backend.to_str()).encode('"lll').ids != wanted
    for source in (tmp_path, theirs, backend):
        file, reference = converted(source), reference_for(source)
        assert file.encode('"lll', **TEMPLATE) == wanted
        assert reference.encode_batch(['"lll'], Mode.TEMPLATE) == [wanted]
        assert_same(file, reference, strings=500)
    backend.save(str(tmp_path / "tokenizer.json"))
    file = converted(tmp_path, reference="transformers")
    wanted = auto(tmp_path).backend_tokenizer.encode('"lll').ids
    assert file.encode('"lll', **TEMPLATE) == wanted
    reference = reference_for(tmp_path, reference="transformers")
    assert reference.encode_batch(['"lll'], Mode.TEMPLATE) == [wanted]


def test_decoding_by_clips_class_is_exact_but_for_white_space_at_the_end(tmp_path: Path) -> None:
    """The class replaces decode() of its backend in Python, which what it saves does not say."""
    write(tmp_path, "CLIPTokenizer")
    theirs = auto(tmp_path)
    backend = theirs.backend_tokenizer
    file = converted(tmp_path)
    vocab, dice = backend.get_vocab(), random.Random(1)
    ends = ["<|startoftext|>", "a", "a</w>", "<", "/", "w", ">", "<</w>", "</", "Ġ", "Ċ</w>"]
    ends += ["Â", "ł", "ł</w>", "â", "Ģ", "the</w>", "<|endoftext|>", "Ì"]
    kinds, left_out = [vocab[token] for token in ends if token in vocab], 0
    for _ in range(3000):
        ids = dice.choices(kinds, k=dice.randrange(8))
        for skip in (False, True):
            wanted = theirs.decode(ids, skip_special_tokens=skip)
            stream = file.decode_stream(skip_special_tokens=skip)
            streamed = "".join(part or "" for part in (*map(stream.step, ids), stream.flush()))
            found = file.decode(ids, skip_special_tokens=skip)
            assert found == streamed
            assert found.rstrip() == wanted
            left_out += found != wanted
    assert 0 < left_out < 2000
    for source in (tmp_path, theirs, backend):
        assert any("white space" in note for note in read(source).notes)
        file, reference = converted(source), reference_for(source)
        assert reference.decode_batch([[vocab["a</w>"]] * 2], False) == ["a a"]
        with pytest.raises(ReferenceStopsError):
            reference.decode_batch([[vocab["a"], vocab["Ċ</w>"]]], False)
        assert_same(file, reference, strings=2000)


def test_another_function_in_the_place_of_decode_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "RobertaTokenizer")
    theirs = auto(tmp_path)
    theirs.backend_tokenizer.decode = lambda *_, **__: ""
    refused(UnsupportedError, r"decode\(\) that Python code replaced by .*lambda", theirs)


def test_the_type_of_a_model_implies_its_class(tmp_path: Path) -> None:
    pair(tmp_path, *GPT2)
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}', "utf-8")
    assert "GPT2Tokenizer of transformers" in read(tmp_path).provenance.source
    # This type has no class, so the pair is read as a bare one.
    (tmp_path / "config.json").write_text('{"model_type": "granite"}', "utf-8")
    assert read(tmp_path).provenance.source == "vocab.json + merges.txt"


def test_settings_and_added_tokens_equal_those_of_the_class(tmp_path: Path) -> None:
    pair(tmp_path, *ROBERTA)
    extra = {"content": "<x>", "lstrip": True, "rstrip": False, "single_word": False}
    settle(
        tmp_path,
        tokenizer_class="RobertaTokenizer",
        add_prefix_space=True,
        additional_special_tokens=[{**extra, "__type": "AddedToken", "normalized": False}],
        chat_template="{{ messages }}",
    )
    done = tokexport.convert(tmp_path, tmp_path / "it.tkx")
    same(tokexport.load(tmp_path / "it.tkx"), auto(tmp_path))
    assert "<x>" in {token.content for token in done.model.added_tokens}
    assert done.model.chat.default == "{{ messages }}"


def test_whisper_inserts_language_and_task_before_a_text(tmp_path: Path) -> None:
    special = [*GPT2, "<|startoftranscript|>", "<|en|>", "<|zh|>", "<|de|>", "<|translate|>"]
    special += ["<|transcribe|>", "<|startofprev|>", "<|notimestamps|>"]
    pair(tmp_path)
    size = len(json.loads((tmp_path / "vocab.json").read_text("utf-8")))
    added = {str(size + n): {"content": c, "special": True} for n, c in enumerate(special)}
    chosen = {"added_tokens_decoder": added, "language": "german", "task": "transcribe"}
    settle(tmp_path, tokenizer_class="WhisperTokenizer", **chosen)
    same(converted(tmp_path), auto(tmp_path))


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt"])
def test_a_named_file_is_read_without_the_tokenizer_json(name: str, tmp_path: Path) -> None:
    pair(tmp_path, *GPT2)
    settle(tmp_path, tokenizer_class="GPT2Tokenizer")
    whole = read(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"added_tokens": []}', "utf-8")
    model = read(tmp_path / name)
    parts = (whole.tokens, whole.model, whole.template)
    assert (model.tokens, model.model, model.template) == parts
    assert "tokenizer.json" not in model.provenance.sha256
    assert {"vocab.json", "merges.txt"} < set(model.provenance.sha256)
    refused(SourceError, "lacks the required field 'model'", tmp_path)


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        ("CTRLTokenizer", UnsupportedError, r"CTRLTokenizer .*only in Python"),
        ("NoSuchTokenizer", UnsupportedError, r"the class NoSuchTokenizer .*no such class"),
        ("BertTokenizer", SourceError, r"read from vocab\.txt, and vocab\.txt is not there"),
        ("PhobertTokenizer", SourceError, r"vocab\.txt and bpe\.codes is not there"),
    ],
)
def test_a_class_that_cannot_be_read_is_refused(
    config: str, error: type, message: str, tmp_path: Path
) -> None:
    pair(tmp_path, "<unk>")
    settle(tmp_path, tokenizer_class=config, unk_token="<unk>")
    refused(error, message, tmp_path / "vocab.json")


@pytest.mark.parametrize(
    ("left", "missing"), [("vocab.json", "merges.txt"), ("merges.txt", "vocab.json")]
)
def test_half_of_a_pair_with_a_class_is_refused_by_the_name_of_the_other(
    left: str, missing: str, tmp_path: Path
) -> None:
    pair(tmp_path)
    settle(tmp_path, tokenizer_class="GPT2Tokenizer")
    (tmp_path / missing).unlink()
    refused(SourceError, rf"merges\.txt, and {missing} is not there", tmp_path / left)


@pytest.mark.parametrize(
    ("file", "config"),
    [
        ("tokenizer_config.json", {"tokenizer_class": "MarianTokenizer"}),
        ("config.json", {"model_type": "marian"}),
    ],
)
def test_a_directory_of_marian_is_refused(file: str, config: object, tmp_path: Path) -> None:
    for name in ("source.spm", "target.spm"):
        pieces(tmp_path, name, "unigram")
    vocab = {"</s>": 0, "<unk>": 1, "a": 2, "<pad>": 3}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab), "utf-8")
    (tmp_path / file).write_text(json.dumps(config), "utf-8")
    refused(UnsupportedError, r"MarianTokenizer .*only in Python", tmp_path)


def test_code_of_a_repository_is_never_run(tmp_path: Path) -> None:
    pair(tmp_path)
    (tmp_path / "trap.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')", "utf-8")
    settle(tmp_path, tokenizer_class="Trap", auto_map={"AutoTokenizer": ["trap.Trap", None]})
    for source in (tmp_path, tmp_path / "vocab.json"):
        refused(UnsupportedError, "the class Trap", source)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("library", ["transformers", "google.protobuf"])
def test_without_the_library_a_sentence_says_what_to_install(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair(tmp_path)
    settle(tmp_path, tokenizer_class="GPT2Tokenizer")
    end = f"{library} is not installed; pip install 'tokexport[transformers]'"
    monkeypatch.setitem(sys.modules, library, None)
    for source, place in ((tmp_path, "in"), (tmp_path / "vocab.json", "beside")):
        why = f"a file {place} it names the class GPT2Tokenizer of `transformers`, which decides"
        found = refused(MissingLibraryError, why, source)
        assert str(found) == f"{source}: {why} its ids, and {end}"
    (tmp_path / "tokenizer_config.json").unlink()
    with pytest.raises(MissingLibraryError) as caught:
        tokexport.convert(tmp_path, reference="transformers")
    assert str(caught.value) == f"{tmp_path}: the library `transformers` decides its ids, and {end}"


def test_an_object_is_read_like_the_file_that_its_backend_saves(tmp_path: Path) -> None:
    write(tmp_path, "RobertaTokenizer")
    theirs = auto(tmp_path)
    done = tokexport.convert(theirs, tmp_path / "it.tkx")
    assert done.model.special_ids.bos == theirs.bos_token_id
    same(tokexport.load(tmp_path / "it.tkx"), theirs)


def test_the_reference_can_be_autotokenizer_for_a_tokenizer_json(tmp_path: Path) -> None:
    """Needed because AutoTokenizer rebuilds a LlamaTokenizer, whatever the tokenizer.json says."""
    write(tmp_path, "LlamaTokenizer")
    theirs = auto(tmp_path)
    document = json.loads(theirs.backend_tokenizer.to_str())
    document["normalizer"] = {"type": "Lowercase"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), "utf-8")
    plain = tokexport.convert(tmp_path, tmp_path / "plain.tkx")
    done = tokexport.convert(tmp_path, tmp_path / "auto.tkx", reference="transformers")
    same(tokexport.load(tmp_path / "auto.tkx"), auto(tmp_path))
    assert done.model.normalizer != plain.model.normalizer
    ids = reference_for(tmp_path, reference="transformers").encode("The cat", special=True)
    assert tokexport.load(tmp_path / "auto.tkx").encode("The cat", allowed_special="all") == ids


METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


@pytest.mark.parametrize(
    ("name", "part", "changed"),
    [
        ("LlamaTokenizer", "normalizer", {"type": "Prepend", "prepend": "c"}),
        ("MBartTokenizer", "normalizer", {"type": "Prepend", "prepend": "c"}),
        ("GPT2Tokenizer", "pre_tokenizer", {"type": "BertPreTokenizer"}),
        ("RobertaTokenizer", "pre_tokenizer", {"type": "BertPreTokenizer"}),
        ("RobertaTokenizer", "post_processor", None),
        ("RobertaTokenizer", "post_processor", BYTE_LEVEL),
        ("T5Tokenizer", "unknown id", 5),
        ("T5Tokenizer", "normalizer", {"type": "Lowercase"}),
        ("T5Tokenizer", "pre_tokenizer", METASPACE),
        ("XLMRobertaTokenizer", "normalizer", {"type": "Lowercase"}),
        ("XLMRobertaTokenizer", "pre_tokenizer", METASPACE),
        ("BertTokenizer", "model", BPE),
        ("DistilBertTokenizer", "model", BPE),
    ],
)
def test_a_note_mentions_a_class_that_rebuilds_parts(
    name: str, part: str, changed: Any, tmp_path: Path
) -> None:
    write(tmp_path, name)
    path = tmp_path / "tokenizer.json"
    path.write_text(auto(tmp_path).backend_tokenizer.to_str(), "utf-8")
    assert not any("AutoTokenizer" in note for note in read(tmp_path).notes)
    document = json.loads(path.read_text("utf-8"))
    is_id = part == "unknown id"
    (document["model"] if is_id else document).update({"unk_id" if is_id else part: changed})
    path.write_text(json.dumps(document), "utf-8")
    theirs, own = auto(tmp_path), tokenizers.Tokenizer.from_file(str(path))
    assert any(theirs(text)["input_ids"] != own.encode(text).ids for text in TEXTS)
    (note,) = [note for note in read(tmp_path).notes if "AutoTokenizer" in note]
    assert f"can build {name}" in note
    assert part.replace("_", "-") in note
    assert "--reference transformers" in note


SOP = {"content": "sop", "lstrip": False, "rstrip": False, "normalized": False, "special": True}
VOCABULARY = {"<unk>": 0, "a": 1, "b": 2, "x": 3}
TEXT = "ab sop b xax x"


SETTINGS = "tokenizer_config.json"
ADDING = [
    (SETTINGS, {"added_tokens_decoder": {"4": SOP}}),
    (SETTINGS, {"added_tokens_decoder": {"1": {**SOP, "content": "a"}}}),
    (SETTINGS, {"added_tokens_decoder": {"3": {"content": "x", "single_word": True}}}),
    (SETTINGS, {"pad_token": "sop"}),
    (SETTINGS, {"image_token": "sop"}),
    (SETTINGS, {"additional_special_tokens": ["sop"]}),
    (SETTINGS, {"extra_special_tokens": {"x_token": "sop"}}),
    ("special_tokens_map.json", {"pad_token": {**SOP, "content": "sop"}}),
    ("added_tokens.json", {"sop": 4}),
]
ADDING_NOTHING = [
    (SETTINGS, {"added_tokens_decoder": {"3": {"content": "x"}}}),
    (SETTINGS, {"unk_token": "<unk>", "pad_token": None, "model_max_length": 5}),
    ("special_tokens_map.json", {"pad_token": {**SOP, "content": "x", "lstrip": True}}),
    ("added_tokens.json", {"x": 3}),
]


@pytest.mark.parametrize(("file", "settings"), [*ADDING, *ADDING_NOTHING])
def test_a_note_counts_the_added_tokens_that_only_the_settings_name(
    file: str, settings: object, tmp_path: Path
) -> None:
    adds = (file, settings) in ADDING
    theirs = theirs_with(tmp_path, file, settings)
    assert (reference_for(tmp_path).encode(TEXT, True) != theirs) == adds
    notes = [note for note in read(tmp_path).notes if "AutoTokenizer" in note]
    assert len(notes) == adds
    if adds:
        start = f"AutoTokenizer takes added tokens from {file} that tokenizer.json"
        assert notes[0].startswith(start)
        assert "(1: " in notes[0]
        assert "--reference transformers" in notes[0]
        tokexport.convert(tmp_path, tmp_path / "auto.tkx", reference="transformers")
        assert tokexport.load(tmp_path / "auto.tkx").encode(TEXT, allowed_special="all") == theirs


def theirs_with(folder: Path, file: str, settings: object) -> Any:
    """The ids of AutoTokenizer for TEXT, with a tokenizer.json that adds <unk> and x, and another
    file.
    """
    source: object = {
        "added_tokens": [added("<unk>", 0, special=True), added("x", 3)],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": VOCABULARY},
    }
    settle(folder, tokenizer_class="PreTrainedTokenizerFast")
    (folder / "tokenizer.json").write_text(json.dumps(source), "utf-8")
    (folder / file).write_text(json.dumps(settings), "utf-8")
    return auto(folder)(TEXT)["input_ids"]
