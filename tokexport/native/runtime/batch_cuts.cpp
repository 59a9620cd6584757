// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Where the texts of a batch are cut into parts: only where no id can change.
#include <algorithm>

#include "batch.h"

namespace tokexport {

namespace {

// In a str without UTF-8, cuts are searched for in windows of this many characters.
constexpr std::size_t cut_window = 2048;

std::size_t characters_in(std::string_view utf8) {
    return static_cast<std::size_t>(
        std::count_if(utf8.begin(), utf8.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

// The first offset found where the text can be cut without changing any id, before `size` or soon
// after; 0: none.
std::size_t Core::first_cut(const SourceText &text, std::size_t size, Batch &batch) const {
    // How much of the last window is searched again: three characters, one of them incomplete.
    const std::size_t again = text.kind ? 3 : 12;
    std::size_t from = size - std::min(size, cut_window), until = size;
    for (;;) {
        while (!text.kind && from && (text.utf8()[from] & 0xC0) == 0x80) from--;
        const auto window = utf8_of(text.part(from, until - from), write_utf8_, batch.text());
        if (!window) return 0;
        const std::size_t cut = batch.cutter
                                    ? batch.cutter->last_cut(window->data(), window->size())
                                    : tkx_cut(&file_, window->data(), window->size());
        if (cut) return from + (text.kind ? characters_in(window->substr(0, cut)) : cut);
        if (until == text.size) return 0;
        from = until - std::min(until, again);
        until = std::min(until + cut_window, text.size);
    }
}

// The engine, if it has to find the cuts: the core finds none in a file that puts a space before
// each text. Null: the core cuts, or nothing does.
const Engine *Core::cutting_engine(std::size_t size, std::size_t part_size,
                                   const Allowed &chosen) const {
    if (file_.cuts.data || part_size < bulk_from_ ||
        std::max(size, bytes_without_tables_.load(std::memory_order_relaxed)) < worth_tables_)
        return nullptr;
    const Engine *made = engine();
    return made && made->can_cut(chosen.mode != Allowed::none) ? made : nullptr;
}

// Cuts the texts into parts of about `part_size` bytes.
void Core::cut_texts(std::size_t part_size, Batch &batch) const {
    batch.parts.clear();
    batch.parts.reserve(batch.texts.size());
    batch.first_parts.clear();
    batch.first_parts.reserve(batch.texts.size() + 1);
    for (std::size_t i = 0; i < batch.texts.size(); i++) {
        batch.first_parts.push_back(batch.parts.size());
        SourceText rest = batch.texts[i].source;
        bool is_first = true;
        while (rest.size / 2 > part_size) {
            const std::size_t cut = first_cut(rest, part_size, batch);
            if (!cut) break;
            batch.parts.push_back({rest.part(0, cut), i, is_first, false});
            rest = rest.part(cut, rest.size - cut);
            is_first = false;
        }
        batch.parts.push_back({rest, i, is_first, true});
    }
    batch.first_parts.push_back(batch.parts.size());
}

}  // namespace tokexport
