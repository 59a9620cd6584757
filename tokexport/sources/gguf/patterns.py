"""The names in ``tokenizer.ggml.pre``, with the parts of the original tokenizer.json.

A GGUF holds a name but neither pattern nor normalizer. The names are llama.cpp's; this module has
those whose parts are known from the tokenizer.json, from the script that made it or from the code
of the original. The original's patterns are not always those that llama.cpp runs. A name of several
originals with different patterns ("falcon-h1") is left out.

The converter finds a name from the ids of one text, in which NFC changes nothing: a name says
nothing about NFC. So the pattern that llama.cpp has for each name is not enough.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tokexport.sources.patterns import DEEPSEEK, KIMI, LLAMA3, O200K, QWEN, QWEN3_5, TEKKEN
from tokexport.sources.tokenizer_json.document import byte_level, sequence, split


@dataclass(frozen=True, slots=True)
class Original:
    """Parts of a tokenizer.json.

    ``add_bos`` and ``add_sep`` apply if the file does not say whether to add them, as in llama.cpp.
    With ``mask_lstrip``, the mask token strips the white space before it; with ``normalized``,
    tokens that are not special are matched after the normalizer. With ``ranks``, the original is
    tiktoken, and the merges were derived from its ranks, the ids. ``ignore_merges`` is None for
    trained merges and for ranks written as more merges than tokens.
    """

    pre_tokenizer: dict[str, Any]
    normalizer: dict[str, Any] | None = None
    ignore_merges: bool | None = False
    add_bos: bool = False
    add_sep: bool = False
    mask_lstrip: bool = False
    normalized: bool = False
    ranks: bool = False


def _cuts(*cuts: str | dict[str, Any]) -> dict[str, Any]:
    """A pre-tokenizer that splits by patterns, or by other parts, in turn, and ends in bytes."""
    parts = (split(cut) if isinstance(cut, str) else cut for cut in cuts)
    return sequence(*parts, byte_level(False))


_DIGITS: Final = {"type": "Digits", "individual_digits": True}
_NFC: Final = {"type": "NFC"}
_LLAMA3: Final = Original(_cuts(LLAMA3), ignore_merges=True, add_bos=True)
_TEKKEN: Final = _cuts(TEKKEN)
# The line breaks are characters, as in the tokenizer.json.
_SEED_CODER: Final = (
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}"
    "| ?[^\\s\\p{L}\\p{N}\r\n]+|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)
# LLaDA, and Ling 1 to 3: Qwen's pattern, written differently.
_LING: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
_MINICPM5: Final = _cuts(r"\p{N}{1,3}", LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}+"))
# The nested class is the original's.
_BLOOM: Final = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"
_STARCODER: Final = sequence(_DIGITS, byte_level(True))
_IDEOGRAPHS: Final = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
# DeepSeek LLM lists the cased letters range by range.
_CASED: Final = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af"
    "\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1"
    "\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd"
    "\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d"
    "\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4"
    "\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec"
    "\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128"
    "\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b"
    "\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787"
    "\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a"
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2"
    "\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"
)
_DEEPSEEK_LLM: Final = _cuts(
    "[\r\n]",
    rf"\s?[{_CASED}]+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\\u3000-\u3002]+",
    r"\s+$",
    _IDEOGRAPHS,
    _DIGITS,
)
# Arcee's Trinity: numbers in threes from the right, at most 510 digits together.
_AFMOE: Final = _cuts(
    {"type": "Digits", "individual_digits": False},
    r"\p{Nd}{1,510}(?=(?>\p{Nd}{510})*(?:\P{Nd}|$))|\G\p{Nd}{510}",
    r"\A\p{Nd}{1,2}(?=\p{Nd}{3}+\z)",
    r"\A\p{Nd}{3}|\G\p{Nd}{3}",
    r"(?:[\u4E00-\u9FFF\u3040-\u309F\u30A0-\u30FF\u3400-\u4DBF\uf900-\uFAFF\uFF65-\uFF9F"
    r"\u2F00-\u2FDF]+|[\u0E00-\u0E7F]+|[\u0E80-\u0EFF]+|[\u1780-\u17FF]+"
    r"|[\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF]+|[\uAC00-\uD7AF\u1100-\u11FF]+)",
    DEEPSEEK[2],
)
_SPARK: Final = _cuts(
    *DEEPSEEK[:2],
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+|[\r\n]|\\s+(?!\\S)|\\s+",
    _DIGITS,
)
_FALCON: Final = sequence(
    {"type": "Punctuation", "behavior": "Contiguous"},
    byte_level(True),
    {"type": "Digits", "individual_digits": False},
    split("[0-9][0-9][0-9]"),
)

# These lower-case, which a GGUF does not say. Models with the vocabulary of bert-base-uncased have
# the first or the last, whichever the converter tests last; BGE, text2vec and MacBERT the other.
UNCASED: Final = ("bert-bge", "bert-bge-large", "jina-v2-en")

_NAMED: Final = (
    (Original(_AFMOE), "afmoe"),
    (Original(_cuts(_LING), _NFC), "bailingmoe bailingmoe2 llada-moe"),
    (Original(_cuts(_BLOOM)), "bloom"),
    (Original(_cuts(LLAMA3), ignore_merges=True, ranks=True), "chatglm-bpe"),
    (Original(_STARCODER, _NFC), "command-r"),
    # GPT-4's ranks; merges reach all of them.
    (Original(_cuts(LLAMA3)), "dbrx"),
    (Original(_cuts("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _IDEOGRAPHS, _DIGITS)), "deepseek-coder"),
    (Original(_DEEPSEEK_LLM), "deepseek-llm"),
    (Original(_cuts(*DEEPSEEK)), "deepseek-v3 hunyuan-dense joyai-llm"),
    (Original(_STARCODER, {"type": "NFKC"}), "exaone"),
    (Original(_FALCON), "falcon"),
    # No BOS, and not all tokens are reached by merges. The second is early Llama 3, and SmolLM3;
    # the last has Llama 3's tokens with <|end_of_text|> after each text, and none before.
    (Original(_cuts(LLAMA3), ignore_merges=True), "glm4 smaug-bpe jina-v5-nano"),
    # The last has GPT-4's ranks, as does Granite 4, which does not normalize.
    (Original(byte_level(True)), "gpt-2 phi-2 granite-docling"),
    (Original(_cuts(O200K), ignore_merges=True), "gpt-4o llama4"),
    # The first is not a name of llama.cpp's: GPT-NeoX, Pythia and StableLM 3B are older.
    (Original(byte_level(True), _NFC), "gpt-neox olmo"),
    # Hunyuan normalizes and calls tiktoken.
    (Original(_cuts(QWEN), _NFC, ignore_merges=True, ranks=True), "hunyuan"),
    (Original(_cuts(KIMI), ignore_merges=True, ranks=True), "kimi-k2"),
    (Original(_cuts(split(r"(?:\r?\n)+(?!\r?\n)", "MergedWithNext"), QWEN)), "laguna"),
    (Original(_cuts(LLAMA3), ignore_merges=None, add_bos=True), "lfm2"),
    (_LLAMA3, "llama-bpe llama-v3 llama3"),
    (Original(_MINICPM5, normalized=True), "minicpm5"),
    # The tokens of MiniMax and Tiny Aya are trained, unlike those of GPT-4o.
    (Original(_cuts(O200K), _NFC), "minimax-m2"),
    (Original(byte_level(True), _NFC, mask_lstrip=True, normalized=True), "modern-bert"),
    (Original(byte_level(True), _NFC, normalized=True), "mpt"),
    # The third is Qwen 3's with <|im_end|> after a text, the last has GPT-4's ranks after NFC.
    (Original(_cuts(QWEN), _NFC), "qwen2 deepseek-r1-qwen f2llmv2 stablelm2"),
    (Original(_cuts(QWEN3_5), _NFC), "qwen35"),
    (Original(byte_level(True), add_sep=True, mask_lstrip=True), "roberta-bpe"),
    (Original(_cuts(_SEED_CODER), _NFC), "seed-coder"),
    (Original(_SPARK), "spark2_5"),
    (Original(_STARCODER), "starcoder mellum2 refact smollm"),
    # Some tokenizer.json files with the same tokens have Llama 3's, by mistake.
    (Original(_TEKKEN, ignore_merges=True, add_bos=True), "tekken"),
    (Original(_cuts(r"\d{1,3}(?=(?:\d{3})*\b)", O200K)), "tiny_aya"),
)
ORIGINALS: Final[Mapping[str, Original]] = dict(
    sorted({name: one for one, names in _NAMED for name in names.split()}.items())
)

# Tekken's tokens without BOS, with two patterns: Nemotron 3 kept Tekken's, Pixtral's tokenizer.json
# has Llama 3's. The converter's text has the same ids with both.
PIXTRAL: Final = "pixtral"
NEMOTRON_3: Final = Original(_TEKKEN, ignore_merges=True)
PIXTRAL_12B: Final = _LLAMA3

# Names above, and others that llama.cpp splits alike: what else their originals do is not certain.
# A name with a split of its own is in neither table.
_SPLIT_ALIKE: Final = {
    "bloom": "gpt3-finnish poro-chat",
    "deepseek-v3": "hy_v4",
    "gpt-2": "a.x-4.0 jais jina-de jina-es jina-v2-de jina-v2-es mellum trillion",
    "gpt-4o": "granite-embed-multi-97m kanana2 talkie",
    "llama-bpe": "falcon-h1 falcon3 midm-2.0",
    "qwen2": "grok-2 kormo megrez solar-open",
    "roberta-bpe": "jina-v1-en jina-v2-code",
    "starcoder": "codeshell minerva-7b",
    "tiny_aya": "cohere2moe",
}
SPLIT_AS: Final[Mapping[str, str]] = {
    name: like for like, names in _SPLIT_ALIKE.items() for name in names.split()
}
