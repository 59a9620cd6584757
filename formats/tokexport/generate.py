"""Makes everything that repeats the declaration of the layout (``tokexport/file/layout``).

That is: the constants of the C core (``src/layout.h``, and with it ``tokexport.c``); the parts of
``tokexport.h`` and of the tables of SPEC.md between two marks that name a part of the layout; and
``tokexport/_core.pyi``, from the signatures in the native module. Run this after a change of any of
them; ``tests/file/test_generated.py`` fails if it was forgotten.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Final

from construct import Struct, Subconstruct

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from amalgamate import SOURCES, write_target  # noqa: E402

import tokexport.file.layout as layout  # noqa: E402
from tokexport import limits  # noqa: E402

# The C names of the sizes of structs and records, the prefixes of enumerations, and the C names of
# single numbers.
C_SIZES: Final = (
    "HEADER_SIZE Header, SECTION_SIZE Section, RECORD_SIZE RECORD, DECODER_SIZE Decoder,"
    " EDITS_HEADER EditsHeader, EDIT_SIZE EDIT, TRIE_HEADER TrieHeader, UNIT_SIZE TRIE_UNIT,"
    " STAGE_SIZE Stage, LABELS_HEADER LabelsHeader, LABEL_TABLE LabelTable,"
    " REWRITE_HEADER RewriteHeader, OP_SIZE RewriteOp,"
    " CHARSMAP_HEADER CharsmapHeader, FORM_HEADER FormHeader, MAP_HEADER MapHeader,"
    " CHARACTERS_HEADER CharactersHeader, PAIR_INDEX_HEADER PairIndexHeader,"
    " CROSSINGS_HEADER CrossingsHeader, ADDED_HEADER AddedHeader,"
    " ADDED_SIZE ADDED_TOKEN, NODE_SIZE TRIE_NODE, ITEM_SIZE TEMPLATE_ITEM,"
    " TRIM_HEADER TrimmingHeader, TRIM_SIZE TRIMMING_EXCEPTION,"
    " ALIGNMENT_HEADER AlignmentHeader, CASE_SIZE SELF_TEST_CASE"
)
C_ENUMS: Final = {
    layout.ModelType: "MODEL_",
    layout.HeaderFlag: "",
    layout.SectionFlag: "SECTION_",
    layout.DecoderFlag: "",
    layout.EditsFlag: "",
    layout.TrieFlag: "",
    layout.StageBehavior: "",
    layout.StageFlag: "",
    layout.OpKind: "",
    layout.OpFlag: "",
    layout.NormalFormCode: "",
    layout.SymbolUnit: "UNIT_",
    layout.AddedClass: "CLASS_",
    layout.TrimmingPass: "TRIM_",
    layout.AlignmentFlag: "ALIGN_",
}
C_NUMBERS: Final = {
    **{name: getattr(limits, name) for name in ("MAX_IDS", "MAX_CLASSES", "MAX_STATES")},
    "MAX_CLUSTER": limits.MAX_CLUSTER,
    "ASCII_SIZE": layout.CLASS_ASCII,
    "TOP_SIZE": 2 * layout.CLASS_TOP,
    **{
        name: getattr(layout, name)
        for name in (
            *("ALIGNMENT", "MAX_SECTIONS", "ID_BITS", "EDIT_KEEPS"),
            *("LABEL_BITS", "ACCEPT", "CUTS_SIZE", "CROSSINGS_ASCII", "CROSSINGS_BYTES", "PLACES"),
            *("MAP_OTHER", "MAP_LETTERS"),
        )
    },
    "ONE_KNOWN": layout.CrossingRule.ONE_KNOWN,
    "BOTH_KNOWN": layout.CrossingRule.BOTH_KNOWN,
    "CROSSED_BYTES": layout.CrossingRule.BYTES,
    **{
        f"{name}_SHIFT": (layout.RecordFlag[name] & -layout.RecordFlag[name]).bit_length() - 1
        for name in ("FIRST_SKIP", "FIRST_MORE", "LAST_SKIP")
    },
    "HEADER_FLAGS": sum(layout.HeaderFlag),
    "DECODER_FLAGS": sum(layout.DecoderFlag),
    "TRIE_FLAGS": sum(layout.TrieFlag),
}
C_PUBLIC: Final = {"RecordFlag": "TKX_", "AddedFlag": "TKX_ADDED_"}
# Types that occur in many signatures of the native module, by their names in the stub.
STUB_TYPES: Final = {
    **{
        f"{kind[0].upper()}{bits}": f"numpy.typing.NDArray[numpy.{kind}{bits}]"
        for kind, bits in (*(("uint", 8), ("uint", 16), ("uint", 32), ("uint", 64)), ("int", 32))
    },
    "Ids": "Sequence[int] | numpy.typing.NDArray[numpy.integer[Any]]",
    "Allowed": "Literal['all'] | Collection[str]",
}
WIDTH: Final = 96  # of a line of code in SPEC.md, which is indented by four
C_HEAD: Final = """\
/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- layout.h: numbers of SPEC.md; made by generate.py from tokexport/file/layout ------------ */
"""


def size_of(name: str) -> int:
    """The bytes of a struct or of a record."""
    part = getattr(layout, name)
    return int(part.sizeof() if isinstance(part, Struct) else part.itemsize)


def parts_of_the_layout() -> list[str]:
    """The names of all structs, records and enumerations."""
    return [
        name
        for name, part in vars(layout).items()
        if isinstance(part, Struct)
        or (isinstance(part, type) and issubclass(part, Enum) and "declare" not in part.__module__)
        or getattr(part, "metadata", None)
    ]


def c_layout() -> str:
    """``src/layout.h``: enumerations, with as many names per line as fit."""
    sizes = {name: size_of(of) for name, of in map(str.split, C_SIZES.split(","))}
    groups = {"Sizes in bytes.": sizes, "Limits, places and masks.": C_NUMBERS} | {
        f"{enum.__doc__}".strip().split("\n")[0].replace("``", ""): {
            prefix + name: int(value) for name, value in enum.__members__.items()
        }
        for enum, prefix in C_ENUMS.items()
    }
    lines = [C_HEAD]
    for title, group in groups.items():
        lines.append(f"/* {title} */")
        # NUL stands for each space that must not become a line break.
        text = ", ".join(f"{name}\0=\0{int(value)}" for name, value in group.items())
        for line in textwrap.wrap(text, 100 - len("enum {  };")):
            lines.append(f"enum {{ {line.rstrip(',')} }};".replace("\0", " "))
    return "\n".join(lines) + "\n"


def c_enum(name: str) -> str:
    """A public enumeration, with the meaning above each name."""
    members = getattr(layout, name).__members__.items()
    lines = []
    for member, value in members:
        lines += textwrap.wrap(f"/* {_meaning(member, value)} */", 96, subsequent_indent="   ")
        lines.append(f"{C_PUBLIC[name]}{member} = {int(value)},")
    lines[-1] = lines[-1].rstrip(",")
    return "enum {\n" + textwrap.indent("\n".join(lines), "    ") + "\n};"


def specified(names: str) -> str:
    """The text in SPEC.md between two marks: structs, records, enumerations, the sections."""
    lines = [line for name in names.split(", ") for line in declaration(name)]
    return "\n".join(f"    {line}" for line in lines)


def declaration(name: str) -> list[str]:
    """A part of the layout, one line per field, without reserved fields; or in few lines if no
    field has a meaning to state.
    """
    part = getattr(layout, name)
    rows: list[tuple[Any, ...]] = []
    if name == "Tag":
        rows = [
            (
                *(tag.decode(), tag.name, "required" * tag.required, tag.level),
                f"{tag.holds} ({tag.defined})",
            )
            for tag in part
        ]
        return _rows([("tag", "name", "flag", "level", ""), *rows])
    if isinstance(part, type) and issubclass(part, Enum):
        title = name
        members = part.__members__.items()
        rows = [(int(value.value), key, _meaning(key, value)) for key, value in members]
    else:
        title = f"{name}, {size_of(name)} bytes"
        rows = [row for row in _fields(part) if row[-1] != "zero"]
    if any(row[-1] for row in rows):
        return [title, *(f"  {line}" for line in _rows(rows))]
    # NUL stands for each space that must not become a line break.
    fields = ", ".join("\0".join(map(str, row[:-1])) for row in rows)
    found = textwrap.wrap(f"{title}: {fields}", WIDTH, subsequent_indent="  ")
    return [line.replace("\0", " ") for line in found]


def _rows(rows: list[tuple[Any, ...]]) -> list[str]:
    """Rows in columns; text that does not fit into the last column continues on the next line."""
    columns = list(zip(*rows, strict=True))[:-1]
    widths = [max(len(str(cell)) for cell in column) for column in columns]
    lines = []
    for row in rows:
        cells = [
            f"{cell:>{width}}" if isinstance(cell, int) else f"{cell:<{width}}"
            for cell, width in zip(row, widths, strict=False)
        ]
        lead = "  ".join(cells) + "  "
        indent = " " * len(lead)
        lines += (
            textwrap.wrap(lead + row[-1], WIDTH - 2, subsequent_indent=indent, drop_whitespace=True)
            if row[-1]
            else [lead.rstrip()]
        )
    return lines


def _meaning(name: str, value: Any) -> str:
    """The meaning of a number; a second name for a number is a mask."""
    return str(value.meaning) if value.name == name else "all bits of these"


def _fields(part: Any) -> Iterator[tuple[int, str, str, str]]:
    """(offset, type, name, meaning) of each field."""
    struct = part if isinstance(part, Struct) else part.metadata["struct"]
    offset = 0
    for field in struct.subcons:
        size, plain = field.sizeof(), field
        while isinstance(plain, Subconstruct):
            plain = plain.subcon
        kind = {"d": "f64"}.get(getattr(plain, "fmtstr", "")[1:], f"u{8 * size}")
        yield (offset, kind if hasattr(plain, "fmtstr") else f"u8[{size}]", field.name, field.docs)
        offset += size


def between_marks(text: str, mark: str, close: str, part: Callable[[str], str]) -> str:
    """The text with the result of ``part`` between each ``mark`` with names and the next end."""
    begin, end = re.escape(mark), re.escape(close)
    pattern = rf"({begin}layout: ([\w, ]+){end}\n).*?(\n{begin}layout: end)"
    found = re.compile(pattern, re.DOTALL)
    return found.sub(lambda match: match[1] + part(match[2]) + match[3], text)


def stub() -> str:
    """``_core.pyi``, made by nanobind's own generator."""
    from nanobind.stubgen import StubGen

    import tokexport._core as core

    generator = StubGen(core)
    generator.put(core)
    text = generator.get()
    for name, type_ in STUB_TYPES.items():
        text = text.replace(type_, name)
    imports, rest = text.split("\n\n\n", 1)
    aliases = "\n".join(f"{name}: TypeAlias = {type_}" for name, type_ in STUB_TYPES.items())
    text = f"from typing import TypeAlias\n{imports}\n\n{aliases}\n\n{rest}"
    for rule in (["check", "--quiet", "--fix", "--select", "I"], ["format"]):
        command = [sys.executable, "-m", "ruff", *rule, "--stdin-filename", "_core.pyi", "-"]
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True, cwd=HERE.parents[1]
        )
        text = done.stdout
    return str(text)


def generated() -> dict[Path, str]:
    """Every file that is generated, wholly or in part, with its text."""
    header = HERE / "tokexport.h"
    return {
        SOURCES / "layout.h": c_layout(),
        header: between_marks(header.read_text(encoding="utf-8"), "/* ", " */", c_enum),
        **{
            page: between_marks(page.read_text(encoding="utf-8"), "<!-- ", " -->", specified)
            for page in (HERE / "SPEC.md", HERE / "EXTRA.md")
        },
    }


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8", newline="\n")
    write_target()
    (HERE.parents[1] / "tokexport" / "_core.pyi").write_text(stub(), encoding="utf-8")
