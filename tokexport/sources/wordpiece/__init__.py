"""BERT's vocab.txt: one token per line, its id the line number.

It becomes the tokenizer.json that ``BertWordPieceTokenizer`` of `tokenizers`, the reference, makes
from it. Whether it lower-cases is set in a tokenizer_config.json beside it (``do_lower_case``,
``strip_accents``, ``tokenize_chinese_chars``); without one it does, as the reference does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from tokexport.errors import SourceError
from tokexport.limits import MAX_IDS, check_count
from tokexport.model import TokenizerModel
from tokexport.sources.config import CONFIG, read_config
from tokexport.sources.files import lines_of
from tokexport.sources.json_node import Node, show
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Input, Source
from tokexport.sources.tokenizer_json import references
from tokexport.sources.tokenizer_json.auto_tokenizer import added_tokens_note
from tokexport.sources.tokenizer_json.document import special_tokens, tokenizer_document
from tokexport.sources.tokenizer_json.read import read_tokenizer_json

_UNKNOWN: Final = "[UNK]"
_SPECIAL: Final = (_UNKNOWN, "[SEP]", "[CLS]", "[PAD]", "[MASK]")
_PREFIX: Final = "##"
_MAX_CHARACTERS: Final = 100  # of a word
# Settings that change how words are cut, and the values with which they do not.
_SETTINGS: Final[Mapping[str, object]] = {
    "do_basic_tokenize": True,
    "never_split": [],
    "word_tokenizer_type": "basic",
    "subword_tokenizer_type": "wordpiece",
    "do_word_tokenize": True,
    "do_subword_tokenize": True,
}


@dataclass(frozen=True, slots=True)
class BertSettings:
    """BERT's settings by their names in `tokenizers`; ``strip_accents`` None: as ``lowercase``."""

    lowercase: bool = True
    strip_accents: bool | None = None
    handle_chinese_chars: bool = True


def bert_settings(config: Node) -> BertSettings:
    """The settings in a config, or the reference's. UnsupportedError if words are cut otherwise."""
    for name, plain in _SETTINGS.items():
        setting = config.optional(name)
        if setting is not None and setting.value != plain:
            setting.unsupported(f"{show(setting.value)} cuts words unlike BERT", "use null")
    found = map(config.optional, ("do_lower_case", "strip_accents", "tokenize_chinese_chars"))
    lower, accents, chinese = (None if flag is None else flag.boolean() for flag in found)
    return BertSettings(lower is not False, accents, chinese is not False)


def bert_note(config: Node, vocab: Iterable[str]) -> str | None:
    """A sentence if nothing says whether to lower-case; it counts tokens with capitals."""
    if config.optional("do_lower_case") is not None:
        return None
    words = [token for token in vocab if not (token.startswith("[") and token.endswith("]"))]
    capitals = sum(token != token.lower() for token in words)
    seems = (
        f" {capitals:,} of its tokens have capitals, so it may be a cased one: then set"
        " do_lower_case to false there."
    )
    return (
        f"No do_lower_case in a {CONFIG} beside it, so it lower-cases, as BertWordPieceTokenizer of"
        f" tokenizers does.{seems if capitals else ''}"
    )


def parse_vocabulary(data: bytes, file: str) -> dict[str, int]:
    """The ids by token; for a token that occurs twice, the last line counts.

    White space after a token is not part of it, as in `tokenizers`.

    >>> parse_vocabulary(b"[UNK]\\nthe\\n", "vocab.txt")
    {'[UNK]': 0, 'the': 1}
    """
    lines = lines_of(data, file)
    check_count(file, len(lines), "lines", MAX_IDS)
    return {line.rstrip(): number for number, line in enumerate(lines)}


def wordpiece_document(vocab: dict[str, int], file: str, settings: BertSettings) -> dict[str, Any]:
    """The tokenizer.json. SourceError if a token that the reference needs is missing."""
    for content in ("[SEP]", "[CLS]"):
        if content not in vocab:
            problem = f"there is no token {show(content)}, which BertWordPieceTokenizer needs"
            raise SourceError(problem, name=file)
    special: dict[str, int] = {content: vocab[content] for content in _SPECIAL if content in vocab}
    return tokenizer_document(
        added_tokens=special_tokens(special),
        normalizer={"type": "BertNormalizer", "clean_text": True, **asdict(settings)},
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor={
            "type": "BertProcessing",
            "sep": ["[SEP]", vocab["[SEP]"]],
            "cls": ["[CLS]", vocab["[CLS]"]],
        },
        decoder={"type": "WordPiece", "prefix": _PREFIX, "cleanup": True},
        model={
            "type": "WordPiece",
            "unk_token": _UNKNOWN,
            "continuing_subword_prefix": _PREFIX,
            "max_input_chars_per_word": _MAX_CHARACTERS,
            "vocab": vocab,
        },
    )


def _read(source: Input, data: bytes) -> TokenizerModel:
    config = read_config(source.files)
    vocab = parse_vocabulary(data, source.name)
    root = Node(source.name, "", wordpiece_document(vocab, source.name, bert_settings(config)))
    model = read_tokenizer_json(root, source.files, "WordPiece vocabulary")
    found = added_tokens_note(root, source.files)
    left_out = found and (
        f"{found} The ids here are those of BertWordPieceTokenizer of tokenizers, as no file names"
        f" a class; for those of a class, name it in {CONFIG} (tokenizer_class)."
    )
    notes = filter(None, (left_out, bert_note(config, vocab)))
    return replace(model, notes=(*model.notes, *notes))


def _reference(source: Input, data: bytes) -> ReferenceTokenizer:
    settings = bert_settings(read_config(source.files))
    return references().from_wordpiece(str(source.path), **asdict(settings))


SOURCE = Source(
    "WordPiece vocabulary",
    lambda source: source.data if _UNKNOWN.encode() in source.data.splitlines() else None,
    _read,
    _reference,
    files=("vocab.txt",),
)
