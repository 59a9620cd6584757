#include "keys.h"

#include <cstddef>
#include <cstdint>

namespace tokexport {

std::vector<std::string_view> keys_of(const nanobind::bytes &joined, const Numbers &ends) {
    const std::string_view all(joined.c_str(), joined.size());
    std::vector<std::string_view> keys;
    keys.reserve(ends.shape(0));
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.shape(0); i++) {
        if (ends(i) < begin || ends(i) > all.size())
            throw nanobind::value_error("an end of a key that is before the last one or outside");
        keys.push_back(all.substr(begin, static_cast<std::size_t>(ends(i)) - begin));
        begin = static_cast<std::size_t>(ends(i));
    }
    return keys;
}

}  // namespace tokexport
