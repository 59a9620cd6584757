"""Conversion: a source in, a tokexport file out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Union

from tokexport._core import give_back_memory
from tokexport.chat.frame import Frame
from tokexport.compiler.compile import compile_model, prepared
from tokexport.compiler.tables import Tables
from tokexport.errors import MissingLibraryError
from tokexport.file.options import Options as Options
from tokexport.model import ChatTemplates, TokenizerModel
from tokexport.output import refuse_sources, resolve, writing
from tokexport.runtime.metadata import section_sizes
from tokexport.sources.hub import is_repository
from tokexport.sources.registry import Opened, open_source

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

    from tokexport.file.write import Sections

Source = Union[str, "os.PathLike[str]", "tiktoken.Encoding", "tokenizers.Tokenizer"]

SELF_TEST_CASES = 32


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of a conversion: sizes in bytes, the sections written, and notes of the reader.

    ``target`` is None if the result was written to an open file. ``commit`` is the commit read from
    a repository of the Hugging Face hub; None for other sources.
    """

    target: Path | None
    size: int
    source_size: int | None
    sections: Mapping[str, int]
    model: TokenizerModel = field(repr=False)  # a prompt that shows it would print megabytes
    commit: str | None
    # Differences from what the source says, and parts that were left out.
    notes: tuple[str, ...]


def convert(
    source: Source,
    target: str | os.PathLike[str] | BinaryIO = "tokenizer.bin",
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    revision: str | None = None,
    decode_only: bool = False,
    scores: bool = True,
    prefix_index: bool = False,
    chat_template: bool = True,
    self_test: bool = True,
    reference: Literal["transformers"] | None = None,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Conversion:
    """Converts a tokenizer to a tokexport file.

    ``source`` is a file, a directory, a tokenizer object, or the name of a repository of the
    Hugging Face hub; then ``revision`` is a branch, tag or commit of it. ``target`` is a path, or a
    binary file open for writing. ``pattern`` (a known name, or a regular expression) and
    ``special_tokens`` (ids by content) are for sources without them (tiktoken ranks).
    ``decode_only`` leaves out the encoder, ``scores=False`` the scores of BPE; ``prefix_index``
    adds what ``Tokenizer.prefix_ids`` needs, 4 bytes per token. ``chat_template`` keeps the chat
    templates of the source and, with jinja2, the frame of the default one, if it has one: the fixed
    texts that it puts between messages. ``self_test`` stores a few texts in the file with ids from
    the reference; if that is not installed, a note says so. With ``reference`` the ids are those of
    ``AutoTokenizer`` of ``transformers``. ``progress`` is called with the name of each step as it
    begins.

    Raises UnsupportedError where the file could not be exact, SourceError for a broken source, and
    TokexportError for a target that exists (unless ``force``), that is not a regular file or is the
    source itself, a library that is not installed, or a hub that cannot be reached. On any error
    the target is left unchanged.

    >>> import tempfile, tiktoken
    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    >>> encoding = tiktoken.Encoding(
    ...     "tiny", pat_str=r"\\w+|\\W", mergeable_ranks=ranks, special_tokens={}
    ... )
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     done = convert(encoding, f"{directory}/tiny.bin")
    >>> done.sections["BYTS"]
    258
    """

    def step(name: str) -> None:
        give_back_memory()
        if progress is not None:
            progress(name)

    if isinstance(target, (str, os.PathLike)):
        if is_repository(source):
            resolve(target, force=force, streams=True)  # before a download
    elif not hasattr(target, "writelines"):
        raise TypeError(f"target must be a path or a binary file, not {type(target).__name__}")
    step("reading the source")
    opened = open_source(
        source,
        pattern=pattern,
        special_tokens=special_tokens,
        revision=revision,
        reference=reference,
    )
    named = path = None
    own = [Path(source)] if isinstance(source, (str, os.PathLike)) else []
    if isinstance(target, (str, os.PathLike)):
        named = Path(target)
        refuse_sources(named, own)
        path = resolve(target, force=force, streams=True)
    with opened.input.naming_the_file():
        model = prepared(opened.read(), decode_only=decode_only)
    if path is not None:
        refuse_sources(path, [each / name for each in own for name in model.provenance.sha256])
    options = Options(decode_only, scores, prefix_index, chat_template)
    notes, frame = [*model.notes], None
    if self_test and not decode_only:
        step("asking the reference library for the self test")
        options, more = _with_self_test(options, model, opened)
        notes += more
    opened = opened.emptied()
    step("compiling merges, splits and indexes")
    with opened.input.naming_the_file():
        tables = compile_model(model, decode_only=decode_only)
    give_back_memory()
    made = _sections(tables, options)
    del tables  # jinja2, which finds the frame, takes 5 MB
    if chat_template and not decode_only and model.chat.default:
        step("looking for a frame in the chat template")
        frame, more = _chat_frame(model)
        notes += more
    step("writing")
    parts = made.parts(frame)
    del made
    if path is not None:
        with writing(path, force=force) as file:
            file.writelines(parts)
    elif not isinstance(target, (str, os.PathLike)):
        target.writelines(parts)
    size, sizes = sum(map(len, parts)), dict(section_sizes(parts[0]))
    return Conversion(named, size, opened.size, sizes, model, opened.commit, tuple(notes))


def file_bytes(model: TokenizerModel, options: Options | None = None) -> bytes:
    """The bytes of the file for a model. UnsupportedError if it could not be exact."""
    options = options or Options()
    made = _sections(compile_model(model, decode_only=options.decode_only), options)
    return b"".join(made.parts(options.chat_frame))


def _sections(tables: Tables, options: Options) -> Sections:
    # Not at the top: the declarations of the layout take 3 MB, which compiling needs.
    from tokexport.file.write import sections

    if not options.chat_template:
        tables = replace(tables, model=replace(tables.model, chat=ChatTemplates()))
    return sections(tables, options)


def _with_self_test(
    options: Options, model: TokenizerModel, opened: Opened
) -> tuple[Options, tuple[str, ...]]:
    from tokexport.verification.selftest import self_test

    try:
        reference = opened.reference()
    except MissingLibraryError as error:
        return options, (f"Nothing was compared, and the file has no self test: {error}.",)
    cases, notes = self_test(model, reference, SELF_TEST_CASES)
    return replace(options, reference_version=reference.version, self_test=cases), notes


def _chat_frame(model: TokenizerModel) -> tuple[Frame | None, tuple[str, ...]]:
    rewrites = bool(model.normalizer)
    tokens = (token for token in model.added_tokens if token.special)
    special = {token.content: token.normalized and rewrites for token in tokens}
    try:
        from tokexport.chat.frame_search import find_frame  # needs jinja2

        frame, problem = find_frame(model.chat.default or "", model.chat.variables, special)
    except MissingLibraryError as error:
        missing = "The chat template was not examined, because jinja2 is not installed"
        return None, (f"{missing}; {error.hint}, and convert again.",)
    if problem:
        return None, (f"Devices cannot use the chat template, which is no frame: {problem}.",)
    return frame, ()
