// The long values of a tokenizer.json, read from its bytes, or any other buffer: as objects of
// Python, a million strings take ten times as much memory and time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

namespace tokexport {

// An array whose elements are all strings, all [string, string] or all [string, number], or an
// object of whole numbers. A score has up to 19 digits and no exponent.
class JsonColumns {
public:
    enum class Kind { strings, pairs, scores, ids };

    // What next gives: two strings in UTF-8, of which the second is empty except in a pair.
    std::string first, second;
    double score = 0;
    std::uint32_t id = 0;

    // Text from the bracket that opens the value on.
    explicit JsonColumns(std::string_view text)
        : at_(text.data()),
          end_(text.data() + text.size()) {}

    // Reads the next element; false at the end of the value, or where it goes on otherwise.
    bool next();

    // After next gave false: whether the value has ended, with one element or more.
    bool is_whole() const { return is_whole_; }
    Kind kind() const { return kind_; }
    // Where the reading is.
    const char *at() const { return at_; }

private:
    void skip_space();
    bool skip(char character);
    bool string(std::string &found);
    bool escape(std::string &found);
    bool hex(char32_t &unit);
    bool number();
    bool whole_number();

    const char *at_, *end_;
    Kind kind_ = Kind::strings;
    bool is_first_ = true, is_whole_ = false, is_object_ = false;
};

// The places in a document of model.merges and model.vocab, a list of (name, begin, end), of those
// that JsonColumns reads to the end, where no string has a lone surrogate or begins as the header
// of a merges.txt. The rest of the document is not checked.
nanobind::list long_values(nanobind::handle document);

// The strings and the numbers of such a value of scores or ids: the strings as one, their ends, and
// an array of numbers.
nanobind::tuple strings_and_numbers(nanobind::handle document, std::size_t begin);

}  // namespace tokexport
