#include "displacing.h"

#include <cstddef>
#include <memory>
#include <vector>

#include "arrays.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// Of SPEC.md, 5.2.
constexpr std::uint64_t K1 = 0xD6E8FEB86659FD93;
constexpr std::uint64_t K3 = 0xC4CEB9FE1A85EC53;

constexpr std::uint64_t displacement_count = 1 << 16;

std::uint64_t slot_of(std::uint64_t hash, std::uint64_t displacement, std::uint64_t room) {
    return ((hash ^ displacement * K3) * K1 >> 32) * room >> 32;
}

// Takes a slot for each of some keys; if one is taken already, gives back those before it.
bool take(const Numbers &hashes, const Numbers &firsts, const Numbers &rooms, std::size_t begin,
          std::size_t end, std::uint64_t displacement, std::vector<bool> &taken,
          std::uint64_t *slots) {
    for (std::size_t i = begin; i < end; i++) {
        const std::uint64_t slot = firsts(i) + slot_of(hashes(i), displacement, rooms(i));
        if (taken[slot]) {
            while (i-- > begin) taken[slots[i]] = false;
            return false;
        }
        taken[slot] = true;
        slots[i] = slot;
    }
    return true;
}

void check(const Numbers &hashes, const Numbers &firsts, const Numbers &rooms, const Numbers &sizes,
           std::uint64_t slot_count) {
    const std::size_t count = hashes.shape(0);
    if (firsts.shape(0) != count || rooms.shape(0) != count)
        throw nb::value_error("one first slot and one room for each key");
    for (std::size_t i = 0; i < count; i++) {
        if (rooms(i) == 0 || rooms(i) > slot_count || firsts(i) > slot_count - rooms(i))
            throw nb::value_error("a key without room");
    }
    std::size_t left = count;
    for (std::size_t b = 0; b < sizes.shape(0); b++) {
        if (sizes(b) > left) throw nb::value_error("more keys in the buckets than there are");
        left -= static_cast<std::size_t>(sizes(b));
    }
    if (left) throw nb::value_error("keys without a bucket");
}

}  // namespace

nb::object displace(Numbers hashes, Numbers firsts, Numbers rooms, Numbers sizes,
                    std::uint64_t slot_count) {
    check(hashes, firsts, rooms, sizes, slot_count);
    const std::size_t bucket_count = sizes.shape(0);
    auto slots = std::make_unique<std::uint64_t[]>(hashes.shape(0));
    auto displacements = std::make_unique<std::uint16_t[]>(bucket_count);
    {
        nb::gil_scoped_release released;
        std::vector<bool> taken(static_cast<std::size_t>(slot_count));
        std::size_t begin = 0;
        for (std::size_t b = 0; b < bucket_count; b++) {
            const std::size_t end = begin + static_cast<std::size_t>(sizes(b));
            std::uint64_t displacement = 0;
            while (displacement < displacement_count &&
                   !take(hashes, firsts, rooms, begin, end, displacement, taken, slots.get()))
                displacement++;
            if (displacement == displacement_count) {
                slots.reset();
                break;
            }
            displacements[b] = static_cast<std::uint16_t>(displacement);
            begin = end;
        }
    }
    if (!slots) return nb::none();
    return nb::make_tuple(array_of(std::move(slots), hashes.shape(0)),
                          array_of(std::move(displacements), bucket_count));
}

}  // namespace tokexport
