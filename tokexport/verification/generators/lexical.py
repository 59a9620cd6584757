"""Texts on which pre-tokenizers differ: spaces, digits, apostrophes, code, long words.

A function that yields gives the parts of one round; a string has several.
"""

from collections.abc import Iterator
from typing import Final

from tokexport.verification.generators.dice import Dice, listed

PLAIN_SPACES: Final = (" ", "\n", "\t", "\r", "\r\n")
# White_Space, the additions of some engines (U+001C..1F, U+180E), and look-alikes.
SPACES: Final = tuple(
    "\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
WORDS: Final = listed(
    "a I the The THE hello World camelCase HTTPServer x 1 42 2024 é naïve über мир Привет 中 中文"
    " 日本語 한국어 ไทย שלום مرحبا नमस्ते 's ' ! ... ( ) -- / _ \u0301 \u200d 😀 \x00 \xad ǅ ª ½"
    " ² Ⅷ ٣"
)


def whitespace(dice: Dice) -> Iterator[str]:
    """Runs of white space of every kind between words, at the start and at the end."""
    kind = dice.below(10)
    if kind < 4:
        yield dice.pick(PLAIN_SPACES) * dice.few(6)
    elif kind < 5:
        yield " " * dice.few(90)
    elif kind < 6:
        yield "".join(dice.pick(SPACES) for _ in range(dice.few(4)))
    else:
        yield dice.pick(WORDS)


DIGITS: Final = listed(
    "0123456789 ٠١٢٣٤٥٦٧٨٩ ०१२३४५६७८९ ０１２３４５６７８９ ๐๑๒๓๔๕๖๗๘๙ 𝟎𝟏𝟐𝟑𝟘𝟙𝟚 ²³¹⁰⁴ ½⅓¼⅛ ⅠⅡⅢⅷ ①②③❶"
    " 〇一二三十百 ০১২ ௰௱ 𐄇𐄈 ੦੧ ౦౧ ༠༡༳ ꘠꘡ 𑁦𑁧 𞥐𞥑 ㆒㈠㊀"
)
DIGIT_JOINTS: Final = listed("¦¦¦ ¦.¦,¦:¦/¦-¦+¦_¦'¦e¦x¦px¦%¦\n¦  ¦th¦$¦€¦\u0301¦\xa0", "¦")


def digits(dice: Dice) -> Iterator[str]:
    """Runs of 1 to 12 digits in many scripts, joined by punctuation and units."""
    alphabet = DIGITS[0] if dice.chance(0.6) else dice.pick(DIGITS)
    yield "".join(dice.pick(alphabet) for _ in range(dice.few(12)))
    yield dice.pick(DIGIT_JOINTS)
    if dice.chance(0.2):
        yield dice.pick(WORDS)


QUOTES: Final = ("'", "'", "'", "'", "’", "ʼ", "‘", "`", "´", "＇", '"', "''", "'\u0301", "′")
# The contractions of the published patterns in all cases; U+017F folds to s, U+FB06 to st.
CONTRACTIONS: Final = listed(
    "s¦t¦re¦ve¦m¦ll¦d¦S¦T¦RE¦VE¦M¦LL¦D¦Re¦rE¦vE¦Ve¦lL¦Ll¦ſ¦ﬆ¦ﬅ¦ß¦ẞ¦K¦ŀ¦l¦r¦v¦e¦L¦sd¦st¦tt¦ds¦ree"
    "¦vee¦lll¦mm¦st's¦İ¦ı¦1¦ s¦\u0301s",
    "¦",
)


def apostrophes(dice: Dice) -> Iterator[str]:
    """Contractions, correct and almost correct, after words, digits, spaces and other quotes."""
    if dice.chance(0.7):
        yield dice.pick(WORDS)
    yield dice.pick(QUOTES)
    yield dice.pick(CONTRACTIONS)
    if dice.chance(0.4):
        yield dice.pick(PLAIN_SPACES)


CODE: Final = listed(
    "def ¦return¦if (¦) {¦}¦};¦\n¦\n\n¦\n    ¦\n        ¦\n\t¦\t\t¦\r\n¦    ¦  ¦ = ¦==¦!=¦->¦=>¦::"
    '¦<<=¦&&¦||¦...¦//¦/*¦*/¦#¦# ¦"¦\'¦"""¦\\n¦\\¦();¦[0]¦[i]¦i++¦0x1F¦1e-9¦3.14¦foo_bar¦fooBar'
    "¦FooBAR2¦XMLHttpRequest¦__init__¦self.¦std::¦a.b.c¦http://¦https://x.y/z?q=1&r=%20¦@¦$x¦<div>"
    "¦</p>¦<!--¦-->¦----¦=====¦****¦~~~¦```¦| |¦\x1b[0m¦é¦//日本¦\u200b¦lambda x:¦, ¦; ¦: ¦?.",
    "¦",
)


def code(dice: Dice) -> Iterator[str]:
    """Fragments of source code: names, operators, indentation, comments."""
    yield dice.pick(CODE)


SYMBOLS: Final = tuple("aexzMQ0=-_ \n\t.é\u00a0яשم中日ㅋ가ไ\u0301\U0001f600\U00020000\x00/#")
ALPHABETS: Final = listed(
    "abcdefghijklmnopqrstuvwxyz¦etaoinshrdlu¦ab¦ABCDEFGHIJKLMNOPQRSTUVWXYZ¦ACGT¦aAbB¦01"
    "¦0123456789abcdef¦=-¦()[]{}¦\n ¦ \t¦абвгдежзиклмнопрст¦αβγδεζηθ¦的一是不了人我在有他"
    "¦あいうえおかきくけこ¦가나다라마바사¦กขคงจฉชซ¦\u0301\u0302\u0323¦éèêë¦אבגדה¦ابتثج¦😀😁😂",
    "¦",
)
BEFORE: Final = listed("¦¦¦ ¦x ¦\n¦(", "¦")
AFTER: Final = listed("¦¦¦ ¦ x¦\n¦'s¦)", "¦")


def _length(dice: Dice) -> int:
    """A length in bytes: 60 % near 100, where tiktoken changes its algorithm; 1 in 60 long."""
    kind = dice.below(60)
    if kind < 36:
        return dice.between(90, 110)
    return dice.between(1, 300) if kind < 59 else dice.between(301, 4000)


def _filled(unit: str, length: int) -> str:
    return unit * max(1, length // len(unit.encode()))


def repeats(dice: Dice) -> str:
    """One or two symbols repeated, or letters of one alphabet, alone or next to other text."""
    length = _length(dice)
    kind = dice.below(6)
    if kind < 1:
        body = _filled(dice.pick(SYMBOLS), length)
    elif kind < 2:
        body = _filled(dice.pick(SYMBOLS) + dice.pick(SYMBOLS), length) + dice.pick(SYMBOLS)
    elif kind < 3:
        first, second = dice.pick(SYMBOLS), dice.pick(SYMBOLS)
        body = ""
        while len(body) < length // len(max(first, second).encode()):
            body += (first if dice.chance(0.5) else second) * dice.few(12)
    else:
        alphabet = dice.pick(ALPHABETS)
        count = max(1, length // len(alphabet[0].encode()))
        body = "".join(dice.pick(alphabet) for _ in range(count))
    return dice.pick(BEFORE) + body + dice.pick(AFTER)
