// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// numpy arrays, as arguments and as results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace tokexport {

template <typename T>
using ArrayOf = nanobind::ndarray<const T, nanobind::numpy, nanobind::ndim<1>, nanobind::c_contig>;
using Numbers = ArrayOf<std::uint64_t>;
using SmallNumbers = ArrayOf<std::uint32_t>;

// An array that owns `data` and frees it.
template <typename T> nanobind::object array_of(std::unique_ptr<T[]> data, std::size_t count) {
    nanobind::capsule owner(data.get(),
                            [](void *memory) noexcept { delete[] static_cast<T *>(memory); });
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(data.release(), {count}, owner));
}

// An array that owns the numbers.
template <typename T> nanobind::object array_of(std::vector<T> numbers) {
    auto owned = std::make_unique<std::vector<T>>(std::move(numbers));
    T *const data = owned->data();
    const std::size_t count = owned->size();
    nanobind::capsule owner(
        owned.get(), [](void *memory) noexcept { delete static_cast<std::vector<T> *>(memory); });
    owned.release();
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(data, {count}, owner));
}

}  // namespace tokexport
