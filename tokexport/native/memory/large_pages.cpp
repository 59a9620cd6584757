// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "large_pages.h"

#include <cstdint>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tokexport {

#if defined(__linux__) && defined(MADV_HUGEPAGE)

void *allocate(std::size_t size) {
    if (size < large_page || size > SIZE_MAX - large_page) return std::malloc(size);
    return std::aligned_alloc(large_page, (size + large_page - 1) & ~(large_page - 1));
}

void use_large_pages(void *memory, std::size_t size) {
    if (size < large_page) return;
    constexpr std::uintptr_t mask = large_page - 1;
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory),
                         first = (begin + mask) & ~mask, end = (begin + size) & ~mask;
    if (first < end) madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
}

#else

void *allocate(std::size_t size) { return std::malloc(size); }

void use_large_pages(void *, std::size_t) {}

#endif

}  // namespace tokexport
