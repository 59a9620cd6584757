// Arrays of numpy that come in, and that go out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace tokexport {

using Numbers =
    nanobind::ndarray<const std::uint64_t, nanobind::numpy, nanobind::ndim<1>, nanobind::c_contig>;

// An array over data, which it frees.
template <typename T> nanobind::object array_of(std::unique_ptr<T[]> data, std::size_t count) {
    nanobind::capsule owner(data.get(),
                            [](void *memory) noexcept { delete[] static_cast<T *>(memory); });
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(data.release(), {count}, owner));
}

// A copy of numbers as an array.
template <typename T> nanobind::object array_of(const std::vector<T> &numbers) {
    auto data = std::make_unique<T[]>(numbers.size());
    std::copy(numbers.begin(), numbers.end(), data.get());
    return array_of(std::move(data), numbers.size());
}

}  // namespace tokexport
