"""GPT-2's pair of files: vocab.json and merges.txt, also named encoder.json and vocab.bpe.

The pair does not include the pattern: it is GPT-2's, as in ``ByteLevelBPETokenizer`` of
``tokenizers``, which is the reference. It has no special tokens of its own, but they can be given.
A pair with CLIP's special tokens is CLIP's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import TokenizerModel
from tokexport.model.byte_alphabet import BYTES_OF_TEXT, CHARACTERS
from tokexport.sources import clip
from tokexport.sources.byte_pair import read_vocab, refuse_merge, split_merge
from tokexport.sources.config import ADDED_TOKENS, CONFIG
from tokexport.sources.files import SourceFiles, lines_of
from tokexport.sources.json_node import Node, line_of, parse, show
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Input, Source
from tokexport.sources.tokenizer_json import document, references
from tokexport.sources.tokenizer_json.read import read_tokenizer_json
from tokexport.sources.unreadable import is_array, list_without_ids

# File names that belong together: the vocabulary's and the merges'.
_PAIRS: Final = (
    ("vocab.json", "merges.txt"),
    ("encoder.json", "vocab.bpe"),
    ("vocab.json", "vocab.bpe"),
)
# The same after a prefix, as save_model(folder, PREFIX) of `tokenizers` writes them.
_PREFIXED: Final = ("-vocab.json", "-merges.txt")
_VERSION: Final = "#version"
_FAIRSEQ: Final = "dict.txt"
_INSTEAD: Final = (
    "give the tokenizer.json of this tokenizer, or the SentencePiece model; of pairs of files only"
    " GPT-2's kind over bytes and CLIP's are read"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """The parsed vocabulary, and the merges by line, with the names of the files."""

    vocab: Node
    merges: dict[int, list[str]]
    merges_name: str

    @property
    def of_clip(self) -> clip.Pair | None:
        """The vocabulary and the merges, if they are CLIP's."""
        is_clip = clip.is_clip(self.vocab.object(repeats=True))
        return (read_vocab(self.vocab), [*self.merges.values()]) if is_clip else None


def _sniff(source: Input) -> Pair | None:
    numbers = source.fields.values()
    if numbers and all(type(number) is int for number in numbers):
        vocab_name, merges_name = _sibling(
            source, "numbers by name, as a vocabulary without merges"
        )
    elif source.json is None and _are_merges(source):
        vocab_name, merges_name = _sibling(source, "pairs of words, as merges without a vocabulary")
    else:
        return None
    merges = parse_merges(source.files.read(merges_name), merges_name)
    vocab = source.json or parse(source.files.read(vocab_name), vocab_name)
    return Pair(vocab, merges, merges_name)


def _are_merges(source: Input) -> bool:
    if source.data.startswith(_VERSION.encode()):
        return True
    words = [line.split(b" ") for line in source.lines]
    is_other = is_array(source.data) or list_without_ids(source.lines) is not None
    return words != [] and all(len(pair) == 2 and all(pair) for pair in words) and not is_other


def _read(source: Input, pair: Pair) -> TokenizerModel:
    of_clip = pair.of_clip
    if of_clip is None:
        return _read_pair(pair, source.files, source.given.special_tokens)
    if source.given.special_tokens is not None:
        problem = "special tokens for a pair of CLIP are not supported"
        raise UnsupportedError(source.name, problem, "leave out special_tokens: CLIP names its own")
    return clip.read_clip(source, of_clip)


def _reference(source: Input, pair: Pair) -> ReferenceTokenizer:
    if (of_clip := pair.of_clip) is not None:
        return clip.reference_of_clip(source, of_clip)
    folder, special_tokens = source.files.folder, source.given.special_tokens or {}
    assert folder is not None
    by_id = sorted(special_tokens, key=special_tokens.__getitem__)
    paths = folder / pair.vocab.file, folder / pair.merges_name
    return references().from_vocab_and_merges(*paths, by_id)


def _is_whole(path: Path) -> bool:
    names = [merges for vocab, merges in _pairs(path.name) if vocab == path.name]
    return path.is_file() and any((path.parent / name).is_file() for name in names)


SOURCE = Source(
    "vocab.json with merges.txt",
    _sniff,
    _read,
    _reference,
    files=("vocab.json", "encoder.json", "*-vocab.json"),
    is_whole=_is_whole,
    # CLIP's tokenizer.json; GPT-2's vocabularies are written from their parts.
    equivalent=lambda source, pair: pair.of_clip and clip.clip_document(*pair.of_clip),
    takes=frozenset(("special_tokens",)),
)


