// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The steps of the splitter with NEON: 16 bytes at a time. Characters that are not ASCII are looked
// up one by one.
#include "split_positions.h"

#if defined(__aarch64__) && defined(__GNUC__) && !defined(__AARCH64EB__)

#include <cstring>

#include <arm_neon.h>

namespace tokexport {

namespace {

// A table of 128 bytes.
struct AsciiTable {
    uint8x16x4_t lower, upper;
};

// Looks up ASCII bytes in a table: each half of it handles the indices that it has.
inline uint8x16_t look_up(const AsciiTable &table, uint8x16_t bytes) {
    return vqtbx4q_u8(vqtbl4q_u8(table.lower, bytes), table.upper, vsubq_u8(bytes, vdupq_n_u8(64)));
}

inline bool any_from(uint8x16_t bytes, std::uint8_t least) { return vmaxvq_u8(bytes) >= least; }

// Adds the characters of up to three bytes that begin in the 16 bytes at `at`, which two more bytes
// follow. The leaf numbers and the positions in the leaves are computed for all of them together.
void add_wide(const SplitClasses &classes, const std::uint8_t *text, std::size_t at,
              uint8x16_t bytes, SplitChunk &chunk) {
    const uint8x16_t second = vld1q_u8(text + at + 1), third = vld1q_u8(text + at + 2);
    const uint8x16_t wide = vcgeq_u8(bytes, vdupq_n_u8(0x80));
    const uint8x16_t three = vcgeq_u8(bytes, vdupq_n_u8(0xE0));
    const uint8x16_t last = vbslq_u8(three, third, vbslq_u8(wide, second, bytes));
    // The leaf number has ten bits: `upper` has three of them, `lower` seven.
    const uint8x16_t upper = vandq_u8(three, vandq_u8(vshrq_n_u8(bytes, 1), vdupq_n_u8(7)));
    const uint8x16_t of_three =
        vorrq_u8(vandq_u8(second, vdupq_n_u8(63)), vandq_u8(vshlq_n_u8(bytes, 6), vdupq_n_u8(64)));
    const uint8x16_t of_two = vbslq_u8(wide, vandq_u8(bytes, vdupq_n_u8(31)), vshrq_n_u8(bytes, 6));
    const uint8x16_t lower = vbslq_u8(three, of_three, of_two);
    std::uint16_t numbers[16];
    std::uint8_t places[16];
    vst1q_u8(places, vandq_u8(last, vdupq_n_u8(63)));
    vst1q_u16(numbers, vorrq_u16(vshll_n_u8(vget_low_u8(upper), 7), vmovl_u8(vget_low_u8(lower))));
    vst1q_u16(numbers + 8, vorrq_u16(vshll_high_n_u8(upper, 7), vmovl_high_u8(lower)));
    // Four bits for each byte that begins a character; one of them is kept.
    const uint8x16_t begins = vcgtq_s8(vreinterpretq_s8_u8(bytes), vdupq_n_s8(-65));
    const uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(begins), 4);
    std::uint64_t leads =
        vget_lane_u64(vreinterpret_u64_u8(nibbles), 0) & UINT64_C(0x1111111111111111);
    std::size_t count = chunk.count;
    for (; leads; leads &= leads - 1) {
        const std::size_t lane = lowest_bit(leads) / 4;
        chunk.positions[count] = static_cast<std::uint16_t>(at + lane);
        chunk.codes[count++] =
            classes.leaves[SplitClasses::leaf_size * classes.leaf_of[numbers[lane]] + places[lane]];
    }
    chunk.count = count;
}

void read(const SplitClasses &classes, const std::uint8_t *text, std::size_t size,
          SplitChunk &chunk) {
    const AsciiTable table = {vld1q_u8_x4(classes.ascii.data()),
                              vld1q_u8_x4(classes.ascii.data() + 64)};
    const uint16x8_t numbers = {0, 1, 2, 3, 4, 5, 6, 7};
    std::size_t i = 0;
    chunk.is_ascii = true;
    chunk.count = 0;
    for (; size - i >= 18; i += 16) {
        const uint8x16_t bytes = vld1q_u8(text + i);
        if (any_from(bytes, 0x80)) {
            if (chunk.is_ascii) chunk.add_positions();
            if (any_from(bytes, 0xF0)) {
                i = chunk.add(classes, text, first_lead(text, i, size), i + 16) - 16;
            } else {
                add_wide(classes, text, i, bytes, chunk);
            }
            continue;
        }
        vst1q_u8(chunk.codes + chunk.count, look_up(table, bytes));
        if (!chunk.is_ascii) {
            const uint16x8_t places =
                vaddq_u16(vdupq_n_u16(static_cast<std::uint16_t>(i)), numbers);
            vst1q_u16(chunk.positions + chunk.count, places);
            vst1q_u16(chunk.positions + chunk.count + 8, vaddq_u16(places, vdupq_n_u16(8)));
        }
        chunk.count += 16;
    }
    read_rest(classes, text, i, size, chunk);
}

void pair(SplitChunk &chunk, std::size_t count, std::uint32_t base) {
    const uint8x16_t factors = vdupq_n_u8(static_cast<std::uint8_t>(base));
    for (std::size_t i = 0; i < count; i += 32) {
        const uint8x16x2_t codes = vld2q_u8(chunk.codes + 1 + i);
        vst1q_u16(chunk.pairs + i / 2, vmlal_u8(vmovl_u8(vget_low_u8(codes.val[1])),
                                                vget_low_u8(codes.val[0]), vget_low_u8(factors)));
        vst1q_u16(chunk.pairs + i / 2 + 8,
                  vmlal_high_u8(vmovl_high_u8(codes.val[1]), codes.val[0], factors));
    }
}

// Tests a bit of 16 bytes. In each half, byte i of the result has bit i if that byte has the bit.
inline uint8x16_t test(const std::uint8_t *p, std::uint8_t bit) {
    const uint8x16_t places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    return vandq_u8(vtstq_u8(vld1q_u8(p), vdupq_n_u8(bit)), places);
}

inline std::uint64_t gather(const std::uint8_t *p, std::uint8_t bit) {
    const uint8x16_t first = vpaddq_u8(test(p, bit), test(p + 16, bit));
    const uint8x16_t second = vpaddq_u8(test(p + 32, bit), test(p + 48, bit));
    const uint8x16_t both = vpaddq_u8(first, second);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(both, both)), 0);
}

void mark(SplitChunk &chunk) {
    std::memset(chunk.verdicts + chunk.count, 0, 64);
    for (std::size_t block = 0; 64 * block < chunk.count; block++) {
        chunk.cuts[block] = gather(chunk.verdicts + 64 * block, 1);
        chunk.undecided[block] = gather(chunk.verdicts + 64 * block, 2);
    }
}

const SplitSteps steps = {read, pair, mark, position_noted, character_noted, harvest_noted};

}  // namespace

const SplitSteps *split_steps_neon() { return &steps; }

}  // namespace tokexport

#else

namespace tokexport {

const SplitSteps *split_steps_neon() { return nullptr; }

}  // namespace tokexport

#endif
