"""What llama.cpp does with a GGUF file beyond what the keys of the file say, as measured with
llama-cpp-python 0.3.36: its splitters by name, tokens that it knows by name, and the rest.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from tokexport.model.byte_alphabet import BYTES_OF_TEXT, to_characters
from tokexport.sources.gguf.patterns import ORIGINALS
from tokexport.sources.gguf.source import GgufTokenizer
from tokexport.sources.json_node import show
from tokexport.sources.sentencepiece.proto import PieceType
from tokexport.targets.longest_first import cut_otherwise
from tokexport.targets.parts import Part

_CASED: Final = (
    "ends a word at a combining mark (accents in NFD, Hindi, Thai) and takes a letter outside ASCII"
    " for both a capital and a small one"
)
_WIDE: Final = "keeps white space outside ASCII together with the text around it"
# Names whose splitter in llama.cpp does not cut as the original does, and what it does. All other
# names of ORIGINALS were the same on 14,240 texts without characters newer than Unicode 15.
SPLITTERS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("gpt-4o", "llama4", "minimax-m2", "tekken"), _CASED),
    "afmoe": "takes all of U+8C48 to U+FAFF for ideographs (Yi, Hangul), and begins a number"
    " where the characters before it do",
    "deepseek-coder": _WIDE,
    "deepseek-llm": f"{_WIDE}, and the digits of a number",
    "falcon": "never cuts inside a character, as the original does at the bytes B2, B3, B9 and"
    " BC to BE",
    "kimi-k2": "ends a word at a combining mark, and not where a capital letter follows a"
    " small one",
    "laguna": "cuts between a carriage return and a line feed",
    "tiny_aya": "does not end a word where a capital letter follows a small one, and groups"
    " digits in threes also beside letters",
}

# Names for which a pre-token that is a token becomes it, whatever its merges give.
WHOLE_FIRST: Final = (
    *("falcon-h1", "falcon3", "glm4", "jina-v5-nano", "lfm2", "llama-bpe", "llama-v3", "llama3"),
    *("midm-2.0", "minicpm5", "pixtral", "tekken"),
)

_NAMES: Final = (
    "<|eot_id|> <|im_end|> <|end|> <end_of_turn> <|endoftext|> <|end_of_text|> <EOT> _<EOT> [EOT]"
    " <\uff5cend\u2581of\u2581sentence\uff5c> <end_of_utterance> <|eom_id|> <|return|> <|call|>"
    " <|flush|> <|calls|> </s> [EOS] <eos> <turn|> <|tool_response> [e~["
)
# The names of each role in filling in the middle. One token of them, the first that llama.cpp comes
# upon, has the role and is a control token, unless the file says which has it.
_FILL_IN: Final[Mapping[str, str]] = {
    "pre": "<|fim_prefix|> <fim-prefix> <fim_prefix> <\uff5cfim\u2581begin\uff5c> <PRE>"
    " \u2581<PRE> <|code_prefix|> <|prefix|>",
    "suf": "<|fim_suffix|> <fim-suffix> <fim_suffix> <\uff5cfim\u2581hole\uff5c> <SUF>"
    " \u2581<SUF> <|code_suffix|> <|suffix|>",
    "mid": "<|fim_middle|> <fim-middle> <fim_middle> <\uff5cfim\u2581end\uff5c> <MID>"
    " \u2581<MID> <|code_middle|> <|middle|>",
    "pad": "<|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD]",
    "rep": "<|fim_repo|> <|repo_name|> <fim-repo> <REPO> <reponame>",
    "sep": "<|file_sep|>",
}
# Tokens that are control tokens in llama.cpp, and some that are not, whatever a file says.
_CONTROL: Final = frozenset(_NAMES.split())
_FOUND: Final = frozenset(("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"))
_MEANINGS: Final = {
    PieceType.CONTROL: "takes {} for a control token, by its name",
    PieceType.USER_DEFINED: "finds {} in every text, because of its name",
    PieceType.NORMAL: "takes {} for a normal token where there is a <|tool_response>",
}


def fill_in_ids(tokens: Sequence[str], types: Sequence[int]) -> dict[str, int]:
    """The ids with a role in filling in the middle, by their key, where one of the tokens with its
    names is no control token: with the key, llama.cpp leaves it as it is.
    """
    found = {}
    for role, names in _FILL_IN.items():
        ids = [id for id, token in enumerate(tokens) if token in names.split()]
        ids.sort(key=lambda id: types[id] != PieceType.CONTROL)
        if ids and types[ids[-1]] != PieceType.CONTROL:
            found[f"fim_{role}_token_id"] = ids[0]
    return found


def differences(file: GgufTokenizer) -> dict[Part, str]:
    """The parts of a tokenizer that llama.cpp treats differently, each with what it does."""
    kinds = {"bert": _of_words, "gpt2": _of_bytes, "llama": _of_pieces, "t5": _of_pieces}
    found = kinds[file.model](file) if file.model in kinds else {}
    for token, own, kind in zip(file.tokens, file.types, loaded_types(file), strict=True):
        if own is not kind and own in _MEANINGS:
            found[Part.SPECIAL] = f"llama.cpp {_MEANINGS[kind].format(token)}"
    text = None if Part.MODEL in found else _cut_otherwise(file)
    if text is not None:
        found[Part.ADDED_TOKENS] = (
            "llama.cpp finds the longest one of a text first, wherever it is, not the leftmost one,"
            f" and so cuts {show(text)} otherwise"
        )
    return found


def loaded_types(file: GgufTokenizer) -> list[PieceType]:
    """The types of the tokens, as llama.cpp changes them by their names."""
    types = dict(zip(file.tokens, file.types, strict=True))
    types |= dict.fromkeys(_CONTROL & types.keys(), PieceType.CONTROL)
    types |= dict.fromkeys(_FOUND & types.keys(), PieceType.USER_DEFINED)
    one, other = {"<|call|>", "<|calls|>"}, {"<|return|>", "<|flush|>"}
    if one & types.keys() and other & types.keys():  # gpt-oss, Solar Open
        types["<|end|>"] = PieceType.USER_DEFINED
    if "<|tool_response>" in types:  # Gemma 4
        types["</s>"] = PieceType.NORMAL
    return [types[token] for token in file.tokens]


def _cut_otherwise(file: GgufTokenizer) -> str | None:
    """A text that llama.cpp cuts at other added tokens, with or without special ones."""
    special, others = (
        [token for token, kind in zip(file.tokens, file.types, strict=True) if token and kind is of]
        for of in (PieceType.CONTROL, PieceType.USER_DEFINED)
    )
    original = ORIGINALS.get(str(file.values.get("pre")))
    others_later = original is not None and original.normalized
    groups = [special, others] if others_later else [[*special, *others]]
    return cut_otherwise(groups, frozenset(special))


def _of_words(file: GgufTokenizer) -> dict[Part, str]:
    meaning = (
        "llama.cpp ends a word at \\v, \\f and U+0085, which BERT drops, knows more punctuation,"
        " and takes U+2581 for the start of a word"
    )
    if file.flag("normalizer.strip_accents", file.flag("normalizer.lowercase", True)):
        meaning += "; it drops every mark where BERT drops accents"
    found = {Part.NORMALIZER: meaning}
    if PieceType.USER_DEFINED in file.types:
        found[Part.FLAGS] = "llama.cpp finds all added tokens before it normalizes a text"
    return found


def _of_bytes(file: GgufTokenizer) -> dict[Part, str]:
    found = {}
    name = str(file.values.get("pre"))
    if name in SPLITTERS:
        found[Part.PRE_TOKENIZER] = f"llama.cpp's splitter for {name} {SPLITTERS[name]}"
    tokens = frozenset(file.tokens)
    missing = [byte for byte in BYTES_OF_TEXT if to_characters(bytes((byte,))) not in tokens]
    if missing:
        found[Part.UNKNOWN] = (
            f"llama.cpp drops a byte without a token, such as 0x{min(missing):02x}, after it has"
            " merged the others"
        )
    return found


def _of_pieces(file: GgufTokenizer) -> dict[Part, str]:
    found = {}
    if PieceType.USER_DEFINED in file.types:
        found[Part.MODEL] = (
            "llama.cpp finds user-defined pieces before anything else, the longest ones first, and"
            " treats the text after each as a text of its own; U+2581 in a text is no space to it"
        )
    if file.model == "llama" and file.flag("remove_extra_whitespaces", False):
        found[Part.NORMALIZER] = "llama.cpp keeps all spaces"
    if file.model == "t5":
        found[Part.SCORES] = (
            "llama.cpp adds them in double precision, so of two equally good ways to cut a text it"
            " may take the other one, and it keeps U+2581 at the end of a text"
        )
        if PieceType.BYTE in file.types:
            found[Part.UNKNOWN] = "for Unigram llama.cpp has no bytes for text without a token"
        prefix = file.flag("add_space_prefix", True)
        collapses = file.flag("remove_extra_whitespaces", True)
        if PieceType.USER_DEFINED in file.types:
            found[Part.NORMALIZER] = (
                "llama.cpp does not normalize a character whose first byte begins a user-defined"
                " piece"
            )
        elif collapses and not prefix:
            found[Part.NORMALIZER] = "where llama.cpp drops spaces, it puts one before each text"
        elif prefix and not collapses:
            found[Part.NORMALIZER] = "llama.cpp puts no space before a text of spaces only"
    return found
