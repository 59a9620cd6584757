// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// One open tokexport file, for Python: the C core's functions over Python's str, bytes, int, list
// and numpy arrays.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nanobind/nanobind.h>

#include "engine/bridge/added_starts.h"
#include "engine/bridge/stable_characters.h"
#include "python/held_bytes.h"
#include "python/object_table.h"
#include "python/python_ids.h"
#include "python/truth.h"
#include "text/utf8.h"
#include "tokexport.h"
#include "workspace.h"

namespace tokexport {

// HeaderFlag.REPLACE_SURROGATES of tokexport.file.layout. Lone surrogates must be replaced before
// the text is UTF-8, so this is done here and not in the C core.
constexpr std::uint32_t replace_surrogates = 1u << 4;

// Which special tokens of a text become ids.
struct Allowed {
    enum Mode { none, some, all } mode = none;
    std::vector<std::uint8_t> bits;  // of the added tokens, in the order of the file; for `some`
};

// A text of a batch. `str` owns the text, if Python may have to make its UTF-8.
struct BatchText {
    SourceText source;
    nanobind::handle str{};
};

// The result of encoding one text. `detail`: what the C core stored in *count.
struct Outcome {
    int code = TKX_OK;
    std::size_t detail = 0;
};

// UTF-8 that is valid as long as this object, and the memory it was written into, if any.
struct Text {
    nanobind::object owner;
    std::string_view bytes;
    Buffer<std::uint8_t> made{};
};

Text bytes_of(nanobind::handle data);

// The contents of a str: UTF-8 or characters. `data` is null if Python has to make the UTF-8.
// Raises TypeError if the object is not a str.
SourceText source_of(nanobind::handle text);

// An estimate of the ids of a text. A text seldom has more ids than bytes, and a long one seldom
// more than half as many.
inline std::size_t likely_ids(std::size_t bytes) {
    return bytes <= (std::size_t(1) << 24) ? bytes + 16 : bytes / 2;
}

class Core {
public:
    // Texts of at least this many bytes are encoded by the bulk engine, if it supports the file;
    // for shorter ones the core is as fast, unless they are repeated: these are cached whole.
    // Building the engine's tables and touching the pages of its cache costs 1.5 ms, which pays off
    // after about a quarter of a megabyte: so it is done for a text of `worth_tables` bytes, or
    // once that many bytes were encoded without the engine.
    static constexpr std::size_t bulk_from = 128, worth_tables = std::size_t(1) << 18;

    // Opens the bytes of `buffer` (read-only, as long as the Core lives). `name` stands for the
    // file in error messages. `verify` and tests pass `bulk_from`, where more than the default
    // disables caching of short texts, and SIZE_MAX the engine; tests also pass the largest width
    // in bits of the vectors that it may use. `cache_size`: as in CacheSizes::of, for each thread.
    Core(nanobind::object buffer, nanobind::object name, std::optional<std::size_t> bulk_from,
         unsigned width, std::size_t cache_size);
    Core(const Core &) = delete;
    Core &operator=(const Core &) = delete;

    // core.cpp. `allowed`: "all", or a collection of contents of added tokens. `template_`: whether
    // to add the tokens of the post-processor.
    nanobind::object encode(nanobind::handle text, nanobind::handle allowed, Truth template_);
    nanobind::object encode_numpy(nanobind::handle text, nanobind::handle allowed, Truth template_);
    nanobind::object encode_bytes(nanobind::handle data, nanobind::handle allowed, Truth template_);
    nanobind::object encode_pair(nanobind::handle a, nanobind::handle b, nanobind::handle allowed,
                                 Truth template_);
    void check(bool whole) const;
    std::size_t self_test();

    // spans.cpp. `texts`: a tuple of one or two. Returns ids, (start, end), type ids, and per id 1
    // if it comes from the template, else 0; as lists or as arrays.
    nanobind::object encode_spans(nanobind::handle texts, nanobind::handle allowed, Truth template_,
                                  Truth characters);
    // `carry`: as in tkx_encoder, before a text. Returned last, after it.
    nanobind::object encode_spans_numpy(nanobind::handle texts, nanobind::handle allowed,
                                        Truth template_, Truth characters, double carry);
    // The last offset in a part of a text, UTF-8 with any end, where a cut changes no id of the
    // left side, and at most the first ids and all spans of the right side, if the carry goes on.
    // 0: none is known.
    std::size_t last_cut(nanobind::handle part) const;
    // Whether there is a carry, and whether a cut changes nothing else on the right side.
    bool has_carry() const { return tkx_bulk_has_carry(&file_) != 0; }
    bool cuts_are_exact() const {
        return file_.cuts.data && !file_.moves_spans && !file_.trims.data;
    }

    // batch.cpp. Long texts are cut into parts where a cut cannot change any id.
    nanobind::object encode_batch(nanobind::handle texts, nanobind::handle allowed, Truth template_,
                                  std::size_t threads);
    // One text, a str; encode_parallel also takes bytes.
    nanobind::object encode_parallel(nanobind::handle text, nanobind::handle allowed,
                                     Truth template_, std::size_t threads);
    nanobind::object encode_parallel_numpy(nanobind::handle text, nanobind::handle allowed,
                                           Truth template_, std::size_t threads);
    // `texts`: an iterable of str, or an Arrow array of strings. Returns the ids of all texts, and
    // count + 1 offsets into them.
    nanobind::object encode_flat(nanobind::handle texts, nanobind::handle allowed, Truth template_,
                                 std::size_t threads);

