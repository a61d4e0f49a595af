// decay: what is left of an amount that halves again and again. Only operations that IEEE 754 rounds one way are used,
// so that it is the same on every machine.
#pragma once

#include "base/quantity.h"

namespace ashlar {

/// 2 to the power of -elapsed / half_life; 0 if the half-life is not positive, 1 if nothing has elapsed.
double share_left(Millis elapsed, Millis half_life);

}  // namespace ashlar
