"""The texts of a file's self test and the reference's ids, with which a device checks itself."""

from collections.abc import Sequence
from typing import Final

from tokexport.model import AddedToken, SelfTestCase, TokenizerModel
from tokexport.sources.reference import ReferenceStopsError, ReferenceTokenizer

# The first texts are the most revealing: a small limit keeps these.
TEXTS: Final = (
    "Hello, world! It's 2024, and they'll say: \"We've 3.14159 reasons\".",
    "  two  spaces,\ttabs\t\tand\r\nlines\n\n\n   end  ",
    "naïve café, Привет мир, 你好世界, こんにちは, 안녕하세요, สวัสดี, שלום, مرحبا, नमस्ते",
    "😀👍🏽 👩‍👩‍👧 🏳️‍🌈 🇫🇷🇩 1️⃣ ☎︎",
    "IT'S it'ſ DON'T we'Re ’tis l'été 'dd ''s \u212a'm",
    "e\u0301 \u00e9 A\u030a \u212b q\u0323\u0307 \u1100\u1161\u11a8 \uac01 \u2126 \ufb01 \u0958",
    "x" * 99 + " " + "y" * 101 + " " + "ab" * 50,
    'def f(x):\n    return {"a": x[0] != 0x1F, **kw}  # done\n\n\nclass HTTPServer2: pass\n',
    "1234567890 12,345.67 ١٢٣٤ ½²Ⅷ 0001-02-03",
    "\u00a0\u2003\u3000\u200b\ufeff\u2028\u2029\u0085\x1c\x00\x7f end",
    " leading, trailing ",
    "\n",
    " ",
    "a",
    "",
    "https://example.org/path?q=1&r=%20#frag user@example.com C:\\dir",
    "=" * 70 + "\n" + "-" * 70 + "\n" + " " * 70 + "|",
    "aAaA AAAaaa camelCaseXMLParser snake_case_name SCREAMING_CASE ǅ ʼn ﬀ ß ẞ",
    "\u0378\ue000\ufdd0\uffff\U0001fffe\U000e0001\U0010ffff",
    "的是不了人我在有他这为之大来以个中上们" * 3 + "。",
    "日本語テキストの区切り、ﾊﾝｶｸ、ＡＢＣ１２３。",
    "!?!?...,,,;;;:::((([[[{{{<<<>>>}}}]]])))***&&&^^^%%%$$$###@@@~~~```",
    "\u0301\u0302 \u0e01\u0e34\u0e49 \u0915\u094d\u0937 \u05d0\u05b8 \u0627\u064b",
    "the of and to in a is that for it was on with as by",
)
AROUND: Final = ("{}", "a {} b", "  {}\n", "x{}y", "{}{}")
ADDED_TOKENS: Final = 4  # how many the texts use
LONGEST: Final = 4096  # bytes of all texts together


def self_test(
    model: TokenizerModel, reference: ReferenceTokenizer, limit: int
) -> tuple[list[SelfTestCase], tuple[str, ...]]:
    """At most ``limit`` texts, 4 KB in all, with the reference's ids; deterministic for a model.
    And notes about them for the user.

    Two thirds are a fixed list that covers white space, contractions, digits, scripts, emoji,
    normalization and long words. The others contain the model's added tokens, one of each
    combination of flags, special ones as ids and as text. There are no texts at all if the
    post-processor repeats or omits a text. Texts at which the reference itself stops are left out.
    """
    if [item.sequence for item in model.template.single if item.id is None] != ["A"]:
        return [], ()
    cases: list[SelfTestCase] = []
    stops: list[ReferenceStopsError] = []
    around = _added_texts(model.added_tokens)
    plain = TEXTS[: limit - min(len(around), limit // 3)]
    size = 0
    for text, special in [*((text, False) for text in plain), *around]:
        if len(cases) < limit and size + len(text.encode()) <= LONGEST:
            try:
                cases.append(SelfTestCase(text, tuple(reference.encode(text, special)), special))
                size += len(text.encode())
            except ReferenceStopsError as error:
                stops.append(error)
    library, tried = f"{reference.library} {reference.version}", len(cases) + len(stops)
    note = f"The self test has {len(cases)} of {tried} texts: {library} itself stops at the others"
    return cases, (f'{note}, "{stops[0]}".',) if stops else ()


def _added_texts(added: Sequence[AddedToken]) -> list[tuple[str, bool]]:
    """Texts with a few added tokens: the first one of each combination of flags."""
    kinds: dict[tuple[bool, ...], AddedToken] = {}
    for token in added:
        flags = (token.special, token.single_word, token.lstrip, token.rstrip, token.normalized)
        kinds.setdefault(flags, token)
    chosen = list(kinds.values())[:ADDED_TOKENS]
    texts = [(" and ".join(token.content for token in chosen), False)] if chosen else []
    filled = (context.replace("{}", token.content) for context in AROUND for token in chosen)
    return [*texts, *((text, True) for text in filled)]