def _sibling(source: Input, holds: str) -> tuple[str, str]:
    """The names of the vocabulary and the merges; SourceError if either does not exist."""
    pairs = _pairs(source.name)
    for pair in pairs:
        if all(map(source.files.has, pair)):
            return pair
    others = sorted({other for pair in pairs for other in pair} - {source.name})
    problem = f"it holds only {holds}, from which no ids follow"
    if pairs:
        problem += f", and {' or '.join(others)} is not beside it"
    hint = "give the whole tokenizer.json, or vocab.json and merges.txt in one directory"
    raise SourceError(problem, hint, name=source.name)


def _pairs(name: str) -> list[tuple[str, str]]:
    """The pairs of names, of a vocabulary and of merges, that a file of this name may belong to."""
    prefixes = [name.removesuffix(end) for end in _PREFIXED if name.endswith(end)]
    prefixed = [(prefix + _PREFIXED[0], prefix + _PREFIXED[1]) for prefix in prefixes]
    return [pair for pair in (*_PAIRS, *prefixed) if name in pair]


def _read_pair(
    pair: Pair, files: SourceFiles, special_tokens: Mapping[str, int] | None
) -> TokenizerModel:
    name = pair.vocab.file
    if special_tokens is None and files.has(ADDED_TOKENS):
        found = f"added tokens beside {name}, without the class of the tokenizer,"
        hint = f"name the class in a {CONFIG} (tokenizer_class), or give them as special_tokens"
        raise UnsupportedError(ADDED_TOKENS, f"{found} are not supported", hint)
    vocab = read_vocab(pair.vocab)
    _check_kind(name, vocab)
    for number, (left, right) in pair.merges.items():
        missing = [token for token in (left, right, left + right) if token not in vocab]
        if missing:
            refuse_merge(line_of(pair.merges_name, number, ""), (left, right), missing[0])
    root = document.tokenizer_document(
        added_tokens=document.special_tokens(special_tokens or {}),
        pre_tokenizer=document.byte_level(True),
        decoder=document.byte_level(True),
        model=document.byte_pair_model(vocab, [*pair.merges.values()]),
    )
    model = read_tokenizer_json(Node(name, "", root), files, "vocab.json + merges.txt")
    split = (
        f"No file beside {name} names a class that says how texts are split, so they are split by"
        " GPT-2's pattern, as ByteLevelBPETokenizer of tokenizers does; if the model has another"
        " one, give its tokenizer.json."
    )
    notes = [split]
    if special_tokens is not None and files.has(ADDED_TOKENS):
        notes.append(f"{ADDED_TOKENS} is left out, since special_tokens are given.")
    if files.has(_FAIRSEQ):
        notes.append(
            f"The ids are those of {name}. {_FAIRSEQ} beside it is fairseq's: its models number"
            " tokens by their lines in that file, plus 4."
        )
    if not special_tokens:
        notes.append(
            f"{name} names no special tokens, so the converted file has none; give them as"
            " special_tokens."
        )
    return replace(model, notes=(*model.notes, *notes))


def _check_kind(file: str, vocab: Mapping[str, int]) -> None:
    """Raises UnsupportedError for a pair of another class with the same file names: GPT-2's kind
    has every byte of a text, and not all of them at the ends of words too.
    """
    missing = [CHARACTERS[byte] for byte in BYTES_OF_TEXT if CHARACTERS[byte] not in vocab]
    if missing:
        found = (
            f"without a token {show(min(missing))}, which stands for a byte (subword-nmt,"
            " CharBPETokenizer, SentencePieceBPETokenizer, GPT-1, CTRL)"
        )
    elif all(character + clip.END_OF_WORD in vocab for character in CHARACTERS):
        found = "of CLIP's kind without its special tokens"
    else:
        return
    raise UnsupportedError(file, f"a vocabulary {found}, is not supported", _INSTEAD)


def parse_merges(data: bytes, file: str) -> dict[int, list[str]]:
    """The merges by line number; SourceError, with the line, for a line that is not a merge."""
    return {
        number: split_merge(line_of(file, number, line.removesuffix("\r")))
        for number, line in enumerate(lines_of(data, file), 1)
        if not line.startswith(_VERSION)
    }
