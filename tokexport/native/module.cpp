// The module tokexport._core: names and signatures, nothing else. The documentation is on the Python classes over it.
#include <nanobind/nanobind.h>

#include "core.h"
#include "displacing.h"
#include "merging.h"
#include "stream.h"

namespace nb = nanobind;
using namespace nb::literals;
using tokexport::Core;
using tokexport::Stream;

NB_MODULE(_core, m) {
    // A tokenizer in a global variable lives until the interpreter is gone; that is no leak to warn of.
    nb::set_leak_warnings(false);

    m.attr("REPLACE_SURROGATES") = tokexport::replace_surrogates;

    m.def("displace", &tokexport::displace, "hashes"_a, "firsts"_a, "rooms"_a, "sizes"_a, "slot_count"_a);
    m.def("ways_of_merges", &tokexport::ways_of_merges, "lefts"_a, "rights"_a, "ranks"_a, "products"_a, "symbols"_a, "id_count"_a);

    nb::class_<Core>(m, "Core")
        .def(nb::init<nb::object, nb::object>(), "buffer"_a, "name"_a)
        .def("encode", &Core::encode, "text"_a, "allowed"_a, "template"_a)
        .def("encode_numpy", &Core::encode_numpy, "text"_a, "allowed"_a, "template"_a)
        .def("encode_bytes", &Core::encode_bytes, "data"_a, "allowed"_a, "template"_a)
        .def("encode_pair", &Core::encode_pair, "a"_a, "b"_a, "allowed"_a, "template"_a)
        .def("encode_batch", &Core::encode_batch, "texts"_a, "allowed"_a, "template"_a, "threads"_a)
        .def("encode_spans", &Core::encode_spans, "texts"_a, "allowed"_a, "template"_a, "characters"_a)
        .def("encode_spans_numpy", &Core::encode_spans_numpy, "texts"_a, "allowed"_a, "template"_a, "characters"_a)
        .def("decode", &Core::decode, "ids"_a, "skip_special"_a, "errors"_a)
        .def("decode_bytes", &Core::decode_bytes, "ids"_a, "skip_special"_a)
        .def("decode_tokens_bytes", &Core::decode_tokens_bytes, "ids"_a, "skip_special"_a)
        .def("token_bytes", &Core::token_bytes, "id"_a)
        .def("token_id", &Core::token_id, "data"_a)
        .def("token_flags", &Core::token_flags, "id"_a)
        .def("added_tokens", &Core::added_tokens)
        .def("special_id", &Core::special_id, "role"_a)
        .def("stop_ids", &Core::stop_ids)
        .def("section", &Core::section, "tag"_a)
        .def("check", &Core::check)
        .def("self_test", &Core::self_test)
        .def_prop_ro("id_count", &Core::id_count)
        .def_prop_ro("token_count", &Core::token_count);

    nb::class_<Stream>(m, "Stream")
        .def(nb::init<nb::object, bool>(), "core"_a, "skip_special"_a)
        .def("step", &Stream::step, "id"_a, nb::lock_self())
        .def("flush", &Stream::flush, nb::lock_self());
}
