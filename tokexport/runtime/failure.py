"""From error codes of the C core to exceptions that name the file and say what to do."""

from typing import Final

from tokexport.errors import FormatError, TextError

_AGAIN: Final = "the copy is damaged: fetch it again, or convert the source again"
_DEFECT: Final = _AGAIN + "; if the new file is the same, please report it, with the file"

# What to do, by error code; codes that are not here concern the call and not the file.
_ADVICE: Final = {
    -7: "the text needs more work memory than any text should: please report it, with the text",
    -8: "the text cannot be cut anywhere: encode it whole",
    -10: "convert the original source, without --decode-only (decode_only=True)",
    -11: "do not use this file with this version of tokexport, and please report it",
    -13: "encode without offsets",
    -20: "the conversion or copy that should have written it failed",
    -21: "a tokexport file begins with the bytes 89 54 4B 58; make one with `tokexport convert`",
    -22: "copy it again, or convert the source again",
    -23: "install a newer tokexport, or convert the source again with this one",
    -25: "data was added after its end: " + _AGAIN,
    **dict.fromkeys((-24, -26, -35, -36), _AGAIN),
    **dict.fromkeys((-27, -29, -30, -32, -33, -34), _DEFECT),
    **dict.fromkeys((-28, -31), "install a newer tokexport"),
    -37: "see with `tokexport inspect` whether the copy is damaged, or convert the source again",
}
# The same for texts.
_ADVICE_ON_TEXTS: Final = {
    -1: "a text has at most 2,147,483,647 bytes: encode it in parts",
    -12: "the library that the tokenizer was made for stops there too",
}
_NOT_UTF8: Final = -4
_SELF_TEST: Final = -11


def failure(name: str, code: int, detail: int, sentence: str) -> Exception:
    """The exception for an error code of the C core.

    ``name`` is that of the file, ``detail`` the number that the C function reported in addition,
    ``sentence`` is ``tkx_error(code)``. Called by the native module.

    >>> error = failure("model.bin", -20, 0, "The file is empty.")
    >>> print(error)
    model.bin: the file is empty; the conversion or copy that should have written it failed
    >>> error.code
    -20
    """
    sentence = sentence[:1].lower() + sentence[1:].rstrip(".")
    if code in _ADVICE_ON_TEXTS:
        return TextError(f"{name}: {sentence}", _ADVICE_ON_TEXTS[code])
    if code == _NOT_UTF8:
        error = TextError(f"the text is not UTF-8 at byte {detail:,}", "convert it to UTF-8")
        error.byte_offset = detail
        return error
    if code == _SELF_TEST:
        sentence += f" (number {detail})"
    return FormatError(f"{name}: {sentence}", _ADVICE.get(code, ""), code)
