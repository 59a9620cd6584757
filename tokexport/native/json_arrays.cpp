#include "json_arrays.h"

#include <array>
#include <utility>
#include <vector>

#include "arrays.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

constexpr int most_digits = 19;  // of which 64 bits have room for any
constexpr std::u32string_view header = U"#version";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return '0' <= c && c <= '9'; }

double power_of_ten(int exponent) {
    double power = 1;  // exact up to 10^22
    while (exponent--) power *= 10;
    return power;
}

// The end of a string whose first quote was read, at its last quote; the end of the text where it
// has none.
const char *end_of_string(const char *at, const char *end) {
    while (at < end && *at != '"') at += 1 + (*at == '\\');
    return at < end ? at : end;
}

}  // namespace

void JsonArray::skip_space() {
    while (at_ < end_ && is_space(*at_)) at_++;
}

bool JsonArray::skip(char character) {
    skip_space();
    if (at_ == end_ || *at_ != character) return false;
    at_++;
    return true;
}

bool JsonArray::next() {
    if (!skip(is_first_ ? '[' : ',')) {
        is_whole_ = !is_first_ && skip(']');
        return false;
    }
    Kind kind = Kind::strings;
    second.clear();
    if (skip('[')) {
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

bool JsonArray::string(std::u32string &found) {
    found.clear();
    if (!skip('"')) return false;
    while (at_ < end_ && *at_ != '"') {
        if (!character(found)) return false;
    }
    return skip('"');
}

// One character or escape; no lone surrogate, as UTF-8 or as an escape.
bool JsonArray::character(std::u32string &found) {
    const auto first = static_cast<unsigned char>(*at_++);
    if (first == '\\') {
        static constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        if (at_ == end_) return false;
        const char name = *at_++;
        if (name == 'u') {
            char32_t unit = 0, low = 0;
            if (!hex(unit) || (unit & 0xFC00) == 0xDC00) return false;
            if ((unit & 0xFC00) == 0xD800) {
                if (end_ - at_ < 2 || *at_++ != '\\' || *at_++ != 'u' || !hex(low)) return false;
                if ((low & 0xFC00) != 0xDC00) return false;
                unit = 0x10000 + ((unit & 0x3FF) << 10 | (low & 0x3FF));
            }
            found.push_back(unit);
            return true;
        }
        const std::size_t place = names.find(name);
        if (place == names.npos) return false;
        found.push_back(static_cast<char32_t>(meanings[place]));
        return true;
    }
    if (first < 0x80) {
        found.push_back(first);
        return first >= 0x20;
    }
    const int more = first < 0xC2 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : first < 0xF5 ? 3 : 0;
    if (!more || end_ - at_ < more) return false;
    char32_t point = first & (0x3Fu >> more);
    for (int i = 0; i < more; i++) {
        const auto byte = static_cast<unsigned char>(*at_++);
        if ((byte & 0xC0) != 0x80) return false;
        point = point << 6 | (byte & 0x3F);
    }
    found.push_back(point);
    const bool is_surrogate = 0xD800 <= point && point < 0xE000;
    const bool is_short = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
    return !is_surrogate && !is_short && point < 0x110000;
}

// The four digits after \u.
bool JsonArray::hex(char32_t &unit) {
    if (end_ - at_ < 4) return false;
    for (int i = 0; i < 4; i++) {
        const char c = *at_++, lower = static_cast<char>(c | 0x20);
        const bool is_letter = 'a' <= lower && lower <= 'f';
        if (!is_digit(c) && !is_letter) return false;
        unit = unit << 4 | static_cast<char32_t>(is_letter ? lower - 'a' + 10 : c - '0');
    }
    return true;
}

// As tokexport.sources.serde_number has it: the digits as a whole number, divided by a power of ten.
bool JsonArray::number() {
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
        return false;  // which Python has as a whole number, without the sign
    }
    score = static_cast<double>(digits) / power_of_ten(fraction);
    if (is_negative) score = -score;
    return at_ < end_ && *at_ != 'e' && *at_ != 'E';
}

nb::object long_array(const nb::bytes &document) {
    const std::string_view text(document.c_str(), document.size());
    const char *at = text.data(), *const end = at + text.size();
    std::string_view last;                 // the last string
    std::array<std::string_view, 3> keys;  // by depth: the key whose value is read
    for (std::size_t depth = 0; at < end; at++) {
        switch (*at) {
        case '"': {
            const char *quote = end_of_string(at + 1, end);
            last = std::string_view(at + 1, static_cast<std::size_t>(quote - at - 1));
            if (quote == end) return nb::none();
            at = quote;
            break;
        }
        case ':':
            if (depth < keys.size()) keys[depth] = last;
            break;
        case '}':
        case ']':
            if (!depth--) return nb::none();
            break;
        case '[':
            if (depth == 2 && keys[1] == "model" && (keys[2] == "merges" || keys[2] == "vocab")) {
                JsonArray array(text.substr(static_cast<std::size_t>(at - text.data())));
                while (array.next()) {
                    if (std::u32string_view(array.first).substr(0, header.size()) == header)
                        return nb::none();
                }
                if (!array.is_whole()) return nb::none();
                const bool is_vocab = array.kind() == JsonArray::Kind::scores;
                if (is_vocab != (keys[2] == "vocab")) return nb::none();
                return nb::make_tuple(nb::str(keys[2].data(), keys[2].size()), at - text.data(),
                                      array.at() - text.data());
            }
            [[fallthrough]];
        case '{':
            if (++depth < keys.size()) keys[depth] = {};
            break;
        }
    }
    return nb::none();
}

nb::object scores_of_array(const nb::bytes &document, std::size_t begin) {
    if (begin > document.size()) throw nb::value_error("an array outside of its document");
    JsonArray array(std::string_view(document.c_str(), document.size()).substr(begin));
    nb::list strings;
    std::vector<double> scores;
    while (array.next()) {
        const std::u32string &text = array.first;
        PyObject *string = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data(),
                                                     static_cast<Py_ssize_t>(text.size()));
        if (!string) throw nb::python_error();
        strings.append(nb::steal(string));
        scores.push_back(array.score);
    }
    return nb::make_tuple(strings, array_of(std::move(scores)));
}

}  // namespace tokexport
