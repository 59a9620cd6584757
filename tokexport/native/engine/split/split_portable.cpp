// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The steps of the splitter in plain C++.
#include "split_chunk.h"
#include "split_positions.h"

namespace tokexport {

namespace {

void read(const SplitClasses &classes, const std::uint8_t *text, std::size_t size,
          SplitChunk &chunk) {
    std::size_t i = 0;
    for (; size - i >= 8 && !(load_u64(text + i) & 0x80 * low_bits); i += 8)
        for (std::size_t k = 0; k < 8; k++) chunk.codes[i + k] = classes.ascii[text[i + k]];
    chunk.is_ascii = true;
    chunk.count = i;
    for (; i < size && text[i] < 0x80; i++) chunk.codes[chunk.count++] = classes.ascii[text[i]];
    if (i == size) return;
    chunk.add_positions();
    chunk.add(classes, text, i, size);
}

void pair(SplitChunk &chunk, std::size_t count, std::uint32_t base) {
    for (std::size_t i = 0; i < count / 2; i++)
        chunk.pairs[i] =
            static_cast<std::uint16_t>(chunk.codes[2 * i + 1] * base + chunk.codes[2 * i + 2]);
}

void mark(SplitChunk &chunk) {
    for (std::size_t i = 0; i < 64; i++) chunk.verdicts[chunk.count + i] = 0;
    for (std::size_t block = 0; 64 * block < chunk.count; block++) {
        std::uint64_t cuts = 0, undecided = 0;
        for (unsigned i = 0; i < 8; i++) {
            const std::uint64_t word = load_u64(chunk.verdicts + 64 * block + 8 * i);
            cuts |= gather(word) << 8 * i;
            undecided |= gather(word >> 1) << 8 * i;
        }
        chunk.cuts[block] = cuts;
        chunk.undecided[block] = undecided;
    }
}

}  // namespace

static const SplitSteps split_steps_portable = {
    read, pair, mark, position_noted, character_noted, harvest_noted};

const SplitSteps *split_steps(unsigned width) {
    switch (width) {
        case 0: return &split_steps_portable;
        case 128: return split_steps_neon();
        case 256: return split_steps_avx2();
        case 512: return split_steps_avx512();
        default: return nullptr;
    }
}

}  // namespace tokexport
