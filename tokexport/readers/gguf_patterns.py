"""What the names in ``tokenizer.ggml.pre`` stand for: parts of the tokenizer.json that a GGUF was made from.

A GGUF holds a name and neither pattern nor normalizer. The names are llama.cpp's; those are here whose tokenizer.json is known
field by field. The patterns are the originals, not those that llama.cpp runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from tokexport.readers.huggingface_document import byte_level, sequence, split
from tokexport.readers.known_patterns import LLAMA3, O200K, QWEN, TEKKEN


@dataclass(frozen=True, slots=True)
class Original:
    """Parts of a tokenizer.json. ``add_bos`` counts where the file does not say whether to add BOS, as in llama.cpp."""

    pre_tokenizer: dict[str, Any]
    normalizer: dict[str, Any] | None = None
    ignore_merges: bool = False
    add_bos: bool = False


_DIGITS: Final = {"type": "Digits", "individual_digits": True}
_NFC: Final = {"type": "NFC"}
_GPT2: Final = Original(byte_level(True))
_LLAMA3: Final = Original(sequence(split(LLAMA3), byte_level(False)), ignore_merges=True, add_bos=True)
_DEEPSEEK_CODER: Final = Original(
    sequence(
        split("[\r\n]"),
        split(r"\s?\p{L}+"),
        split(r"\s?\p{P}+"),
        split("[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"),
        _DIGITS,
        byte_level(False),
    )
)
_DEEPSEEK_V3: Final = Original(
    sequence(
        split(r"\p{N}{1,3}"),
        split("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"),
        split(
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
            "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
        ),
        byte_level(False),
    )
)
_FALCON: Final = Original(
    sequence(
        {"type": "Punctuation", "behavior": "Contiguous"},
        byte_level(True),
        {"type": "Digits", "individual_digits": False},
        split("[0-9][0-9][0-9]"),
    )
)

ORIGINALS: Final[Mapping[str, Original]] = MappingProxyType(
    {
        "deepseek-coder": _DEEPSEEK_CODER,
        "deepseek-v3": _DEEPSEEK_V3,
        "falcon": _FALCON,
        "gpt-2": _GPT2,
        "gpt-4o": Original(sequence(split(O200K), byte_level(False)), ignore_merges=True),
        "llama-bpe": _LLAMA3,
        "mpt": Original(byte_level(True), _NFC),
        "phi-2": _GPT2,
        "qwen2": Original(sequence(split(QWEN), byte_level(False)), _NFC),
        "roberta-bpe": _GPT2,
        "starcoder": Original(sequence(_DIGITS, byte_level(True))),
        "tekken": Original(sequence(split(TEKKEN), byte_level(False)), ignore_merges=True, add_bos=True),
    }
)
