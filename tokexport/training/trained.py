"""The result of training, and its files."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from tokexport.conversion import file_bytes
from tokexport.escape import escape
from tokexport.model import Provenance, SpecialIds
from tokexport.model.byte_alphabet import to_characters
from tokexport.output import make_folder, write_file
from tokexport.sources.patterns import oniguruma
from tokexport.sources.tiktoken.encoding import build
from tokexport.sources.tokenizer_json.document import (
    added_token,
    byte_level,
    byte_pair_model,
    sequence,
    split,
    tokenizer_document,
)

BYTES: Final = 256
ROLES: Final = ("bos", "eos", "pad")
# What `save` writes. ranks.json has the pattern and the special tokens of ranks.tiktoken; the two
# configuration files give transformers the roles, which neither it nor tokenizer.json can hold.
FILES: Final = (
    *("tokenizer.bin", "tokenizer.json", "ranks.tiktoken", "ranks.json", "merges.tsv"),
    *("tokenizer_config.json", "generation_config.json"),
)


@dataclass(frozen=True, slots=True)
class Merge:
    """Two tokens that become one, and how often the pair occurred at that step."""

    left: bytes
    right: bytes
    count: int


@dataclass(frozen=True, slots=True)
class Trained:
    """A byte-level BPE tokenizer learned from texts.

    Special tokens have their own ids; all other ids are the 256 bytes, then the merges. ``uses`` is
    how often bytes and merges occur in the encoded texts. ``note`` says what differs from the
    request. ``special_ids`` are the ids of the special tokens with a role.
    """

    pattern: str  # a regular expression
    merges: tuple[Merge, ...]
    special_tokens: Mapping[str, int]
    special_ids: SpecialIds
    words: int  # of the texts
    distinct_words: int
    text_bytes: int
    text_tokens: int
    note: str | None = None
    uses: tuple[int, ...] = ()

    def __len__(self) -> int:
        """The number of ids."""
        return BYTES + len(self.merges) + len(self.special_tokens)

    @property
    def ranks(self) -> dict[bytes, int]:
        """The ids of all tokens except special ones, as tiktoken takes them."""
        learned = (merge.left + merge.right for merge in self.merges)
        single = (bytes((byte,)) for byte in range(BYTES))
        special = {*self.special_tokens.values()}
        ids = (id for id in range(len(self)) if id not in special)
        return dict(zip((*single, *learned), ids, strict=True))

    def to_bytes(self) -> bytes:
        """The tokexport file, which ``tokexport.load`` opens."""
        digest = hashlib.sha256(self.tiktoken_ranks()).hexdigest()
        source = Provenance("tokexport train", {"ranks.tiktoken": digest})
        model = build(
            "training", self.ranks, self.pattern, self.special_tokens, source, spelling={}
        )
        return file_bytes(replace(model, special_ids=self.special_ids))

    def tiktoken_ranks(self) -> bytes:
        """The ranks in tiktoken's format: a token in base64 and its id on each line."""
        lines = (b"%s %d\n" % (base64.b64encode(token), id) for token, id in self.ranks.items())
        return b"".join(lines)

    def tokenizer_json(self) -> str:
        """The tokenizer in the format of Hugging Face tokenizers."""
        vocab = {to_characters(token): id for token, id in self.ranks.items()}
        if any(id < len(vocab) for id in self.special_tokens.values()):
            # tokenizers gives an added token the next free id unless the vocabulary contains it.
            vocab |= self.special_tokens
        merges = [(to_characters(merge.left), to_characters(merge.right)) for merge in self.merges]
        special = [added_token(id, name, special=True) for name, id in self.special_tokens.items()]
        document = tokenizer_document(
            added_tokens=special,
            normalizer=None,
            pre_tokenizer=sequence(split(oniguruma(self.pattern)), byte_level(use_regex=False)),
            post_processor=None,
            decoder=byte_level(use_regex=True),
            model=byte_pair_model(vocab, merges),
        )
        return json.dumps(document, ensure_ascii=False, indent=1)

    def listing(self) -> str:
        r"""The merges as text: id, count, left and right on each line, separated by tabs.

        Unprintable characters are escaped, as in ``\n`` and ``\xf0``.
        """
        rows = ["id\tcount\tleft\tright"]
        ids = [*self.ranks.values()][BYTES:]
        rows += [
            f'{id}\t{merge.count}\t"{escape(merge.left)}"\t"{escape(merge.right)}"'
            for id, merge in zip(ids, self.merges, strict=True)
        ]
        return "\n".join(rows) + "\n"

    def tokenizer_config(self) -> str:
        """tokenizer_config.json: the tokens with a role, and the class for transformers."""
        names = {id: name for name, id in self.special_tokens.items()}
        ids = asdict(self.special_ids)
        roles = {f"{role}_token": names[ids[role]] for role in ROLES if ids[role] is not None}
        document = {"tokenizer_class": "PreTrainedTokenizerFast", **roles}
        return json.dumps(document, ensure_ascii=False, indent=1)

    def generation_config(self) -> str:
        """generation_config.json: every id that ends a generation, not only EOS."""
        return json.dumps({"eos_token_id": [*self.special_ids.stop] or None}, indent=1)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> list[Path]:
        """Writes ``FILES`` to a folder, which is created if needed; returns their paths.

        Raises TokexportError for a file that exists (unless ``force``) or cannot be written.
        """
        beside = {"pattern": self.pattern, "special_tokens": dict(self.special_tokens)}
        contents = (
            self.to_bytes(),
            self.tokenizer_json().encode(),
            self.tiktoken_ranks(),
            json.dumps(beside, ensure_ascii=False, indent=1).encode(),
            self.listing().encode(),
            self.tokenizer_config().encode(),
            self.generation_config().encode(),
        )
        target = Path(folder)
        make_folder(target)
        for name, content in zip(FILES, contents, strict=True):
            write_file(target / name, content, force=force)
        return [target / name for name in FILES]
