#include "contents.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "keys.h"

namespace nb = nanobind;

namespace tokexport {

nb::object merges_of_contents(nb::bytes contents, Numbers ends, Numbers ids) {
    if (ids.shape(0) != ends.shape(0)) throw nb::value_error("one end and one id for each content");
    const std::vector<std::string_view> keys = keys_of(contents, ends);
    std::vector<std::uint64_t> merges;
    {
        nb::gil_scoped_release released;
        std::unordered_map<std::string_view, std::uint64_t> id_of(keys.size());
        for (std::size_t i = 0; i < keys.size(); i++) id_of[keys[i]] = ids(i);
        for (std::size_t i = 0; i < keys.size(); i++) {
            for (std::size_t cut = 1; cut < keys[i].size(); cut++) {
                const auto left = id_of.find(keys[i].substr(0, cut));
                if (left == id_of.end()) continue;
                const auto right = id_of.find(keys[i].substr(cut));
                if (right == id_of.end()) continue;
                merges.insert(merges.end(), {left->second, right->second, ids(i)});
            }
        }
    }
    return array_of(std::move(merges));
}

}  // namespace tokexport
