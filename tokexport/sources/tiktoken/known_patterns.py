"""Names of encodings: the pattern and the special tokens that do not stand in their rank files.

The patterns are those of tiktoken 0.14, llama-models 0.3, Qwen's, Moonshot's and nanochat's
tokenizers, openai-whisper 20250625 and mistral-common, text for text; so are the special tokens.
Some libraries number these from the number of ranks on, some by fixed ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

_O200K_WORDS: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
)
R50K: Final = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K: Final = _O200K_WORDS + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
KIMI: Final = (
    r"[\p{Han}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
NANOCHAT: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}|"
    r" ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
GPT2_ORIGINAL: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TEKKEN: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True, slots=True)
class KnownEncoding:
    """A pattern and special tokens: ``fixed`` by id, ``counted`` from the number of ranks on, in
    order.

    ``spelling`` says what an id decodes to that two special tokens share. ``note`` is for the
    person who converts.
    """

    pattern: str
    fixed: Mapping[str, int] = field(default_factory=dict)
    counted: tuple[str, ...] = ()
    spelling: Mapping[int, str] = field(default_factory=dict)
    note: str | None = None

    def special_tokens(self, n_ranks: int) -> dict[str, int]:
        """The special tokens over ``n_ranks`` ranks.

        >>> KNOWN["nanochat"].special_tokens(32759)["<|bos|>"]
        32759
        """
        return dict(self.fixed) | {
            content: n_ranks + number for number, content in enumerate(self.counted)
        }


def _numbered(pattern: str, start: int, count: int) -> tuple[str, ...]:
    return tuple(pattern.format(number) for number in range(start, start + count))


def _llama3() -> tuple[str, ...]:
    named = (
        "<|begin_of_text|>",
        "<|end_of_text|>",
        "<|reserved_special_token_0|>",
        "<|reserved_special_token_1|>",
        "<|finetune_right_pad_id|>",
        "<|step_id|>",
        "<|start_header_id|>",
        "<|end_header_id|>",
        "<|eom_id|>",
        "<|eot_id|>",
        "<|python_tag|>",
        "<|image|>",
    )
    return named + _numbered("<|reserved_special_token_{}|>", 2, 256 - len(named))


def _llama4() -> tuple[str, ...]:
    text = "<|text_post_train_reserved_special_token_{}|>"
    vision = "<|vision_reserved_special_token_{}|>"
    named = (
        *(
            "<|begin_of_text|>",
            "<|end_of_text|>",
            "<|fim_prefix|>",
            "<|fim_middle|>",
            "<|fim_suffix|>",
        ),
        *("<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>"),
        *_numbered(text, 0, 6),
        *("<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>"),
        *_numbered(text, 8, 61),
        *("<|image_start|>", "<|image_end|>"),
        *_numbered(vision, 0, 2),
        *("<|tile_x_separator|>", "<|tile_y_separator|>"),
        *_numbered(vision, 2, 4),
        "<|image|>",
        vision.format(6),
        "<|patch|>",
        *_numbered(vision, 7, 1041),
        *_numbered("<|reasoning_reserved_special_token_{}|>", 0, 8),
        *("<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>"),
    )
    return named + _numbered("<|reserved_special_token_{}|>", 0, 2048 - len(named))


def _kimi_k2() -> dict[str, int]:
    """256 ids after the 163,584 ranks: those of its tokenizer_config.json, and a reserved token
    for each of the others.
    """
    named = {
        163584: "[BOS]",
        163585: "[EOS]",
        163586: "<|im_end|>",
        163587: "<|im_user|>",
        163588: "<|im_assistant|>",
        163590: "<|start_header_id|>",
        163591: "<|end_header_id|>",
        163593: "[EOT]",
        163594: "<|im_system|>",
        163595: "<|tool_calls_section_begin|>",
        163596: "<|tool_calls_section_end|>",
        163597: "<|tool_call_begin|>",
        163598: "<|tool_call_argument_begin|>",
        163599: "<|tool_call_end|>",
        163601: "<|im_middle|>",
        163838: "[UNK]",
        163839: "[PAD]",
    }
    return {
        named.get(number, f"<|reserved_token_{number}|>"): number
        for number in range(163584, 163584 + 256)
    }


def _harmony() -> dict[str, int]:
    """Two names have the id 200018, ``<|endofprompt|>`` and ``<|reserved_200018|>``: tiktoken
    decodes the first.
    """
    named = {
        "<|startoftext|>": 199998,
        "<|endoftext|>": 199999,
        "<|reserved_200000|>": 200000,
        "<|reserved_200001|>": 200001,
        "<|return|>": 200002,
        "<|constrain|>": 200003,
        "<|reserved_200004|>": 200004,
        "<|channel|>": 200005,
        "<|start|>": 200006,
        "<|end|>": 200007,
        "<|message|>": 200008,
        "<|reserved_200009|>": 200009,
        "<|reserved_200010|>": 200010,
        "<|reserved_200011|>": 200011,
        "<|call|>": 200012,
    }
    reserved = {f"<|reserved_{number}|>": number for number in range(200013, 201088)}
    return named | {"<|endofprompt|>": 200018} | reserved


# In the order of openai-whisper; the last one came with large-v3.
_LANGUAGES: Final = """
    en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi
    ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd
    gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue
