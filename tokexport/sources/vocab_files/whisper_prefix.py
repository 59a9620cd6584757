"""What Whisper's tokenizer puts before a text: the start of a transcript, its language and its
task, and that it has no time stamps.

Source: ``WhisperTokenizer`` of `transformers`, whose releases 4.57 and 5.23 put the same there. A
tokenizer_config.json may set ``language`` (a code or an English name), ``task`` and
``predict_timestamps``, as one that was saved after training on a language does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokexport.errors import SourceError
from tokexport.sources.json_node import Node, show
from tokexport.sources.tiktoken.known_patterns import WHISPER_LANGUAGES
from tokexport.sources.tokenizer_json.config import CONFIG

_START: Final = "<|startoftranscript|>"
_NO_TIME_STAMPS: Final = "<|notimestamps|>"
_TASKS: Final = {"transcribe": "<|transcribe|>", "translate": "<|translate|>"}
# In the order of the codes; a name of two words has "_" here.
_NAMES: Final = """
    english chinese german spanish russian korean french japanese portuguese turkish polish catalan dutch arabic swedish italian
    indonesian hindi finnish vietnamese hebrew ukrainian greek malay czech romanian danish hungarian tamil norwegian thai urdu
    croatian bulgarian lithuanian latin maori malayalam welsh slovak telugu persian latvian bengali serbian azerbaijani slovenian
    kannada estonian macedonian breton basque icelandic armenian nepali mongolian bosnian kazakh albanian swahili galician marathi
    punjabi sinhala khmer shona yoruba somali afrikaans occitan georgian belarusian tajik sindhi gujarati amharic yiddish lao uzbek
    faroese haitian_creole pashto turkmen nynorsk maltese sanskrit luxembourgish myanmar tibetan tagalog malagasy assamese tatar
    hawaiian lingala hausa bashkir javanese sundanese cantonese
"""
_OTHER_NAMES: Final = {
    "burmese": "my",
    "castilian": "es",
    "flemish": "nl",
    "haitian": "ht",
    "letzeburgesch": "lb",
    "mandarin": "zh",
    "moldavian": "ro",
    "moldovan": "ro",
    "panjabi": "pa",
    "pushto": "ps",
    "sinhalese": "si",
    "valencian": "ca",
}
_CODES: Final[Mapping[str, str]] = {
    **{code: code for code in WHISPER_LANGUAGES},
    **{
        name.replace("_", " "): code
        for name, code in zip(_NAMES.split(), WHISPER_LANGUAGES, strict=True)
    },
    **_OTHER_NAMES,
}


def whisper_prefix(config: Node, ids: Mapping[str, int], file: str) -> dict[str, int]:
    """The ids, by content, of the tokens before a text, in their order; ``ids`` are those of the
    added tokens.

    SourceError for a language or a task that Whisper does not have, and for a token that is not
    among ``ids``.
    """

    def known(content: str) -> int:
        if content not in ids:
            raise SourceError(
                f"{file}: WhisperTokenizer puts {show(content)} before a text, and there is no such"
                " added token"
            )
        return ids[content]

    prefix = {_START: known(_START)}
    language, task = config.optional("language"), config.optional("task")
    if language is not None:
        code = _CODES.get(language.string().lower())
        if code is None:
            raise SourceError(
                f"{CONFIG}: language is {show(language.string())}, which is no language of Whisper"
            )
        # The language is found by its number after the start, whatever its token is called.
        number = prefix[_START] + 1 + WHISPER_LANGUAGES.index(code)
        content = next((content for content, other in ids.items() if other == number), None)
        if content is None:
            raise SourceError(
                f"{file}: WhisperTokenizer puts the id {number} before a text in"
                f" {show(language.string())}, and no added token has it"
            )
        prefix[content] = number
    if task is not None:
        if task.string() not in _TASKS:
            raise SourceError(
                f"{CONFIG}: task is {show(task.string())}; Whisper's are {' and '.join(_TASKS)}"
            )
        content = _TASKS[task.string()]
        prefix[content] = known(content)
    stamps = config.optional("predict_timestamps")
    if stamps is None or not stamps.boolean():
        prefix[_NO_TIME_STAMPS] = known(_NO_TIME_STAMPS)
    return prefix
