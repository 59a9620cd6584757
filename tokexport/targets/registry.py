"""Every target format, by its name on the command line."""

from collections.abc import Mapping
from typing import Final

from tokexport.errors import TokexportError
from tokexport.targets import (
    c_array,
    gguf,
    llama2c,
    llmc,
    qwen3c,
    ranks,
    tokenizer_json,
    vocab_merges,
    whispercpp,
)
from tokexport.targets.target import Target

_ALL: Final = (
    llama2c.LLAMA2C,
    llama2c.MOBILE,
    qwen3c.QWEN3C,
    qwen3c.QWEN3_RS,
    llmc.LLMC,
    whispercpp.WHISPER,
    ranks.TIKTOKEN,
    gguf.GGUF,
    tokenizer_json.TOKENIZER_JSON,
    vocab_merges.VOCAB_MERGES,
    c_array.C_ARRAY,
)
TARGETS: Final[Mapping[str, Target]] = {target.name: target for target in _ALL}


def target_of(name: str) -> Target:
    """The target of a name. TokexportError, which lists the names, for an unknown one.

    >>> target_of("llama2.c").runtime_name
    'run.c of llama2.c'
    """
    if name not in TARGETS:
        raise TokexportError(
            f"there is no format {name!r}", f"the formats are {', '.join(TARGETS)}"
        )
    return TARGETS[name]
