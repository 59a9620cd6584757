"""The tokenizers of the golden files: each as a model for the writer, and as the same tokenizer in
the reference.

They are tiny, and each covers a part of the format that the others leave out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rewriting_models
import tiktoken
from byte_level import (
    added_json,
    byte_level,
    byte_level_model,
    byte_tokens,
    library,
    library_template,
    library_version,
)
from character_models import affixes, byte_fallback, byte_suffix, stopping
from golden import PROVENANCE, Golden, Messages, Special

from tokexport.chat.frame import Frame, Opening
from tokexport.model import (
    AddedToken,
    Behavior,
    BytePairModel,
    CharacterTest,
    ChatTemplates,
    Dialect,
    NormalForm,
    Prepend,
    Reference,
    Replace,
    SpecialIds,
    SpellBytes,
    Split,
    Template,
    TemplateItem,
    Token,
    TokenizerModel,
    TokenKind,
    Trimming,
)

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# Special tokens: 0 is <|end|>, 1 is <|endof|>; 2, |><|, is in a message or between the two.
FRAME = Frame(
    "<|endof|>the ",
    Opening("<|endof|>", "<|end|> the"),
    "<|end|>he",
    "<|end|>the ",
    "  <|end|><|endof|>th",
    stripped=frozenset({"user"}),
    trimmed=frozenset({"system"}),
    reserved=("xyz", "\u00e9"),
    takes_empty=False,
)
SPACES = "\t\n\x1f \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
HELLO, ANSWER, SYSTEM = ("user", "the he"), ("assistant", " e the "), ("system", "h  e")
CHATS: list[tuple[Messages, tuple[int, ...] | str]] = [
    ([HELLO], (0, 1)),
    ([("user", f"{SPACES}e  the{SPACES}")], (0, 1)),
    ([("user", "\u200bthe\u180e")], (0, 1)),
    ([SYSTEM, HELLO], (0, 1)),
    ([HELLO, ANSWER, HELLO], (0, 1)),
    ([SYSTEM, HELLO, ANSWER, HELLO, ANSWER, HELLO], (0, 1)),
    ([("user", "a|><|b")], (0, 1)),
    ([SYSTEM], "TKX_E_ROLE"),
    ([], "TKX_E_ROLE"),
    ([HELLO, ANSWER], "TKX_E_ROLE"),
    ([ANSWER], "TKX_E_ROLE"),
    ([HELLO, HELLO, HELLO], "TKX_E_ROLE"),
    ([HELLO, ANSWER, SYSTEM], "TKX_E_ROLE"),
    ([SYSTEM, SYSTEM, HELLO], "TKX_E_ROLE"),
    ([("user", "")], "TKX_E_MESSAGE"),
    ([("user", SPACES)], "TKX_E_MESSAGE"),
    ([HELLO, ("assistant", " "), HELLO], "TKX_E_MESSAGE"),
    ([("user", "a xyzzy")], "TKX_E_MESSAGE"),
    ([("system", "he\u3000"), HELLO], "TKX_E_MESSAGE"),
    ([("system", "\nhe"), HELLO], "TKX_E_MESSAGE"),
    ([("system", "\u00e9"), HELLO], "TKX_E_MESSAGE"),
]


def goldens() -> tuple[Golden, ...]:
    """All golden files that the writer makes."""
    characters = {
        "byte-fallback": byte_fallback(),
        "affixes": affixes(),
        "byte-suffix": byte_suffix(),
        "stopping": stopping(),
    }
    return (
        *(
            ranked(),
            added(),
            normalized(),
            bytes_stages(),
            behaviors(),
            ranks_with_holes(),
            look_ahead(),
        ),
        *(rewriting(), sequences(), spelled()),
        *(
            Golden(
                *(name, model, encode, library_version(), texts, locate),
                unknown=["abx"] if name == "stopping" else [],
            )
            for name, (model, encode, texts, locate) in characters.items()
        ),
    )


def ranked() -> Golden:
    """RANK: the merges are not in the order of ids. Runs of bytes without an id become one unknown
    token. No merge makes the last token. No POST: the second of two texts has the type id 1.
    """
    tokens = ["a", "b", "c", "bc", "ab", "<unk>", " ", "ca"]
    merges = [("a", "b"), ("b", "c")]
    model = byte_level_model(tokens, merges, unknown="<unk>", fuse_unknown=True)
    fields: dict[str, Any] = {"unk_token": "<unk>", "fuse_unk": True}
    reference, locate = library(tokens, merges, **fields)
    around = library_template(tokens, merges, **fields)
    texts = ["abc", "bcab", "abcabc", "xyz", "a\u00e9\u00e9b x y", "", "abx\0cab", "cba", "ca"]
    version, pairs = library_version(), [("abc", None), ("abc", "ab")]
    return Golden("ranked", model, reference, version, texts, locate, around, pairs)


def added() -> Golden:
    """ADDT and ACLS with every flag, POST, SPID, CHAT, TEST; a space is put before each segment."""
    words = ["he", "ll", "hell", "hello", " w", "or", " wor", "ld", " world", "\n\n"]
    merges = [
        ("h", "e"),
        ("l", "l"),
        ("he", "ll"),
        ("hell", "o"),
        (" ", "w"),
        ("o", "r"),
        (" w", "or"),
        ("l", "d"),
    ]
    merges += [(" wor", "ld"), ("\n", "\n")]
    tokens = byte_tokens() + words
    flags: list[dict[str, Any]] = [
        {"content": "<s>", "special": True},
        {"content": "</s>", "special": True, "rstrip": True},
        {"content": "<mask>", "special": True, "lstrip": True},
        {"content": "<both>", "lstrip": True, "rstrip": True},
        {"content": "word", "single_word": True},
        {"content": "caf\u00e9", "single_word": True, "lstrip": True, "normalized": True},
        {"content": "<s>>", "special": False},
        {"content": "  ", "normalized": True},
        {"content": "\t"},
        {"content": "\u2003", "lstrip": True},
        {"content": "k>w"},
        {"content": "oo", "single_word": True},
        {"content": "</w", "special": True},
    ]
    added_tokens = tuple(
        AddedToken(id=len(tokens) + index, **fields) for index, fields in enumerate(flags)
    )
    s, end = len(tokens), len(tokens) + 1
    template = Template(
        single=(TemplateItem(id=s), TemplateItem(sequence="A"), TemplateItem(id=end)),
        pair=(
            TemplateItem(id=s),
            TemplateItem(sequence="A"),
            TemplateItem(id=end),
            TemplateItem(sequence="B", type_id=1),
            TemplateItem(id=end, type_id=1),
        ),
    )
    model = byte_level_model(
        tokens,
        merges,
        pre_tokenizer=(Prepend(" ", unless_present=True), Split(GPT2_PATTERN)),
        added_tokens=added_tokens,
        template=template,
        offset_trimming=Trimming(passes=(True,)),
        special_ids=SpecialIds(bos=s, eos=end, stop=(s, end)),
        chat=ChatTemplates(
            "{% for message in messages %}<s>{{ message['content'] }}</s>{% endfor %}"
        ),
    )
    reference, locate = library(
        tokens,
        merges,
        added_tokens=added_json(added_tokens),
        pre_tokenizer=byte_level(add_prefix_space=True, use_regex=True),
        post_processor=byte_level(add_prefix_space=True, trim_offsets=True),
    )
    texts = [
        "hello world",
        " hello world",
        "<s>hello</s>  \n world<mask>",
        "a <mask>\u3000<both> \n<both>b",
        "word words sword (word) word\u00e9 \u00e9word",
        "caf\u00e9 cafe\u0301 \u00a0caf\u00e9s",
        "<s>><s>><<s>",
        "hello  world   hello\n\nhello",
        "</s>    hello",
        "</s> \t x\t",
        "</s>\t\t<mask>\t<both> \t <both>",
        "hello\n \u3000<mask>x</s>\u3000 <mask>",
        "</s>\u2003x",
        "<mask>w xooo </woo",
        "",
        " ",
        "\u4f60\u597d<s>\U0001f600",
    ]
    single = [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ]
    single.append({"SpecialToken": {"id": "</s>", "type_id": 0}})
    around = library_template(
        tokens,
        merges,
        added_tokens=added_json(added_tokens),
        pre_tokenizer=byte_level(add_prefix_space=True, use_regex=True),
        post_processor={
            "type": "TemplateProcessing",
            "single": single,
            "pair": [
                *single,
                {"Sequence": {"id": "B", "type_id": 1}},
                {"SpecialToken": {"id": "</s>", "type_id": 1}},
            ],
            "special_tokens": {
                content: {"id": content, "ids": [token], "tokens": [content]}
                for content, token in (("<s>", s), ("</s>", end))
            },
        },
    )
    version, pairs = library_version(), [("hello", None), ("hello", " world"), ("", "<s>")]
    return Golden(
        "added",
        model,
        reference,
        version,
        texts,
        locate,
        around,
        pairs,
        self_test=True,
        trimmed=True,
    )


def normalized() -> Golden:
    """NORM: NFC, with an added token that is found by its normalized content."""
    tokens = [*byte_tokens(), "\u00e9", "e\u00e9"]
    first, second = "\u00e9".encode()
    merges: list[tuple[str | bytes, str | bytes]] = [
        (bytes([first]), bytes([second])),
        ("e", "\u00e9"),
    ]
    added_tokens = (
        AddedToken(id=258, content="A\u030a", normalized=True),
        AddedToken(id=259, content="\u212b", special=True),
    )
    model = byte_level_model(
        tokens, merges, normalizer=(NormalForm.NFC,), added_tokens=added_tokens
    )
    reference, locate = library(
        tokens,
        merges,
        normalizer={"type": "NFC"},
        added_tokens=added_json(added_tokens),
        pre_tokenizer=byte_level(),
    )
    texts = [
        "e\u0301e\u0301",
        "\u00e9e\u00e9",
        "\u00c5 A\u030a \u212b",
        "\u1100\u1161\u11a8 \uac00\u11a8 \uac01",
        "q\u0307\u0323 q\u0323\u0307 \u1e0d\u0307 d\u0307\u0323",
        "\u0344 \u0958 \u2adc \u1d15e \ufb1d \u0f43",
        "\u0301e \u0301\u0301e\u0301\u0301",
        "a\u0316\u0325 a\u0325\u0325 a\u0325\u0301",
        "\uac01\u11a8 \uac00\u11a7 \u1100\u1161\u11a7",
        "\u1112\u1175\u11c2 \u1100\u1173\u11af \u1112\u1161\u11ab",
        "\u1113\u1161 \u1100\u1176 a\u1161 \u1100a \uac00\u11c3 \u4e0c\u11a8 e\u0316\u0301",
        "plain",
    ]
    version = library_version()
    return Golden("normalized", model, reference, version, texts, locate, trimmed=True)


def rewriting() -> Golden:
    """Operations in NORM: a charsmap by cluster, a map, programs; and a stage that rewrites each
    pre-token.
    """
    tokens = [*byte_tokens(), "_a", "fi", "iv", "<>"]
    merges = [("_", "a"), ("f", "i"), ("i", "v"), ("<", ">")]
    model = byte_level_model(
        tokens,
        merges,
        normalizer=rewriting_models.NORMALIZER,
        pre_tokenizer=rewriting_models.PRE_TOKENIZER,
    )
    pre_tokenizers = [*rewriting_models.PRE_TOKENIZERS_JSON, byte_level()]
    reference, locate = library(
        tokens,
        merges,
        normalizer=rewriting_models.NORMALIZER_JSON,
        pre_tokenizer={"type": "Sequence", "pretokenizers": pre_tokenizers},
    )
    version, texts = library_version(), rewriting_models.TEXTS
    return Golden("rewriting", model, reference, version, texts, locate, trimmed=True)


def sequences() -> Golden:
    """Operations in NORM: a charsmap by longest sequence with protected texts, and texts put before
    and after.
    """
    tokens = [*byte_tokens(), "_b", "b~"]
    merges = [("_", "b"), ("b", "~")]
    model = byte_level_model(
        tokens,
        merges,
        normalizer=rewriting_models.SEQUENCE_NORMALIZER,
        pre_tokenizer=rewriting_models.SEQUENCE_PRE_TOKENIZER,
    )
    split = {"type": "Split", "pattern": {"String": "x"}, "behavior": "Removed", "invert": False}
    encode, _ = library(
        tokens, merges, pre_tokenizer={"type": "Sequence", "pretokenizers": [split, byte_level()]}
    )

    def reference(text: str, special: Special) -> Sequence[int]:
        return encode(rewriting_models.rewritten(text), special)

    return Golden("sequences", model, reference, library_version(), rewriting_models.SEQUENCE_TEXTS)


def spelled() -> Golden:
    """Bytes that become letters of GPT-2's alphabet, before a model over the bytes of those
    letters; and a prefix for the pre-token that comes from the start of the input.
    """
    tokens = [*byte_tokens(), "\u0120", "\u0120a", "_a", "ab"]
    first, second = "\u0120".encode()
    merges: list[tuple[str | bytes, str | bytes]] = [
        (bytes([first]), bytes([second])),
        ("\u0120", "a"),
        ("_", "a"),
        ("a", "b"),
    ]
    model = byte_level_model(
        tokens,
        merges,
        normalizer=(Replace("xx", ""),),
        pre_tokenizer=(Prepend("_", unless_present=True, only_first=True), SpellBytes()),
    )
    metaspace = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": False}
    reference, locate = library(
        tokens,
        merges,
        normalizer={"type": "Replace", "pattern": {"String": "xx"}, "content": ""},
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [metaspace, byte_level(), byte_level()],
        },
    )
    letters = "\0!~\x7f\x80\xa0\xa1\xac\xad\xae\xbf\xc0\xff\u07ff\u0800\uffff\U00010000\U0010ffff"
    return Golden(
        "spelled",
        model,
        reference,
        library_version(),
        ["abxxa", "xxab", "a\u00e0a", "", letters],
        locate,
    )


def bytes_stages() -> Golden:
    """Stages that read bytes, as in Falcon after ByteLevel, and one with contiguous matches."""
    tokens = [*byte_tokens(), "12", "123", "1234", " a", "!!", "\u00e9"]
    first, second = "\u00e9".encode()
    merges: list[tuple[str | bytes, str | bytes]] = [
        ("1", "2"),
        ("12", "3"),
        ("123", "4"),
        (" ", "a"),
        ("!", "!"),
    ]
    merges.append((bytes([first]), bytes([second])))
    model = byte_level_model(
        tokens,
        merges,
        pre_tokenizer=(
            Split(CharacterTest.PUNCTUATION, Behavior.CONTIGUOUS),
            Split(GPT2_PATTERN),
            Split(CharacterTest.NUMERIC, Behavior.CONTIGUOUS, on_bytes=True),
            Split(r"[0-9][0-9][0-9]", on_bytes=True),
        ),
    )
    reference, locate = library(
        tokens,
        merges,
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Punctuation", "behavior": "Contiguous"},
                byte_level(use_regex=True),
                {"type": "Digits", "individual_digits": False},
                {
                    "type": "Split",
                    "pattern": {"Regex": "[0-9][0-9][0-9]"},
                    "behavior": "Isolated",
                    "invert": False,
                },
            ],
        },
    )
    texts = [
        "1234567 a 12",
        "!!1234!!",
        "\u00e9\u00b2 \u00bd12 \u0663\u0664",
        "it's a",
        "  \n 12",
        "\u00b9\u00b2\u00b3\u2460",
        "a1!b2",
    ]
    return Golden("bytes-stages", model, reference, library_version(), texts, locate, trimmed=True)


def behaviors() -> Golden:
    """Every behavior, invert, and a pattern that reads on past its last match end (memo_count)."""
    tokens = [*byte_tokens(), "ab", "abab", ".,", "--", "xx", "b."]
    merges = [("a", "b"), ("ab", "ab"), (".", ","), ("-", "-"), ("x", "x"), ("b", ".")]
    stages = [
        ("[;|]", Behavior.REMOVED, False),
        ("[^_]+", Behavior.REMOVED, True),
        ("[.,]", Behavior.MERGED_WITH_PREVIOUS, False),
        ("[+-]", Behavior.MERGED_WITH_NEXT, False),
        ("[0-9]", Behavior.CONTIGUOUS, False),
        ("[xy]", Behavior.CONTIGUOUS, True),
        ("[a-d]+!|[a-d]{4}", Behavior.ISOLATED, False),
        ("(?<![ab])c", Behavior.MERGED_WITH_NEXT, True),
    ]
    texts = [
        "abab;abab|;ab_ab__",
        ".,ab.,ab..ab,b.b",
        "--ab--ab-+ab+",
        "01ab23 4",
        "xxyxaxx",
        "ababababababab!abab",
        "ababababababababab",
        "bccacc c",
        "_;|",
        "\u00e9;\u00e9.\u00e9",
    ]
    return _of_splits("behaviors", tokens, merges, stages, texts)


def ranks_with_holes() -> Golden:
    """tiktoken: whole pre-token first, ranks instead of merges, special tokens that overlap, and
    holes.
    """
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {b"th": 256, b"he": 257, b"the": 258, b" the": 259, b"xyzzy": 260, b"xyzzyxyzzy": 261}
    specials = {"<|end|>": 262, "<|endof|>": 263, "|><|": 266}
    pattern = r"(?i:'s|'t)| ?[a-z]+|\d{1,3}|\s+$|\s"
    tokens: list[Token | None] = [Token(content) for content in ranks]
    tokens += [None] * (max(specials.values()) + 1 - len(tokens))
    for content, token in specials.items():
        tokens[token] = Token(content.encode(), TokenKind.ADDED, special=True)
    model = TokenizerModel(
        tokens=tuple(tokens),
        model=BytePairModel(ranks, None, whole_pre_token_first=True),
        reference=Reference.TIKTOKEN,
        provenance=PROVENANCE,
        pre_tokenizer=(Split(pattern, Behavior.REMOVED, invert=True, dialect=Dialect.FANCY_REGEX),),
        added_tokens=tuple(
            AddedToken(token, content, special=True) for content, token in specials.items()
        ),
        special_ids=SpecialIds(eos=262, stop=(262, 263)),
    )
    encoding = tiktoken.Encoding(
        "golden", pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials
    )

    def encode(text: str, special: Special) -> Sequence[int]:
        indices = range(len(specials)) if special is True else special or ()
        allowed = {[*specials][index] for index in indices}
        return encoding.encode(text, allowed_special=allowed, disallowed_special=())

    texts = [
        "the xyzzy's",
        "xyzzyxyzzy",
        "xyzzy",
        "<|end|><|endof|>",
        "<|end",
        "xyzzyxyzzy 12345",
        "apw",  # its slot in TIDX has its fingerprint, but another key
        "THE\u017f '\u017f",
        "a  \n",
        "the<|end|>the",
        "\u0663",
    ]
    some = [("<|end|><|endof|>", (2,)), ("<|end|><|endof|>", (0,)), ("|><|end|><|", (0, 1))]
    version = f"tiktoken {tiktoken.__version__}"
    prefixes = [b"", b"t", b"the", b"<|end", b"xyzzyx", b"xyzzyxyzzyx", b"q", b"qq", b"\xff", b"\0"]
    parts: dict[str, Any] = {"some": some, "prefixes": prefixes}
    return Golden("holes", model, encode, version, texts, frame=FRAME, chats=CHATS, **parts)


def look_ahead() -> Golden:
    """Label tables: digits in groups of three from the right. EMPTY_MATCHES: a lookahead alone,
    which cuts where it matches. SEARCH_STARTS: a pattern that depends on the end of the last match.
    """
    words = ["12", "34", "123", "1234", "  ", "ab", "xx"]
    tokens = [*byte_tokens(), *words]
    merges = [("1", "2"), ("3", "4"), ("12", "3"), ("12", "34"), (" ", " "), ("a", "b"), ("x", "x")]
    stages = [
        (r"[0-9]{1,3}(?=(?:[0-9]{3})*(?![0-9a-z_]))", Behavior.ISOLATED, False),
        (r"(?=([0-9]{3})+(?![0-9]))", Behavior.ISOLATED, False),
        (r"a(?=b+c)", Behavior.CONTIGUOUS, False),
        (r"\G[0-9x]|;|b(?=b*c)", Behavior.ISOLATED, False),
        (r" +(?! *;)", Behavior.MERGED_WITH_NEXT, False),
    ]
    texts = [
        "1234567 12 123 1234",
        "a12345b 1234567_",
        "\u06611234\u0662 12\u00bd",
        "abbc abb abc",
        "axxbxx",
        "xx xx",
        "a  b   ; c  ",
        "  1234;  ;",
        "",
    ]
    return _of_splits("look-ahead", tokens, merges, stages, texts)


def _of_splits(
    name: str,
    tokens: Sequence[str | bytes],
    merges: Sequence[tuple[str, str]],
    stages: Sequence[tuple[str, Behavior, bool]],
    texts: Sequence[str],
) -> Golden:
    """A stage for each pattern, with its behavior and whether it is inverted."""
    model = byte_level_model(tokens, merges, pre_tokenizer=tuple(Split(*stage) for stage in stages))
    splits = [
        {
            "type": "Split",
            "pattern": {"Regex": pattern},
            "behavior": behavior.value,
            "invert": invert,
        }
        for pattern, behavior, invert in stages
    ]
    pre_tokenizer = {"type": "Sequence", "pretokenizers": [*splits, byte_level()]}
    encode, locate = library(tokens, merges, pre_tokenizer=pre_tokenizer)
    return Golden(name, model, encode, library_version(), texts, locate)
