// The long array of a tokenizer.json, read from its bytes: as objects of Python, a million strings
// take ten times as much memory and time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

namespace tokexport {

// An array in a document, whose elements are all strings, all [string, string] or all
// [string, number]. A number has up to 19 digits and no exponent.
class JsonArray {
public:
    enum class Kind { strings, pairs, scores };

    // What next gives: two strings, of which the second is empty except in a pair.
    std::u32string first, second;
    double score = 0;

    // Text from the bracket that opens the array on.
    explicit JsonArray(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    // Reads the next element; false at the end of the array, or where it goes on otherwise.
    bool next();

    // After next gave false: whether the array has ended.
    bool is_whole() const { return is_whole_; }
    Kind kind() const { return kind_; }
    // Where the reading is.
    const char *at() const { return at_; }

private:
    void skip_space();
    bool skip(char character);
    bool string(std::u32string &found);
    bool character(std::u32string &found);
    bool hex(char32_t &unit);
    bool number();

    const char *at_, *end_;
    Kind kind_ = Kind::strings;
    bool is_first_ = true, is_whole_ = false;
};

// The place in a document of the array model.merges or model.vocab, as (name, begin, end), where
// that is an array of JsonArray with one element or more, and no string in it has a lone surrogate or
// begins as the header of a merges.txt. None otherwise. The rest of the document is not checked.
nanobind::object long_array(const nanobind::bytes &document);

// The strings and the numbers of such an array of scores, as a list and an array.
nanobind::object scores_of_array(const nanobind::bytes &document, std::size_t begin);

}  // namespace tokexport
