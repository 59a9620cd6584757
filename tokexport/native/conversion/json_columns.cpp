// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "json_columns.h"

#include <array>
#include <utility>
#include <vector>

#include "python/arrays.h"
#include "python/held_bytes.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

constexpr int most_digits = 19;    // any such number fits into 64 bits
constexpr int most_id_digits = 9;  // any such number fits into 32 bits
constexpr std::string_view header = "#version";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return '0' <= c && c <= '9'; }

double power_of_ten(int exponent) {
    double power = 1;  // exact up to 10^22
    while (exponent--) power *= 10;
    return power;
}

// The closing quote of a string, given a position after the opening one; the end of the text if
// there is none.
const char *end_of_string(const char *at, const char *end) {
    while (at < end && *at != '"') at += 1 + (*at == '\\');
    return at < end ? at : end;
}

// The end of the value of model.merges or model.vocab, if it is a long one; else null.
const char *end_of_long_value(JsonColumns &value, std::string_view name) {
    using Kind = JsonColumns::Kind;
    if (name != "merges" && name != "vocab") return nullptr;
    while (value.next()) {
        if (std::string_view(value.first).substr(0, header.size()) == header) return nullptr;
    }
    const bool is_vocab = value.kind() == Kind::scores || value.kind() == Kind::ids;
    return value.is_whole() && is_vocab == (name == "vocab") ? value.at() : nullptr;
}

// Whether a text is UTF-8; surrogates are not.
bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at++]);
        if (first < 0x80) continue;
        const int more = first < 0xC2   ? 0
                         : first < 0xE0 ? 1
                         : first < 0xF0 ? 2
                         : first < 0xF5 ? 3
                                        : 0;
        if (!more) return false;
        char32_t point = first & (0x3Fu >> more);
        for (int i = 0; i < more; i++, at++) {
            const auto byte = at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
            if ((byte & 0xC0) != 0x80) return false;
            point = point << 6 | (byte & 0x3F);
        }
        const bool is_surrogate = 0xD800 <= point && point < 0xE000;
        const bool is_short = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
        if (is_surrogate || is_short || point >= 0x110000) return false;
    }
    return true;
}

// Appends a code point as UTF-8.
void append(std::string &text, char32_t point) {
    const int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static constexpr std::array<unsigned char, 4> firsts{0x00, 0xC0, 0xE0, 0xF0};
    text.push_back(static_cast<char>(firsts[static_cast<std::size_t>(more)] | point >> 6 * more));
    for (int i = more; i-- > 0;) text.push_back(static_cast<char>(0x80 | (point >> 6 * i & 0x3F)));
}

}  // namespace

void JsonColumns::skip_space() {
    while (at_ < end_ && is_space(*at_)) at_++;
}

bool JsonColumns::skip(char character) {
    skip_space();
    if (at_ == end_ || *at_ != character) return false;
    at_++;
    return true;
}

bool JsonColumns::next() {
    if (is_first_) is_object_ = skip('{');
    if (!is_object_ || !is_first_) {
        if (!skip(is_first_ ? '[' : ',')) {
            is_whole_ = !is_first_ && skip(is_object_ ? '}' : ']');
            return false;
        }
    }
    Kind kind = is_object_ ? Kind::ids : Kind::strings;
    second.clear();
    if (is_object_) {
        if (!string(first) || !skip(':') || !whole_number()) return false;
    } else if (skip('[')) {
        if (!string(first) || !skip(',')) return false;
        skip_space();
        kind = at_ < end_ && *at_ == '"' ? Kind::pairs : Kind::scores;
        if (!(kind == Kind::pairs ? string(second) : number()) || !skip(']')) return false;
    } else if (!string(first)) {
        return false;
    }
    if (!is_first_ && kind != kind_) return false;
    is_first_ = false;
    kind_ = kind;
    return true;
}

bool JsonColumns::string(std::string &found) {
    found.clear();
    if (!skip('"')) return false;
    while (at_ < end_ && *at_ != '"') {
        const char *begin = at_;
        unsigned char bits = 0;
        for (; at_ < end_ && *at_ != '"' && *at_ != '\\'; at_++) {
            const auto byte = static_cast<unsigned char>(*at_);
            if (byte < 0x20) return false;
            bits |= byte;
        }
        found.append(begin, at_);
        if (bits >= 0x80 && !is_utf8({begin, static_cast<std::size_t>(at_ - begin)})) return false;
        if (at_ < end_ && *at_ == '\\' && !escape(found)) return false;
    }
    return skip('"');
}

