"""The ``.tokenizer`` file of qwen3.c, and of qwen3-rs, which uses it differently."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from construct import Int32ul, Struct

from tokexport.model import SpecialIds, Token
from tokexport.targets.best_score import BestScore, c_string
from tokexport.targets.material import NO_MERGE, Material, scores_of_bytes
from tokexport.targets.parts import Part, bos_eos, bytes_of
from tokexport.targets.records import RECORD, build_records, parse_records
from tokexport.targets.target import Files, Target, single

HEADER: Final = Struct("max_token_length" / Int32ul, "bos" / Int32ul, "eos" / Int32ul)
NONE: Final = 0xFFFFFFFF  # no id
_LONGEST_SPECIAL: Final = 64  # bytes of a special token that qwen3.c finds


def _write(source: Material, name: str = "qwen3.c") -> Files:
    hint = "for a SentencePiece model of BPE there is llama2.c"
    scores = scores_of_bytes(source, name, hint)
    texts = [b"" if token is None else token.content for token in source.tokens]
    header = HEADER.build({"max_token_length": max(map(len, texts)), **_ends(source.special_ids)})
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


class Qwen3:
    """``encode`` and ``decode`` as in runq.c, or with ``of_rs`` as in qwen3-rs, which reads
    characters and not bytes. One without a token, whose id is undefined in runq.c, is left out.
    """

    finds_special_tokens = True

    def __init__(self, path: Path, of_rs: bool) -> None:
        head, records = parse_records(path, HEADER, RECORD)
        texts = [record.text if of_rs else c_string(record.text) for record in records]
        self._model = BestScore(texts, [record.score for record in records])
        self._longest = head.max_token_length if of_rs else _LONGEST_SPECIAL
        self._of_rs = of_rs

    def encode(self, text: str) -> list[int]:
        """From ``<`` to the next ``>`` if that is a token, else single units; then merges."""
        units, encoding, known = text, "utf-8", self._model.ids
        if not self._of_rs:
            units, encoding = c_string(text.encode()).decode("latin-1"), "latin-1"  # bytes
        ids, at = [], 0
        while at < len(units):
            end = units.find(">", at + 1, at + self._longest)
            special = units[at : end + 1] if end >= 0 and units[at] == "<" else ""
            token = special if special and special.encode(encoding) in known else units[at]
            ids += [known[found]] if (found := token.encode(encoding)) in known else []
            at += len(token)
        return self._model.merged(ids)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes of each token; in runq.c up to its first NUL."""
        return b"".join(self._model.tokens[id] for id in ids)


QWEN3C: Final = Target(
    "qwen3.c",
    "runq.c of qwen3.c",
    _write,
    _read,
    lambda path, how: Qwen3(path, of_rs=False),
    Path("qwen3.c/golden.tokenizer"),
    layouts=(HEADER, RECORD),
    meanings={
        Part.ADDED_TOKENS: "only a token that begins with < and ends with the next > is found",
        Part.BOS_EOS: "both ids in the file end a generation, and none is put before a text",
    },
)
QWEN3_RS: Final = replace(
    QWEN3C,
    name="qwen3-rs",
    runtime_name="qwen3-rs",
    write=partial(_write, name="qwen3-rs"),
    runtime=lambda path, how: Qwen3(path, of_rs=True),
)
