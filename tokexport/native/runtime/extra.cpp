// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// What a file may hold besides a tokenizer: ids by prefix, and the frame of a chat template.
#include <vector>

#include "core.h"
#include "python/failure.h"
#include "tokexport_extra.h"

namespace nb = nanobind;

namespace tokexport {

nb::object Core::prefix_ids(nb::bytes prefix) const {
    tkx_prefix range;
    int code = tkx_prefix_ids(&file_, prefix.c_str(), prefix.size(), &range);
    if (code == TKX_E_NOT_FOUND) return nb::none();
    if (code != TKX_OK) fail(name_, code);
    return nb::make_tuple(range.begin, range.end);
}

nb::list Core::prefix_children(std::uint32_t begin, std::uint32_t end, std::uint32_t depth) const {
    nb::list result;
    tkx_prefix range{begin, end, depth};
    std::uint32_t from = 0;
    std::uint8_t byte;
    int code;
    while ((code = tkx_prefix_next(&file_, &range, from, &byte)) == TKX_OK) {
        tkx_prefix child = range;
        if ((code = tkx_prefix_step(&file_, &child, byte)) != TKX_OK) break;
        result.append(nb::make_tuple(byte, child.begin, child.end));
        from = byte + 1u;
    }
    if (code != TKX_E_NOT_FOUND) fail(name_, code);
    return result;
}

nb::object Core::encode_chat(nb::list roles, nb::list texts) {
    std::vector<Text> held;
    std::vector<tkx_message> messages;
    for (nb::handle text : texts) {
        held.push_back(text_of(text));
        messages.push_back({nb::cast<int>(roles[messages.size()]), held.back().bytes.data(),
                            held.back().bytes.size()});
    }
    WorkspacePool::Lease space(pool_);
    std::size_t count;
    for (;;) {
        const tkx_work work = space->work();
        const int code = tkx_chat_encode(&file_, messages.data(), messages.size(),
                                         space->ids.data(), space->ids.capacity(), &count, &work);
        if (code == TKX_OK) return list_of_ids(space->ids.data(), count);
        if (code == TKX_E_ROLE || code == TKX_E_MESSAGE) return nb::make_tuple(code, count);
        if (code == TKX_E_IDS && count > space->ids.capacity()) {
            space->ids.resize(count);
        } else if (code == TKX_E_WORK && count > space->memory.capacity()) {
            space->memory.resize(count);
        } else {
            fail(name_, code, count);
        }
    }
}

}  // namespace tokexport
