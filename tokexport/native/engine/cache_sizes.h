// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// How the memory for the caches of a thread is divided.
#pragma once

#include <cstddef>

namespace tokexport {

// In bytes, whose pages are touched as words and passages are added.
struct CacheSizes {
    static constexpr std::size_t usual = std::size_t(49) << 20, least = std::size_t(1) << 20,
                                 most = std::size_t(1) << 30;

    std::size_t words, word_ring;  // powers of 2
    std::size_t short_passages, long_passages;
    std::size_t core_words, short_texts;  // for texts that the core encodes

    // `all`: from `least` to `most`.
    static constexpr CacheSizes of(std::size_t all) {
        const std::size_t part = all / 49;
        return {power_of_2(16 * part), power_of_2(8 * part), 4 * part, 16 * part, 4 * part, part};
    }

private:
    // The largest one that is at most `size`.
    static constexpr std::size_t power_of_2(std::size_t size) {
        std::size_t power = 1;
        while (power <= size / 2) power *= 2;
        return power;
    }
};

}  // namespace tokexport
