#include "split_classes.h"

#include <algorithm>

#include "split_intern.h"

namespace tokexport {

namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr std::size_t ascii_size = 128;  // SPEC.md 2.2
constexpr std::size_t blocks_in_top = 64, top_count = SplitClasses::leaf_count / blocks_in_top;

std::uint32_t load(const std::uint8_t *p) { return std::uint32_t(p[0]) | std::uint32_t(p[1]) << 8; }

// The classes of 64 characters, or of all that begin with the same top index, are looked up once
// for each combination of the stages' leaves: most of the code points share a few.
class Builder {
public:
    Builder(const tkx &file, SplitClasses &classes) : file_(file), out_(classes) {}

    bool run() {
        for (std::size_t c = 0; c < ascii_size; c++) {
            tuple_.clear();
            for (std::uint32_t i = 0; i < file_.stage_count; i++)
                tuple_.push_back(file_.stages[i].classes[c]);
            out_.ascii[c] = static_cast<std::uint8_t>(tuples_.intern(tuple_));
        }
        out_.leaf_of.resize(SplitClasses::leaf_count);
        std::vector<std::size_t> same_tops;
        for (std::size_t top = 0; top < top_count; top++) {
            tuple_.clear();
            for (std::uint32_t i = 0; i < file_.stage_count; i++)
                tuple_.push_back(load(file_.stages[i].classes + ascii_size + 2 * top));
            const std::uint32_t same = tops_.intern(tuple_);
            std::uint16_t *blocks = out_.leaf_of.data() + blocks_in_top * top;
            if (same < same_tops.size()) {
                const std::uint16_t *first = out_.leaf_of.data() + blocks_in_top * same_tops[same];
                for (std::size_t i = 0; i < blocks_in_top; i++) blocks[i] = first[i];
                continue;
            }
            same_tops.push_back(top);
            const Numbers middles = tuple_;
            for (std::size_t i = 0; i < blocks_in_top; i++) blocks[i] = leaf(middles, i);
        }
        if (tuples_.size() > 254) return false;
        add_ascii();
        for (std::uint32_t i = 0; i < out_.shared.size(); i++) {
            const std::uint8_t *leaf = out_.leaf(i), *end = leaf + SplitClasses::leaf_size;
            out_.shared[i] = std::all_of(leaf, end, [leaf](std::uint8_t c) { return c == *leaf; })
                                 ? *leaf
                                 : SplitClasses::not_shared;
        }
        for (std::uint32_t c = 0; c < tuples_.size(); c++)
            out_.of_stages.emplace_back(tuples_.begin(c), tuples_.end(c));
        return true;
    }

private:
    // Leaves for ASCII: the tables of the stages have none.
    void add_ascii() {
        for (std::size_t i = 0; i < ascii_size / SplitClasses::leaf_size; i++) {
            const std::uint8_t *from = out_.ascii.data() + SplitClasses::leaf_size * i;
            out_.leaf_of[i] =
                static_cast<std::uint16_t>(out_.leaves.size() / SplitClasses::leaf_size);
            out_.leaves.insert(out_.leaves.end(), from, from + SplitClasses::leaf_size);
        }
    }

    std::uint16_t leaf(const Numbers &middles, std::size_t block) {
        Numbers numbers;
        for (std::uint32_t i = 0; i < file_.stage_count; i++)
            numbers.push_back(load(file_.stages[i].middle + 2 * (64 * middles[i] + block)));
        const std::size_t known = leaves_.size();
        const std::uint32_t found = leaves_.intern(numbers);
        for (std::size_t c = 0; c < SplitClasses::leaf_size && leaves_.size() > known; c++) {
            tuple_.clear();
            for (std::uint32_t i = 0; i < file_.stage_count; i++)
                tuple_.push_back(file_.stages[i].leaves[64 * std::size_t(numbers[i]) + c]);
            out_.leaves.push_back(static_cast<std::uint8_t>(tuples_.intern(tuple_)));
        }
        return static_cast<std::uint16_t>(found);
    }

    const tkx &file_;
    SplitClasses &out_;
    Interner tuples_, tops_, leaves_;
    Numbers tuple_;
};

}  // namespace

bool make_classes(const tkx &file, SplitClasses &classes) { return Builder(file, classes).run(); }

}  // namespace tokexport
