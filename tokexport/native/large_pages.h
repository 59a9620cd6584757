// Large pages of memory.
#pragma once

#include <cstddef>

namespace tokexport {

// A page that is touched for the first time costs 0.6 to 2 us, and more where two threads do it; a
// large one, which is 512 of them, costs as much as 40 to 120. Where 10 MB are encoded to an array
// small pages take a fifth of the time.

// The size of one, where the system has them; of less memory it would be nearly all that is taken
// and not used.
constexpr std::size_t large_page = std::size_t(1) << 21;

// Memory that std::free frees, or null. If it is much, and the system has large pages, it begins on
// one: the first part of it is what is used.
void *allocate(std::size_t size);

// Asks for large pages where memory that was not touched yet is much.
void use_large_pages(void *memory, std::size_t size);

}  // namespace tokexport
