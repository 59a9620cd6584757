"""llm.c's ``gpt2_tokenizer.bin``, version 2; the program only decodes with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from construct import Bytes, Const, Int8ub, Int32sl, Rebuild, Struct, this

from tokexport.escape import escape
from tokexport.model import SpecialIds, Token
from tokexport.targets.best_score import PRINTED, c_string
from tokexport.targets.material import Material
from tokexport.targets.parts import Part, bos_eos, bytes_of, refuse
from tokexport.targets.records import parse_records
from tokexport.targets.target import Files, Target, single

HEADER: Final = Struct(
    "magic" / Const(20240328, Int32sl),
    "version" / Const(2, Int32sl),
    "vocab_size" / Int32sl,
    "eot_token" / Int32sl,
    "zeros" / Const(bytes(1008)),
)
RECORD: Final = Struct(
    "length" / Rebuild(Int8ub, lambda it: len(it.text)), "text" / Bytes(this.length)
)
LONGEST: Final = 255
_EOT: Final = b"<|endoftext|>"


def _write(source: Material) -> Files:
    texts = []
    for id, token in enumerate(source.tokens):
        size = 0 if token is None else len(token.content)
        if token is None or not 0 < size <= LONGEST:
            what = "is a hole" if token is None else f"has {size} bytes"
            raise refuse(
                "llm.c",
                f"the id {id} {what}, but a token there has 1 to {LONGEST} bytes",
                "no version of the format can",
            )
        texts.append(token.content)
    header = HEADER.build({"vocab_size": len(texts), "eot_token": _eot(source)})
    return single(header + b"".join(RECORD.build({"text": text}) for text in texts))


def _eot(source: Material) -> int:
    """The token at which a generation begins and ends."""
    named = [id for id, token in enumerate(source.tokens) if token and token.content == _EOT]
    roles = source.special_ids
    found = [*named, *([] if roles.eos is None else [roles.eos]), *roles.stop]
    if not found:
        raise refuse(
            "llm.c",
            f"it has no {escape(_EOT)} and no EOS, and the header names the token that ends a text",
            "give ranks a special token with --special-tokens, or a tokenizer.json its"
            " tokenizer_config.json",
        )
    return found[0]


def _read(path: Path) -> Material:
    head, records = parse_records(path, HEADER, RECORD, "vocab_size")
    tokens = tuple(Token(record.text) for record in records)
    roles = SpecialIds(eos=head.eot_token)
    return Material(
        path.name, tokens, {Part.BYTES: bytes_of(tokens), Part.BOS_EOS: bos_eos(roles)}, roles
    )


class LlmC:
    """``tokenizer_decode`` and ``safe_printf`` as in llm.c."""

    finds_special_tokens = True

    def __init__(self, path: Path) -> None:
        _, records = parse_records(path, HEADER, RECORD, "vocab_size")
        self._tokens = [c_string(record.text) for record in records]

    def encode(self, text: str) -> None:
        """The program has no encoder."""

    def decode(self, ids: Sequence[int]) -> bytes:
        """Each token up to its first NUL, except single unprintable bytes."""
        tokens = (self._tokens[id] for id in ids)
        return b"".join(token for token in tokens if len(token) != 1 or token in PRINTED)


LLMC: Final = Target(
    "llm.c",
    "llmc/tokenizer.h of llm.c",
    _write,
    _read,
    lambda path, how: LlmC(path),
    Path("llm.c/golden.bin"),
    layouts=(HEADER, RECORD),
    meanings={Part.MODEL: "the program decodes and does not encode"},
)
