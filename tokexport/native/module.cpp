// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The module tokexport._core: names and signatures only. The documentation is on the Python classes
// that wrap it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "conversion/byte_strings.h"
#include "conversion/contents.h"
#include "conversion/displacing.h"
#include "conversion/double_array.h"
#include "conversion/json_columns.h"
#include "conversion/keys.h"
#include "conversion/merging.h"
#include "conversion/string_merges.h"
#include "memory/free_memory.h"
#include "runtime/builtin_calls.h"
#include "runtime/core.h"
#include "runtime/encode_stream.h"
#include "runtime/mapped_file.h"
#include "runtime/splitting.h"
#include "runtime/stream.h"
#include "training/word_counter.h"

namespace nb = nanobind;
using namespace nb::literals;
using tokexport::Core;
using tokexport::EncodeStream;
using tokexport::Stream;

// Signatures as _core.pyi has them; formats/tokexport/generate.py makes that file.
#define ALLOWED "allowed: typing.Literal['all'] | collections.abc.Collection[str]"
#define IDS "ids: collections.abc.Sequence[int] | numpy.typing.NDArray[numpy.integer[typing.Any]]"
#define U8S "numpy.typing.NDArray[numpy.uint8]"
#define U32S "numpy.typing.NDArray[numpy.uint32]"
#define I32S "numpy.typing.NDArray[numpy.int32]"
#define U64S "numpy.typing.NDArray[numpy.uint64]"

