"""Tokenizers that a class of the library ``transformers`` makes from a vocabulary.

A vocab.txt, a vocab.json with merges.txt or a SentencePiece model does not say which tokens are
added, how a text is cut, or what is put around it; the class named in tokenizer_config.json or
config.json does. So the library loads the directory, without running code from it, and its
``backend_tokenizer`` is read as the tokenizer.json that it would save, and is the reference.
"""

from dataclasses import replace

from tokexport.model import TokenizerModel
from tokexport.sources import sentencepiece
from tokexport.sources.named_class import VOCABULARIES, named_class
from tokexport.sources.source import Input, Source
from tokexport.sources.tokenizer_json import references
from tokexport.sources.tokenizer_json.read import read_object
from tokexport.sources.transformers import load


def _sniff(source: Input) -> load.Loaded | None:
    if source.object is not None:
        return load.from_object(source.object)
    if source.is_folder:
        return load.from_folder(source.files, str(source.path))
    if not source.name.endswith(VOCABULARIES) or not named_class(source.files):
        return None
    if sentencepiece.SOURCE.sniff(source) is not None:  # ChatGLM3's, as the vocab.txt of Kolors
        return None
    return load.from_vocabulary(source.files, str(source.path))


def _read(source: Input, loaded: load.Loaded) -> TokenizerModel:
    model = read_object(loaded.backend, loaded.settings.file, loaded.files, loaded.settings)
    named = named_class(source.files)
    if named is None or not named.remote:
        return model
    note = (
        f"{named.file} names code of the repository (auto_map), which is not run and may give other"
        f" ids; those here are of {loaded.settings.file}."
    )
    return replace(model, notes=(*model.notes, note))


SOURCE = Source(
    "tokenizer of transformers",
    _sniff,
    _read,
    lambda source, loaded: references()(loaded.backend),
    whole_folder=load.reads,
)
