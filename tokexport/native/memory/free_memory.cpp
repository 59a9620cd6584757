// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "free_memory.h"

#if defined(__linux__)
#include <malloc.h>
#endif

namespace tokexport {

void give_back_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace tokexport
