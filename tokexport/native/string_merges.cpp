#include "string_merges.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_columns.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

constexpr std::int32_t missing = -1;
constexpr std::int32_t malformed = -2;

using Text = std::optional<std::string_view>;
using Pair = std::optional<std::pair<std::string_view, std::string_view>>;  // of a merge

// A string of Python in UTF-8; nothing where the object is none, or has a lone surrogate.
Text text_of(PyObject *object) {
    if (!PyUnicode_Check(object)) return std::nullopt;
    Py_ssize_t size = 0;
    const char *bytes = PyUnicode_AsUTF8AndSize(object, &size);
    if (!bytes) {
        PyErr_Clear();
        return std::nullopt;
    }
    return std::string_view(bytes, static_cast<std::size_t>(size));
}

// The two strings of a line, which has one space.
Pair parts_of_line(std::string_view line) {
    const std::size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos) return std::nullopt;
    return std::pair(line.substr(0, space), line.substr(space + 1));
}

Pair parts(PyObject *merge) {
    if (const Text line = text_of(merge)) return parts_of_line(*line);
    if (!PyList_Check(merge) || PyList_GET_SIZE(merge) != 2) return std::nullopt;
    const Text left = text_of(PyList_GET_ITEM(merge, 0)), right = text_of(PyList_GET_ITEM(merge, 1));
    if (!left || !right) return std::nullopt;
    return std::pair(*left, *right);
}

class Finder {
public:
    Finder(const Keys &vocab, SmallNumbers ids, std::size_t prefix_size)
        : vocab_(vocab),
          ids_(std::move(ids)),
          prefix_size_(prefix_size) {
        if (ids_.shape(0) != vocab.strings().size()) throw nb::value_error("one id for each key");
    }

    void add(const Pair &pair) {
        if (!pair) {
            found.insert(found.end(), 3, malformed);
            return;
        }
        const auto &[left, right] = *pair;
        joined_ = left;
        const bool has_rest = right.size() >= prefix_size_;
        if (has_rest) joined_ += right.substr(prefix_size_);
        found.insert(found.end(), {find(left), find(right), has_rest ? find(joined_) : missing});
    }

    std::vector<std::int32_t> found;

private:
    std::int32_t find(std::string_view text) const {
        const std::uint32_t place = vocab_.find(text);
        return place == Keys::missing ? missing : static_cast<std::int32_t>(ids_(place));
    }

    const Keys &vocab_;
    SmallNumbers ids_;
    std::size_t prefix_size_;
    std::string joined_;
};

}  // namespace

nb::object merges_of_strings(const Keys &vocab, SmallNumbers ids, const nb::list &merges,
                             std::size_t prefix_size) {
    Finder finder(vocab, std::move(ids), prefix_size);
    for (const nb::handle merge : merges) finder.add(parts(merge.ptr()));
    return array_of(std::move(finder.found));
}

nb::object merges_of_array(const Keys &vocab, SmallNumbers ids, const nb::bytes &document,
                           std::size_t begin, std::size_t prefix_size) {
    if (begin > document.size()) throw nb::value_error("a value outside of its document");
    Finder finder(vocab, std::move(ids), prefix_size);
    JsonColumns array(std::string_view(document.c_str(), document.size()).substr(begin));
    // A merge has six bytes or more. What is not used is never touched, and so takes no memory.
    finder.found.reserve((document.size() - begin) / 2);
    while (array.next()) {
        const bool is_line = array.kind() == JsonColumns::Kind::strings;
        finder.add(is_line ? parts_of_line(array.first) : std::pair(std::string_view(array.first),
                                                                    std::string_view(array.second)));
    }
    return array_of(std::move(finder.found));
}

}  // namespace tokexport
