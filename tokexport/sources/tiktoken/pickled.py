"""Reads the pickle of a ``tiktoken.Encoding`` without executing it.

The opcodes are decoded by ``pickletools``, which loads nothing. The opcodes that a pickler writes
for such an encoding operate on plain values here; all others are refused.
"""

import pickletools
from typing import Any, Final

from tokexport.errors import SourceError, UnsupportedError

_CLASS: Final = "tiktoken.core.Encoding"
_HINT: Final = (
    "only a pickle of a tiktoken.Encoding, as nanochat saves it, is read, and nothing in it is"
    " executed"
)


def read_pickle(data: bytes, file: str) -> tuple[dict[bytes, int], str, dict[str, int]]:
    """The ranks, the pattern and the special tokens of the encoding in a pickle.

    Raises UnsupportedError for a pickle of anything else, SourceError for a broken one.
    """
    stack: list[Any] = []
    marks: list[int] = []  # stack positions where the items of one dictionary update begin
    memo: dict[Any, Any] = {}
    at = 0
    try:
        for opcode, argument, position in pickletools.genops(data):
            at = position or 0
            match opcode.name:
                case "PROTO" | "FRAME" | "STOP":
                    pass
                case "SHORT_BINUNICODE" | "BINUNICODE" | "SHORT_BINBYTES" | "BINBYTES":
                    stack.append(argument)
                case "BININT" | "BININT1" | "BININT2":
                    stack.append(argument)
                case "MEMOIZE":
                    memo[len(memo)] = stack[-1]
                case "BINPUT" | "LONG_BINPUT":
                    memo[argument] = stack[-1]
                case "BINGET" | "LONG_BINGET":
                    stack.append(memo[argument])
                case "EMPTY_DICT":
                    stack.append({})
                case "EMPTY_TUPLE":
                    stack.append(())
                case "MARK":
                    marks.append(len(stack))
                case "SETITEM" | "SETITEMS":
                    begin = len(stack) - 2 if opcode.name == "SETITEM" else marks.pop()
                    items = stack[begin:]
                    del stack[begin:]
                    stack[-1].update(zip(items[::2], items[1::2], strict=True))
                case "GLOBAL" | "STACK_GLOBAL":
                    parts = argument.split(" ") if argument else [stack.pop(-2), stack.pop()]
                    if (named := ".".join(parts)) != _CLASS:
                        what = f"a pickle that imports {named[:80]}, at byte {at}, is not supported"
                        raise UnsupportedError(file, what, _HINT)
                    stack.append(named)
                case "NEWOBJ" if stack[-2:] == [_CLASS, ()]:
                    stack[-2:] = [[]]  # an encoding is a list of its state, which BUILD adds
                case "BUILD":
                    state = stack.pop()
                    stack[-1].append(state)
                case name:
                    what = f"a pickle with the opcode {name} at byte {at} is not supported"
                    raise UnsupportedError(file, what, _HINT)
        if at + 1 < len(data):
            raise ValueError("something follows its end")
    except (ValueError, IndexError, KeyError, TypeError, AttributeError):
        problem = f"the pickle is damaged at byte {at}"
        raise SourceError(problem, "fetch it again", name=file) from None
    return _parts(stack, file)


def _parts(stack: list[Any], file: str) -> tuple[dict[bytes, int], str, dict[str, int]]:
    match stack:
        case [[str(name)]]:
            problem = f"a pickle of the name {name[:80]!r}, which tiktoken looks up,"
            hint = "pass tiktoken.get_encoding(name) to tokexport from Python"
            raise UnsupportedError(file, f"{problem} is not supported", hint)
        case [
            [
                {
                    "name": str(),
                    "pat_str": str(pattern),
                    "mergeable_ranks": dict(ranks),
                    "special_tokens": dict(special),
                    **others,
                }
            ]
        ] if not others:
            ids = (*ranks.values(), *special.values())
            are_ids = all(type(id) is int and id >= 0 for id in ids)
            if are_ids and {*map(type, ranks)} <= {bytes} and _are_texts(pattern, *special):
                return ranks, pattern, special
    raise SourceError(
        "the pickle does not hold an encoding as tiktoken saves it",
        "expected name and pat_str, texts, mergeable_ranks, ids by bytes, and special_tokens, ids"
        " by text",
        name=file,
    )


def _are_texts(*found: object) -> bool:
    """Whether all are texts without lone surrogates, which a pickle can hold."""
    try:
        return all(isinstance(text, str) and text.encode() is not None for text in found)
    except UnicodeEncodeError:
        return False
