// UTF-8 of the characters of a str. What Python makes would stay in the str as long as that lives,
// and takes three times as long or more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

// Writes any number of characters; what it returns is as WriteUtf8 says. Throws std::bad_alloc.
std::size_t write_utf8(WriteUtf8 write, const void *characters, int kind, std::size_t count,
                       Buffer<std::uint8_t> &out);

}  // namespace tokexport
