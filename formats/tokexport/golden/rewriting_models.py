"""Models for the golden files that hold operations: every kind, with every flag.

``tokenizers`` is the reference for the operations that it has. A charsmap by longest sequence and
text put after are SentencePiece's: there ``re`` rewrites the text before ``tokenizers`` sees it.
"""

from __future__ import annotations

import base64
import re

from unicode_tables.charsmap import charsmap_of

from tokexport.model import (
    Append,
    Behavior,
    CharacterMap,
    CharacterTest,
    Charsmap,
    NormalizerStep,
    Prepend,
    PreTokenizerStep,
    Replace,
    Split,
    Strip,
)

CLUSTERS = {
    "e\u0301": "\u00e9",
    "\u0600": "",
    "\u00a9": "(c)",
    "\u0915": "k",
    "\r": "",
    "\ufb01": "fi",
    "\u2163": "IV",
    "o": "0",
    "o\u0308": "oe",
}
READS_ON = "[ab]+!|[ab]{2}"
NORMALIZER: tuple[NormalizerStep, ...] = (
    Charsmap(charsmap_of(CLUSTERS), by_grapheme=True),
    CharacterMap.BERT_CHINESE,
    CharacterMap.LOWERCASE,
    Replace(READS_ON, "<>", literal=False),
    Strip(),
)
PRE_TOKENIZER: tuple[PreTokenizerStep, ...] = (
    Split(CharacterTest.WHITESPACE, Behavior.REMOVED),
    Replace(" ", "_"),
    Prepend("_", unless_present=True),
    Split("_", Behavior.MERGED_WITH_NEXT),
)
NORMALIZER_JSON = {
    "type": "Sequence",
    "normalizers": [
        {
            "type": "Precompiled",
            "precompiled_charsmap": base64.b64encode(charsmap_of(CLUSTERS)).decode(),
        },
        {
            "type": "BertNormalizer",
            "clean_text": False,
            "handle_chinese_chars": True,
            "strip_accents": False,
            "lowercase": True,
        },
        {"type": "Replace", "pattern": {"Regex": READS_ON}, "content": "<>"},
        {"type": "Strip", "strip_left": True, "strip_right": True},
    ],
}
PRE_TOKENIZERS_JSON = [
    {"type": "WhitespaceSplit"},
    {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True},
]
TEXTS = [
    "e\u0301 e\u0301\u0302 e\u0301\u0302\u0303 E\u0301",
    "  \u0600a \u00a9\u200d \u00a9\u200d\u00a9 \u0915\u094d\u0915 \u0915\u094d\r\n",
    "\ufb01ve \u2163\u0301 _a__b \u4f60\u597d \u0130\u00c0",
    "ABABABABAB! ababababababababababababababababababababababababababababababababab",
    "\u3000 \t",
    "",
    "plain words, no marks o\u0308 o\u0308\u0308\u0308",
]

SEQUENCES = {"a": "b", "aa": "c", "\u00e9": "", "e\u0301": "\u00e9", "<": "["}
PROTECTED = ("<a>", "<a")
SEQUENCE_NORMALIZER: tuple[NormalizerStep, ...] = (
    Charsmap(charsmap_of(SEQUENCES), by_grapheme=False, protected=PROTECTED),
    Append("~"),
)
SEQUENCE_PRE_TOKENIZER: tuple[PreTokenizerStep, ...] = (
    Prepend("_", only_first=True),
    Split("x", Behavior.REMOVED),
)
SEQUENCE_TEXTS = [
    "aaa<a><ab",
    "e\u0301\u0302\u00e9e",
    "x<a>xax",
    "",
    "\u00e9",
    "plain",
    "<<a<aa>",
    "_b~",
]


def rewritten(text: str) -> str:
    """The text after the steps that rewrite sequences."""
    if not text:
        return ""
    pattern = "|".join(map(re.escape, sorted((*PROTECTED, *SEQUENCES), key=len, reverse=True)))
    replaced = re.sub(pattern, lambda match: SEQUENCES.get(match.group(), match.group()), text)
    return f"_{replaced}~" if replaced else ""
