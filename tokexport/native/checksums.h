// Whether the sections of a file are what was written, 10 times as fast as the C core finds it out.
#pragma once

#include "tokexport.h"

namespace tokexport {

// True: tkx_check would say TKX_OK. False: it may, and it alone says what is wrong.
bool sections_are_intact(const tkx &file);

}  // namespace tokexport
