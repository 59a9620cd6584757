"""A pre-token before any merge: a symbol for each of its bytes or characters.

The symbol can depend on the place where the vocabulary has affixes: ``##b`` after the start,
``b</w>`` at the end (``BPE::merge_word`` of ``tokenizers``).
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tokexport.model import BytePairModel, ByteStrings, CharacterSymbols, Vocabulary
from tokexport.model.byte_alphabet import BYTES_OF_TEXT
from tokexport.model.byte_strings import Numbers
from tokexport.unicode.store import CODE_POINTS, distinct

_LEADS: Final = (0xC0, 0xE0, 0xF0)  # from each of these on, a character has one more byte


@dataclass(frozen=True)
class FirstSymbols:
    """``tables[place]`` has the symbol of each unit: a byte (int), or a character (str) where
    ``of_characters``. Bit 0 of a place: units precede it; bit 1: none follows it. Without affixes
    one table serves all places.

    ``byte_ids``, ``unk_id`` and ``fuse_unk`` are for units without a symbol, as in
    :class:`tokexport.model.BytePairModel`.
    """

    tables: tuple[Mapping[int | str, int], ...]
    of_characters: bool
    byte_ids: tuple[int | None, ...]
    unk_id: int | None
    fuse_unk: bool

    def of(self, pre_token: bytes) -> list[int]:
        """The symbols of a pre-token.

        >>> vocab, characters = {b"a": 0, b"<unk>": 1}, CharacterSymbols()
        >>> model = BytePairModel(vocab, (), unk_id=1, fuse_unk=True, characters=characters)
        >>> first_symbols(model).of("ab\u00e9a".encode())
        [0, 1, 0]
        """
        units: Sequence[int | str] = pre_token.decode() if self.of_characters else pre_token
        symbols: list[int] = []
        # a pending unknown token: the reference puts the bytes of other characters before it
        unknown = False
        for position, unit in enumerate(units):
            symbol = self.tables[self._place(position, len(units))].get(unit)
            if symbol is None and (in_bytes := self.in_bytes(unit)) is not None:
                symbols += in_bytes
                continue
            if unknown and self.unk_id is not None and not (self.fuse_unk and symbol is None):
                symbols.append(self.unk_id)
            unknown = symbol is None
            if symbol is not None:
                symbols.append(symbol)
        if unknown and self.unk_id is not None:
            symbols.append(self.unk_id)
        return symbols

    def of_all(self, pre_tokens: ByteStrings) -> tuple[Numbers, Numbers, Numbers]:
        """The symbols of many pre-tokens: where those of each begin and end, and all of them."""
        ends: Numbers = pre_tokens.ends.astype(np.int64)
        units: npt.NDArray[Any] = pre_tokens.units
        if self.of_characters:
            firsts_of_characters = (units & 0xC0) != 0x80
            ends = np.concatenate([[0], np.cumsum(firsts_of_characters)])[ends]
            units = np.frombuffer(pre_tokens.data.decode().encode("utf-32-le"), "<u4")
        begins = np.concatenate([[0], ends[:-1]])[: len(ends)]
        symbols = self._symbols[units]
        others = distinct(np.searchsorted(ends, np.flatnonzero(symbols < 0), "right"))
        if len(self.tables) > 1:
            others = np.arange(len(ends))
        found = [self.of(pre_tokens[place]) for place in others.tolist()]
        sizes = np.array([len(some) for some in found], np.int64)
        ends[others] = len(symbols) + np.cumsum(sizes)
        begins[others] = ends[others] - sizes
        more = np.fromiter(itertools.chain.from_iterable(found), np.int32)
        return begins, ends, np.concatenate([symbols, more])

    @cached_property
    def _symbols(self) -> npt.NDArray[np.int32]:
        """The symbol of each unit of the first table, or -1."""
        table = np.full(CODE_POINTS if self.of_characters else 256, -1, np.int32)
        known = [ord(unit) if isinstance(unit, str) else unit for unit in self.tables[0]]
        table[known] = [*self.tables[0].values()]
        return table

    def in_bytes(self, unit: int | str) -> list[int] | None:
        """The byte tokens of a character, if all its bytes have one."""
        if isinstance(unit, int):
            return None
        ids = [self.byte_ids[byte] for byte in unit.encode()]
        return [number for number in ids if number is not None] if None not in ids else None

    def texts_of(self, ways: Iterable[tuple[int, Sequence[int]]]) -> dict[int, bytes]:
        """For each id with first symbols: the pre-token that has these first symbols, if any."""
        inverses = [
            {
                symbol: unit.encode() if isinstance(unit, str) else bytes([unit])
                for unit, symbol in table.items()
            }
            for table in self.tables
        ]
        texts: dict[int, bytes] = {}
        for number, symbols in ways:
            count = len(symbols)
            units = [inverses[self._place(at, count)].get(each) for at, each in enumerate(symbols)]
            if None not in units:
                texts[number] = b"".join(filter(None, units))
        return texts

    def _place(self, position: int, count: int) -> int:
        return 0 if len(self.tables) == 1 else (position > 0) + 2 * (position + 1 == count)

    @property
    def covers_all_text(self) -> bool:
        """Whether every unit of every text has a symbol, or symbols of its bytes."""
        if not self.of_characters:
            return all(byte in table for table in self.tables for byte in BYTES_OF_TEXT)
        return all(self.byte_ids[byte] is not None for byte in BYTES_OF_TEXT)

    def every(self) -> set[int]:
        """All symbols that a pre-token can consist of before any merge."""
        symbols = {symbol for table in self.tables for symbol in table.values()}
        if self.of_characters:
            symbols.update(number for number in self.byte_ids if number is not None)
        if self.unk_id is not None and not self.covers_all_text:
            symbols.add(self.unk_id)
        return symbols


def first_symbols(model: BytePairModel) -> FirstSymbols:
    """The first symbols of a model's pre-tokens."""
    characters, vocab = model.characters, Vocabulary.of(model.vocab)
    if characters is None:
        characters = CharacterSymbols(of_bytes=True)
    prefix, suffix = characters.prefix, characters.suffix
    places = range(4 if prefix or suffix else 1)
    affixes = [(prefix * (place & 1), suffix * (place >> 1)) for place in places]
    return FirstSymbols(
        tables=tuple(_table(vocab, *pair, characters.of_bytes) for pair in affixes),
        of_characters=not characters.of_bytes,
        byte_ids=characters.byte_ids or (None,) * 256,
        unk_id=model.unk_id,
        fuse_unk=model.fuse_unk,
    )


def _table(vocab: Vocabulary, prefix: bytes, suffix: bytes, of_bytes: bool) -> dict[int | str, int]:
    """The units whose spelling with these affixes is in the vocabulary."""
    strings, affixes = vocab.strings, len(prefix) + len(suffix)
    sizes = strings.sizes
    places = np.flatnonzero((sizes > affixes) & (sizes <= affixes + (1 if of_bytes else 4)))
    sizes = sizes[places] - np.uint32(affixes)
    lead = strings.units[strings.begins[places] + len(prefix)]
    # The first byte of a character determines its size.
    of_lead = 1 if of_bytes else 1 + sum((lead >= least).astype(np.int64) for least in _LEADS)
    short = vocab.at(places[sizes == of_lead])
    if affixes:
        fits = [key.startswith(prefix) and key.endswith(suffix) for key in short]
        short = short.at(np.flatnonzero(fits))
    skipped = np.full(len(short), len(prefix))
    units = short.strings.within(skipped, short.strings.sizes - np.uint32(affixes)).data
    return dict(zip(units if of_bytes else units.decode(), short.ids.tolist(), strict=True))