"""
WHISPER_LANGUAGES: Final = tuple(_LANGUAGES.split())


def _whisper(n_languages: int) -> tuple[str, ...]:
    return (
        "<|endoftext|>",
        "<|startoftranscript|>",
        *(f"<|{language}|>" for language in WHISPER_LANGUAGES[:n_languages]),
        *(
            "<|translate|>",
            "<|transcribe|>",
            "<|startoflm|>",
            "<|startofprev|>",
            "<|nospeech|>",
            "<|notimestamps|>",
        ),
        *(f"<|{number * 0.02:.2f}|>" for number in range(1501)),
    )


_QWEN_SPECIAL: Final = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    *_numbered("<|extra_{}|>", 0, 205),
)
_NANOCHAT_SPECIAL: Final = (
    "<|bos|>",
    "<|user_start|>",
    "<|user_end|>",
    "<|assistant_start|>",
    "<|assistant_end|>",
    "<|python_start|>",
    "<|python_end|>",
    "<|output_start|>",
    "<|output_end|>",
)
_END: Final = {"<|endoftext|>": 50256}
_FIM: Final = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")

KNOWN: Final[Mapping[str, KnownEncoding]] = MappingProxyType(
    {
        "gpt2": KnownEncoding(R50K, _END),
        "r50k_base": KnownEncoding(R50K, _END),
        "p50k_base": KnownEncoding(R50K, _END),
        "p50k_edit": KnownEncoding(
            R50K, _END | {content: 50281 + number for number, content in enumerate(_FIM)}
        ),
        "cl100k_base": KnownEncoding(
            CL100K,
            {"<|endoftext|>": 100257}
            | {content: 100258 + number for number, content in enumerate(_FIM)}
            | {"<|endofprompt|>": 100276},
        ),
        "o200k_base": KnownEncoding(O200K, {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
        "o200k_harmony": KnownEncoding(O200K, _harmony(), spelling={200018: "<|endofprompt|>"}),
        "llama3": KnownEncoding(LLAMA3, counted=_llama3()),
        "llama4": KnownEncoding(O200K, counted=_llama4()),
        "qwen": KnownEncoding(
            QWEN,
            {content: 151643 + number for number, content in enumerate(_QWEN_SPECIAL)},
            note=(
                "Qwen's own library puts a text into NFC first; tiktoken, which is the reference"
                " here, does not."
            ),
        ),
        "kimi_k2": KnownEncoding(KIMI, _kimi_k2()),
        "nanochat": KnownEncoding(NANOCHAT, counted=_NANOCHAT_SPECIAL),
        "whisper": KnownEncoding(GPT2_ORIGINAL, counted=_whisper(99)),
        "whisper_large_v3": KnownEncoding(GPT2_ORIGINAL, counted=_whisper(100)),
        "tekken": KnownEncoding(TEKKEN),
    }
)

# Rank files that are known by their SHA-256, which tiktoken and their publishers state.
KNOWN_RANKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": "r50k_base",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": "p50k_base",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": "cl100k_base",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": "o200k_base",
    }
)
