// Large pages of memory.
#pragma once

#include <cstddef>

namespace tokexport {

// Asks the system for large pages where memory that was not touched yet is much, and it has them. A
// page that is touched for the first time costs 0.6 us, and 1.3 where two threads do it: of 10 MB
// that are encoded to an array a fifth of the time.
void use_large_pages(void *memory, std::size_t size);

}  // namespace tokexport
