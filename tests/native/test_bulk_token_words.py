"""Added tokens of white space are pre-tokens for the engine only where the library finds them."""

from collections.abc import Iterator
from typing import Any

import pytest
from bulk_cores import compare
from json_parts import normalizers, pre_tokenizers, replace, split
from reader_samples import BYTES, CHARACTERS, added, document, reference

from tokexport.conversion import file_bytes
from tokexport.sources import read
from tokexport.sources.tokenizer_json.document import byte_level


def token(content: str, number: int, **flags: bool) -> dict[str, Any]:
    return added(content, number, **{"normalized": True, **flags})


def check(fields: dict[str, Any], texts: list[str]) -> None:
    """Compares the engine, with the words of earlier texts in its cache, with the library."""
    library = reference(fields)
    library.encode_special_tokens = True  # that is, not as tokens
    data = file_bytes(read(library))
    assert compare(data, texts * 2, lambda text: library.encode(text, add_special_tokens=False).ids)


def test_inside_a_special_token_that_is_not_recognised() -> None:
    tokens = [token("   ", 256), token("<    >", 257, special=True)]
    check(document(added_tokens=tokens), ["a   b", "<    >", "a   b<    >   b"])


@pytest.mark.parametrize("normalized", [False, True])
def test_where_the_normalizer_makes_their_bytes(normalized: bool) -> None:
    tokens = [token("   ", 256, normalized=normalized)]
    nfkc = document(normalizer={"type": "NFKC"}, added_tokens=tokens)
    check(nfkc, ["a   b", "\u00a0\u00a0\u00a0\u00a0b", "a   b \u00a0 \u00a0b"])


@pytest.mark.parametrize("content", ["\t\t", "a_b", "xx"])
def test_where_the_normalizer_changes_an_added_token(content: str) -> None:
    """It is not found as it is spelled, and may have become, or have, white space."""
    steps = [replace("_", "   "), replace("xx", "   "), {"type": "Prepend", "prepend": "-"}]
    tokens = [token("  ", 256), token(content, 257, special=content == "a_b")]
    fields = document(normalizer=normalizers(*steps), added_tokens=tokens)
    check(fields, ["a\t\t", "-  b", "a  ", "a_b", "-a_b", "a-a   b", "xx", "b-xx", "c-   ", "a-  "])


def test_that_strip_white_space() -> None:
    tokens = [token("  ", 256, rstrip=True), token("\t\t", 257, lstrip=True), token("\n\n", 258)]
    check(document(added_tokens=tokens), ["a  b", "a    b", "a\t\t\t\tb", "a   \n\n  \t\tb"])


def test_after_a_pre_token_whose_end_depends_on_a_later_character() -> None:
    """A run of tabs is one pre-token, or if a space of its segment follows it, many."""
    tab = CHARACTERS[9]
    fields = document(
        model={"vocab": {**BYTES, 2 * tab: 256}, "merges": [[tab, tab]]},
        pre_tokenizer=pre_tokenizers(split(r"\t++(?! )|\t|[^\t]+"), byte_level(False)),
        added_tokens=[token("  ", 257)],
    )
    at_chunk_end = "a" * 4091 + "\t" * 5
    runs = [at_chunk_end, *("\t" * count for count in (699, 700))]
    check(fields, [run + after for run in runs for after in ("  x", " x", "x")])


def around_chunks() -> Iterator[str]:
    """Texts in which a token begins or ends where the splitter's chunk of 4 KB does."""
    for distance in range(4076, 4100):
        for letter in ("a", "\u00e9"):
            start = letter * (distance // len(letter.encode()))
            yield f"{start}{' ' * 8}x y{' ' * 12}{start}{' ' * 9}z\u00e9"


def test_at_the_ends_of_chunks() -> None:
    tokens = [token(" " * count, 254 + count) for count in range(2, 13)]
    check(document(added_tokens=tokens), list(around_chunks()))
