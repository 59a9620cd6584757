#include "string_merges.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.h"
#include "json_arrays.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

constexpr std::int64_t missing = -1;
constexpr std::int64_t malformed = -2;

// A part of a string of Python: code points, as wide as the string stores them.
struct Text {
    int kind;
    const void *data;
    Py_ssize_t begin, end;

    explicit Text(PyObject *string)
        : kind(PyUnicode_KIND(string)),
          data(PyUnicode_DATA(string)),
          begin(0),
          end(PyUnicode_GET_LENGTH(string)) {}

    explicit Text(const std::u32string &string)
        : kind(PyUnicode_4BYTE_KIND),
          data(string.data()),
          begin(0),
          end(static_cast<Py_ssize_t>(string.size())) {}

    std::size_t size() const { return static_cast<std::size_t>(end - begin); }
    Py_UCS4 operator[](std::size_t i) const {
        return PyUnicode_READ(kind, data, begin + static_cast<Py_ssize_t>(i));
    }

    Text part(Py_ssize_t from, Py_ssize_t to) const {
        Text found = *this;
        found.begin = from;
        found.end = to;
        return found;
    }
};

// A hash that two texts joined have without being joined: a polynomial of the code points, whose
// power is that of the size.
struct Hash {
    std::uint64_t value = 0, power = 1;

    explicit Hash(const Text &text) {
        for (std::size_t i = 0; i < text.size(); i++) {
            value = value * factor + text[i] + 1;
            power *= factor;
        }
    }

    std::uint64_t joined_with(const Hash &next) const { return value * next.power + next.value; }

private:
    static constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;
};

// The tokens by their text: open addressing, at most half full.
class Vocabulary {
public:
    explicit Vocabulary(const nb::dict &vocab) {
        std::size_t size = 16;
        while (size < 2 * vocab.size()) size *= 2;
        slots_.assign(size, {0, missing});
        tokens_.reserve(vocab.size());
        for (const auto &[key, value] : vocab) {
            const Text text(key.ptr());
            const std::uint64_t hash = Hash(text).value;
            std::size_t at = place(hash);
            while (slots_[at].token != missing) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = {hash, static_cast<std::int64_t>(tokens_.size())};
            const std::int64_t id = PyLong_AsLongLong(value.ptr());
            if (PyErr_Occurred()) throw nb::python_error();
            if (id < 0) throw nb::value_error("an id is not negative");
            tokens_.push_back({text, id});
        }
    }

    // The id of two texts joined, the second of which may be empty.
    std::int64_t find(std::uint64_t hash, const Text &left, const Text &right) const {
        for (std::size_t at = place(hash);; at = (at + 1) & (slots_.size() - 1)) {
            const Slot &slot = slots_[at];
            if (slot.token == missing) return missing;
            if (slot.hash != hash) continue;
            const auto &[text, id] = tokens_[static_cast<std::size_t>(slot.token)];
            if (are_joined(left, right, text)) return id;
        }
    }

private:
    struct Slot {
        std::uint64_t hash;
        std::int64_t token;
    };

    std::size_t place(std::uint64_t hash) const {
        const std::uint64_t mixed = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93;
        return static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
    }

    static bool are_joined(const Text &left, const Text &right, const Text &whole) {
        if (left.size() + right.size() != whole.size()) return false;
        for (std::size_t i = 0; i < left.size(); i++) {
            if (left[i] != whole[i]) return false;
        }
        for (std::size_t i = 0; i < right.size(); i++) {
            if (right[i] != whole[left.size() + i]) return false;
        }
        return true;
    }

    std::vector<Slot> slots_;
    std::vector<std::pair<Text, std::int64_t>> tokens_;
};

using Pair = std::optional<std::pair<Text, Text>>;  // the strings of a merge, where it is one

Pair parts(PyObject *merge) {
    if (PyUnicode_Check(merge)) {
        const Text line(merge);
        const Py_ssize_t space = PyUnicode_FindChar(merge, ' ', 0, line.end, 1);
        if (space < 0 || PyUnicode_FindChar(merge, ' ', space + 1, line.end, 1) >= 0)
            return std::nullopt;
        return std::pair(line.part(0, space), line.part(space + 1, line.end));
    }
    if (!PyList_Check(merge) || PyList_GET_SIZE(merge) != 2) return std::nullopt;
    PyObject *left = PyList_GET_ITEM(merge, 0), *right = PyList_GET_ITEM(merge, 1);
    if (!PyUnicode_Check(left) || !PyUnicode_Check(right)) return std::nullopt;
    return std::pair(Text(left), Text(right));
}

// A text without its first bytes of UTF-8; nothing where that would part a character.
std::optional<Text> without_bytes(const Text &text, std::size_t count) {
    std::size_t bytes = 0;
    Py_ssize_t at = text.begin;
    for (std::size_t i = 0; bytes < count && i < text.size(); i++, at++) {
        const Py_UCS4 point = text[i];
        bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    }
    if (bytes != count) return std::nullopt;
    return text.part(at, text.end);
}

// The ids of the two texts of a merge and of what it makes.
void find_merge(const Vocabulary &tokens, const Pair &pair, std::size_t prefix_size,
                std::int64_t *ids) {
    if (!pair) {
        ids[0] = ids[1] = ids[2] = malformed;
        return;
    }
    const auto &[left, right] = *pair;
    const Text none = left.part(left.end, left.end);
    const Hash of_left(left), of_right(right);
    ids[0] = tokens.find(of_left.value, left, none);
    ids[1] = tokens.find(of_right.value, right, none);
    const auto rest = without_bytes(right, prefix_size);
    ids[2] = rest ? tokens.find(of_left.joined_with(Hash(*rest)), left, *rest) : missing;
}

}  // namespace

nb::object merges_of_strings(const nb::dict &vocab, const nb::list &merges,
                             std::size_t prefix_size) {
    const Vocabulary tokens(vocab);
    const std::size_t count = merges.size();
    auto found = std::make_unique<std::int64_t[]>(3 * count);
    for (std::size_t i = 0; i < count; i++) {
        PyObject *merge = PyList_GET_ITEM(merges.ptr(), static_cast<Py_ssize_t>(i));
        find_merge(tokens, parts(merge), prefix_size, &found[3 * i]);
    }
    return array_of(std::move(found), 3 * count);
}

nb::object merges_of_array(const nb::dict &vocab, const nb::bytes &document, std::size_t begin,
                           std::size_t prefix_size) {
    if (begin > document.size()) throw nb::value_error("an array outside of its document");
    const Vocabulary tokens(vocab);
    JsonArray array(std::string_view(document.c_str(), document.size()).substr(begin));
    std::vector<std::int64_t> found;
    while (array.next()) {
        const Text text(array.first);
        Pair pair(std::in_place, text, Text(array.second));
        if (array.kind() == JsonArray::Kind::strings) {
            const std::size_t space = array.first.find(U' ');
            const bool has_two = space != std::u32string::npos &&
                                 array.first.find(U' ', space + 1) == std::u32string::npos;
            const auto at = static_cast<Py_ssize_t>(space);
            pair = has_two ? Pair({text.part(0, at), text.part(at + 1, text.end)}) : std::nullopt;
        }
        found.resize(found.size() + 3);
        find_merge(tokens, pair, prefix_size, &found[found.size() - 3]);
    }
    return array_of(std::move(found));
}

}  // namespace tokexport
