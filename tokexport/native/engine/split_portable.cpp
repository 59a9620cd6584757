// The steps of the splitter in plain C++.
#include "split_chunk.h"

namespace tokexport {

namespace {

constexpr std::uint64_t low_bits = UINT64_C(0x0101010101010101);

// Eight bytes, the first one lowest: one load where that is the order of the machine.
std::uint64_t load_u64(const std::uint8_t *p) {
    std::uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) word |= std::uint64_t(p[i]) << 8 * i;
    return word;
}

// The lowest bit of each byte, as eight bits in their order.
std::uint64_t gather(std::uint64_t word) {
    return (word & low_bits) * UINT64_C(0x0102040810204080) >> 56;
}

unsigned lowest_bit(std::uint64_t v) {
#if defined(__GNUC__)
    return static_cast<unsigned>(__builtin_ctzll(v));
#else
    unsigned n = 0;
    for (; !(v & 1); v >>= 1) n++;
    return n;
#endif
}

void read(const SplitClasses &classes, const std::uint8_t *text, std::size_t size,
          SplitChunk &chunk) {
    std::size_t i = 0, length;
    for (; i + 8 <= size && !(load_u64(text + i) & 0x80 * low_bits); i += 8)
        for (std::size_t k = 0; k < 8; k++) chunk.codes[i + k] = classes.ascii[text[i + k]];
    while (i < size && text[i] < 0x80) {
        chunk.codes[i] = classes.ascii[text[i]];
        i++;
    }
    chunk.is_ascii = i == size;
    chunk.count = i;
    if (chunk.is_ascii) return;
    for (std::size_t k = 0; k < i; k++) chunk.positions[k] = static_cast<std::uint16_t>(k);
    for (; i < size; i += length) {
        chunk.positions[chunk.count] = static_cast<std::uint16_t>(i);
        chunk.codes[chunk.count++] = classes.read(text + i, length);
    }
}

void pair(SplitChunk &chunk, std::size_t count, std::uint32_t class_count) {
    for (std::size_t i = 0; i < count / 2; i++)
        chunk.pairs[i] = static_cast<std::uint16_t>(chunk.codes[2 * i + 1] * class_count +
                                                    chunk.codes[2 * i + 2]);
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

std::size_t position(const SplitChunk &chunk, std::size_t character) {
    return chunk.is_ascii ? character : chunk.positions[character];
}

std::size_t harvest(const SplitChunk &chunk, std::uint32_t base, std::uint32_t *ends) {
    std::uint32_t *out = ends;
    for (std::size_t block = 0; 64 * block < chunk.count; block++) {
        const std::uint32_t first = static_cast<std::uint32_t>(64 * block);
        for (std::uint64_t cuts = chunk.cuts[block]; cuts; cuts &= cuts - 1) {
            const std::uint32_t character = first + lowest_bit(cuts);
            *out++ = base + (chunk.is_ascii ? character : chunk.positions[character]);
        }
    }
    return static_cast<std::size_t>(out - ends);
}

}  // namespace

static const SplitSteps split_steps_portable = {read, pair, mark, position, harvest};

const SplitSteps *split_steps(unsigned width) {
    return width == 0 ? &split_steps_portable : nullptr;
}

}  // namespace tokexport
