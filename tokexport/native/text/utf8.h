// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Converts the characters of a str to UTF-8. Python's own UTF-8 would stay in the str for its
// lifetime, and takes at least three times as long to make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "memory/buffer.h"

namespace tokexport {

// How many bytes after the UTF-8 a writer may overwrite.
constexpr std::size_t utf8_slack = 64;

// Writes `count` characters of `kind` bytes each (PyUnicode_KIND), given room for the maximum
// (utf8_bytes) and utf8_slack more. Returns the number of bytes; not_utf8: there is a surrogate.
using WriteUtf8 = std::size_t (*)(const void *characters, int kind, std::size_t count,
                                  std::uint8_t *out);
constexpr std::size_t not_utf8 = SIZE_MAX;

// The maximum of UTF-8 bytes for a character of `kind` bytes.
constexpr std::size_t utf8_bytes(int kind) {
    return kind == 4 ? 4 : static_cast<std::size_t>(kind) + 1;
}

// The fastest writer for this processor, with vectors of at most `width` bits.
WriteUtf8 utf8_writer(unsigned width);

// Candidates for utf8_writer; null if the processor or the compiler does not support them.
WriteUtf8 utf8_writer_avx2();
WriteUtf8 utf8_writer_avx512();

// A text as its owner stores it: UTF-8, or the characters of a str.
struct SourceText {
    const void *data = nullptr;
    std::size_t size = 0;  // bytes of UTF-8, or characters
    int kind = 0;          // bytes per character; 0: UTF-8

    SourceText() = default;
    explicit SourceText(std::string_view utf8) : data(utf8.data()), size(utf8.size()) {}
    SourceText(const void *characters, std::size_t count, int k)
        : data(characters),
          size(count),
          kind(k) {}

    // For a text in UTF-8.
    std::string_view utf8() const { return {static_cast<const char *>(data), size}; }

    SourceText part(std::size_t from, std::size_t length) const {
        const std::size_t unit = kind ? static_cast<std::size_t>(kind) : 1;
        return {static_cast<const std::uint8_t *>(data) + from * unit, length, kind};
    }
};

// The text as UTF-8, converted into `memory` if it is not UTF-8 already. Empty if it has a
// surrogate. Throws std::bad_alloc.
std::optional<std::string_view> utf8_of(const SourceText &text, WriteUtf8 write,
                                        Buffer<std::uint8_t> &memory);

}  // namespace tokexport
