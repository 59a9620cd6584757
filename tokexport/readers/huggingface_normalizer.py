"""The ``normalizer`` of a tokenizer.json: the normal forms that text takes, and what they make of an added token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tokexport.compiler.normalize import normalize
from tokexport.model import NormalForm
from tokexport.readers.byte_alphabet import to_characters
from tokexport.readers.huggingface_parts import flat
from tokexport.readers.json_node import Node

_FORMS: Final = {form.value: form for form in NormalForm}
_SUPPORTED: Final = "supported are null, NFC, NFD, NFKC, NFKD, a final ByteLevel and a Sequence of these"


@dataclass(frozen=True, slots=True)
class Normalizer:
    """Normal forms in their order; ``byte_level``: then each byte becomes a character of GPT-2's alphabet."""

    forms: tuple[NormalForm, ...] = ()
    byte_level: bool = False

    def normalized(self, content: str) -> str:
        """What the reference's normalizer makes of the content of an added token."""
        for form in self.forms:
            content = normalize(content, form)
        return to_characters(content.encode("utf-8")) if self.byte_level else content


def read_normalizer(node: Node | None) -> Normalizer:
    """The normalizer at ``node``; UnsupportedError for one that is not made of normal forms."""
    forms: list[NormalForm] = []
    byte_level = False
    for part in flat(node, "normalizers"):
        if byte_level:
            part.unsupported("nothing may follow the ByteLevel normalizer")
        name = part.value["type"]
        if name == "ByteLevel":
            byte_level = True
        elif name in _FORMS:
            forms.append(_FORMS[name])
        else:
            part.field("type").unsupported(_SUPPORTED)
        part.object({"type"})
    return Normalizer(tuple(forms), byte_level)
