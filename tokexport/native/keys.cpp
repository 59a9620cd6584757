#include "keys.h"

#include <functional>
#include <utility>

namespace nb = nanobind;

namespace tokexport {

Strings::Strings(nb::bytes joined, SmallNumbers ends)
    : joined_(std::move(joined)),
      bytes_(joined_.c_str()),
      ends_(std::move(ends)) {
    if (size() >= UINT32_MAX / 4) throw nb::value_error("more strings than a tokenizer has");
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < size(); i++) {
        if (ends_(i) < last || ends_(i) > joined_.size())
            throw nb::value_error("an end of a key that is before the last one or outside");
        last = ends_(i);
    }
}

Keys::Keys(nb::bytes joined, SmallNumbers ends) : strings_(std::move(joined), std::move(ends)) {
    std::size_t size = 16;
    while (size < 2 * strings_.size()) size *= 2;
    slots_.assign(size, missing);
    for (std::size_t i = 0; i < strings_.size(); i++) {
        std::uint32_t &taken = slots_[slot(strings_[i])];
        if (taken == missing) taken = static_cast<std::uint32_t>(i);
    }
}

nb::object Keys::place(const nb::bytes &key) const {
    const std::uint32_t found = find({key.c_str(), key.size()});
    return found == missing ? nb::none() : nb::object(nb::int_(found));
}

nb::object Keys::firsts() const {
    std::vector<std::uint32_t> found(strings_.size());
    for (std::size_t i = 0; i < found.size(); i++) found[i] = find(strings_[i]);
    return array_of(std::move(found));
}

std::size_t Keys::slot(std::string_view key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = std::hash<std::string_view>()(key) & mask;
    while (slots_[at] != missing && strings_[slots_[at]] != key) at = (at + 1) & mask;
    return at;
}

}  // namespace tokexport
