"""Special tokens of real rank files equal those listed in their repositories."""

import json
from pathlib import Path

from tokexport.sources import read


def test_whispers_special_tokens_equal_those_of_its_tokenizer_json(shared: Path) -> None:
    ranks = read(
        shared / "tokenizers" / "whisper-tiktoken" / "multilingual.tiktoken",
        pattern="whisper_large_v3",
    )
    theirs = read(shared / "tokenizers" / "whisper-large-v3")
    assert {token.id: token.content for token in theirs.added_tokens} == {
        token.id: token.content for token in ranks.added_tokens
    }


def test_kimis_special_tokens_are_those_of_its_config_and_reserved_ones(shared: Path) -> None:
    folder = shared / "tokenizers" / "kimi-k2"
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))[
        "added_tokens_decoder"
    ]
    found = {token.id: token.content for token in read(folder, pattern="kimi_k2").added_tokens}
    assert found == {
        number: config.get(str(number), {"content": f"<|reserved_token_{number}|>"})["content"]
        for number in range(163584, 163840)
    }
