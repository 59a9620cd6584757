"""The patterns of published tokenizers that several sources use, character for character."""

from typing import Final

_CONTRACTIONS: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
# A word that ends in lower case, and one that begins in upper case.
_LOWER: Final = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
_UPPER: Final = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
_WORDS: Final = f"{_LOWER}{_CONTRACTIONS}?|{_UPPER}{_CONTRACTIONS}?"
_SPACES: Final = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
_PUNCTUATION: Final = r"| ?[^\s\p{L}\p{N}]+[\r\n]*" + _SPACES
_PUNCTUATION_AND_SLASHES: Final = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*" + _SPACES
R50K: Final = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K: Final = _WORDS + r"|\p{N}{1,3}" + _PUNCTUATION_AND_SLASHES
LLAMA3: Final = _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + _PUNCTUATION
QWEN: Final = _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + _PUNCTUATION
QWEN3_5: Final = (
    _CONTRACTIONS
    + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    + _SPACES
)
_OTHER_WORDS: Final = _WORDS.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]")
KIMI: Final = r"[\p{Han}]+|" + _OTHER_WORDS + r"|\p{N}{1,3}" + _PUNCTUATION
NANOCHAT: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}|"
    r" ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
# DeepSeek V3 applies these in order; the line breaks are literal characters, as in its file.
DEEPSEEK: Final = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    (
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
        "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
    ),
)
# The pattern of ByteLevel and of GPT-2's encoder.py.
GPT2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TEKKEN: Final = f"{_LOWER}|{_UPPER}" + r"|\p{N}" + _PUNCTUATION_AND_SLASHES


def oniguruma(pattern: str) -> str:
    """A pattern of tiktoken for Oniguruma, where a plus after ``{1,3}`` is not possessive but
    repeats it. The plus can be dropped: nothing follows it in any known pattern.

    >>> oniguruma(r"\\p{N}{1,3}+| ")
    '\\\\p{N}{1,3}| '
    """
    return pattern.replace("{1,3}+|", "{1,3}|")
