"""A class with the methods of nanochat's ``RustBPETokenizer``."""

from __future__ import annotations

import importlib.util
import io
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from tokexport.conversion import file_bytes
from tokexport.errors import ConversationError, TokexportError, needs
from tokexport.nanochat.conversation import messages_of, segments
from tokexport.output import resolve, write_file
from tokexport.runtime import tokenizer as runtime
from tokexport.runtime.metadata import section
from tokexport.sources import read
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.training import Roles, train_from_iterator

SPECIAL_TOKENS: Final = KNOWN["nanochat"].counted
# The token that begins a document: nanochat's own, and that of OpenAI's encodings.
_BOS: Final = ("<|bos|>", "<|endoftext|>")
# Nanochat ends a generation at either.
_ROLES: Final = Roles(bos="<|bos|>", eos="<|assistant_end|>", stop=("<|bos|>",))
_FILE: Final = "tokenizer.bin"
_PICKLE: Final = "tokenizer.pkl"
_RED, _GREEN, _GRAY, _RESET = "\x1b[91m", "\x1b[92m", "\x1b[90m", "\x1b[0m"

# What to add at an end of a text: an id, the content of a special token, or nothing.
_End = int | str | None


class Tokenizer:
    """A tokenizer for nanochat. ``enc`` is the underlying ``tokexport.Tokenizer``.

    >>> tokenizer = Tokenizer.train_from_iterator(["low lower lowest"], vocab_size=269)
    >>> ids = tokenizer.encode("low", prepend="<|bos|>", append="<|user_end|>")
    >>> ids, tokenizer.decode(ids)
    ([260, 257, 262], '<|bos|>low<|user_end|>')
    """

    def __init__(self, enc: runtime.Tokenizer, bos_token: str) -> None:
        self.enc = enc
        self.bos_token_id = self.encode_special(bos_token)

    # ---- constructors and saving

    @classmethod
    def train_from_iterator(cls, text_iterator: Iterable[str], vocab_size: int) -> Tokenizer:
        """Learns a tokenizer from texts. ``vocab_size`` includes the nine special tokens, which
        have the last ids; the merges are those of rustbpe.

        Warns if the texts have pairs for fewer tokens. Raises TokexportError for a vocabulary that
        is too small, and for texts without a word.

        >>> Tokenizer.train_from_iterator(iter(["a text", "and another"]), 270).get_vocab_size()
        270
        """
        trained = train_from_iterator(
            text_iterator,
            vocab_size,
            pattern="nanochat",
            special_tokens=SPECIAL_TOKENS,
            roles=_ROLES,
        )
        if trained.note is not None:
            warnings.warn(trained.note, stacklevel=2)
        return cls(runtime.load(trained.to_bytes(), check=False), _BOS[0])

    @classmethod
    def from_directory(cls, tokenizer_dir: str | os.PathLike[str]) -> Tokenizer:
        """Opens the file that ``save`` wrote to a directory, or else nanochat's own tokenizer.pkl,
        which is read without executing it.

        Raises TokexportError if neither exists, and if both exist and differ.
        """
        folder = Path(tokenizer_dir)
        found = [name for name in (_FILE, _PICKLE) if (folder / name).is_file()]
        if not found:
            raise TokexportError(f"{folder}: there is no {_FILE} and no {_PICKLE}", "save one")
        opened = [_opened(folder / name) for name in found]
        if len(opened) > 1 and _content(opened[0]) != _content(opened[1]):
            raise TokexportError(
                f"{folder}: {_FILE} and {_PICKLE} are two tokenizers",
                "remove the one that the model was not trained with",
            )
        special = opened[0].special_tokens_set
        bos = next((name for name in _BOS if name in special), None)
        if bos is None:
            raise TokexportError(
                f"{folder / found[0]}: it has no special token {' or '.join(_BOS)}, one of which"
                " begins each document",
                "use the tokenizer of a model of nanochat",
            )
        return cls(opened[0], bos)

    @classmethod
    def from_pretrained(cls, tiktoken_name: str) -> Tokenizer:
        """Makes the tokenizer of an encoding of tiktoken, such as ``gpt2`` or ``cl100k_base``,
        which tiktoken downloads once. Raises MissingLibraryError if tiktoken is not installed.
        """
        why = "the library `tiktoken`, which has the encodings by name, is not installed"
        with needs("verify", why):
            import tiktoken
        model = read(tiktoken.get_encoding(tiktoken_name))
        return cls(runtime.load(file_bytes(model), check=False), _BOS[1])

    def save(self, tokenizer_dir: str | os.PathLike[str]) -> None:
        """Writes tokenizer.bin to a directory, which is created if needed; replaces an older file.

        Raises TokexportError if it cannot be written.
        """
        _write(Path(tokenizer_dir) / _FILE, self.enc.to_bytes())

    # ---- the vocabulary

    def get_vocab_size(self) -> int:
        """The number of ids, including special tokens."""
        return self.enc.n_vocab

    def get_special_tokens(self) -> set[str]:
        """The contents of the special tokens."""
        return self.enc.special_tokens_set

    def get_bos_token_id(self) -> int:
        """The id that begins each document."""
        return self.bos_token_id

    def id_to_token(self, id: int) -> str:
        """The text of one id."""
        return self.enc.decode([id])

    def encode_special(self, text: str) -> int:
        """The id of a special token, or of any other token. Raises KeyError if there is none."""
        return self.enc.encode_single_token(text)

    def decode_single_token_bytes(self, token_id: int) -> bytes:
        """The bytes of one id. Raises KeyError for an invalid id."""
        return self.enc.decode_single_token_bytes(token_id)

    def token_bytes(self) -> NDArray[np.int32]:
        """The number of bytes of each id, 0 for special tokens, to compute bits per byte.

        >>> tokenizer = Tokenizer.train_from_iterator(["low lower lowest"], vocab_size=269)
        >>> tokenizer.token_bytes()[[0, 256, 257, 260]].tolist()
        [1, 2, 3, 0]
        """
        lengths = self.enc.records["length"].astype(np.int32)
        lengths[[self.encode_special(name) for name in self.get_special_tokens()]] = 0
        return lengths

    def save_token_bytes(self, tokenizer_dir: str | os.PathLike[str]) -> list[Path]:
        """Writes ``token_bytes`` to a directory: token_bytes.npy and, if torch is installed, the
        token_bytes.pt that nanochat loads. Returns the paths.
        """
        folder, lengths = Path(tokenizer_dir), self.token_bytes()
        contents = {".npy": io.BytesIO()}
        np.save(contents[".npy"], lengths)
        if importlib.util.find_spec("torch") is not None:
            torch = importlib.import_module("torch")
            torch.save(torch.from_numpy(lengths), contents.setdefault(".pt", io.BytesIO()))
        paths = [folder / f"token_bytes{suffix}" for suffix in contents]
        for path, content in zip(paths, contents.values(), strict=True):
            _write(path, content.getvalue())
        return paths

    # ---- from text to ids and back

    @overload
    def encode(
        self, text: str, prepend: _End = None, append: _End = None, num_threads: int = 8
    ) -> list[int]: ...
    @overload
    def encode(
        self, text: list[str], prepend: _End = None, append: _End = None, num_threads: int = 8
    ) -> list[list[int]]: ...
    def encode(
        self, text: str | list[str], prepend: _End = None, append: _End = None, num_threads: int = 8
    ) -> list[int] | list[list[int]]:
        """The ids of a text, or of each text of a list, encoded by ``num_threads`` threads. Special
        tokens in a text are plain text.

        ``prepend`` and ``append`` are a special token or an id to add at either end. Raises
        KeyError for an unknown token, ValueError for a text that is neither str nor list.
        """
        before, after = self._ids(prepend), self._ids(append)
        if isinstance(text, str):
            return [*before, *self.enc.encode_ordinary(text), *after]
        if not isinstance(text, list):
            raise ValueError(f"the text is of type {type(text).__name__}; give a str or a list")
        rows = self.enc.encode_ordinary_batch(text, num_threads=num_threads)
        return [[*before, *row, *after] for row in rows] if before or after else rows

    __call__ = encode

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids. Raises KeyError for an id without a token."""
        return self.enc.decode(ids)

    # ---- conversations

    def render_conversation(
        self, conversation: Mapping[str, Any], max_tokens: int = 2048
    ) -> tuple[list[int], list[int]]:
        """The ids of a conversation, at most ``max_tokens``, and a mask of equal length: 1 for ids
        that the assistant is trained on.

        A system message is put into the user message after it. An assistant message is a text or a
        list of parts: ``text``, ``python`` (a tool call) and ``python_output``, which is not
        trained on. Raises ConversationError, with the index of the message, for a message that is
        out of turn or malformed.

        >>> tokenizer = Tokenizer.train_from_iterator(["a"], vocab_size=265)
        >>> messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]
        >>> tokenizer.render_conversation({"messages": messages})
        ([256, 257, 63, 258, 259, 33, 260], [0, 0, 0, 0, 0, 1, 1])
        """
        return self._rendered(messages_of(conversation), max_tokens)

    def render_for_completion(self, conversation: Mapping[str, Any]) -> list[int]:
        """The ids of a conversation up to the start of the assistant's last message, which is left
        out. Raises ConversationError if the last message is not the assistant's.
        """
        messages = messages_of(conversation)
        last = len(messages) - 1
        role = messages[last].get("role") if isinstance(messages[last], Mapping) else None
        if role != "assistant" or last == 0:
            raise ConversationError(
                last,
                ".role",
                f"it is {role!r:.80} in message {last + 1} of {last + 1}",
                "the last message must be the assistant's, after one of the user",
            )
        ids, _ = self._rendered(messages[:last])
        return [*ids, self.encode_special("<|assistant_start|>")]

    def visualize_tokenization(
        self, ids: Sequence[int], mask: Sequence[int], with_token_id: bool = False
    ) -> str:
        """The tokens separated by bars, for a terminal: green if the mask is 1, otherwise red."""
        shown = []
        for id, trained in zip(ids, mask, strict=False):
            shown.append(f"{_GREEN if trained == 1 else _RED}{self.decode([id])}{_RESET}")
            if with_token_id:
                shown.append(f"{_GRAY}({id}){_RESET}")
        return "|".join(shown)

    def _rendered(
        self, messages: Sequence[Any], max_tokens: int = 2048
    ) -> tuple[list[int], list[int]]:
        if max_tokens < 0:
            raise TokexportError(f"max_tokens is {max_tokens}", "use 0 or more")
        ids, mask = [self.bos_token_id], [0]
        for segment in segments(messages):
            if segment.is_special:
                part = [self.encode_special(segment.content)]
            else:
                part = self.enc.encode_ordinary(segment.content)
            ids += part
            mask += [int(segment.trained)] * len(part)
        return ids[:max_tokens], mask[:max_tokens]

    def _ids(self, end: _End) -> list[int]:
        if end is None:
            return []
        return [end if isinstance(end, int) else self.encode_special(end)]


def _opened(path: Path) -> runtime.Tokenizer:
    if path.name == _FILE:
        return runtime.load(path)
    return runtime.load(file_bytes(read(path)), check=False)


def _content(tokenizer: runtime.Tokenizer) -> tuple[object, ...]:
    """Everything that decides an id."""
    tags = sorted({tag for tag, _ in tokenizer.sections()} - {"PROV", "SPID", "TEST"})
    return tuple((tag, section(tokenizer, tag.encode())) for tag in tags)


def _write(path: Path, content: bytes) -> None:
    write_file(resolve(path, force=True), content, force=True)
