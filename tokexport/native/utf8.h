// UTF-8 of the characters of a str. What Python makes would stay in the str as long as that lives,
// and takes three times as long or more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "workspace.h"

namespace tokexport {

// Bytes that writing may touch beyond those of the UTF-8.
constexpr std::size_t utf8_slack = 64;

// Writes `count` characters of `kind` bytes each (PyUnicode_KIND). There is room for what they may
// be at most (utf8_bytes), and utf8_slack more. The number of bytes; not_utf8: one is a surrogate.
using WriteUtf8 = std::size_t (*)(const void *characters, int kind, std::size_t count,
                                  std::uint8_t *out);
constexpr std::size_t not_utf8 = SIZE_MAX;

// The most bytes that a character of `kind` bytes may be.
constexpr std::size_t utf8_bytes(int kind) {
    return kind == 4 ? 4 : static_cast<std::size_t>(kind) + 1;
}

// The fastest that the processor has, with vectors of at most `width` bits.
WriteUtf8 utf8_writer(unsigned width);

// What utf8_writer chooses from; null where the processor or the compiler does not have it.
WriteUtf8 utf8_writer_avx512();

// A text as its owner has it: UTF-8, or the characters of a str.
struct SourceText {
    const void *data = nullptr;
    std::size_t size = 0;  // bytes of UTF-8, or characters
    int kind = 0;          // bytes of a character; 0: it is UTF-8

    SourceText() = default;
    explicit SourceText(std::string_view utf8) : data(utf8.data()), size(utf8.size()) {}
    SourceText(const void *characters, std::size_t count, int k)
        : data(characters),
          size(count),
          kind(k) {}

    // Of a text in UTF-8.
    std::string_view utf8() const { return {static_cast<const char *>(data), size}; }

    SourceText part(std::size_t from, std::size_t length) const {
        const std::size_t unit = kind ? static_cast<std::size_t>(kind) : 1;
        return {static_cast<const std::uint8_t *>(data) + from * unit, length, kind};
    }
};

// The text in UTF-8, written into `memory` where it is not. Nothing: it has a surrogate. Throws
// std::bad_alloc.
std::optional<std::string_view> utf8_of(const SourceText &text, WriteUtf8 write,
                                        Buffer<std::uint8_t> &memory);

}  // namespace tokexport
