// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Where the splitter cuts texts, with vectors of the width that is given: for other machines, by
// emulation. Reads from standard input the file and the texts, each after its size, and writes for
// each text how many ends there are, and them. Numbers are of four bytes, little-endian.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/mman.h>

#include "engine/split/splitter.h"

namespace {

bool read_block(std::vector<std::uint8_t> &block) {
    std::uint32_t size;
    if (std::fread(&size, sizeof size, 1, stdin) != 1) return false;
    block.resize(size);
    return std::fread(block.data(), 1, size, stdin) == size;
}

// Memory for a text of at most this size, after whose end there is none.
constexpr std::size_t room = 1 << 20;

std::uint8_t *end_of_memory() {
    void *const p =
        mmap(nullptr, 2 * room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    std::uint8_t *const end = static_cast<std::uint8_t *>(p) + room;
    return mprotect(end, room, PROT_NONE) ? nullptr : end;
}

} // namespace

int main(int argc, char **argv) {
    const unsigned width = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 0;
    std::uint8_t *const end = end_of_memory();
    std::vector<std::uint8_t> file, text;
    tkx opened;
    if (!end || !read_block(file) || tkx_open(&opened, file.data(), file.size())) return 1;
    if (!tokexport::split_steps(width)) return 2;
    const auto splitter = tokexport::Splitter::make(opened, width);
    if (!splitter) return 3;
    while (read_block(text)) {
        if (text.size() > room) return 4;
        std::uint8_t *const place = end - text.size();
        std::memcpy(place, text.data(), text.size());
        tokexport::SplitRun run(*splitter, place, text.size());
        std::vector<std::uint32_t> ends(text.size() + tokexport::SplitRun::block);
        std::uint32_t count = 0;
        while (const std::size_t more = run.next(ends.data() + count))
            count += static_cast<std::uint32_t>(more);
        std::fwrite(&count, sizeof count, 1, stdout);
        std::fwrite(ends.data(), sizeof ends[0], count, stdout);
    }
    return 0;
}
