"""The bulk engine encodes texts full of added tokens as ``tokenizers`` and the core do."""

import random
from typing import Any

import pytest
from bulk_cores import NEVER
from random_added_tokens import WORDS, of_bytes, of_characters, with_tokens
from reader_samples import reference
from repository import SLOW

from tokexport._core import Core, split_widths
from tokexport.conversion import file_bytes
from tokexport.sources import read

MODELS = 400 if SLOW else 30


def texts_of(r: random.Random, contents: list[str]) -> list[str]:
    """Short and long texts, and some again with one part changed: passages found and new ones."""
    parts = [*r.sample(WORDS, r.randint(3, len(WORDS))), *contents]
    made = []
    for size in (3, 20, 60, 1_000, 6_000):
        chosen = r.choices(parts, k=size)
        made.append("".join(chosen))
        chosen[r.randrange(size)] = r.choice(parts)
        made.append("".join(chosen))
    # Without a cut between two ASCII characters: longer than passages with tokens may be.
    chinese = "".join(chr(r.randrange(0x4E00, 0x9FA5)) for _ in range(90_000))
    made.append(made[2] + chinese + "".join(r.choices(contents, k=5)) + chinese[:9_000])
    return [*made, *made[::-1]]


@pytest.mark.parametrize("make", [of_bytes, of_characters])
def test_random_added_tokens_have_the_ids_of_the_library_at_every_width(make: Any) -> None:
    r = random.Random(make.__name__)
    bulk = 0
    for _ in range(MODELS):
        fields = with_tokens(r, make(r))
        library = reference(fields)
        data = file_bytes(read(library))
        core = Core(data, "core", NEVER)
        engines = [Core(data, "engine", 0, width) for width in split_widths()]
        contents = [token["content"] for token in fields["added_tokens"]]
        # The library panics if a token strips white space that is a token, too.
        strips = any(token["lstrip"] or token["rstrip"] for token in fields["added_tokens"])
        for text in texts_of(r, contents):
            for special in ((), "all"):
                library.encode_special_tokens = special == ()
                expected = core.encode_numpy(text, special, False).tolist()
                if len(text) < 3_000 and not strips:
                    encoded = library.encode(text, add_special_tokens=False)
                    assert encoded.ids == expected, (fields["added_tokens"], text)
                for engine in engines:
                    found = engine.encode_numpy(text, special, False).tolist()
                    assert found == expected, (fields["added_tokens"], text[:3_000])
        bulk += engines[0].uses_bulk
    assert bulk > MODELS * 0.9
