// Memory that was freed.
#pragma once

namespace tokexport {

// Gives the pages that were freed back to the system, where the allocator keeps them: after an
// array of some MB was freed, glibc's keeps all that are not larger, in the size of each.
void give_back_memory();

}  // namespace tokexport
