"""What AutoTokenizer of ``transformers`` is known to change in a tokenizer.json, as notes.

It adds the tokens that the files beside it name. Since release 5 classes rebuild parts, too: seen
on Phi-3, Yi and Llama-2, whose class has no normalizer, on StarCoder 2, whose class does not split
digits, on UniMERNet, whose class splits no punctuation, on BERTchen, whose class is BERT's and
whose model is BPE, and on T5 and XLM-R, whose classes have steps of their own. BERT's class has the
normalizer that tokenizer_config.json describes: it lower-cases, unless that says otherwise. By the
type of the model it may leave the parts as they are (Mistral, OpenVLA), with rules that change with
each release.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from tokexport.errors import SourceError
from tokexport.sources.config import ADDED_TOKENS, CONFIG, content_of, read_config, tokenizer_class
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse_beside, show
from tokexport.sources.tokenizer_json.parts import flat

# Classes that rebuild a part of a tokenizer.json.
_ROBERTA: Final = (
    *("RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer", "MvpTokenizer"),
)
_BERT: Final = (
    *("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer"),
    *("LayoutLMTokenizer", "LxmertTokenizer", "SqueezeBertTokenizer"),
)
_OWN_NORMALIZER: Final = ("LlamaTokenizer", "MBartTokenizer", "GPT2Tokenizer", *_ROBERTA)
_OWN_SPLIT: Final = ("GPT2Tokenizer", "NougatTokenizer", *_ROBERTA)
_OWN_STEPS: Final = ("T5Tokenizer", "XLMRobertaTokenizer")
_T5_UNKNOWN: Final = 2
# The normalizers that do the same as the charsmap of those classes, where words are split after it.
_CHARSMAPS: Final[tuple[list[object], ...]] = ([], ["Precompiled"], ["Precompiled", "Replace"])
_MAP: Final = "special_tokens_map.json"
_MORE_TOKENS: Final = ("extra_special_tokens", "additional_special_tokens")
_FLAGS: Final = ("single_word", "lstrip", "rstrip")
_SHOWN: Final = 2

Flags = tuple[bool, ...]


def differences(root: Node, files: SourceFiles) -> Iterator[str]:
    """Notes on what AutoTokenizer makes differently of the tokenizer.json ``root``."""
    what = [*filter(None, (_rebuilt(root, files), added_tokens_note(root, files)))]
    if what:
        yield (
            f"{' '.join(what)} The ids here are those of tokenizers; for those of AutoTokenizer use"
            ' --reference transformers (reference="transformers").'
        )


def _rebuilt(root: Node, files: SourceFiles) -> str | None:
    name = tokenizer_class(read_config(files))
    normalizer, split = root.optional("normalizer"), root.optional("pre_tokenizer")
    post, unknown = root.optional("post_processor"), root.field("model").value.get("unk_id")
    if name in _OWN_NORMALIZER and normalizer is not None and flat(normalizer, "normalizers"):
        part = "a normalizer of its own"
    elif name in _BERT and root.field("model").value.get("type", "WordPiece") != "WordPiece":
        part = "a WordPiece model of its own"
    elif name in _BERT and (normalizer and normalizer.value) != _of_bert(read_config(files)):
        part = "a normalizer of its own"
    elif name in _OWN_SPLIT and split is not None and split.value.get("type") != "ByteLevel":
        part = "a pre-tokenizer of its own"
    elif name == "T5Tokenizer" and unknown not in (_T5_UNKNOWN, None):
        part = f"{_T5_UNKNOWN} as the unknown id"
    elif name in _OWN_STEPS and _kinds(split, "pretokenizers") != ["WhitespaceSplit", "Metaspace"]:
        part = "a pre-tokenizer of its own"
    elif name in _OWN_STEPS and _kinds(normalizer, "normalizers") not in _CHARSMAPS:
        part = "a normalizer of its own"
    elif name in _ROBERTA and (post is None or post.value.get("type") == "ByteLevel"):
        part = "a post-processor of its own"
    else:
        return None
    return (
        f"transformers 5 and later can build {name}, which {CONFIG} names, with {part}; then"
        " AutoTokenizer gives other ids for some texts."
    )


def _of_bert(config: Node) -> dict[str, object]:
    settings = config.object()
    return {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": settings.get("tokenize_chinese_chars", True),
        "strip_accents": settings.get("strip_accents"),
        "lowercase": settings.get("do_lower_case", True),
    }


def _kinds(part: Node | None, member: str) -> list[object]:
    return [node.value.get("type") for node in flat(part, member)]


def added_tokens_note(root: Node, files: SourceFiles) -> str | None:
    """A sentence on the added tokens that only other files name, or name with other flags."""
    if root.value.get("version") == "2.0":
        return None  # the library cannot read it
    normalizes = root.optional("normalizer") is not None
    added = root.get("added_tokens")
    own = {each["content"]: _flags(each, normalizes) for each in added.value} if added else {}
    found = _named_tokens(files, own, normalizes).items()
    named = {content: file for content, (flags, file) in found if own.get(content) != flags}
    return _note(named, f"{root.file} lacks or has with other flags")


def missing_tokens_note(file: str, own: Collection[str], files: SourceFiles) -> str | None:
    """A sentence on those that are not in ``own``, the special pieces of a SentencePiece model."""
    found = _named_tokens(files, dict.fromkeys(own, ()), False).items()
    named = {content: name for content, (_, name) in found if content not in own}
    return _note(named, f"are not special pieces of {file}")


def _note(named: Mapping[str, str], what: str) -> str | None:
    if not named:
        return None
    count, shown = len(named), " and ".join(map(show, [*named][:_SHOWN]))
    return (
        f"AutoTokenizer takes added tokens from {' and '.join(sorted({*named.values()}))} that"
        f" {what} ({count}{', such as' if count > _SHOWN else ':'} {shown}); it gives other ids for"
        " texts with them."
    )


def _named_tokens(
    files: SourceFiles, own: Mapping[str, Flags], normalizes: bool
) -> dict[str, tuple[Flags, str]]:
    """The added tokens that AutoTokenizer has, with the file that names them, by content."""
    config = _fields(files, CONFIG)
    listed = config.get("added_tokens_decoder")
    # Files of older releases, which are not read if the config lists the added tokens.
    names = {} if listed is not None else _fields(files, _MAP)
    found = {content: (flags, "") for content, flags in own.items()}
    for each in listed.values() if isinstance(listed, dict) else ():
        if isinstance(each, dict) and (content := content_of(each)):
            found[content] = _flags(each, normalizes), CONFIG
    for content in {} if listed is not None else _fields(files, ADDED_TOKENS):
        found.setdefault(content, (_flags({}, normalizes), ADDED_TOKENS))
    special = _flags({"special": True}, normalizes)
    for content, key in _roles({**config, **names}):
        found.setdefault(content, (special, _MAP if key in names else CONFIG))
    return found


def _roles(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The tokens with a role, and the setting that gives it."""
    for key, value in settings.items():
        if key.endswith("_token") and (content := content_of(value)):
            yield content, key
    key = next(filter(settings.get, _MORE_TOKENS), "")
    more = settings.get(key)
    more = [*more.values()] if isinstance(more, dict) else more
    for value in more if isinstance(more, list) else ():
        if content := content_of(value):
            yield content, key


def _fields(files: SourceFiles, name: str) -> dict[str, Any]:
    """The fields of a file; none if it is broken: only a note depends on it."""
    try:
        return parse_beside(files, name).object()
    except SourceError:
        return {}


def _flags(token: Mapping[str, Any], normalizes: bool) -> Flags:
    """The flags on which ids depend: all but ``special``, which also implies a default."""
    normalized = normalizes and token.get("normalized", not token.get("special"))
    return *(bool(token.get(flag)) for flag in _FLAGS), bool(normalized)
