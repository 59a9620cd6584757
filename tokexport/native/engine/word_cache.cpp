#include "word_cache.h"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tokexport {

namespace {

using Memory = std::unique_ptr<void, decltype(&std::free)>;

// A page where the system can be asked for large ones, else a line of the machine's cache.
constexpr std::size_t large_page = std::size_t(1) << 21;

template <class T> T *aligned(void *memory, std::size_t size) {
    const std::uintptr_t mask = (size >= large_page ? large_page : 64) - 1;
    return reinterpret_cast<T *>((reinterpret_cast<std::uintptr_t>(memory) + mask) & ~mask);
}

// Zeroed memory for `size` bytes, to be aligned. On large pages, if there are any: page faults were
// a sixth of the time of 4 MB of English.
Memory zeroed(std::size_t size) {
    Memory memory(std::calloc(1, size + (size >= large_page ? large_page : 64)), &std::free);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (memory && size >= large_page)
        madvise(aligned<void>(memory.get(), size), size & ~(large_page - 1), MADV_HUGEPAGE);
#endif
    return memory;
}

}  // namespace

bool WordCache::allocate(std::size_t size) {
    auto memory = zeroed(size);
    if (!memory) {
        if (!slots_) throw std::bad_alloc();
        return false;
    }
    memory_.swap(memory);
    slots_ = aligned<WordSlot>(memory_.get(), size);
    size_ = size;
    used_ = 0;
    limit_ = size / sizeof(WordSlot) / 3;
    shift_ = 64;
    for (std::size_t sets = size / (2 * sizeof(WordSlot)); sets > 1; sets /= 2) shift_--;
    return true;
}

void WordCache::grow() {
    const WordSlot *slot = slots_, *end = slots_ + size_ / sizeof(WordSlot);
    Memory kept(memory_.release(), &std::free);
    if (!allocate(2 * size_)) {
        memory_.swap(kept);
        limit_ = size_;  // it is not tried again
        return;
    }
    for (; slot < end; slot += 2) {
        for (int way = 0; way < 2; way++) {
            const std::size_t count = slot[way].ids[0] >> id_count_shift;
            if (is_free(slot[way])) break;
            std::uint32_t ids[most_ids];
            std::memcpy(ids, slot[way].ids, sizeof ids);
            ids[0] &= id_mask;
            put(slot[way].key, ids, count);
        }
    }
}

LongWordCache::LongWordCache() : memory_(zeroed(sizeof(LongWordSlot) << bits)) {
    if (!memory_) throw std::bad_alloc();
    slots_ = aligned<LongWordSlot>(memory_.get(), sizeof(LongWordSlot) << bits);
}

}  // namespace tokexport
