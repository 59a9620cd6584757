"""The keys ``tokenizer.ggml.*`` of GGUF, in a file of their own or in a copy of another file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from tokexport.compiler.compile import prepared
from tokexport.errors import SourceError, TokexportError, naming_temporary, needs, reading
from tokexport.model import (
    BytePairModel,
    GreedyModel,
    SpecialIds,
    Template,
    TemplateItem,
    WordPieceModel,
)
from tokexport.sources.gguf.metadata import MAGIC, read_metadata
from tokexport.sources.gguf.patterns import ORIGINALS, Original
from tokexport.sources.gguf.read import (
    added_in_text,
    gguf_document,
    gguf_rwkv,
    gguf_sentencepiece,
    without_user_defined,
)
from tokexport.sources.gguf.source import PREFIXES, GgufTokenizer, parse_gguf
from tokexport.sources.json_node import Node
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.sentencepiece.proto import (
    SPACE_SYMBOL,
    Algorithm,
    Piece,
    PieceType,
    serialize,
)
from tokexport.sources.tokenizer_json import references
from tokexport.sources.tokenizer_json.normalizer import read_normalizer
from tokexport.sources.tokenizer_json.pre_tokenizer import read_pre_tokenizer
from tokexport.targets.equivalence import are_equal, are_equivalent
from tokexport.targets.gguf_words import rwkv_keys, tokens_and_types, word_keys
from tokexport.targets.llamacpp_differs import WHOLE_FIRST, differences, fill_in_ids, loaded_types
from tokexport.targets.llamacpp_words import WordRuntime
from tokexport.targets.longest_first import added_tokens, encode_between
from tokexport.targets.material import Material, material
from tokexport.targets.parts import Part, algorithm, merges_any_two, refuse
from tokexport.targets.target import Files, LibraryRuntime, Runtime, Target, single
from tokexport.targets.tokenizer_json import bytes_model

if TYPE_CHECKING:
    import gguf

_KEYS: Final = "tokenizer."
_CHAT: Final = "tokenizer.chat_template"
# Names that are preferred among those with the same meaning.
_FIRST: Final = ("gpt-2", "llama-bpe", "qwen2", "gpt-4o", "tekken", "olmo", "starcoder")
# tokexport's own name for files without one.
_OLDER: Final = "gpt-neox"
_MODELS: Final = {Algorithm.BPE: "llama", Algorithm.UNIGRAM: "t5"}


def keys(source: Material) -> dict[str, Any]:
    """The values by name. TokexportError for a tokenizer that llama.cpp has no model for."""
    inner = None if source.model is None else source.model.model
    if source.model is not None and isinstance(inner, WordPieceModel):
        values = word_keys(source.model, inner)
    elif source.model is not None and isinstance(inner, GreedyModel):
        values = rwkv_keys(source.model, inner)
    else:
        values = _piece_keys(source) if source.pieces is not None else _bytes_keys(source)
    roles = source.special_ids
    stops = [id for id in roles.stop if id != roles.eos]
    ids = {
        "bos_token_id": roles.bos,
        "eos_token_id": roles.eos,
        "unknown_token_id": roles.unk,
        "padding_token_id": roles.pad,
        **dict(zip(("eot_token_id", "eom_token_id"), stops, strict=False)),
        **_template_flags(source.parts.get(Part.TEMPLATE), roles),
        **fill_in_ids(values["tokens"], values["token_type"]),
    }
    values |= {name: value for name, value in ids.items() if value is not None}
    found = {f"tokenizer.ggml.{name}": value for name, value in values.items()}
    for name, template in source.parts.get(Part.CHAT_TEMPLATE, {}).items():
        found[_CHAT if name == "default" else f"{_CHAT}.{name}"] = template
    return found


def _template_flags(template: Template | None, roles: SpecialIds) -> dict[str, bool]:
    """Whether BOS precedes a text, and EOS follows it."""
    single_items = (TemplateItem(sequence="A"),) if template is None else template.single
    ends = {
        "add_bos_token": (roles.bos, single_items[0].id),
        "add_eos_token": (roles.eos, single_items[-1].id),
    }
    return {name: id == found for name, (id, found) in ends.items() if id is not None}


def _piece_keys(source: Material) -> dict[str, Any]:
    pieces = source.pieces
    if pieces is None or pieces.algorithm not in _MODELS or pieces.whitespace_as_suffix:
        raise refuse(
            "gguf", "of SentencePiece's models it holds BPE and Unigram", "it has no other"
        )
    if pieces.algorithm is Algorithm.BPE and not pieces.byte_fallback:
        raise refuse(
            "gguf",
            "it has no tokens for bytes, and llama.cpp stops at text that has no other token",
            "train it with byte_fallback",
        )
    spec = pieces.normalizer
    values: dict[str, Any] = {
        "model": _MODELS[pieces.algorithm],
        "tokens": [_spelled(piece, pieces.algorithm) for piece in pieces.pieces],
        "scores": [piece.score for piece in pieces.pieces],
        "token_type": [int(piece.type) for piece in pieces.pieces],
        "add_space_prefix": spec.add_dummy_prefix,
        "remove_extra_whitespaces": spec.remove_extra_whitespaces,
    }
    return values | ({"precompiled_charsmap": spec.charsmap} if spec.charsmap else {})


def _spelled(piece: Piece, algorithm: Algorithm) -> str:
    """With spaces if it is user-defined: BPE in llama.cpp finds it in the text as it is."""
    is_raw = algorithm is Algorithm.BPE and piece.type is PieceType.USER_DEFINED
    return piece.text.replace(SPACE_SYMBOL, " ") if is_raw else piece.text


def _bytes_keys(source: Material) -> dict[str, Any]:
    model = bytes_model(source, "gguf", "for pieces, give SentencePiece's file (tokenizer.model)")
    added = source.parts.get(Part.ADDED_TOKENS, {})
    texts = {id: text for text, id in model["vocab"].items()} | added
    special = {*source.parts.get(Part.SPECIAL, ())}
    kinds = {id: PieceType.CONTROL if id in special else PieceType.USER_DEFINED for id in added}
    return {
        "model": "gpt2",
        "pre": pattern_name(source),
        **tokens_and_types(len(source.tokens), texts, kinds),
        "merges": [" ".join(pair) for pair in model["merges"]],
    }


def pattern_name(source: Material) -> str:
    """The value of ``tokenizer.ggml.pre`` whose original splits like the source; of several, one
    with its normalizer. TokexportError if none does.
    """
    model = source.model
    assert model is not None
    inner = model.model
    assert isinstance(inner, BytePairModel)
    names = [*_FIRST, *(name for name in ORIGINALS if name not in (*_FIRST, _OLDER))]
    splits = {name: _splits(ORIGINALS[name]) for name in names}
    found = [name for name in names if are_equal(splits[name], model.pre_tokenizer)]
    found = found or [name for name in names if are_equivalent(splits[name], model.pre_tokenizer)]
    if not found:
        raise refuse(
            "gguf",
            "no known name of tokenizer.ggml.pre stands for its pre-tokenizer",
            "a GGUF holds a name in place of a pattern",
        )

    def others(name: str) -> int:
        """The number of parts in which the original and the source differ."""
        one = ORIGINALS[name]
        is_other = read_normalizer(Node("gguf", "", one.normalizer)) != model.normalizer
        has_merges = one.ranks and not merges_any_two(inner)
        is_whole = one.ignore_merges not in (None, inner.whole_pre_token_first)
        return is_other + has_merges + is_whole

    return min(found, key=others)


def _splits(original: Original) -> tuple[Any, ...]:
    return read_pre_tokenizer(Node("gguf", "", {"pre_tokenizer": original.pre_tokenizer}))


def _library() -> Any:
    with needs("gguf", "the library `gguf` is not installed, which writes this format"):
        import gguf
    return gguf


def _write(source: Material) -> Files:
    found, library = keys(source), _library()
    with naming_temporary(), TemporaryDirectory() as folder:
        path = Path(folder, "vocabulary.gguf")
        writer = library.GGUFWriter(path, "llama")
        add_keys(writer, found)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return single(path.read_bytes())


def add_keys(writer: gguf.GGUFWriter, values: Mapping[str, Any]) -> None:
    """Adds values with the types that llama.cpp expects."""
    kinds = _library().GGUFValueType
    for name, value in values.items():
        match value:
            case bool():
                writer.add_bool(name, value)
            case int():
                writer.add_uint32(name, value)
            case str():
                writer.add_string(name, value)
            case bytes():
                writer.add_key_value(name, value, kinds.ARRAY, kinds.UINT8)
            case list():
                of = {int: kinds.INT32, float: kinds.FLOAT32, str: kinds.STRING}
                writer.add_key_value(name, value, kinds.ARRAY, of[type(value[0])])


def add_to(source: Material, existing: Path, target: Path) -> None:
    """Writes a copy of a GGUF file with this tokenizer instead of its own. Its other keys and its
    tensors do not change. SourceError for a file that is not GGUF.
    """
    found, library = keys(source), _library()
    try:
        with reading(existing), existing.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise SourceError(f"{existing}: it is not a GGUF file")
        reader = library.GGUFReader(existing)
        architecture = reader.fields["general.architecture"].contents()
    except (ValueError, LookupError) as error:
        raise SourceError(
            f"{existing}: it is cut off or damaged, or has no architecture"
        ) from error
    fields = reader.fields
    writer = library.GGUFWriter(target, architecture, endianess=reader.endianess)
    alignment = fields.get("general.alignment")
    if alignment is not None:
        writer.data_alignment = alignment.contents()
    for name, field in fields.items():
        if name.startswith((_KEYS, "GGUF.")) or name == "general.architecture":
            continue
        inner = field.types[-1] if field.types[0] == library.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), field.types[0], sub_type=inner)
    add_keys(writer, found)
    for tensor in reader.tensors:
        shape, size = tensor.data.shape, tensor.data.nbytes
        writer.add_tensor_info(tensor.name, shape, tensor.data.dtype, size, tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for tensor in reader.tensors:
        writer.write_tensor_data(tensor.data, tensor_endianess=reader.endianess)
    writer.close()


def _read(path: Path) -> Material:
    """What the file says, without the parts that llama.cpp treats differently."""
    file, found = _parse(path), material(path)
    differs = differences(file)
    # For BPE over bytes it has no normalizer; some names of patterns stand for one.
    ignored = {*differs, Part.NORMALIZER} if file.model == "gpt2" else differs
    parts = {part: value for part, value in found.parts.items() if part not in ignored}
    model = found.model
    if file.model == "gpt2" and model is not None and isinstance(model.model, BytePairModel):
        inner = replace(model.model, whole_pre_token_first=file.values["pre"] in WHOLE_FIRST)
        parts[Part.MODEL] = algorithm(prepared(replace(model, model=inner)))
    return replace(found, parts=parts, differs=differs)


def _parse(path: Path) -> GgufTokenizer:
    return parse_gguf(read_metadata(path.read_bytes(), str(path), PREFIXES), str(path))


class _AddedRuntime(LibraryRuntime):
    """The library of the original between added tokens, which are found as llama.cpp does."""

    def __init__(
        self,
        file: GgufTokenizer,
        library: ReferenceTokenizer,
        between: ReferenceTokenizer | None = None,
    ) -> None:
        """``between`` encodes instead of ``library`` if that finds added tokens, too."""
        super().__init__(library)
        self._between = LibraryRuntime(between or library)
        self._groups = added_tokens(file)
        self._ids = {token: id for id, token in enumerate(file.tokens)}
        self._dropping = {token.content for token in added_in_text(file) if token.rstrip}

    def encode(self, text: str) -> list[int]:
        encode = self._between.encode
        return encode_between(self._groups, self._ids, encode, text, self._dropping)


def _runtime(path: Path, how: Mapping[str, Any]) -> Runtime:
    """What llama.cpp does, run by the original's library: it has no normalizer for "gpt2", and
    keeps all spaces for "llama", whatever the file says, and finds the longest added tokens first.

    TokexportError for Unigram with user-defined pieces or unusual flags for spaces, and for a
    splitter that differs from the original's.
    """
    parsed = _parse(path)
    differs = differences(parsed)
    of_unigram = (Part.MODEL, Part.NORMALIZER) if parsed.model == "t5" else ()
    for part in (Part.PRE_TOKENIZER, *of_unigram):
        if part in differs:
            problem = f"{path}: {differs[part]}, and this is not done here"
            raise TokexportError(problem, "compare with llama.cpp itself")
    parsed = replace(parsed, types=loaded_types(parsed))
    if parsed.model == "gpt2":
        document = {**gguf_document(parsed), "normalizer": None}
        merges, is_first = parsed.array("merges", str, None), parsed.values["pre"] in WHOLE_FIRST
        document["model"] |= {"merges": merges, "ignore_merges": is_first}
        return _AddedRuntime(parsed, references().from_document(document, str(path)))
    if parsed.model == "rwkv":
        from tokexport.sources.rwkv import RwkvReference

        return _AddedRuntime(parsed, RwkvReference(gguf_rwkv(parsed)))
    if parsed.model == "bert":
        return WordRuntime(parsed)
    from tokexport.sources.sentencepiece.reference import SentencePieceReference

    pieces = gguf_sentencepiece(parsed)
    if parsed.model == "llama":
        kept = replace(pieces.normalizer, remove_extra_whitespaces=False)
        pieces = replace(pieces, normalizer=kept)
    library, between = (
        SentencePieceReference.from_bytes(serialize(model), path)
        for model in (pieces, without_user_defined(pieces))
    )
    return _AddedRuntime(parsed, library, between)


GGUF: Final = Target(
    "gguf",
    "llama.cpp",
    _write,
    _read,
    _runtime,
    Path("gguf/golden.gguf"),
    {
        Part.NORMALIZER: "llama.cpp has none for BPE",
        Part.PRE_TOKENIZER: "llama.cpp has none for pieces: it never cuts a text, and puts a space"
        " before it even if it begins with one",
        Part.MODEL: "llama.cpp decides by the name of the pre-tokenizer whether a pre-token that is"
        " a token becomes it, whatever its merges give",
        Part.TEMPLATE: "it says whether BOS and EOS surround a text, and nothing else",
        Part.UNKNOWN: "llama.cpp drops bytes without a token",
        Part.ADDED_TOKENS: "special tokens are found only if the program asks for it",
        Part.ROLES: "it has room for two stop ids besides EOS",
        Part.DECODER: "decoding is the program's",
    },
)