    // decoding.cpp.
    nanobind::object decode(nanobind::handle ids, Truth skip_special, nanobind::handle errors_name);
    nanobind::object decode_bytes(nanobind::handle ids, Truth skip_special);
    nanobind::object decode_tokens_bytes(nanobind::handle ids, Truth skip_special);
    nanobind::object token_bytes(nanobind::handle id) const;
    // The id of an added token with this content, or else of a model token with these bytes.
    nanobind::object token_id(nanobind::handle data);
    std::uint32_t token_flags(nanobind::handle id) const;
    nanobind::object added_tokens() const;
    nanobind::object special_id(int role) const;
    nanobind::object stop_ids() const;
    nanobind::object section(nanobind::handle tag) const;

    // extra.cpp. Ids of a conversation, or (code, index) if the frame cannot render a message.
    nanobind::object encode_chat(nanobind::list roles, nanobind::list texts);
    // Ranges of SORT: for a prefix, or None without SORT; for each next byte, with the byte.
    nanobind::object prefix_ids(nanobind::bytes prefix) const;
    nanobind::list prefix_children(std::uint32_t begin, std::uint32_t end,
                                   std::uint32_t depth) const;
    // Whether a long text was encoded by the bulk engine.
    bool uses_bulk() const {
        return engine_state_.load(std::memory_order_acquire) == EngineState::made && engine_;
    }
    std::uint32_t id_count() const { return file_.id_count; }
    std::uint32_t token_count() const { return file_.token_count; }

    const tkx &file() const { return file_; }
    // The texts of tokens that consist of whole characters, as streams return them.
    ObjectTable &texts() { return texts_; }
    nanobind::handle name() const { return name_; }

private:
    friend class EncodeStream;

    struct Item {
        std::uint32_t kind, id, type_id;
    };
    // Which items of a template to add besides the texts, and whether the text is a rest
    // (engine/bridge/bridge.h).
    struct Ends {
        bool before = true, after = true, is_rest = false;
    };
    struct Located;
    struct Batch;

    // `memory`: where to write UTF-8 if the str has none; or null.
    Text text_of(nanobind::handle text, Buffer<std::uint8_t> *memory = nullptr) const;
    void add_text(nanobind::handle text, Batch &batch) const;
    void add_texts(nanobind::handle texts, Batch &batch) const;
    static bool holds_text_once(const std::vector<Item> &items);
    std::size_t first_cut(const SourceText &text, std::size_t size, Batch &batch) const;
    const Engine *cutting_engine(std::size_t size, std::size_t part_size,
                                 const Allowed &chosen) const;
    void cut_texts(std::size_t part_size, Batch &batch) const;
    void encode_texts(const Allowed &chosen, bool template_, std::size_t threads, bool is_utf8,
                      Batch &batch);
    struct Part;
    static std::size_t add_items(const std::vector<Item> &items, Part *parts, std::size_t count,
                                 std::uint32_t *end);
    std::size_t encode_together(Workspace &space, std::size_t &used, Part *first, const Part *last,
                                const std::vector<Item> &items, const Allowed &allowed,
                                bool is_utf8, bool &is_refused) const;
    bool encode_parts(const Allowed &chosen, bool template_, std::size_t threads, bool is_utf8,
                      Batch &batch);
    // Indexes of added tokens; made on first use.
    using ByContent = std::unordered_multimap<std::string_view, std::uint32_t>;
    const ByContent &added_by_content();
    Allowed allowed_of(nanobind::handle allowed);
    std::vector<Item> template_of(int pair) const;
    std::size_t encode_texts(Workspace &space, const Text *texts, std::size_t count,
                             nanobind::handle allowed, bool template_, bool is_utf8);
    Outcome encode_items(Workspace &space, std::size_t &used, const std::string_view *texts,
                         const std::vector<Item> &items, const Allowed &allowed, bool is_utf8,
                         Ends ends) const;
    // Calls tkx_encode or the like.
    int encode_into(const tkx_work &work, std::string_view text, const Allowed &allowed,
                    std::uint32_t *ids, std::size_t room, std::size_t *count) const;
    Outcome encode_text(Workspace &space, std::size_t &used, std::string_view text,
                        const Allowed &allowed, bool is_utf8, bool is_rest = false) const;
    bool take_bulk(Workspace &space, std::size_t size, bool is_rest) const;
    bool is_worth_tables(std::size_t size) const;
    bool take_cached(Workspace &space, std::size_t &used, Passage &text) const;
    const Engine *engine() const;
    [[noreturn]] void fail_text(Outcome outcome, std::string_view text) const;
    const std::vector<Item> &items_of(std::size_t texts, bool template_) const;
    void locate(Workspace &space, nanobind::handle texts, nanobind::handle allowed, bool template_,
                bool characters, Located &out);
    Outcome locate_text(Workspace &space, std::string_view text, const Allowed &allowed,
                        bool characters, Located &out) const;
    std::size_t wanted_ids(Workspace &space, nanobind::handle ids, bool skip_special) const;
    template <class Decode> std::size_t join(Workspace &space, std::size_t count, Decode decode);

    nanobind::object name_;
    HeldBytes held_;
    tkx file_;
    const StableCharacters stable_;
    const AddedStarts starts_;
    ObjectTable texts_;
    std::vector<Item> single_, pair_, plain_single_, plain_pair_;
    std::once_flag added_once_;
    ByContent added_by_content_;
    const std::size_t bulk_from_, worth_tables_;
    const std::size_t cached_below_;  // bytes; shorter texts are cached whole
    const unsigned width_;
    const WriteUtf8 write_utf8_;
    mutable std::atomic<std::size_t> bytes_without_tables_{0};
    enum class EngineState { none, in_making, made };
    mutable std::atomic<EngineState> engine_state_{EngineState::none};
    mutable std::unique_ptr<const Engine> engine_;
    WorkspacePool pool_;
};

}  // namespace tokexport
