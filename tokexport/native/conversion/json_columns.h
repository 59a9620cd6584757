// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Reads the long values of a tokenizer.json from its bytes, or from any other buffer: as Python
// objects, a million strings would take ten times as much memory and time.
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

    // The results of next(): two strings in UTF-8; the second is empty unless there is a pair.
    std::string first, second;
    double score = 0;
    std::uint32_t id = 0;

    // `text` starts at the bracket that opens the value.
    explicit JsonColumns(std::string_view text)
        : at_(text.data()),
          end_(text.data() + text.size()) {}

    // Reads the next element; false at the end of the value, or at anything unexpected.
    bool next();

    // After next() has returned false: whether the value ended, with one element or more.
    bool is_whole() const { return is_whole_; }
    Kind kind() const { return kind_; }
    // The current read position.
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

// Where model.merges and model.vocab are in a document, as a list of (name, begin, end): only those
// that JsonColumns reads to the end, without a string that has a lone surrogate or begins like the
// header of a merges.txt. The rest of the document is not checked.
nanobind::list long_values(nanobind::handle document);

// The strings and numbers of such a value of scores or ids: the strings joined, their ends, and an
// array of numbers.
nanobind::tuple strings_and_numbers(nanobind::handle document, std::size_t begin);

}  // namespace tokexport
