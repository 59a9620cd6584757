#include "large_pages.h"

#include <cstdint>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tokexport {

#if defined(__linux__) && defined(MADV_HUGEPAGE)

void use_large_pages(void *memory, std::size_t size) {
    if (size < large_page) return;
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory),
                         first = (begin + large_page - 1) & ~(large_page - 1),
                         end = (begin + size) & ~(large_page - 1);
    if (first < end) madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
}

// What comes before the first large page would be small ones, a megabyte on average.
void *allocate_on_large_pages(std::size_t size) {
    if (size < 2 * large_page) return std::malloc(size);
    void *memory = nullptr;
    return posix_memalign(&memory, large_page, size) == 0 ? memory : nullptr;
}

#else

void use_large_pages(void *memory, std::size_t size) {
    (void)memory;
    (void)size;
}

void *allocate_on_large_pages(std::size_t size) { return std::malloc(size); }

#endif

}  // namespace tokexport
