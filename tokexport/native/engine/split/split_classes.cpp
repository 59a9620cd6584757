// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "split_classes.h"

#include <algorithm>

#include "split_intern.h"

namespace tokexport {

namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr std::size_t ascii_size = 128;  // SPEC.md 2.2
constexpr std::size_t blocks_in_top = 64, top_count = SplitClasses::leaf_count / blocks_in_top;

// Two more values are needed: the end of the text, the class after the last one, and not_shared.
constexpr std::size_t max_classes = 254;

std::uint32_t load(const std::uint8_t *p) { return std::uint32_t(p[0]) | std::uint32_t(p[1]) << 8; }

// The classes of 64 characters, or of all that share a top index, are computed once for each
// combination of the stages' leaves: most code points share a few combinations.
class Builder {
public:
    Builder(const tkx &file, SplitClasses &classes)
        : file_(file),
          out_(classes),
          numbers_(file.stage_count),
          counts_(file.stage_count) {}

    bool run() {
        for (std::size_t c = 0; c < ascii_size; c++)
            out_.ascii[c] = number([&](std::uint32_t i) { return file_.stages[i].classes[c]; });
        out_.leaf_of.resize(SplitClasses::leaf_count);
        std::vector<std::size_t> same_tops;
        for (std::size_t top = 0; top < top_count; top++) {
            Numbers middles;
            for (std::uint32_t i = 0; i < file_.stage_count; i++)
                middles.push_back(load(file_.stages[i].classes + ascii_size + 2 * top));
            const std::uint32_t same = tops_.intern(middles);
            std::uint16_t *blocks = out_.leaf_of.data() + blocks_in_top * top;
            if (same < same_tops.size()) {
                const std::uint16_t *first = out_.leaf_of.data() + blocks_in_top * same_tops[same];
                for (std::size_t i = 0; i < blocks_in_top; i++) blocks[i] = first[i];
                continue;
            }
            same_tops.push_back(top);
            for (std::size_t i = 0; i < blocks_in_top; i++) blocks[i] = leaf(middles, i);
        }
        if (out_.of_stages.size() > max_classes) return false;
        add_ascii();
        for (std::uint32_t i = 0; i < out_.shared.size(); i++) {
            const std::uint8_t *leaf = out_.leaf(i), *end = leaf + SplitClasses::leaf_size;
            out_.shared[i] = std::all_of(leaf, end, [leaf](std::uint8_t c) { return c == *leaf; })
                                 ? *leaf
                                 : SplitClasses::not_shared;
        }
        return true;
    }

private:
    // The class of the characters that have class_in(i) in stage i. For each i, the combinations of
    // classes in the first i stages are numbered. Hashing them took 0.3 ms for 20,000 characters.
    template <typename ClassIn> std::uint8_t number(ClassIn class_in) {
        std::size_t prefix = 0;
        if (out_.of_stages.size() > max_classes) return 0;
        for (std::uint32_t i = 0; i < file_.stage_count; i++) {
            numbers_[i].resize(std::max(numbers_[i].size(), 256 * (prefix + 1)));
            std::uint32_t &known = numbers_[i][256 * prefix + class_in(i)];
            if (!known) known = ++counts_[i];
            prefix = known - 1;
        }
        if (prefix == out_.of_stages.size()) {
            out_.of_stages.emplace_back();
            for (std::uint32_t i = 0; i < file_.stage_count; i++)
                out_.of_stages.back().push_back(class_in(i));
        }
        return static_cast<std::uint8_t>(prefix);
    }

    // Adds leaves for ASCII, which the tables of the stages do not have.
    void add_ascii() {
        for (std::size_t i = 0; i < ascii_size / SplitClasses::leaf_size; i++) {
            const std::uint8_t *from = out_.ascii.data() + SplitClasses::leaf_size * i;
            out_.leaf_of[i] =
                static_cast<std::uint16_t>(out_.leaves.size() / SplitClasses::leaf_size);
            out_.leaves.insert(out_.leaves.end(), from, from + SplitClasses::leaf_size);
        }
    }

    std::uint16_t leaf(const Numbers &middles, std::size_t block) {
        Numbers &numbers = leaf_numbers_;
        numbers.clear();
        for (std::uint32_t i = 0; i < file_.stage_count; i++)
            numbers.push_back(load(file_.stages[i].middle + 2 * (64 * middles[i] + block)));
        const std::size_t known = leaves_.size();
        const std::uint32_t found = leaves_.intern(numbers);
        for (std::size_t c = 0; c < SplitClasses::leaf_size && leaves_.size() > known; c++) {
            out_.leaves.push_back(number([&](std::uint32_t i) {
                return file_.stages[i].leaves[64 * std::size_t(numbers[i]) + c];
            }));
        }
        return static_cast<std::uint16_t>(found);
    }

    const tkx &file_;
    SplitClasses &out_;
    Interner tops_, leaves_;
    Numbers leaf_numbers_;
    // [stage][number of the combination before it * 256 + its class]: the number with it, + 1
    std::vector<Numbers> numbers_;
    Numbers counts_;  // [stage]: its largest number
};

}  // namespace

bool make_classes(const tkx &file, SplitClasses &classes) { return Builder(file, classes).run(); }

}  // namespace tokexport
