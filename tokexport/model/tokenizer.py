"""The whole tokenizer, and what belongs to none of its parts: template, offsets, special ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from tokexport.model.decoding import Decoding
from tokexport.model.text import NormalizerStep, PieceNormalizer, PreTokenizerStep
from tokexport.model.vocabulary import Model, Token
from tokexport.special_tokens import AddedToken, SpecialIds


@dataclass(frozen=True, slots=True)
class TemplateItem:
    """One item of a post-processor's template: a text or an id."""

    sequence: str | None = None  # "A" or "B"; `None` for an id
    id: int | None = None
    type_id: int = 0  # the type (segment) id of the ids that the item adds


@dataclass(frozen=True, slots=True)
class Template:
    """What the post-processor adds around one text and around a pair; by default nothing."""

    single: tuple[TemplateItem, ...] = (TemplateItem(sequence="A"),)
    pair: tuple[TemplateItem, ...] = (
        TemplateItem(sequence="A"),
        TemplateItem(sequence="B", type_id=1),
    )


@dataclass(frozen=True, slots=True)
class Trimming:
    """How the post-processor trims the offsets of a token whose name begins or ends with spaces."""

    # One for each processor that trims, in order; `True` if it keeps one space at the start of a
    # text (`add_prefix_space`).
    passes: tuple[bool, ...] = ()
    # Usually a name has as much white space at its start and end as `Token.content` has U+0020;
    # this holds both counts for all other ids.
    exceptions: Mapping[int, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatTemplates:
    """Jinja templates, and the variables that they read. No id depends on them."""

    default: str | None = None
    # Templates for other uses, by name: "tool_use", "rag".
    named: Mapping[str, str] = field(default_factory=dict)
    # The special tokens that templates read, such as "bos_token".
    variables: Mapping[str, str] = field(default_factory=dict)


class Reference(Enum):
    """The library that decides which ids are right."""

    TOKENIZERS = "tokenizers"
    TIKTOKEN = "tiktoken"
    SENTENCEPIECE = "sentencepiece"
    # The published algorithm, greedy longest match, implemented in tokexport.sources.
    RWKV = "rwkv"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a model came from."""

    # The kind of source.
    source: str
    # The SHA-256 of each file that was read, by its base name.
    sha256: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TokenizerModel:
    """A complete tokenizer."""

    # `tokens[id]` is `None` for a hole in the id space.
    tokens: Sequence[Token | None]
    model: Model
    reference: Reference
    provenance: Provenance
    normalizer: tuple[NormalizerStep, ...] = ()
    pre_tokenizer: tuple[PreTokenizerStep, ...] = ()
    added_tokens: tuple[AddedToken, ...] = ()
    template: Template = Template()
    # `None` if the reference's offsets cannot be computed.
    offset_trimming: Trimming | None = Trimming()
    # SentencePiece's normalizer; the compiler makes `normalizer` of it. `None`: offsets are found
    # step by step, as `tokenizers` does it.
    piece_normalizer: PieceNormalizer | None = None
    # After each added token the search starts as in a new text (`tokenizers` from 1.0 on).
    restart_after_added: bool = False
    decoding: Decoding = field(default_factory=Decoding)
    special_ids: SpecialIds = field(default_factory=SpecialIds)
    chat: ChatTemplates = field(default_factory=ChatTemplates)
    # For the user: differences from what the source says.
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<TokenizerModel {len(self.tokens):,} tokens, {self.provenance.source}>"


@dataclass(frozen=True, slots=True)
class SelfTestCase:
    """A text and its ids from the reference."""

    text: str
    ids: tuple[int, ...]
    special: bool = False  # special tokens in the text become ids
