"""Pre-tokenizer patterns in use: those of published tokenizer.json files, of tiktoken and similar
libraries, and of llama.cpp's table.

A pattern is a fact; the name says where it was found.
"""

# What several of them have in common; llama.cpp writes out both cases of a letter.
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_CASES = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_LETTERS = r"|[^\r\n\p{L}\p{N}]?\p{L}+"
_LOWER = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
_UPPER = r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
_WORDS = f"{_LOWER}{_CONTRACTIONS}?{_UPPER}{_CONTRACTIONS}?"
_CASED_WORDS = f"{_LOWER}{_CASES}?{_UPPER}{_CASES}?"
_MARKED = r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
_NOT_LOWER = r"[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+"
_NOT_UPPER = r"|[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))+((?=[\p{L}])([^A-Z]))*"
_WORDS_BY_RANGE = f"{_NOT_LOWER}{_CASES}?{_NOT_UPPER}{_CASES}?"
_SYMBOLS = r"| ?[^\s\p{L}\p{N}]+[\r\n]*"
_SYMBOLS_AND_SLASHES = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*"
_SPACE = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
_MINBPE = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+"
_MINBPE_END = r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
_JAIS2_END = (
    r"|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)"
    r"|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}"
)
_EXAONE_END = (
    r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)

TOKENIZER_JSON: dict[str, str] = {
    "deepseek-coder-instruct #1": r"[\r\n]",
    "deepseek-coder-instruct #2": r"\s?\p{L}+",
    "deepseek-coder-instruct #3": r"\s?\p{P}+",
    "deepseek-llm #1": (
        "\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ"
        "-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼ\u1fbeῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-"
        "ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+"
    ),
    "deepseek-llm #2": r"\s+$",
    "flan-t5 normalizer": r" {2,}",
    "phi-4-mini, gpt-oss": _WORDS + r"|\p{N}{1,3}" + _SYMBOLS_AND_SLASHES + _SPACE,
    "phi-4, llama3": _CONTRACTIONS + _LETTERS + r"|\p{N}{1,3}" + _SYMBOLS + _SPACE,
    "qwen35-llamacpp-synthetic": _CONTRACTIONS + _MARKED + _SPACE,
    "clip #1": r"\s+",
    "clip #2": (
        r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]"
        r"|[^\s\p{L}\p{N}]+"
    ),
    "deepseek-v3 #1": r"\p{N}{1,3}",
    "deepseek-v3 #2": (
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
        "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+"
        "|\\s+(?!\\S)|\\s+"
    ),
    "falcon": r"[0-9][0-9][0-9]",
    "qwen2.5, qwen3": _CONTRACTIONS + _LETTERS + r"|\p{N}" + _SYMBOLS + _SPACE,
    "mistral-nemo": _LOWER + _UPPER + r"|\p{N}" + _SYMBOLS_AND_SLASHES + _SPACE,
    "deepseek-coder-instruct #4": "[\r\n]",
    "deepseek-coder-instruct #5": "[一-龥ࠀ-一가-\ud7ff]+",
    "deepseek-v3 #3": "[一-龥\u3040-ゟ゠-ヿ]+",
    "deepseek-v3 #4": (
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+"
        "|\\s+(?!\\S)|\\s+"
    ),
    "llama.cpp llama3": _CASES + _LETTERS + r"|\p{N}{1,3}" + _SYMBOLS + _SPACE,
    "llama.cpp jais2 #1": _CONTRACTIONS + _LETTERS + r"|\p{N}{1,3}" + _SYMBOLS + _JAIS2_END,
    "llama.cpp jais2 #2": _CASES + _LETTERS + r"|\p{N}{1,3}" + _SYMBOLS + _JAIS2_END,
    "llama.cpp deepseek-llm #1": "\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+",
    "llama.cpp deepseek-llm #2": r"\p{N}+",
    "llama.cpp spark2-5 #1": (
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+|[\r\n]|\\s+(?!\\S)|\\s+"
    ),
    "llama.cpp spark2-5 #2": r"\p{N}",
    "llama.cpp youtu #1": (
        "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]+"
    ),
    "llama.cpp youtu #2": _CASED_WORDS + r"|\p{N}" + _SYMBOLS_AND_SLASHES + _SPACE,
    "llama.cpp falcon #1": r"[\p{P}\$\+<=>\^~\|`]+",
    "llama.cpp falcon #2": (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
    ),
    "llama.cpp solar-open": _CASES + _LETTERS + r"|\p{N}" + _SYMBOLS + _SPACE,
    "llama.cpp qwen35": _CASES + _MARKED + _SPACE,
    "llama.cpp gpt3-finnish": r" ?[^(\s|.,!?…。，、।۔،)]+",
    "llama.cpp tekken": _NOT_LOWER + _NOT_UPPER + r"|\p{N}" + _SYMBOLS_AND_SLASHES + _SPACE,
    "llama.cpp chameleon #1": r"<sentinel:[0-9]+>",
    "llama.cpp chameleon #2": r"(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
    "llama.cpp chameleon #3": r"([\t\n]|    |  )",
    "llama.cpp chameleon #4": r"[\p{P}!-/:-@\[-`{-~]",
    "llama.cpp minimax-m2": _WORDS_BY_RANGE + r"|\p{N}{1,3}" + _SYMBOLS_AND_SLASHES + _SPACE,
    "llama.cpp granite-emb-multi": (
        r"[^\r\n\p{L}\p{N}]?((?=[\p{L}\p{M}])([^a-z]))*((?=[\p{L}\p{M}])([^A-Z]))+(?:'[sS]|'[tT]"
        r"|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?"
        r"|[^\r\n\p{L}\p{N}]?((?=[\p{L}\p{M}])([^a-z]))+((?=[\p{L}\p{M}])([^A-Z]))*(?:'[sS]|'[tT]"
        r"|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "llama.cpp tiny-aya": _CASED_WORDS + r"|\p{N}{1,3}" + _SYMBOLS_AND_SLASHES + _SPACE,
    "llama.cpp kimi-k2": r"\p{Han}+",
    "llama.cpp bailingmoe #1": _MINBPE + r"|\p{N}" + _MINBPE_END,
    "llama.cpp bailingmoe #2": (
        r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    "llama.cpp seed-coder #1": (
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}"
        "| ?[^\\s\\p{L}\\p{N}\r\n]+|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
    ),
    "llama.cpp seed-coder #2": _CASES + _LETTERS + r"|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+" + _SPACE,
    "llama.cpp ufakzeka": (
        r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "llama.cpp afmoe": (
        "[一-鿿㐀-䶿豈-\ufaff\u3040-ゟ゠-ヿ･-ﾟ⼀-\u2fdfเ-\u0e7f\u0e80-\u0effក-\u17ffက-႟ꩠ-ꩿꧠ-\ua9ff가-\ud7afᄀ-"
        "ᇿ]+"
    ),
    "llama.cpp laguna": r"[^\n]+|[\n]+",
    "llama.cpp exaone-moe #1": _CONTRACTIONS + _EXAONE_END,
    "llama.cpp exaone-moe #2": _CASES + _EXAONE_END,
    "llama.cpp minicpm5 #1": _CONTRACTIONS + _LETTERS + r"|\p{N}+" + _SYMBOLS + _SPACE,
    "llama.cpp minicpm5 #2": _CASES + _LETTERS + r"|\p{N}+" + _SYMBOLS + _SPACE,
    "llama.cpp whitespace": r"\S+",
    "llama.cpp default": r"[\p{P}\$\+<=>\^~\|]+",
}

TIKTOKEN: dict[str, str] = {
    "tiktoken 0.14.0 gpt2": (
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
    ),
    "tiktoken 0.14.0 cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "tiktoken 0.14.0 o200k_base": TOKENIZER_JSON["phi-4-mini, gpt-oss"],
    "llama3-tiktoken": TOKENIZER_JSON["phi-4, llama3"],
    "qwen-tiktoken": TOKENIZER_JSON["qwen2.5, qwen3"],
    "kimi-k2": (
        r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{"
        r"Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&"
        r"[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+"
    ),
    "whisper-tiktoken": (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    ),
    "minbpe GPT2_SPLIT_PATTERN": (
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    ),
    "minbpe GPT4_SPLIT_PATTERN": _MINBPE + r"|\p{N}{1,3}" + _MINBPE_END,
    "nanochat": _MINBPE + r"|\p{N}{1,2}" + _MINBPE_END,
    "mistral tekken_240718, tekken_240911": TOKENIZER_JSON["mistral-nemo"],
}

# Digits in groups of three from the right, which needs lookahead over all following digits.
UNBOUNDED_LOOK_AHEAD: dict[str, str] = {
    "llama.cpp tiny-aya": r"\d{1,3}(?=(?:\d{3})*\b)",
    "llama.cpp superbpe": r"(?=(\d{3})+(?!\d))",
}

# arcee-ai/Trinity-Tokenizer, with its steps in order; marin's tokenizers copy the first three.
TRINITY: dict[str, str] = {
    "Trinity #1": r"\p{Nd}{1,510}(?=(?>\p{Nd}{510})*(?:\P{Nd}|$))|\G\p{Nd}{510}",
    "Trinity #2": r"\A\p{Nd}{1,2}(?=\p{Nd}{3}+\z)",
    "Trinity #3": r"\A\p{Nd}{3}|\G\p{Nd}{3}",
    "Trinity #4": (
        r"(?:[\u4E00-\u9FFF\u3040-\u309F\u30A0-\u30FF\u3400-\u4DBF\uf900-\uFAFF\uFF65-\uFF9F\u2F00-"
        r"\u2FDF]+|[\u0E00-\u0E7F]+|[\u0E80-\u0EFF]+|[\u1780-\u17FF]+"
        r"|[\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF]+|[\uAC00-\uD7AF\u1100-\u11FF]+)"
    ),
    "Trinity #5": TOKENIZER_JSON["deepseek-v3 #4"],
}

_MARKS = r"""[!"\#\$%\&'\*\+,\-\./:;<=>\?\\\^_`\|\~]"""
# Other published patterns.
PUBLISHED: dict[str, str] = {
    "Galactica, Nougat": rf"[\(\)\[\]\{{\}}]|({_MARKS})\1*",
    "Galactica sequences": r"(?:\[START_SMILES\].*?\[END_SMILES\]|\[START_DNA\].*?\[END_DNA\])",
    "llm-jp normalizer": r"(?<!\n)^",
    "K2-Think-V2": TOKENIZER_JSON["phi-4, llama3"],
    "SMILES": (
        r"(\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|\*|\$"
        r"|\%[0-9]{2}|[0-9])"
    ),
    "gpt_from_scratch normalizer": r"[[:space:]]+",
    "Bengali colon": r"(?<=[\u0980-\u09ff]):",
    "French contractions": (
        r"(?i: ?(?:[jtmslndcy]['’]|qu['’]|jusqu['’]|lorsqu['’]|aujourd['’]hui)|['’][stmd]|['’][rv]e"
        r"|['’]ll)| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
