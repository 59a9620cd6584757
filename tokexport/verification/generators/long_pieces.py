"""Long pre-tokens: mostly of 1 to 300 bytes, a few of thousands."""

from __future__ import annotations

from typing import Final

from tokexport.verification.generators.dice import Dice, listed

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
    """Bytes: six in ten near 100, where tiktoken changes its algorithm; one in sixty is long."""
    kind = dice.below(60)
    if kind < 36:
        return dice.between(90, 110)
    return dice.between(1, 300) if kind < 59 else dice.between(301, 4000)


def _filled(unit: str, length: int) -> str:
    return unit * max(1, length // len(unit.encode()))


def pieces(dice: Dice) -> str:
    """One or two symbols repeated, or letters of one alphabet, alone or by a space or a word."""
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
