#include "word_cache.h"

#include <algorithm>
#include <cstring>
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
    for (; slot < end; slot++)
        if (!is_free(*slot)) put(*slot);
}

void WordCache::insert(const WordKey &key, const std::uint8_t *bytes, std::size_t size,
                       const std::uint32_t *ids, std::size_t count) {
    WordSlot slot{key, {}};
    if (!key.is_hashed() && count <= WordSlot::most_inline) {
        std::copy_n(ids, count, slot.ids);
        slot.ids[0] |= static_cast<std::uint32_t>(count) << id_count_shift;
    } else {
        if (size > WordRing::longest || count > WordRing::most_ids) return;
        const std::uint64_t position = ring_.add(bytes, key.is_hashed() ? size : 0, ids, count);
        slot.ids[0] = static_cast<std::uint32_t>(count) | WordSlot::in_ring;
        slot.ids[2] = static_cast<std::uint32_t>(position);
        slot.ids[3] = static_cast<std::uint32_t>(position >> 32);
    }
    if (used_ > limit_ && size_ < last_size) grow();
    put(slot);
}

WordRing::WordRing() : owner_(zeroed(size)) {
    if (!owner_) throw std::bad_alloc();
    memory_ = aligned<std::uint8_t>(owner_.get(), size);
}

std::uint64_t WordRing::add(const std::uint8_t *key, std::size_t key_size, const std::uint32_t *ids,
                            std::size_t count) {
    const std::size_t key_room = rounded(key_size),
                      room = key_room + rounded(std::max(count, readable) * sizeof *ids);
    std::size_t place = end_ & (size - 1);
    if (place + room > size) {
        end_ += size - place;
        place = 0;
    }
    const std::uint64_t position = end_;
    if (key_size) std::memcpy(memory_ + place, key, key_size);
    std::memcpy(memory_ + place + key_room, ids, count * sizeof *ids);
    end_ += room;
    return position;
}

}  // namespace tokexport
