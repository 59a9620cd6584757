#include "pair_table.h"

#include <vector>

namespace tokexport {

namespace {

constexpr std::size_t pair_index_header = 16;

std::uint32_t load_u32(const std::uint8_t *p) {
    return p[0] | std::uint32_t(p[1]) << 8 | std::uint32_t(p[2]) << 16 | std::uint32_t(p[3]) << 24;
}

bool is_little_endian() {
    const std::uint8_t bytes[2] = {1, 0};
    std::uint16_t number;
    std::memcpy(&number, bytes, 2);
    return number == 1;
}

}  // namespace

bool PairTable::fill(const tkx &file) {
    const std::uint8_t *data = file.pair_index.data + pair_index_header;
    if (!is_little_endian() || reinterpret_cast<std::uintptr_t>(data) % alignof(Slot)) return false;
    slots_ = reinterpret_cast<const Slot *>(data);
    rows_ = file.pair_rows;
    displacements_ = file.pair_displacements;
    bucket_count_ = file.pair_buckets;
    row_shift_ = file.row_shift;
    last_row_ = (file.id_count - 1) >> row_shift_;
    std::uint32_t start = load_u32(rows_);
    for (std::size_t row = 1; row <= std::size_t(last_row_) + 1; row++) {
        const std::uint32_t end = load_u32(rows_ + 4 * row);
        if (end < start) return false;
        start = end;
    }
    if (start >= file.pair_slots) return false;

    for (std::size_t i = 0; i < 256; i++) byte_ids_[i] = load_u32(file.byte_ids.data + 4 * i);
    const std::uint32_t most = *std::max_element(byte_ids_.begin(), byte_ids_.end());
    if (most >= file.id_count) return false;
    std::vector<std::uint16_t> byte_of(most + 1, 256);
    for (std::size_t i = 0; i < 256; i++) {
        // Two bytes with one id have the same products: the table below would miss one of them.
        if (byte_of[byte_ids_[i]] != 256) return false;
        byte_of[byte_ids_[i]] = static_cast<std::uint16_t>(i);
    }
    byte_pair_keys_.reset(new std::int32_t[1 << 16]);
    std::fill_n(byte_pair_keys_.get(), 1 << 16, no_pair);
    for (std::size_t i = 0; i < file.pair_slots; i++) {
        const Slot slot = slots_[i];
        const std::uint32_t left = static_cast<std::uint32_t>(slot >> 42),
                            right = slot >> 21 & no_id, product = slot & no_id;
        if (product >= file.id_count && slot != ~Slot(0)) return false;
        if ((left <= most) & (right <= most) && byte_of[left] < 256 && byte_of[right] < 256)
            byte_pair_keys_[static_cast<std::size_t>(byte_of[left]) << 8 | byte_of[right]] =
                static_cast<std::int32_t>(product << 5);
    }
    return true;
}

}  // namespace tokexport
