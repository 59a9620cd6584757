"""Reads the pickle of a ``tiktoken.Encoding`` without executing it.

The opcodes are decoded by ``pickletools``, which loads nothing. The opcodes that a pickler writes
for such an encoding operate on plain values here; all others are refused.
"""

import pickletools
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from tokexport.errors import SourceError, UnsupportedError

_CLASS: Final = ("tiktoken.core", "Encoding")  # also what stands for it on the stack
_FIELDS: Final = ("name", "pat_str", "mergeable_ranks", "special_tokens")
# Protocol 2 has no opcode for bytes, only a call.
_PROTOCOLS: Final = (3, 4, 5)


def read_pickle(data: bytes, file: str) -> tuple[dict[bytes, int], str, dict[str, int]]:
    """The ranks, the pattern and the special tokens of the encoding in a pickle.

    Raises UnsupportedError for a pickle of anything else, SourceError for a broken one.
    """
    machine = _Machine(file)
    try:
        for opcode, argument, position in pickletools.genops(data):
            machine.position = position or 0
            machine.step(opcode.name, argument)
    except ValueError as error:
        raise SourceError(f"the pickle is damaged: {error}", "fetch it again", name=file) from None
    end = machine.position + 1
    if len(data) > end:
        raise SourceError(
            f"the pickle ends at byte {end} of {len(data)}", "expected nothing after it", name=file
        )
    return _checked(machine.result(), file)


@dataclass(slots=True)
class _Instance:
    """An encoding under construction."""

    state: Any = None


@dataclass(slots=True)
class _Machine:
    """The stack and the memo of a pickle."""

    file: str
    position: int = 0
    stack: list[Any] = field(default_factory=list)
    # Stack positions where the items of one dictionary update begin.
    marks: list[int] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def step(self, name: str, argument: Any) -> None:
        """Executes an opcode. Raises ValueError if it reads what does not exist."""
        match name:
            case "PROTO":
                if argument not in _PROTOCOLS:
                    self.refuse(name, f"declares protocol {argument}")
            case "FRAME" | "STOP":
                pass
            case "SHORT_BINUNICODE" | "BINUNICODE" | "SHORT_BINBYTES" | "BINBYTES":
                self.stack.append(argument)
            case "BININT" | "BININT1" | "BININT2":
                self.stack.append(argument)
            case "MEMOIZE":
                self.memo[len(self.memo)] = self.top()
            case "BINPUT" | "LONG_BINPUT":
                self.memo[argument] = self.top()
            case "BINGET" | "LONG_BINGET":
                if argument not in self.memo:
                    self.refuse(name, f"reads {argument}, which is not in the memo")
                self.stack.append(self.memo[argument])
            case "EMPTY_DICT":
                self.stack.append({})
            case "EMPTY_TUPLE":
                self.stack.append(())
            case "MARK":
                self.marks.append(len(self.stack))
            case "SETITEM":
                value, key = self.pop(), self.pop()
                self.put_items(name, [key, value])
            case "SETITEMS":
                if not self.marks:
                    self.refuse(name, "has no mark")
                begin = self.marks.pop()
                items = self.stack[begin:]
                del self.stack[begin:]
                self.put_items(name, items)
            case "GLOBAL":
                self.name_class(name, *argument.split(" "))
            case "STACK_GLOBAL":
                attribute, module = self.pop(), self.pop()
                self.name_class(name, module, attribute)
            case "NEWOBJ":
                arguments, made = self.pop(), self.pop()
                if made is not _CLASS or arguments != ():
                    self.refuse(name, "creates an unexpected object")
                self.stack.append(_Instance())
            case "BUILD":
                state, made = self.pop(), self.top()
                if not isinstance(made, _Instance) or made.state is not None:
                    self.refuse(name, "sets the state of something else")
                made.state = state
            case _:
                self.refuse(name, "is not allowed")

    def top(self) -> Any:
        """The top of the stack, which must be after the last mark."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise ValueError(f"at byte {self.position} the stack is empty")
        return self.stack[-1]

    def pop(self) -> Any:
        value = self.top()
        self.stack.pop()
        return value

    def name_class(self, opcode: str, *name: object) -> None:
        """Only the class may be named."""
        if name != _CLASS:
            self.refuse(opcode, f"imports {'.'.join(map(str, name))[:80]}")
        self.stack.append(_CLASS)

    def put_items(self, opcode: str, items: list[Any]) -> None:
        """Puts keys and values into the dictionary on the stack."""
        target = self.top()
        if not isinstance(target, dict) or len(items) % 2:
            self.refuse(opcode, "adds to something other than a dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | bytes) or key in target:
                self.refuse(opcode, f"gives a dictionary the key {str(key)[:80]!r}")
            target[key] = value

    def result(self) -> Any:
        if self.marks or len(self.stack) != 1 or not isinstance(self.stack[0], _Instance):
            self.refuse("STOP", "ends it without a single encoding")
        return self.stack[0].state

    def refuse(self, opcode: str, problem: str) -> NoReturn:
        raise UnsupportedError(
            self.file,
            f"the opcode {opcode} at byte {self.position} of this pickle {problem}",
            "only a pickle of a tiktoken.Encoding, as nanochat saves it, is read, and nothing in it"
            " is executed",
        )


def _checked(state: Any, file: str) -> tuple[dict[bytes, int], str, dict[str, int]]:
    if isinstance(state, str):
        raise UnsupportedError(
            file,
            f"the pickle holds no vocabulary but the name {state[:80]!r}, which tiktoken looks up",
            "pass tiktoken.get_encoding(name) to tokexport from Python",
        )
    if not isinstance(state, dict) or set(state) != set(_FIELDS):
        found = ", ".join(map(str, state))[:80] if isinstance(state, dict) else type(state).__name__
        raise UnsupportedError(
            file,
            f"the state of the encoding in this pickle is {found}",
            f"{', '.join(_FIELDS)} is what tiktoken saves",
        )

    def check(name: str, is_right: bool, expected: str) -> None:
        if not is_right:
            raise SourceError(f"{name} has an unexpected value", f"expected {expected}", name=file)

    ranks, special_tokens = state["mergeable_ranks"], state["special_tokens"]
    for name in ("name", "pat_str"):
        check(name, isinstance(state[name], str), "a text")
    text, ids = "text without lone surrogates", "to an id, 0 or more"
    check("pat_str", _is_text(state["pat_str"]), text)
    check("special_tokens", _are_ids(special_tokens, str), f"a dictionary from a text {ids}")
    check("special_tokens", all(map(_is_text, special_tokens)), text)
    check("mergeable_ranks", _are_ids(ranks, bytes), f"a dictionary from bytes {ids}")
    return ranks, state["pat_str"], special_tokens


def _is_text(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _are_ids(found: Any, kind: type) -> bool:
    return isinstance(found, dict) and all(
        type(key) is kind and type(id) is int and id >= 0 for key, id in found.items()
    )
