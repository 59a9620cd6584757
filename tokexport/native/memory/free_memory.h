// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Returning freed memory to the system.
#pragma once

namespace tokexport {

// Returns freed pages that the allocator retains to the system. After an array of some MB was
// freed, glibc retains every later block that is not larger.
void give_back_memory();

}  // namespace tokexport
