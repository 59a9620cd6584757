// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "utf8.h"

#include <algorithm>
#include <cstring>

namespace tokexport {

namespace {

constexpr std::size_t lanes = 8;

bool is_surrogate(std::uint32_t c) { return (c & 0xFFFFF800) == 0xD800; }

// Whether as many characters as there are lanes are all ASCII.
template <class Character> bool is_ascii(const Character *characters) {
    constexpr std::uint64_t ones = ~std::uint64_t(0) / static_cast<Character>(-1),
                            others = ones * static_cast<Character>(~0x7Fu);
    std::uint64_t words[lanes * sizeof(Character) / 8], any = 0;
    std::memcpy(words, characters, sizeof words);
    for (std::uint64_t word : words) any |= word;
    return (any & others) == 0;
}

std::uint8_t *put(std::uint32_t c, std::uint8_t *out) {
    const auto part = [c](unsigned shift) { return std::uint8_t(0x80 | (c >> shift & 0x3F)); };
    if (c < 0x80) {
        out[0] = std::uint8_t(c);
        return out + 1;
    }
    if (c < 0x800) {
        out[0] = std::uint8_t(0xC0 | c >> 6);
        out[1] = part(0);
        return out + 2;
    }
    if (c < 0x10000) {
        out[0] = std::uint8_t(0xE0 | c >> 12);
        out[1] = part(6);
        out[2] = part(0);
        return out + 3;
    }
    out[0] = std::uint8_t(0xF0 | c >> 18);
    out[1] = part(12);
    out[2] = part(6);
    out[3] = part(0);
    return out + 4;
}

template <class Character>
std::size_t write_characters(const Character *characters, std::size_t count, std::uint8_t *out) {
    std::uint8_t *const first = out;
    bool has_surrogate = false;
    for (std::size_t i = 0; i < count;) {
        if (count - i >= lanes && is_ascii(characters + i)) {
            for (std::size_t k = 0; k < lanes; k++)
                out[k] = static_cast<std::uint8_t>(characters[i + k]);
            out += lanes;
            i += lanes;
            continue;
        }
        for (const std::size_t end = std::min(i + 2 * lanes, count); i < end; i++) {
            has_surrogate |= is_surrogate(characters[i]);
            out = put(characters[i], out);
        }
    }
    return has_surrogate ? not_utf8 : static_cast<std::size_t>(out - first);
}

std::size_t write_portable(const void *characters, int kind, std::size_t count, std::uint8_t *out) {
    switch (kind) {
        case 1: return write_characters(static_cast<const std::uint8_t *>(characters), count, out);
        case 2: return write_characters(static_cast<const std::uint16_t *>(characters), count, out);
        default:
            return write_characters(static_cast<const std::uint32_t *>(characters), count, out);
    }
}

}  // namespace

WriteUtf8 utf8_writer(unsigned width) {
    WriteUtf8 writer = width >= 512 ? utf8_writer_avx512() : nullptr;
    if (!writer && width >= 256) writer = utf8_writer_avx2();
    return writer ? writer : write_portable;
}

std::optional<std::string_view> utf8_of(const SourceText &text, WriteUtf8 write,
                                        Buffer<std::uint8_t> &memory) {
    if (!text.kind) return text.utf8();
    // Most texts need little more than one byte per character. To save memory, only one block
    // always has room for the maximum.
    constexpr std::size_t block = 4096;
    const std::size_t most = utf8_bytes(text.kind);
    memory.renew(text.size + text.size / 4 + std::min(block, text.size) * most + utf8_slack);
    std::size_t size = 0;
    for (std::size_t done = 0; done < text.size;) {
        const std::size_t now = std::min(block, text.size - done);
        if (memory.capacity() - size < now * most + utf8_slack)
            memory.resize(size + (text.size - done) * most + utf8_slack);
        const std::size_t made =
            write(text.part(done, now).data, text.kind, now, memory.data() + size);
        if (made == not_utf8) return std::nullopt;
        size += made;
        done += now;
    }
    return std::string_view(reinterpret_cast<const char *>(memory.data()), size);
}

}  // namespace tokexport