// Reads an escape sequence; false if it is invalid or a lone surrogate.
bool JsonColumns::escape(std::string &found) {
    static constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (end_ - at_ < 2) return false;
    const char name = at_[1];
    at_ += 2;
    if (name == 'u') {
        char32_t unit = 0, low = 0;
        if (!hex(unit) || (unit & 0xFC00) == 0xDC00) return false;
        if ((unit & 0xFC00) == 0xD800) {
            if (end_ - at_ < 2 || *at_++ != '\\' || *at_++ != 'u' || !hex(low)) return false;
            if ((low & 0xFC00) != 0xDC00) return false;
            unit = 0x10000 + ((unit & 0x3FF) << 10 | (low & 0x3FF));
        }
        append(found, unit);
        return true;
    }
    const std::size_t place = names.find(name);
    if (place == names.npos) return false;
    found.push_back(meanings[place]);
    return true;
}

// The four digits after \u.
bool JsonColumns::hex(char32_t &unit) {
    if (end_ - at_ < 4) return false;
    for (int i = 0; i < 4; i++) {
        const char c = *at_++, lower = static_cast<char>(c | 0x20);
        const bool is_letter = 'a' <= lower && lower <= 'f';
        if (!is_digit(c) && !is_letter) return false;
        unit = unit << 4 | static_cast<char32_t>(is_letter ? lower - 'a' + 10 : c - '0');
    }
    return true;
}

// Computed like tokexport.sources.serde_number: the digits as a whole number, divided by a power
// of ten.
bool JsonColumns::number() {
    const bool is_negative = skip('-');
    const char *begin = at_;
    std::uint64_t digits = 0;
    int count = 0;
    for (; at_ < end_ && is_digit(*at_); at_++, count++) digits = 10 * digits + (*at_ - '0');
    if (!count || (count > 1 && *begin == '0') || count > most_digits) return false;
    int fraction = 0;
    if (at_ < end_ && *at_ == '.') {
        for (at_++; at_ < end_ && is_digit(*at_); at_++, fraction++) {
            if (++count > most_digits) return false;
            digits = 10 * digits + (*at_ - '0');
        }
        if (!fraction) return false;
    } else if (is_negative && !digits) {
        return false;  // -0 is an int in Python, without a sign
    }
    score = static_cast<double>(digits) / power_of_ten(fraction);
    if (is_negative) score = -score;
    return at_ < end_ && *at_ != 'e' && *at_ != 'E';
}

bool JsonColumns::whole_number() {
    skip_space();
    const char *begin = at_;
    for (id = 0; at_ < end_ && is_digit(*at_) && at_ - begin < most_id_digits; at_++)
        id = 10 * id + static_cast<std::uint32_t>(*at_ - '0');
    const bool is_plain = at_ - begin == 1 || (at_ > begin && *begin != '0');
    return is_plain && at_ < end_ && (is_space(*at_) || *at_ == ',' || *at_ == '}');
}

nb::list long_values(nb::handle document) {
    const HeldBytes held(document);
    const std::string_view text = held.text();
    const char *at = text.data(), *const end = at + text.size();
    std::string_view last;                 // the last string
    std::array<std::string_view, 3> keys;  // by depth: the key whose value is being read
    nb::list found;
    for (std::size_t depth = 0; at < end; at++) {
        switch (*at) {
            case '"': {
                const char *quote = end_of_string(at + 1, end);
                last = std::string_view(at + 1, static_cast<std::size_t>(quote - at - 1));
                if (quote == end) return {};
                at = quote;
                break;
            }
            case ':':
                if (depth < keys.size()) keys[depth] = last;
                break;
            case '}':
            case ']':
                if (!depth--) return {};
                break;
            case '{':
            case '[':
                if (depth == 2 && keys[1] == "model") {
                    JsonColumns value(text.substr(static_cast<std::size_t>(at - text.data())));
                    const char *after = end_of_long_value(value, keys[2]);
                    if (after) {
                        found.append(nb::make_tuple(nb::str(keys[2].data(), keys[2].size()),
                                                    at - text.data(), after - text.data()));
                        at = after - 1;
                        break;
                    }
                }
                if (++depth < keys.size()) keys[depth] = {};
                break;
        }
    }
    return found;
}

nb::tuple strings_and_numbers(nb::handle document, std::size_t begin) {
    const HeldBytes held(document);
    if (begin > held.size()) throw nb::value_error("a value outside of its document");
    JsonColumns value(held.text().substr(begin));
    std::string strings;
    std::vector<std::uint32_t> ends, ids;
    std::vector<double> scores;
    while (value.next()) {
        strings += value.first;
        ends.push_back(static_cast<std::uint32_t>(strings.size()));
        if (value.kind() == JsonColumns::Kind::ids) ids.push_back(value.id);
        else scores.push_back(value.score);
    }
    nb::object numbers = ids.empty() ? array_of(std::move(scores)) : array_of(std::move(ids));
    return nb::make_tuple(nb::bytes(strings.data(), strings.size()), array_of(std::move(ends)),
                          numbers);
}

}  // namespace tokexport
