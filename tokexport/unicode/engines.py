"""Ask the installed reference engines what a pattern matches, over every scalar value at once.

Only the generator of the shipped data needs this; the converter does not. What one question costs:
10 to 250 ms.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from tokexport.unicode.store import CODE_POINTS, CodePoints

NEVER_IN_A_TEXT = "<|a special token, so that tiktoken has one to look for|>"


@functools.cache
def every_scalar_value() -> str:
    """All 1,112,064 scalar values, in order."""
    return "".join(map(chr, [*range(0xD800), *range(0xE000, CODE_POINTS)]))


def code_points_of(text: str) -> npt.NDArray[np.uint32]:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def members_of(text: str) -> CodePoints:
    """The set of a text's characters."""
    members = np.zeros(CODE_POINTS, np.bool_)
    members[code_points_of(text)] = True
    return members


def oniguruma_leaves(pattern: str, text: str) -> str:
    """What is left of ``text`` when ``tokenizers`` has cut the matches out; ValueError if it
    refuses the pattern.
    """
    import tokenizers

    try:
        regex = tokenizers.Regex(pattern)
    except Exception as error:  # the binding raises no narrower class
        raise ValueError(f"Oniguruma refuses {pattern!r}: {error}") from None
    left: str = tokenizers.decoders.Replace(regex, "").decode([text])
    return left


def fancy_regex_keeps(pattern: str, text: str) -> str:
    """What ``tiktoken`` keeps of ``text``: with one token a byte, all that matches; ValueError if
    it refuses the pattern.
    """
    import tiktoken

    bytes_only = {bytes([byte]): byte for byte in range(256)}
    try:
        # With no special token at all, tiktoken looks for the empty one between any two characters:
        # ten times slower.
        encoding = tiktoken.Encoding(
            "question",
            pat_str=pattern,
            mergeable_ranks=bytes_only,
            special_tokens={NEVER_IN_A_TEXT: 256},
        )
    except ValueError as error:
        raise ValueError(f"fancy-regex refuses {pattern!r}: {error}") from None
    ids = np.frombuffer(encoding._core_bpe.encode_to_tiktoken_buffer(text, set()), np.uint32)
    return ids.astype(np.uint8).tobytes().decode()


def oniguruma_set(pattern: str) -> CodePoints:
    """The scalar values that a pattern for one character matches; ValueError if the engine refuses
    it.
    """
    return members_of(every_scalar_value()) & ~members_of(
        oniguruma_leaves(pattern, every_scalar_value())
    )


def fancy_regex_set(pattern: str) -> CodePoints:
    """The scalar values that a pattern for one character matches; ValueError if the engine refuses
    it.
    """
    return members_of(fancy_regex_keeps(pattern, every_scalar_value()))


def removed_by(pre_tokenizer: str, **arguments: str) -> CodePoints:
    """The scalar values that a pre-tokenizer of ``tokenizers`` drops (WhitespaceSplit, or one set
    to remove).
    """
    import tokenizers

    stage = getattr(tokenizers.pre_tokenizers, pre_tokenizer)(**arguments)
    left = "".join(piece for piece, _ in stage.pre_tokenize_str(every_scalar_value()))
    return members_of(every_scalar_value()) & ~members_of(left)


def digits() -> CodePoints:
    """The scalar values that ``tokenizers.pre_tokenizers.Digits`` cuts off from U+0000, which is
    none.
    """
    import tokenizers

    stage = tokenizers.pre_tokenizers.Digits(individual_digits=False)
    runs = stage.pre_tokenize_str(every_scalar_value())  # runs of digits and of others, in turn
    return members_of("".join(piece for piece, _ in runs[1::2]))
