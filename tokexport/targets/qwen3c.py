"""The ``.tokenizer`` file of qwen3.c, and of qwen3-rs, which uses it differently."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from construct import Int32ul, Struct

from tokexport.model import SpecialIds, Token
from tokexport.targets.best_score import BestScore, c_string
from tokexport.targets.material import NO_MERGE, Material, scores_of_bytes
from tokexport.targets.parts import Part, bos_eos, bytes_of
from tokexport.targets.records import RECORD, build_records, longest, parse_records
from tokexport.targets.target import Files, Target, single

HEADER: Final = Struct("max_token_length" / Int32ul, "bos" / Int32ul, "eos" / Int32ul)
NONE: Final = 0xFFFFFFFF  # no id
_LONGEST_SPECIAL: Final = 64  # bytes of a special token that qwen3.c finds


def _write(source: Material) -> Files:
    hint = "for a SentencePiece model of BPE there is llama2.c"
    scores = scores_of_bytes(source, "qwen3.c", hint)
    texts = [b"" if token is None else token.content for token in source.tokens]
    header = HEADER.build({"max_token_length": longest(texts), **_ends(source.special_ids)})
    return single(build_records(header, scores, texts))


def _ends(roles: SpecialIds) -> dict[str, int]:
    """The two ids at which the programs stop: EOS, and BOS or otherwise another stop id."""
    stops = [*roles.stop, NONE]
    eos = stops[0] if roles.eos is None else roles.eos
    others = (id for id in (*stops, NONE) if id != eos)
    other = next(others, NONE) if roles.bos is None else roles.bos
    return {"bos": other, "eos": eos}


def _read(path: Path) -> Material:
    head, records = parse_records(path, HEADER, RECORD)
    scores, texts = [one.score for one in records], [one.text for one in records]
    tokens = tuple(Token(text) if text else None for text in texts)
    bos, eos = (None if id == NONE else id for id in (head.bos, head.eos))
    made = [id for id, score in enumerate(scores) if score > NO_MERGE]
    parts = {
        Part.BYTES: bytes_of(tokens),
        Part.MODEL: "BytePair",
        Part.ORDER: tuple(sorted(made, key=lambda id: -scores[id])),
        Part.HOLES: tuple(id for id, text in enumerate(texts) if not text),
        Part.BOS_EOS: bos_eos(SpecialIds(bos, eos)),
    }
    return Material(path.name, tokens, parts, SpecialIds(bos, eos), tuple(scores))


class Qwen3C:
    """``encode`` and ``decode`` as in runq.c. A byte without a token, whose id is undefined there,
    is left out here.
    """

    finds_special_tokens = True

    def __init__(self, path: Path) -> None:
        _, records = parse_records(path, HEADER, RECORD)
        texts = [c_string(record.text) for record in records]
        self._model = BestScore(texts, [record.score for record in records])

    def encode(self, text: str) -> list[int]:
        """From ``<`` to the next ``>`` if that is a token, else single bytes; then merges."""
        data, known = c_string(text.encode()), self._model.ids
        ids, place = [], 0
        while place < len(data):
            end = data.find(b">", place, place + _LONGEST_SPECIAL)
            special = data[place : end + 1] if end >= 0 and data[place : place + 1] == b"<" else b""
            token = special if special in known and special else data[place : place + 1]
            ids += [known[token]] if token in known else []
            place += len(token)
        return self._model.merged(ids)

    def decode(self, ids: Sequence[int]) -> bytes:
        """Each token up to its first NUL."""
        return b"".join(self._model.tokens[id] for id in ids)


class Qwen3Rs:
    """``encode`` and ``decode`` as in qwen3-rs: like qwen3.c, but by characters; a character that
    is not a token is dropped.
    """

    finds_special_tokens = True

    def __init__(self, path: Path) -> None:
        head, records = parse_records(path, HEADER, RECORD)
        texts, scores = [one.text for one in records], [one.score for one in records]
        self._model, self._longest = BestScore(texts, scores), head.max_token_length

    def encode(self, text: str) -> list[int]:
        """From ``<`` to the next ``>`` if that is a token, else characters; then merges."""
        ids, known, place = [], self._model.ids, 0
        while place < len(text):
            end = text.find(">", place + 1, place + self._longest)
            special = text[place : end + 1] if end >= 0 and text[place] == "<" else ""
            found = known.get(special.encode()) if special else None
            size = 1 if found is None else len(special)
            if found is None:
                found = known.get(text[place].encode())
            ids += [] if found is None else [found]
            place += size
        return self._model.merged(ids)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes of each token."""
        return b"".join(self._model.tokens[id] for id in ids)


QWEN3C: Final = Target(
    "qwen3.c",
    "runq.c of qwen3.c",
    _write,
    _read,
    lambda path, how: Qwen3C(path),
    Path("qwen3.c/golden.tokenizer"),
    layouts=(HEADER, RECORD),
    meanings={
        Part.ADDED_TOKENS: "only a token that begins with < and ends with the next > is found",
        Part.BOS_EOS: "both ids in the file end a generation, and none is put before a text",
    },
)
QWEN3_RS: Final = replace(
    QWEN3C, name="qwen3-rs", runtime_name="qwen3-rs", runtime=lambda path, how: Qwen3Rs(path)
)
