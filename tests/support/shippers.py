"""Who ships what none of the real tokenizers of the census has, by its name in docs/CENSUS.md: a
model on the Hugging Face hub or a repository on GitHub, unless it says so.
"""

_SEAMLESS = "facebook/hf-seamless-m4t-medium, as `transformers` builds it"
_FUTO = "FUTO Keyboard (`treat_whitespace_as_suffix`)"
# The name of a part stands for its options, too.
_SHIPPERS = {
    "normalizer NFD": "a composition of BertNormalizer",
    "normalizer Nmt": "neuropark/sahajBERT, and what T5's script of `transformers` trains",
    "normalizer Strip": "microsoft/deberta-v3-base, converted by `transformers`",
    "normalizer BertNormalizer, strip_accents": "a composition of lowercase",
    "normalizer ByteLevel": "trainers in Rust; `tokenizers` recommends it (its pull request 1555)",
    "pre_tokenizer ByteLevel, add_prefix_space": "pszemraj/bytebpe-tokenizer-32k-mlm",
    "pre_tokenizer Split, behavior MergedWithNext": "a composition of Metaspace",
    "pre_tokenizer Split, behavior Contiguous": "Kyutai's Moshi, converted by `transformers`",
    "pre_tokenizer Punctuation": "a composition of Split and BertPreTokenizer",
    "pre_tokenizer Whitespace": "zhihan1996/DNABERT-2-117M",
    "pre_tokenizer UnicodeScripts": "Beetle-Data/tokenizer-ko-ja",
    "pre_tokenizer CharDelimiterSplit": "a composition of Split",
    "pre_tokenizer FixedLength": "onnx-community/Supertonic-TTS-ONNX",
    "pre_tokenizer Metaspace, prepend_scheme never": "a composition of Replace and Split",
    "model BPE, continuing_subword_prefix": "a composition of end_of_word_suffix",
    "model Unigram, byte_fallback": "llm-jp",
    "post_processor BertProcessing": "`BertWordPieceTokenizer` of `tokenizers`",
    "post_processor RobertaProcessing": "FacebookAI/roberta-base for texts that are split already",
    "decoder WordPiece, cleanup false": "a composition of the prefix",
    "decoder Metaspace, prepend_scheme first": _SEAMLESS,
    "decoder Metaspace, prepend_scheme never": "a composition of Replace",
    "decoder BPEDecoder": "openai-community/openai-gpt, allegro/herbert-base-cased",
    "decoder Replace, Regex": "llm-jp",
    "added token, single_word": "vimalabs/VIMA",
    "added token, rstrip": "microsoft/Phi-3-mini-4k-instruct",
    "EDIT": "HPLT, GPT-BERT, gautierdag/bpeasy, CLIP as `transformers` decodes it",
    "LABL": "arcee-ai/Trinity-Tokenizer, tiny-aya, SuperBPE",
    "header SEARCH_ANEW": "every file that `tokenizers` 1.0.0rc3 writes",
    "header UNKNOWN_STOPS": "LeoChengKX/image2musicxml-train",
    "EDIT READS_TOKENS": "ChatGLM in microsoft/onnxruntime-extensions",
    "SPLT EMPTY_MATCHES": "SuperBPE, llm-jp",
    "SPLT SEARCH_STARTS": "arcee-ai/Trinity-Tokenizer",
    "NORM APPEND": _FUTO,
    "NORM FIRST_SOURCE": _SEAMLESS,
    "ADDT SINGLE_WORD": "vimalabs/VIMA",
    "ALGN SUFFIX": _FUTO,
}


def shipper(feature: str) -> str:
    """Who ships it. KeyError for a feature that has no entry."""
    return _SHIPPERS.get(feature) or _SHIPPERS[feature.partition(",")[0]]