NB_MODULE(_core, m) {
    // A tokenizer in a global variable lives until the interpreter exits, which is not a leak.
    nb::set_leak_warnings(false);

    m.attr("REPLACE_SURROGATES") = tokexport::replace_surrogates;
    m.attr("LEAST_CACHE") = tokexport::CacheSizes::least;
    m.attr("USUAL_CACHE") = tokexport::CacheSizes::usual;
    m.attr("MOST_CACHE") = tokexport::CacheSizes::most;

    m.def("differing_places", &tokexport::differing_places, "joined"_a, "ends"_a, "other_joined"_a,
          "other_ends"_a,
          nb::sig("def differing_places(joined: bytes, ends: " U32S
                  ", other_joined: bytes, other_ends: " U32S ") -> " U32S));
    m.def("displace", &tokexport::displace, "hashes"_a, "rows"_a, "starts"_a, "bucket_count"_a,
          nb::sig("def displace(hashes: " U64S ", rows: " U32S ", starts: " U32S
                  ", bucket_count: int) -> tuple[" U32S
                  ", numpy.typing.NDArray[numpy.uint16]] | None"));
    m.def("double_array", &tokexport::double_array, "keys"_a, "ends"_a, "ids"_a, "no_id"_a,
          nb::sig("def double_array(keys: bytes, ends: " U32S ", ids: " U32S
                  ", no_id: int) -> tuple[" U64S ", int]"));
    m.def("give_back_memory", &tokexport::give_back_memory,
          nb::sig("def give_back_memory() -> None"));
    m.def("hash_strings", &tokexport::hash_strings, "joined"_a, "ends"_a,
          nb::sig("def hash_strings(joined: bytes, ends: " U32S ") -> " U64S));
    m.def("joined_parts", &tokexport::joined_parts, "data"_a, "begins"_a, "sizes"_a,
          nb::sig("def joined_parts(data: bytes, begins: " U32S ", sizes: " U32S ") -> bytes"));
    m.def("long_values", &tokexport::long_values, "document"_a,
          nb::sig("def long_values(document: bytes | mmap.mmap) -> list[tuple[str, int, int]]"));
    m.def(
        "strings_and_numbers", &tokexport::strings_and_numbers, "document"_a, "begin"_a,
        nb::sig(
            "def strings_and_numbers(document: bytes | mmap.mmap, begin: int) -> tuple[bytes, " U32S
            ", numpy.typing.NDArray[typing.Any]]"));

    using tokexport::Keys;
    nb::class_<Keys>(m, "Keys")
        .def(nb::init<nb::bytes, tokexport::SmallNumbers>(), "joined"_a, "ends"_a,
             nb::sig("def __init__(self, joined: bytes, ends: " U32S ") -> None"))
        .def("place", &Keys::place, "key"_a, nb::sig("def place(self, key: bytes) -> int | None"))
        .def("firsts", &Keys::firsts, nb::sig("def firsts(self) -> " U32S));
    m.def("merges_of_array", &tokexport::merges_of_array, "vocab"_a, "ids"_a, "document"_a,
          "begin"_a, "prefix_size"_a,
          nb::sig("def merges_of_array(vocab: Keys, ids: " U32S
                  ", document: bytes | mmap.mmap, begin: int, prefix_size: int) -> " I32S));
    m.def("merges_of_contents", &tokexport::merges_of_contents, "contents"_a, "ids"_a,
          nb::sig("def merges_of_contents(contents: Keys, ids: " U32S ") -> " U32S ""));
    m.def("merges_of_strings", &tokexport::merges_of_strings, "vocab"_a, "ids"_a, "merges"_a,
          "prefix_size"_a,
          nb::sig("def merges_of_strings(vocab: Keys, ids: " U32S
                  ", merges: list[typing.Any], prefix_size: int) -> " I32S));
    m.def("ways_of_merges", &tokexport::ways_of_merges, "merges"_a, "ranks"_a, "symbols"_a,
          "id_count"_a,
          nb::sig("def ways_of_merges(merges: " U32S ", ranks: " U32S ", symbols: " U32S
                  ", id_count: int) -> tuple[" U32S ", " U32S ", " U32S ", " U32S ", " U32S
                  "] | tuple[int, bool]"));

    using tokexport::MappedFile;
    nb::class_<MappedFile>(m, "MappedFile", nb::type_slots(MappedFile::slots));
    m.def("map_file", &tokexport::map_file, "descriptor"_a, "size"_a,
          nb::sig("def map_file(descriptor: int, size: int) -> memoryview"));

    nb::class_<Core>(m, "Core")
        .def(nb::init<nb::object, nb::object, std::optional<std::size_t>, unsigned, std::size_t>(),
             "buffer"_a, "name"_a, "bulk_from"_a.none() = nb::none(),
             "width"_a = tokexport::Engine::widest, "cache_size"_a = tokexport::CacheSizes::usual,
             nb::sig("def __init__(self, buffer: bytes | memoryview, name: str, "
                     "bulk_from: int | None = None, width: int = 512, cache_size: int = ...) "
                     "-> None"))
        .def_prop_ro("encode", &tokexport::encode_of,
                     nb::sig("def encode(self, /) -> collections.abc.Callable[[str, typing.Any, "
                             "bool], list[int]]"))
        .def_prop_ro("encode_numpy", &tokexport::encode_numpy_of,
                     nb::sig("def encode_numpy(self, /) -> collections.abc.Callable[[str, "
                             "typing.Any, bool], " U32S "]"))
        .def("encode_bytes", &Core::encode_bytes, "data"_a.none(), "allowed"_a.none(),
             "template"_a.none(),
             nb::sig("def encode_bytes(self, data: bytes, " ALLOWED
                     ", template: bool) -> list[int]"))
        .def("encode_pair", &Core::encode_pair, "a"_a.none(), "b"_a.none(), "allowed"_a.none(),
             "template"_a.none(),
             nb::sig("def encode_pair(self, a: str, b: str, " ALLOWED
                     ", template: bool) -> list[int]"))
        .def("encode_batch", &Core::encode_batch, "texts"_a.none(), "allowed"_a.none(),
             "template"_a.none(), "threads"_a,
             nb::sig("def encode_batch(self, texts: collections.abc.Iterable[str], " ALLOWED
                     ", template: bool, threads: int) -> list[list[int]]"))
        .def("encode_parallel", &Core::encode_parallel, "text"_a.none(), "allowed"_a.none(),
             "template"_a.none(), "threads"_a,
             nb::sig("def encode_parallel(self, text: str | bytes, " ALLOWED
                     ", template: bool, threads: int) -> list[int]"))
        .def("encode_parallel_numpy", &Core::encode_parallel_numpy, "text"_a.none(),
             "allowed"_a.none(), "template"_a.none(), "threads"_a,
             nb::sig("def encode_parallel_numpy(self, text: str, " ALLOWED
                     ", template: bool, threads: int) -> " U32S ""))
        .def("encode_flat", &Core::encode_flat, "texts"_a.none(), "allowed"_a.none(),
             "template"_a.none(), "threads"_a,
             nb::sig("def encode_flat(self, texts: typing.Any, " ALLOWED
                     ", template: bool, threads: int) -> tuple[" U32S ", " U64S "]"))
        .def("encode_spans", &Core::encode_spans, "texts"_a.none(), "allowed"_a.none(),
             "template"_a.none(), "characters"_a,
             nb::sig("def encode_spans(self, texts: tuple[str, ...], " ALLOWED
                     ", template: bool, characters: bool) -> tuple[list[int], list[tuple[int, "
                     "int]], list[int], list[int]]"))
        .def("encode_spans_numpy", &Core::encode_spans_numpy, "texts"_a.none(), "allowed"_a.none(),
             "template"_a.none(), "characters"_a, "carry"_a = 0,
             nb::sig("def encode_spans_numpy(self, texts: tuple[str, ...], " ALLOWED
                     ", template: bool, characters: bool, carry: float = 0) -> tuple[" U32S
                     ", " U32S ", " U32S ", " U32S ", float]"))
        .def("last_cut", &Core::last_cut, "part"_a,
             nb::sig("def last_cut(self, part: bytes) -> int"))
        .def_prop_ro("has_carry", &Core::has_carry)
        .def_prop_ro("cuts_are_exact", &Core::cuts_are_exact)
        .def("decode", &Core::decode, "ids"_a.none(), "skip_special"_a.none(), "errors"_a.none(),
             nb::sig("def decode(self, " IDS ", skip_special: bool, errors: str) -> str"))
        .def("decode_bytes", &Core::decode_bytes, "ids"_a.none(), "skip_special"_a.none(),
             nb::sig("def decode_bytes(self, " IDS ", skip_special: bool) -> bytes"))
        .def("decode_tokens_bytes", &Core::decode_tokens_bytes, "ids"_a.none(),
             "skip_special"_a.none(),
             nb::sig("def decode_tokens_bytes(self, " IDS ", skip_special: bool) -> list[bytes]"))
        .def("token_bytes", &Core::token_bytes, "id"_a.none(),
             nb::sig("def token_bytes(self, id: int) -> bytes"))
        .def("token_id", &Core::token_id, "data"_a.none(),
             nb::sig("def token_id(self, data: bytes) -> int | None"))
        .def("token_flags", &Core::token_flags, "id"_a.none(),
             nb::sig("def token_flags(self, id: int) -> int"))
        .def("added_tokens", &Core::added_tokens,
             nb::sig("def added_tokens(self) -> list[tuple[int, bytes, int]]"))
        .def("special_id", &Core::special_id, "role"_a,
             nb::sig("def special_id(self, role: int) -> int | None"))
        .def("stop_ids", &Core::stop_ids, nb::sig("def stop_ids(self) -> list[int]"))
        .def("section", &Core::section, "tag"_a,
             nb::sig("def section(self, tag: bytes) -> tuple[int, int] | None"))
        .def("encode_chat", &Core::encode_chat, "roles"_a, "texts"_a,
             nb::sig("def encode_chat(self, roles: list[int], texts: list[str])"
                     " -> list[int] | tuple[int, int]"))
        .def("prefix_ids", &Core::prefix_ids, "prefix"_a,
             nb::sig("def prefix_ids(self, prefix: bytes) -> tuple[int, int] | None"))
        .def("prefix_children", &Core::prefix_children, "begin"_a, "end"_a, "depth"_a,
             nb::sig("def prefix_children(self, begin: int, end: int, depth: int)"
                     " -> list[tuple[int, int, int]]"))
        .def("check", &Core::check, "whole"_a, nb::sig("def check(self, whole: bool) -> None"))
        .def("self_test", &Core::self_test, nb::sig("def self_test(self) -> int"))
        .def_prop_ro("uses_bulk", &Core::uses_bulk)
        .def_prop_ro("id_count", &Core::id_count)
        .def_prop_ro("token_count", &Core::token_count);

    m.def("split_widths", &tokexport::split_widths, nb::sig("def split_widths() -> list[int]"));
    nb::class_<tokexport::SplitText>(m, "SplitText")
        .def(nb::init<const Core &, unsigned>(), "core"_a, "width"_a,
             nb::sig("def __init__(self, core: Core, width: int) -> None"))
        .def("ends", &tokexport::SplitText::ends, "text"_a,
             nb::sig("def ends(self, text: bytes | memoryview) -> " U32S " | None"))
        .def("last_cut", &tokexport::SplitText::last_cut, "text"_a,
             nb::sig("def last_cut(self, text: bytes | memoryview) -> int"));

    using tokexport::WordCounter;
    nb::class_<WordCounter>(m, "WordCounter")
        .def(nb::init<nb::object>(), "core"_a, nb::sig("def __init__(self, core: Core) -> None"))
        .def("cut", &WordCounter::cut, "data"_a, nb::sig("def cut(self, data: bytes) -> int"))
        .def("add", &WordCounter::add, "texts"_a, "threads"_a, nb::lock_self(),
             nb::sig("def add(self, texts: collections.abc.Sequence[str], threads: int) -> None"))
        .def("words_of_all", &WordCounter::words_of_all, "sorted"_a, nb::lock_self(),
             nb::sig("def words_of_all(self, sorted: bool) -> tuple[" U64S ", " U32S ", " U8S "]"))
        .def("add_words", &WordCounter::add_words, "counts"_a, "lengths"_a, "bytes"_a,
             nb::lock_self(),
             nb::sig("def add_words(self, counts: " U64S ", lengths: " U32S ", bytes: " U8S
                     ") -> None"))
        .def("merges", &WordCounter::merges, "count"_a, "tie_break"_a, "longest"_a, "progress"_a,
             nb::lock_self(),
             nb::sig("def merges(self, count: int, tie_break: str, longest: int, progress: "
                     "collections.abc.Callable[[int], object]) -> tuple[" U64S ", " U64S ", int]"))
        .def("word_count", &WordCounter::words, nb::lock_self(),
             nb::sig("def word_count(self) -> int"))
        .def("distinct_count", &WordCounter::distinct, nb::lock_self(),
             nb::sig("def distinct_count(self) -> int"))
        .def("byte_count", &WordCounter::bytes, nb::lock_self(),
             nb::sig("def byte_count(self) -> int"));

    nb::class_<Stream>(m, "Stream")
        .def(nb::init<nb::object, tokexport::Truth, bool>(), "core"_a, "skip_special"_a.none(),
             "as_bytes"_a,
             nb::sig("def __init__(self, core: Core, skip_special: bool, as_bytes: bool) -> None"))
        .def_prop_ro("step", &tokexport::step_of,
                     nb::sig("def step(self, /) -> collections.abc.Callable[[int], typing.Any]"))
        .def("feed", &Stream::feed, "ids"_a.none(), nb::lock_self(),
             nb::sig("def feed(self, " IDS ") -> typing.Any"))
        .def("flush", &Stream::flush, nb::lock_self(), nb::sig("def flush(self) -> typing.Any"));

    nb::class_<EncodeStream>(m, "EncodeStream")
        .def(nb::init<nb::object, nb::handle, tokexport::Truth>(), "core"_a, "allowed"_a.none(),
             "template"_a.none(),
             nb::sig("def __init__(self, core: Core, " ALLOWED ", template: bool) -> None"))
        .def("feed", &EncodeStream::feed, "part"_a.none(), nb::lock_self(),
             nb::sig("def feed(self, part: str | bytes) -> " U32S ""))
        .def("finish", &EncodeStream::finish, nb::lock_self(),
             nb::sig("def finish(self) -> " U32S ""));
}
