#include "word_cache.h"

#include <new>

namespace tokexport {

namespace {

// Zeroed memory, and where it is aligned to a line of the machine's cache.
std::unique_ptr<void, decltype(&std::free)> zeroed(std::size_t size) {
    return {std::calloc(1, size + 64), &std::free};
}

template <class T>
T *aligned(void *memory) {
    return reinterpret_cast<T *>((reinterpret_cast<std::uintptr_t>(memory) + 63) & ~std::uintptr_t(63));
}

}  // namespace

bool WordCache::allocate(std::size_t size) {
    auto memory = zeroed(size);
    if (!memory) {
        if (!slots_) throw std::bad_alloc();
        return false;
    }
    memory_.swap(memory);
    slots_ = aligned<WordSlot>(memory_.get());
    size_ = size;
    used_ = 0;
    limit_ = size / sizeof(WordSlot) / 2;
    shift_ = 64;
    for (std::size_t sets = size / (2 * sizeof(WordSlot)); sets > 1; sets /= 2) shift_--;
    return true;
}

void WordCache::grow() {
    const WordSlot *slot = slots_, *end = slots_ + size_ / sizeof(WordSlot);
    auto kept = std::unique_ptr<void, decltype(&std::free)>(memory_.release(), &std::free);
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
            std::memcpy(ids, slot[way].ids, sizeof slot->ids);
            ids[0] &= id_mask;
            if (count > 4) std::memcpy(ids + 4, static_cast<const void *>(slot + 1), sizeof *slot);
            put(slot[way].key, ids, count);
            if (count > 4) break;
        }
    }
}

LongWordCache::LongWordCache() : memory_(zeroed(sizeof(LongWordSlot) << bits)) {
    if (!memory_) throw std::bad_alloc();
    slots_ = aligned<LongWordSlot>(memory_.get());
}

}  // namespace tokexport
